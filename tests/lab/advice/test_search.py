"""Which candidates a search tries to the end, and which it gives up before their simulation."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from workbench import preset
from workbench.evaluation.analysis.trade import Trade
from workbench.evaluation.experiment.grid import Grid
from workbench.evaluation.experiment.spec import RunSpec
from workbench.lab.advice.measured import Measurements
from workbench.lab.advice.search import Finals, halved

NAMES = "exam_recall"
SESSIONS = ("a", "b", "c")
MANY = tuple("abcdefgh")
"""More than a first round tries."""


def finals(
    kept: Mapping[str, float],
    worth: float = 1.0,
    *,
    bills: Mapping[str, float] | None = None,
    sessions: Sequence[str] = SESSIONS,
    tells_bills: bool = False,
) -> Finals:
    """The last round between candidates that keep so much of each session; the first is in use, and
    the others save a third of the bill, unless `bills` say otherwise.
    """
    rows = []
    for name, share in kept.items():
        for session in sessions:
            rows.append({"candidate": name, "session": session, NAMES: share})
    in_use, *_ = kept
    table = pd.DataFrame(rows).assign(ok=True, fits=True, work=float("nan"), plain=3.0, net=None)
    table["unit"] = table["project"] = table["session"]
    usual_bills = {**dict.fromkeys(kept, 2.0), in_use: 3.0}
    table["usd"] = table["candidate"].map({**usual_bills, **(bills or {})})
    table["saved"] = table["plain"] - table["usd"]
    presets = [replace(preset("truncate"), name=name) for name in kept]
    grid = Grid(strategies=tuple(presets), models=("extractive",))
    points = grid.points()
    measured = Measurements(
        grid,
        {},
        {},
        RunSpec(),
        rows=table,
        replayed_pairs={(name, session) for name in kept for session in sessions},
        simulates=False,
        in_use=in_use,
    )
    return halved(measured, points, sessions, Trade(worth), points[0], tells_bills=tells_bills)


def test_what_no_saving_could_bring_to_the_default_is_given_up_with_its_distance() -> None:
    last = finals({"today": 0.9, "near": 0.85, "far": 0.7})
    assert last.out_of_reach == {"far": 20.0}
    assert set(last.points.columns) == {"today", "near"}
    assert last.choice is not None and last.choice.use == "near"


def test_what_the_whole_bill_would_bring_there_is_tried_to_the_end() -> None:
    assert not finals({"today": 0.9, "near": 0.85, "far": 0.79}).out_of_reach
    assert not finals({"today": 0.9, "near": 0.85, "far": 0.7}, worth=3.0).out_of_reach


def test_the_best_of_the_others_stays_where_its_bill_is_told() -> None:
    kept = {"today": 0.9, "far": 0.5, "farther": 0.4}
    assert list(finals(kept).out_of_reach) == ["far", "farther"]
    last = finals(kept, tells_bills=True)
    assert list(last.out_of_reach) == ["farther"]
    assert "far" in last.points.columns


def test_the_cheapest_is_simulated_where_bills_are_told_however_little_it_keeps() -> None:
    kept = {"today": 0.9, "near": 0.85, "far": 0.5, "cheap": 0.1}
    last = finals(kept, bills={"cheap": 0.5}, tells_bills=True)
    assert list(last.out_of_reach) == ["far"]
    assert "cheap" in last.points.columns
    assert last.choice is not None and last.choice.use == "near"


def test_the_cheapest_stays_to_the_end_though_the_better_half_does_not_hold_it() -> None:
    kept = {"today": 0.9, "a": 0.9, "b": 0.89, "c": 0.88, "d": 0.87, "e": 0.86, "cheap": 0.85}
    assert "cheap" not in finals(kept, bills={"cheap": 1.9}, sessions=MANY).points.columns
    last = finals(kept, bills={"cheap": 1.9}, sessions=MANY, tells_bills=True)
    assert "cheap" in last.points.columns


def test_one_candidate_alone_is_no_reason_to_fail() -> None:
    last = finals({"today": 0.9})
    assert last.choice is not None and last.choice.use == "today" and not last.out_of_reach
