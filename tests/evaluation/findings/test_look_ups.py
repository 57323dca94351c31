"""A simulation in a run's folder: its bill is the run's bill, and a strategy that ends far behind in
it is not recommended.
"""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from command import shared_copy
from planted_run import PlantedRun, simulation
from report.page.made import made
from report.page.test_decision import on_own_trigger, priced

from workbench import Findings, Results
from workbench.evaluation.findings.decision import Decision

MEASURE = (
    "the share of steps that had what they needed, with a point for each tenth of the bill saved"
)
NET = {"summarize": 0.2, "pipeline": 0.1, "truncate": 0.4}


def run_of_three(sessions: int = 9) -> PlantedRun:
    """Sessions of $10: summarize tells most, truncate saves most."""
    run = priced(made(sessions), summarize=0.3, pipeline=0.2, truncate=0.5)
    return on_own_trigger(run, summarize=0.8, pipeline=0.7, truncate=0.6)


def simulated_bills(run: PlantedRun, net: dict[str, float], blind: dict[str, int]) -> pd.DataFrame:
    """Each strategy saves this share with all look-ups, and is blind in so many of 100 steps."""
    rows: list[dict[str, Any]] = []
    for bill in run.rows["costs"]:
        name = bill["strategy"]
        row = {
            "session": bill["session"],
            "project": bill["session"],
            "strategy": name,
            "unrecorded": 0,
            "steps": 110,
            "look_ups": 10,
            "recalls": 0,
            "blind_steps": blind.get(name, 0),
            "usd_uncompacted": 10.0,
            "saved_usd": bill["net_saving"],
            "saved_usd_net": 10 * net[name],
        }
        rows.append(row)
    return simulation(rows)


def kept(run: PlantedRun, simulated: pd.DataFrame, folder: Path) -> Results:
    run.written(folder)
    simulated.to_parquet(folder / "simulated.parquet")
    return Results.open(folder)


def decided(results: Results) -> Decision:
    decision = Findings.of(results).decision
    assert decision is not None
    return decision


def test_the_bill_with_every_look_up_is_the_bill_everywhere(tmp_path: Path) -> None:
    run = run_of_three()
    findings = Findings.of(kept(run, simulated_bills(run, NET, {}), tmp_path))
    bills = findings.figures.bills.set_index("strategy")
    for name, share_saved in NET.items():
        net_saving = findings.figures.strategies[name].net_saving
        assert net_saving is not None and net_saving.mean == pytest.approx(share_saved)
        assert bills.loc[name, "usd"] + bills.loc[name, "usd_fetching"] == pytest.approx(
            10 - 10 * share_saved
        )
    assert findings.decision is not None
    assert "and saves 20 % of the bill; pipeline" in findings.decision.trade_off
    assert "The bill is simulated: every look-up" in findings.decision.dollars


def test_a_strategy_that_was_not_simulated_has_no_bill_beside_simulated_ones(
    tmp_path: Path,
) -> None:
    run = run_of_three()
    bill = {"usd": 8.0, "usd_fetching": 0.0, "net_saving": 0.0}
    for session in {bill["session"] for bill in run.rows["costs"]}:
        uncompacted = {"session": session, "usd_uncompacted": 10.0, "row": "some-model"}
        run.rows["costs"].append({**uncompacted, **bill, "strategy": "none", "usd": 10.0})
        estimate = {"usd_fetching": 0.5, "net_saving": 1.5}
        run.rows["costs"].append({**uncompacted, **bill, **estimate, "strategy": "null"})
    estimated = Findings.of(run)
    assert estimated.figures.bills.set_index("strategy").loc["null", "net_saving"] == 1.5
    assert "simulated" not in estimated.priced_at
    bills = simulated_bills(run, NET | {"none": 0.0, "null": 0.0}, {})
    is_reference = bills["strategy"].isin(["none", "null"])
    findings = Findings.of(kept(run, bills[~is_reference], tmp_path))
    rows = findings.figures.bills.set_index("strategy")
    assert rows.loc["none", ["net_saving", "usd_fetching", "saved"]].tolist() == [0.0, 0.0, 0.0]
    assert rows.loc["null", ["net_saving", "usd_fetching", "saved"]].isna().all()
    headline = findings.figures.headline.set_index("strategy")
    assert headline.loc["null", ["cost", "cost_saved"]].isna().all()
    assert findings.priced_at.endswith(
        "Look-ups are simulated in the bills; null is not simulated, so what it saves is unknown."
    )


@pytest.mark.parametrize(
    "part", ["another window", "one strategy less", "an older file", "a rule's summary"]
)
def test_a_simulation_of_other_replays_changes_nothing(part: str, tmp_path: Path) -> None:
    run = run_of_three()
    simulated = simulated_bills(run, NET, {})
    if part == "another window":
        simulated["saved_usd"] += 0.5
    elif part == "one strategy less":
        simulated = simulated[simulated["strategy"] != "truncate"]
    elif part == "a rule's summary":
        simulated["unrecorded"] = [1, *([0] * (len(simulated) - 1))]
    else:
        simulated = simulated.drop(columns="blind_steps")
    decision = decided(kept(run, simulated, tmp_path))
    assert "and saves 30 % of the bill" in decision.trade_off
    assert "In the bill look-ups are estimated" in decision.dollars


def test_a_strategy_that_ends_far_behind_is_not_recommended(tmp_path: Path) -> None:
    run = run_of_three()
    assert decided(run).use == "summarize"
    dear = NET | {"summarize": -0.4}
    decision = decided(kept(run, simulated_bills(run, dear, {}), tmp_path))
    assert decision.use == "pipeline" and set(decision.level) == {"pipeline", "truncate"}
    assert decision.set_aside == (
        f"Not considered: summarize (8 points), behind the best in the simulation in {MEASURE}."
    )


def test_steps_without_what_they_need_count_like_the_bill(tmp_path: Path) -> None:
    run = run_of_three()
    blind = {"summarize": 20, "truncate": 12}
    decision = decided(kept(run, simulated_bills(run, NET, blind), tmp_path))
    assert decision.use == "pipeline"
    assert decision.recommendation == (
        "Use pipeline: in the simulation summarize ends 19 points and truncate 9 points behind it"
        f" in {MEASURE}."
    )
    assert "0 % of the steps of pipeline lack what no call brings back" in decision.dollars


def test_of_two_sessions_it_says_that_they_are_too_few_whatever_is_behind(tmp_path: Path) -> None:
    run = run_of_three(sessions=2)
    blind = {"summarize": 20, "truncate": 12}
    decision = decided(kept(run, simulated_bills(run, NET, blind), tmp_path))
    assert decision.recommendation == (
        "Use pipeline: in the simulation of these sessions summarize ends 19 points and truncate"
        f" 9 points behind it in {MEASURE}."
    )
    assert decision.confidence == (
        "Confidence: these sessions only, since 2 projects are too few for an interval"
        " (6 are needed)."
    )


def test_who_may_be_behind_by_chance_stays(tmp_path: Path) -> None:
    run = run_of_three()
    simulated = simulated_bills(run, NET, {})
    is_dear = simulated["strategy"].eq("summarize") & simulated["session"].isin(
        [bill["session"] for bill in run.rows["costs"][:3]]
    )
    simulated.loc[is_dear, "blind_steps"] = 90
    decision = decided(kept(run, simulated, tmp_path))
    assert decision.use == "summarize" and set(decision.level) == {
        "summarize",
        "pipeline",
        "truncate",
    }


def test_what_to_take_if_only_dollars_count_is_named(tmp_path: Path) -> None:
    run = run_of_three()
    decision = decided(kept(run, simulated_bills(run, NET, {}), tmp_path))
    assert decision.use == "summarize" and decision.cheapest == "truncate"
    assert "If only dollars count, take truncate, which saves 40 %." in decision.dollars
    cheap = decided(kept(run, simulated_bills(run, NET | {"summarize": 0.6}, {}), tmp_path))
    assert cheap.cheapest == "summarize" and "summarize is also the cheapest." in cheap.dollars


def test_where_look_ups_turn_a_saving_it_says_which_figure_to_believe(tmp_path: Path) -> None:
    run = run_of_three()
    all_dear = {"summarize": -0.1, "pipeline": -0.2, "truncate": -0.1}
    decision = decided(kept(run, simulated_bills(run, all_dear, {}), tmp_path))
    assert decision.use == "summarize"
    assert (
        "The replay without look-ups says the opposite (summarize saves 30 %): believe the"
        " simulated bill" in decision.dollars
    )


@pytest.mark.parametrize(
    ("over", "words"),
    [
        (0.2, "no choice: its requests are larger than the window in 9 of 9 sessions"),
        (0.0, "Keeping everything (none) fits the window too, and saves nothing."),
    ],
)
def test_why_not_everything_is_kept_is_said(over: float, words: str) -> None:
    run = run_of_three()
    for row in run.rows["scores"]:
        if row["metric"] == "over_window" and row["strategy"] == "none":
            row["value"] = over
    assert words in decided(run).dollars


def test_a_shared_copy_says_the_same(tmp_path: Path) -> None:
    run = run_of_three()
    folder = tmp_path / "run"
    results = kept(run, simulated_bills(run, NET, {"truncate": 3}), folder)
    copy = shared_copy(results.path, tmp_path / "copy")
    assert decided(copy) == decided(results)
    words = set(pd.read_parquet(tmp_path / "copy" / "simulated.parquet")["session"])
    assert words.isdisjoint(results.sessions["session"])
