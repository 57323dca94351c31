"""The bill of `compare` beside that of a simulation: one function, one sign, and a sentence
where look-ups turn it.
"""

from pathlib import Path

import pandas as pd
import pytest
from planted_run import simulation, written
from recorded_files import bundled_files

import workbench as wb
from profiles import FULL

STRATEGIES = ("truncate", "summarize", "pipeline")


def test_the_bill_without_look_ups_is_that_of_compare(tmp_path: Path) -> None:
    files = list(map(str, bundled_files()[: None if FULL else 2]))
    run = wb.compare(
        files,
        strategies=STRATEGIES,
        shares=(),
        model="extractive",
        out=tmp_path / "run",
        quiet=True,
    )
    simulated = wb.simulate(
        files, strategies=STRATEGIES, model="extractive", out=tmp_path / "run", quiet=True
    ).simulated
    columns = ["session", "strategy"]
    bills = run.costs[run.costs["strategy"].isin(STRATEGIES)].set_index(columns)
    followed = simulated.set_index(columns).reindex(bills.index)
    without_fetching = (bills["net_saving"] + bills["usd_fetching"]).astype(float)
    assert without_fetching.tolist() == pytest.approx(
        followed["saved_usd"].astype(float).tolist(), abs=1e-12
    )
    clear = bills["net_saving"].abs() > bills["usd_fetching"]
    signs = (bills["net_saving"] > 0)[clear]
    assert len(signs) == len(files) * len(STRATEGIES)
    assert signs.tolist() == (followed["saved_usd"] > 0)[clear].tolist()


def simulated(**nets: list[float]) -> pd.DataFrame:
    """Strategies that save 0.5 by the bill, and so much with look-ups, a number a session."""
    rows = [
        {
            "session": f"session-{number}",
            "project": f"project-{number}",
            "strategy": name,
            "compactions": 3,
            "saved_usd": 0.5,
            "saved_usd_net": net,
        }
        for name, values in nets.items()
        for number, net in enumerate(values)
    ]
    return pd.DataFrame(rows)


def page(folder: Path, simulated: pd.DataFrame) -> str:
    """What the report of a run says where this simulation lies beside its tables."""
    written(folder, {})
    simulation(simulated.to_dict("records")).to_parquet(folder / "simulated.parquet")
    return " ".join(wb.Report.open(folder).closed_loop.html.split())


def test_where_look_ups_turn_a_saving_into_a_cost_a_sentence_says_which_to_believe(
    tmp_path: Path,
) -> None:
    turned = page(tmp_path, simulated(truncate=[0.3, 0.4, 0.2], pipeline=[-0.7, -0.6, -0.8]))
    assert "With all look-ups pipeline cost more than no compaction, although the bill" in turned
    assert "Believe the net" in turned and "One session alone" not in turned


def test_the_session_that_alone_turns_it_is_named(tmp_path: Path) -> None:
    turned = page(tmp_path, simulated(pipeline=[0.4, 0.3, -97.0]))
    assert "One session alone turns it for pipeline (session-2, 3 compactions)" in turned


def test_where_both_bills_have_one_sign_nothing_is_said(tmp_path: Path) -> None:
    said = page(tmp_path, simulated(truncate=[0.3, 0.4], pipeline=[0.1, 0.2]))
    assert "With all look-ups" not in said


def with_blind_steps(**blind_steps: int) -> pd.DataFrame:
    """`truncate` nets 0.5, `summarize` 0.3; each has so many blind steps, at 0.01 a step."""
    rows = simulated(truncate=[0.5], summarize=[0.3])
    steps = [blind_steps[name] for name in rows["strategy"]]
    return rows.assign(blind_steps=steps, step_usd=0.01)


def test_it_says_at_which_price_of_a_blind_step_another_strategy_saves_most(tmp_path: Path) -> None:
    rows = with_blind_steps(truncate=10, summarize=0)
    # 0.2 over 10 of 0.01
    words = "Where a blind step costs nothing, truncate saves most; from 2.00 steps on summarize"
    assert words in page(tmp_path, rows)


def test_a_strategy_that_stays_the_cheapest_is_named_once(tmp_path: Path) -> None:
    """At some of these prices two are equal but for a rounding."""
    rows = with_blind_steps(truncate=10, summarize=0)
    for tenths in range(1, 30, 7):
        priced = page(tmp_path / str(tenths), rows.assign(step_usd=0.01 * tenths / 7))
        said = priced.partition("Where a blind step costs nothing, ")[2].partition(".</")[0]
        assert said.startswith("truncate saves most; from "), tenths
        assert said.count(" steps on ") == 1 and "steps on summarize" in said, tenths


def test_where_no_price_turns_the_order_it_says_so(tmp_path: Path) -> None:
    rows = with_blind_steps(truncate=1, summarize=0)
    words = "Whatever a blind step costs, up to 20 steps, truncate saves most."
    assert words in page(tmp_path / "two", rows)
    assert "a blind step costs" not in page(tmp_path / "one", simulated(truncate=[0.5]))
