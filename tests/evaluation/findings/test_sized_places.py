"""The means at the same size may rest on fewer places than the figures at each size: every reader
is told, on how many and why.
"""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from planted_run import PlantedRun

from workbench import Findings, Report
from workbench.cli.headline import outcome, show

SHARES = (0.1, 0.2)
SESSIONS = 8
VALUES = {("truncate", 0.1): 0.3, ("truncate", 0.2): 0.5, ("mine", 0.1): 0.4, ("mine", 0.2): 0.8}
UNCUT = (("s0", 0.1), ("s1", 0.1), ("s2", 0.2))
"""Where the baseline cannot be cut to the size that `mine` keeps."""


def run_lacking(
    uncut: tuple[tuple[str, float], ...] = (), unscored: tuple[tuple[str, float], ...] = ()
) -> PlantedRun:
    """Two strategies at two sizes in eight sessions.

    Args:
        uncut: sessions and shares in which the baseline cannot be cut to the size of `mine`.
        unscored: those in which `mine` has no figure.
    """
    scores: list[dict[str, Any]] = []
    at_sizes: list[dict[str, Any]] = []
    replays: list[dict[str, Any]] = []
    sessions: list[dict[str, Any]] = []
    for number in range(SESSIONS):
        session = f"s{number}"
        sessions.append({"session": session, "project": session, "status": "ok"})
        for strategy in ("truncate", "mine"):
            replays.append({"session": session, "strategy": strategy, "status": "ok"})
        for (strategy, share), value in VALUES.items():
            place: dict[str, Any] = {"session": session, "strategy": strategy, "share": share}
            place["metric"] = "exam_recall"
            is_unscored = strategy == "mine" and (session, share) in unscored
            score: dict[str, Any] = {"mode": "matched", "better": "higher", "unit": "share"}
            score |= {"value": None if is_unscored else value}
            scores.append(place | score)
            if strategy == "mine":
                reached = None if (session, share) in uncut else VALUES["truncate", share]
                at_sizes.append(place | {"baseline": "truncate", "value": reached})
    manifest = {"settings": {"strategies": ["truncate", "mine"], "shares": list(SHARES)}}
    rows = {"scores": scores, "baseline_at_sizes": at_sizes, "replays": replays}
    return PlantedRun(manifest, {**rows, "sessions": sessions})


def plain_words(page: str) -> str:
    """The words of a page, without its tags."""
    without_tags = re.sub("<[^>]+>", " ", page)
    return " ".join(unescape(without_tags).split())


TOLD = (
    "The means count 13 of 16 places (a session at one size): in 3 truncate cannot be cut to the"
    " size that another one keeps."
)
EACH_SIZE = "Figures at a single size are as measured, at the size that each strategy kept"
ALL_PLACES = f"{EACH_SIZE}, in all 16 places: they need not average to the means at the same size."


def test_places_to_which_the_baseline_cannot_be_cut_are_counted() -> None:
    places = Findings.of(run_lacking(UNCUT)).tables.same_size_places
    assert (places.in_means, places.scored, places.uncut, places.unshared) == (13, 16, 3, 0)


def test_the_counted_places_are_those_of_the_mean() -> None:
    """Without sessions 0 and 1 at 10 %, and without session 2 at 20 %."""
    mean = Findings.of(run_lacking(UNCUT)).figures.strategies["mine"].same_size["exam_recall"]
    assert mean is not None
    assert mean.mean == pytest.approx((0.8 + 0.8 + 0.4 + 5 * 0.6) / SESSIONS)


def test_a_place_without_a_figure_of_one_strategy_has_its_own_reason() -> None:
    findings = Findings.of(run_lacking(UNCUT[:1], unscored=(("s5", 0.2),)))
    assert (
        "The means count 14 of 16 places (a session at one size): in 1 truncate cannot be cut to"
        " the size that another one keeps and in 1 a compared strategy has no figure."
    ) in findings.same_size


def test_sizes_that_fewer_sessions_have_are_named_in_words_and_in_the_chart() -> None:
    run = run_lacking()
    is_small = [
        row["share"] == SHARES[0] and row["session"] in ("s0", "s1") for row in run.rows["scores"]
    ]
    for row, lacks in zip(run.rows["scores"], is_small, strict=True):
        if lacks:
            row["value"] = None
    assert "Sessions with figures: 6 at 10 % and 8 at 20 %" in Findings.of(run).each_size
    chart = Report(run).equal_size.drawing()["image/svg+xml"]
    assert "n = 6 to 8 sessions, not the same at each size" in unescape(chart)


def test_where_every_place_counts_nothing_is_said_of_places() -> None:
    findings = Findings.of(run_lacking())
    assert "places" not in findings.same_size
    assert EACH_SIZE in findings.each_size and "places" not in findings.each_size


def test_page_and_notebook_tell_it_beside_both_tables() -> None:
    words = plain_words(Report(run_lacking(UNCUT)).headline.html)
    table, _, folded = words.partition("Every size, cost and further figures")
    assert TOLD in table
    assert ALL_PLACES in folded


def test_the_terminal_tells_it_above_its_table(capsys: pytest.CaptureFixture[str]) -> None:
    show(Findings.of(run_lacking(UNCUT)))
    assert TOLD in " ".join(capsys.readouterr().out.split())
    show(Findings.of(run_lacking(UNCUT)), wide=True)
    wide = " ".join(capsys.readouterr().out.split())
    assert TOLD in wide and ALL_PLACES in wide


def test_json_counts_the_places() -> None:
    run = run_lacking(UNCUT)
    answer = outcome(run, Findings.of(run), no_report=True)
    assert answer["same_size_places"] == {"scored": 16, "in_means": 13, "uncut": 3, "unshared": 0}
    assert ALL_PLACES in str(answer["notes"])
