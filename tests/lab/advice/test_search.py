"""Which candidates a search tries to the end, and which it gives up before their simulation."""

from collections.abc import Mapping
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


def finals(
    kept: Mapping[str, float], worth: float = 1.0, *, tells_other_bill: bool = False
) -> Finals:
    """The last round between candidates that keep so much of each session; the first is in use, and
    the others save a third of the bill.
    """
    rows = []
    for name, share in kept.items():
        for session in SESSIONS:
            rows.append({"candidate": name, "session": session, NAMES: share})
    in_use, *_ = kept
    table = pd.DataFrame(rows).assign(ok=True, fits=True, work=float("nan"), plain=3.0, net=None)
    table["unit"] = table["project"] = table["session"]
    table["usd"] = table["candidate"].map(lambda name: 3.0 if name == in_use else 2.0)
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
        replayed_pairs={(name, session) for name in kept for session in SESSIONS},
        simulates=False,
        in_use=in_use,
    )
    return halved(
        measured, points, SESSIONS, Trade(worth), points[0], tells_other_bill=tells_other_bill
    )


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
    last = finals(kept, tells_other_bill=True)
    assert list(last.out_of_reach) == ["farther"]
    assert "far" in last.points.columns


def test_one_candidate_alone_is_no_reason_to_fail() -> None:
    last = finals({"today": 0.9})
    assert last.choice is not None and last.choice.use == "today" and not last.out_of_reach
