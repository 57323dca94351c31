"""A gate lets through what is not worse, stops what may be, and says where it cannot tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from command import Ended, ended
from planted_run import Row, written

from workbench.cli import main

EXIT_CODES = {"passed": 0, "failed": 1, "undecided": 2}
OLD = [0.50, 0.62, 0.71, 0.44, 0.58, 0.66, 0.49, 0.73]
Verdict: TypeAlias = dict[str, Any]
"""Of one strategy, as `workbench gate --json` has it."""


def scores(
    values: Sequence[float | None],
    strategy: str = "mine",
    better: str = "higher",
    metric: str = "exam_recall",
) -> list[Row]:
    rows: list[Row] = []
    for number, value in enumerate(values):
        row = {"session": f"s{number}", "strategy": strategy, "mode": "natural"}
        rows.append(row | {"metric": metric, "value": value, "better": better})
    return rows


@pytest.fixture
def run_of(tmp_path: Path) -> Callable[..., Path]:
    """The folder of a run with these scores; each session is of its own project, or of those
    named.
    """
    folders: list[Path] = []

    def run(rows: Sequence[Row], projects: Sequence[str] = ()) -> Path:
        names = list(dict.fromkeys(str(row["session"]) for row in rows))
        of_sessions = projects or [f"project of {name}" for name in names]
        sessions = [
            {"session": name, "project": project, "status": "ok"}
            for name, project in zip(names, of_sessions, strict=True)
        ]
        folders.append(tmp_path / f"run-{len(folders)}")
        return written(folders[-1], {"scores": rows, "sessions": sessions})

    return run


RunOf: TypeAlias = Callable[..., Path]


def gated(new: Path, old: Path, *words: object, margin: float = 0.05) -> Ended:
    """`workbench gate` of one run against another."""
    asked = ["--metric", "exam_recall", "--margin", margin, *words]
    return ended("gate", new, "--baseline", old, *asked, "--json")


def outcome(new: Path, old: Path, *words: object) -> str:
    """What the gate says of all strategies; the exit code says the same."""
    command = gated(new, old, *words)
    said: str = command.answer["outcome"]
    assert command.code == EXIT_CODES[said]
    return said


def verdict(new: Path, old: Path, *words: object, margin: float = 0.05) -> Verdict:
    """What the gate says of the only strategy."""
    (only,) = gated(new, old, *words, margin=margin).answer["verdicts"]
    judged: Verdict = only
    return judged


def moved(*by: float) -> list[float]:
    return [round(value + by[i % len(by)], 6) for i, value in enumerate(OLD)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (OLD, "passed"),
        (moved(0.01, 0.02), "passed"),
        (moved(-0.01, 0.0), "passed"),
        (moved(-0.10, -0.09), "failed"),
        (moved(-0.20, 0.18), "failed"),
        (moved(-0.06), "failed"),
        (moved(-0.04), "passed"),
    ],
)
def test_a_loss_within_the_margin_passes_and_what_may_be_more_does_not(
    run_of: RunOf, values: list[float], expected: str
) -> None:
    assert outcome(run_of(scores(values)), run_of(scores(OLD))) == expected


@pytest.mark.parametrize("better", ["higher", "lower"])
@pytest.mark.parametrize("seed", range(3))
def test_a_loss_passes_exactly_where_the_shown_interval_ends_within_the_margin(
    run_of: RunOf, seed: int, better: str
) -> None:
    gaps = np.random.default_rng(seed).exponential(size=8) - 1
    values = [value + gap for value, gap in zip(OLD, gaps, strict=True)]
    new, old = run_of(scores(values, better=better)), run_of(scores(OLD, better=better))
    for margin in (0.2, 0.4, 0.6, 0.8):
        judged = verdict(new, old, margin=margin)
        inside = judged["low"] > -margin if better == "higher" else judged["high"] < margin
        assert (judged["outcome"] == "passed") == inside


def test_where_lower_is_better_a_gain_is_a_loss(run_of: RunOf) -> None:
    up = run_of(scores(moved(0.10, 0.11), better="lower"))
    assert outcome(up, run_of(scores(OLD, better="lower"))) == "failed"


def test_too_few_sessions_are_undecided_but_equal_ones_pass(run_of: RunOf) -> None:
    old = run_of(scores(OLD[:3]))
    judged = verdict(run_of(scores(moved(-0.01)[:3])), old)
    assert judged["outcome"] == "undecided" and "at least 6" in judged["why"]
    assert outcome(old, old) == "passed"


@pytest.mark.parametrize(("lost", "expected"), [(0.04, "passed"), (0.06, "failed")])
def test_each_session_may_be_judged_by_itself(run_of: RunOf, lost: float, expected: str) -> None:
    new = run_of(scores([OLD[0] - lost, *(value + 0.3 for value in OLD[1:3])]))
    judged = verdict(new, run_of(scores(OLD[:3])), "--each")
    assert (judged["outcome"], judged["worst"]) == (expected, "s0")


def test_a_session_that_has_no_value_any_more_fails(run_of: RunOf) -> None:
    whole, lacking = run_of(scores(OLD)), run_of(scores([None, *OLD[1:]]))
    judged = verdict(lacking, whole)
    assert judged["outcome"] == "failed" and "s0" in judged["why"]
    assert outcome(whole, lacking) == "passed"


def test_one_strategy_may_be_held_against_another_of_the_same_run(run_of: RunOf) -> None:
    run = run_of([*scores(OLD, "truncate"), *scores(moved(0.1, 0.12), "mine")])
    judged = verdict(run, run, "-s", "mine", "--against", "truncate")
    assert judged["outcome"] == "passed" and judged["against"] == "truncate"
    assert outcome(run, run, "-s", "truncate", "--against", "mine") == "failed"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--metric", "nonsense"], "known are exam_recall"),
        (["-s", "yours", "--against", "mine"], "known are mine"),
        (["--margin", "0"], "above 0"),
    ],
)
def test_what_cannot_be_judged_is_told_with_what_could(
    run_of: RunOf, capsys: pytest.CaptureFixture[str], words: list[str], complaint: str
) -> None:
    run = str(run_of(scores(OLD)))
    assert (
        main(["gate", run, "-b", run, "--metric", "exam_recall", "--margin", "0.05", *words]) == 2
    )
    assert complaint in " ".join(capsys.readouterr().err.split())


def test_runs_without_a_name_in_common_are_told_with_the_names_of_both(
    run_of: RunOf, capsys: pytest.CaptureFixture[str]
) -> None:
    new, old = run_of(scores(OLD, "mine:n=2")), run_of(scores(OLD, "mine"))
    words = ["-b", str(old), "--metric", "exam_recall", "--margin", "0.05"]
    assert main(["gate", str(new), *words]) == 2
    complaint = " ".join(capsys.readouterr().err.split())
    assert "mine:n=2 here, mine in the baseline; --strategy and --against" in complaint


def test_the_arms_are_not_judged_unless_they_are_named(run_of: RunOf) -> None:
    run = run_of([*scores(OLD, "null"), *scores(OLD, "mine")])
    assert verdict(run, run)["strategy"] == "mine"


def test_runs_that_compacted_nothing_pass_and_say_that_nothing_was_tested(run_of: RunOf) -> None:
    unscored = scores([None] * 3)
    run = run_of([*unscored, *scores([0.0] * 3, metric="compactions")])
    judged = verdict(run, run)
    assert (judged["outcome"], judged["why"]) == (
        "passed",
        "nothing was tested: neither run compacted anything",
    )
    run = run_of([*unscored, *scores([0.0, 1.0, 0.0], metric="compactions")])
    assert outcome(run, run) == "undecided"


def test_a_project_with_many_sessions_decides_nothing_by_itself(run_of: RunOf) -> None:
    projects = ["one"] * 7 + ["two"]
    new, old = run_of(scores(moved(-0.01)), projects), run_of(scores(OLD), projects)
    judged = verdict(new, old)
    assert judged["outcome"] == "undecided" and "too few projects: 2" in judged["why"]
