"""A run of few projects is decided with simulations of other projects beside its own."""

from importlib.resources import files
from pathlib import Path

import pandas as pd
import pytest
from evaluation.findings.test_look_ups import decided, kept, simulation
from report.page.made import MadeResults, made
from report.page.test_decision import on_own_trigger, priced

SHIPPED = files("workbench") / "evaluation/findings/other_projects.csv"
ALIKE = {"summarize": 0.3, "pipeline": 0.3, "truncate": 0.3}
TRUNCATE_IS_DEAR = {"summarize": 0.3, "pipeline": 0.3, "truncate": -0.2}


def run_of(projects: int) -> MadeResults:
    """Sessions of $10, one a project: summarize tells most, truncate saves most."""
    run = priced(made(projects), summarize=0.3, pipeline=0.2, truncate=0.5)
    return on_own_trigger(run, summarize=0.8, pipeline=0.7, truncate=0.6)


def test_what_is_cheapest_elsewhere_is_used_where_few_sessions_show_no_difference(
    tmp_path: Path,
) -> None:
    run = run_of(projects=2)
    decision = decided(kept(run, simulation(run, ALIKE, {}), tmp_path))
    assert decision.use == "truncate" and not decision.cheapest
    assert decision.recommendation.startswith(
        "Use truncate: with every look-up paid it is expected to cost least. 2 sessions say"
        " little of the next ones, so simulations of 32 other projects count too."
    )
    assert decision.confidence.startswith("Confidence: on sessions that it had not seen")


def test_own_sessions_count_the_more_the_more_there_are(tmp_path: Path) -> None:
    uses: list[str] = []
    for projects in (1, 5):
        run = run_of(projects)
        simulated = simulation(run, TRUNCATE_IS_DEAR, {})
        uses.append(decided(kept(run, simulated, tmp_path / str(projects))).use)
    assert uses == ["truncate", "pipeline"]


def test_who_is_blind_in_one_session_only_is_not_set_aside(tmp_path: Path) -> None:
    run = run_of(projects=1)
    decision = decided(kept(run, simulation(run, ALIKE, {"truncate": 8}), tmp_path))
    assert decision.use == "truncate" and "Not considered" not in decision.trade_off


def test_who_is_far_behind_in_spite_of_other_projects_is_set_aside(tmp_path: Path) -> None:
    run = run_of(projects=3)
    decision = decided(kept(run, simulation(run, ALIKE, {"truncate": 60}), tmp_path))
    assert decision.use == "pipeline"
    assert "behind the best in the simulation and those of other projects." in decision.trade_off


def test_enough_projects_are_decided_by_themselves(tmp_path: Path) -> None:
    run = run_of(projects=6)
    decision = decided(kept(run, simulation(run, ALIKE, {}), tmp_path))
    assert decision.use == "summarize" and "other projects" not in decision.recommendation


def test_a_strategy_that_other_projects_lack_is_decided_by_these_alone(tmp_path: Path) -> None:
    run = run_of(projects=2)
    simulated = simulation(run, ALIKE, {})
    for table in run.rows.values():
        for row in table:
            if row.get("strategy") == "truncate":
                row["strategy"] = "mine"
    simulated = simulated.replace({"strategy": {"truncate": "mine"}})
    decision = decided(kept(run, simulated, tmp_path))
    assert decision.use == "summarize"
    assert "such an answer was at most 5 points behind the best in 9 of 17" in decision.confidence


def test_the_shipped_projects_have_every_strategy_once() -> None:
    rows = pd.read_csv(str(SHIPPED))
    assert rows["project"].nunique() == 32
    assert set(rows.groupby("project")["strategy"].nunique()) == {4}
    assert not rows.duplicated(["project", "strategy"]).any()
    assert rows["bill"].min() > 0


@pytest.mark.parametrize("strategy", ["summarize", "pipeline", "claude_code"])
def test_truncate_is_dearer_than_no_other_strategy_on_average(strategy: str) -> None:
    bills = pd.read_csv(str(SHIPPED)).pivot_table("bill", "project", "strategy")
    assert (bills["truncate"] < bills[strategy]).mean() > 0.7
