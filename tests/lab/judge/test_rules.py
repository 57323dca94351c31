"""A model decides what code leaves open about a rule."""

from __future__ import annotations

from pathlib import Path

import pytest
from replay_rows import rules_after

from builders import said

RULE = said("Never push to the main branch.", "rule")


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("Kept.", "other words"),
        ("Not kept, it says the opposite: contradicted", "contradicted"),
        ("lost", "lost"),
        ("I would rather not say.", "unsure"),
    ],
)
def test_its_last_word_counts(answer: str, outcome: str, tmp_path: Path) -> None:
    (row,) = rules_after(tmp_path, "Pushed to main.", [RULE], grader=answer)
    assert row["outcome"] == outcome
    assert row["reason"].startswith("scripted ")


def test_it_is_not_asked_where_code_is_sure_or_nothing_was_written(tmp_path: Path) -> None:
    summary = "Never push to the main branch."
    (sure,) = rules_after(tmp_path, summary, [RULE], grader="lost")
    assert (sure["outcome"], sure["reason"]) == ("word for word", "")
    (unread,) = rules_after(tmp_path, summary, [RULE], strategy="truncate", grader="kept")
    assert unread["outcome"] == "lost" and "scripted" not in unread["reason"]
