"""What a sweep's points rest on, with scores that say it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from planted_run import frame

from workbench import Report, Results, sweep_table

TOO_LARGE = "it stays larger than the size that was set"


class Made(Results):
    """A sweep's run in memory: its scores, and the points `names`."""

    def __init__(self, scores: list[dict[str, object]], names: Iterable[str] = ()) -> None:
        super().__init__(Path("run"))
        named = list(dict.fromkeys(names or (str(row["strategy"]) for row in scores)))
        self.rows: dict[str, list[dict[str, object]]] = {
            "scores": scores,
            "sessions": [
                {"session": one} for one in dict.fromkeys(row["session"] for row in scores)
            ],
            "variants": [
                {"strategy": name, "base": "b", "model": "m", "settings": "{}"} for name in named
            ],
            "replays": [{"session": "s1", "strategy": name, "status": "ok"} for name in named],
        }
        self.manifest = {}

    def table(self, name: str) -> pd.DataFrame:
        return frame(name, self.rows.get(name, ()))


Row = tuple[str, str, str, float | None]
Cut = tuple[str, str, float | None, str]


def made(
    *rows: Row,
    matched: Iterable[Cut] = (),
    names: Iterable[str] = (),
) -> Results:
    natural: list[dict[str, object]] = [
        {"strategy": name, "session": session, "mode": "natural", "metric": metric, "value": value}
        for name, session, metric, value in rows
    ]
    cut: list[dict[str, object]] = [
        {
            "strategy": name,
            "session": session,
            "mode": "matched",
            "share": 0.1,
            "metric": "exam_recall",
            "value": value,
            "why": text,
        }
        for name, session, value, text in matched
    ]
    return Made([*natural, *cut], names)


def points(results: Results) -> dict[str, dict[Any, Any]]:
    return {str(one["strategy"]): one for one in sweep_table(results).to_dict("records")}


HALF: tuple[Row, ...] = (
    ("p", "s1", "exam_recall", 0.4), ("p", "s2", "exam_recall", 0.8), ("p", "s3", "exam_recall", None),
    ("p", "s1", "tokens_saved", 0.2), ("p", "s2", "tokens_saved", 0.3), ("p", "s3", "tokens_saved", 0.9),
    ("p", "s1", "peak_context", 10.0), ("p", "s2", "peak_context", 20.0), ("p", "s3", "peak_context", 60.0),
    ("q", "s1", "exam_recall", None), ("q", "s1", "tokens_saved", 0.0), ("q", "s2", "tokens_saved", 0.1),
)  # fmt: skip


def test_what_a_point_keeps_and_saves_rests_on_the_same_sessions() -> None:
    found = points(made(*HALF))
    p = found["p"]
    assert p["recall"] == pytest.approx(0.6) and p["tokens_saved"] == pytest.approx(0.25)
    assert p["peak_context"] == 30.0, "what is no figure of the point counts every session"
    assert (p["sessions"], p["of"]) == (2, 3)


def test_a_point_without_a_session_that_has_both_has_neither_figure() -> None:
    q = points(made(*HALF))["q"]
    assert pd.isna(q["recall"]) and pd.isna(q["tokens_saved"])
    assert (q["sessions"], q["of"]) == (0, 2)


def test_points_of_a_larger_window_are_compared_over_the_sessions_that_all_points_share() -> None:
    rows: list[Row] = []
    for session, names, saved in (("easy", 0.9, 0.1), ("hard", 0.1, 0.7)):
        rows.append(("small", session, "exam_recall", names))
        rows.append(("small", session, "tokens_saved", saved))
    rows += [("large", "easy", "exam_recall", 0.9), ("large", "easy", "tokens_saved", 0.1)]
    rows += [("large", "hard", "exam_recall", None), ("large", "hard", "tokens_saved", 0.0)]
    found = points(made(*rows))
    for point in found.values():
        assert (point["recall"], point["tokens_saved"]) == (0.9, 0.1)
        assert (point["sessions"], point["of"]) == (1, 2) and point["on_frontier"]


def test_points_that_share_no_session_have_figures_of_their_own_and_are_not_ordered() -> None:
    rows: list[Row] = []
    for name, session in (("p", "s1"), ("q", "s2")):
        rows.append((name, session, "exam_recall", 0.4))
        rows.append((name, session, "tokens_saved", 0.2))
    run = made(*rows)
    table = sweep_table(run)
    assert list(table["recall"]) == [0.4, 0.4]
    assert table["on_frontier"].isna().all()
    assert "do not compare" in Report(run).sweep.html


def test_at_equal_size_a_session_in_which_a_point_stays_larger_counts_for_none() -> None:
    large = f"{TOO_LARGE} at its boundary, up to 2.0 times"
    cut: list[Cut] = [
        (name, f"s{i}", 0.1 if i == 0 else 0.5, "") for name in ("p", "q", "r") for i in range(12)
    ]
    cut[0] = ("p", "s0", None, large)
    cut += [(name, "s12", None, "too little is needed") for name in ("p", "q", "r")]
    for i in range(4):
        cut[24 + i] = ("r", f"s{i}", None, large)
    found = points(made(*HALF, ("r", "s1", "exam_recall", 0.5), matched=tuple(cut)))
    assert found["p"]["recall_at_0.1"] == found["q"]["recall_at_0.1"] == pytest.approx(0.5)
    assert found["r"]["recall_at_0.1"] == pytest.approx(0.5), "over those that are left to it"
    one = points(made(*HALF, matched=tuple(row for row in cut if row[0] != "p")))
    assert one["q"]["recall_at_0.1"] == pytest.approx((0.1 + 11 * 0.5) / 12), (
        "r takes nothing from it"
    )


def test_a_point_that_failed_in_every_session_rests_on_none() -> None:
    found = points(made(*HALF, names=("p", "q", "gone")))
    assert (found["gone"]["sessions"], found["gone"]["of"]) == (0, 0) and found["p"][
        "sessions"
    ] == 2
    assert pd.isna(found["gone"]["recall"])
