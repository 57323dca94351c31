"""Calls that tell again what a conversation had told are counted in the table of trials."""

from __future__ import annotations

from pathlib import Path

from lab.trials.tried import Caller, call, tried

RULES = "a crate counts from five kilos on\nhailed fruit is paid less\n"
OTHER = "the lamp was tested by hand\nthe horn answers late\n"
PLAN_READS = "docs/services.md"
"""A file that the plan of the task reads in its first turn."""


def counts(folder: Path, *results: str) -> tuple[int, int]:
    """The calls whose results are these texts, and those of them that told again."""
    made = [call("bash", command=f"printf %s '{text}'") for text in results]
    trial = tried(folder, "none", agent=Caller(*made), no_sandbox=True)["none"]
    return trial.row["calls"], trial.row["again"]


def test_a_file_that_is_read_again_in_another_way_counts(tmp_path: Path) -> None:
    numbered = "    1\ta crate counts from five kilos on\n    2\thailed fruit is paid less\n"
    assert counts(tmp_path, RULES, numbered) == (2, 1)


def test_what_was_told_first_does_not_count(tmp_path: Path) -> None:
    assert counts(tmp_path, RULES, OTHER) == (2, 0)


def test_the_beginning_is_known_but_its_calls_do_not_count(tmp_path: Path) -> None:
    agent = Caller(call("bash", command=f"cat {PLAN_READS}"), call("bash", command="date +%s%N"))
    trial = tried(tmp_path, "none", agent=agent, no_sandbox=True, turns=1)["none"]
    assert len(trial.said("tool")) > 20
    assert (trial.row["calls"], trial.row["again"]) == (2, 1)


def test_a_result_with_more_new_lines_than_old_ones_is_not_told_again(tmp_path: Path) -> None:
    more = f"{RULES}{OTHER}and a third line of its own"
    assert counts(tmp_path, OTHER, more) == (2, 0)


def test_short_lines_are_in_many_results(tmp_path: Path) -> None:
    assert counts(tmp_path, "ok\n}\n", "ok\n}\n") == (2, 0)
