from __future__ import annotations

import numpy as np
import pytest

from builders import called, result, said, told
from workbench.engine.transcript.message import Message
from workbench.evaluation.metrics.index import Index


def index(*messages: Message) -> Index:
    return Index([*messages])


def state(of: Index, at: int | None = None) -> dict[str, list[str]]:
    """The texts of open and of finished work, by the last word on each."""
    found = of.work.open_and_done(len(of.messages) if at is None else at)
    texts = [entity.text for entity in of.statements.entities]
    return {
        name: [texts[i] for i in np.flatnonzero(which)]
        for name, which in zip(("open", "done"), found, strict=True)
    }


LISTED = index(
    said("plan it"),
    called("todowrite", "c1", todos=[{"content": "migrate the user table", "status": "pending"},
                                     {"content": "delete the legacy cron job", "status": "pending"}]),
    result("ok", "c1"),
    called("todowrite", "c2", todos=[{"content": "migrate the user table", "status": "completed"},
                                     {"content": "delete the legacy cron job", "status": "in_progress"}]),
)  # fmt: skip


def test_the_newest_task_list_says_what_is_open() -> None:
    assert state(LISTED) == {
        "open": ["delete the legacy cron job"],
        "done": ["migrate the user table"],
    }
    assert state(LISTED, at=3) == {
        "open": ["migrate the user table", "delete the legacy cron job"],
        "done": [],
    }


def test_a_ticked_box_and_a_plain_sentence_end_work() -> None:
    boxes = index(
        told("- [ ] rewrite the billing export"), told("- [x] rewrite the billing export")
    )
    assert (len(state(boxes)["open"]), len(state(boxes)["done"])) == (0, 1)
    more = [told("we need to see, and it is still so", f"f{i}") for i in range(9)]
    words = index(
        *more,
        told("We still need to rewrite the billing export."),
        told("Done: rewrite of billing export."),
    )
    assert (len(state(words)["open"]), len(state(words)["done"])) == (0, 1)


def test_work_that_looks_alike_does_not_end_it() -> None:
    words = index(
        told("We still need to rewrite the billing export."), told("The tax import is done.")
    )
    assert (len(state(words)["open"]), len(state(words)["done"])) == (1, 0)


def left_after(line: str) -> tuple[int, int]:
    """How much work is open and how much is done once a line was said of the one open piece."""
    more = [told("we need to see, and it is still so", f"f{i}") for i in range(9)]
    found = state(index(*more, told("We still need to rewrite the billing export."), told(line)))
    return len(found["open"]), len(found["done"])


@pytest.mark.parametrize(
    "line",
    [
        "- [x] rewrite the billing export",
        "the rewrite of the billing export is finished",
        "Fixed the rewrite of the billing export",
    ],
)
def test_a_line_that_says_done_ends_the_work(line: str) -> None:
    assert left_after(line) == (0, 1)


@pytest.mark.parametrize(
    "line",
    [
        "- [ ] rewrite the billing export",
        "the rewrite of the billing export is not done yet",
        "the rewrite of the billing export will be finished on Monday",
        "the rewrite of the billing export must be fixed",
        "we look at the rewrite of the billing export",
    ],
)
def test_a_line_that_does_not_say_done_leaves_it_open(line: str) -> None:
    left, done = left_after(line)
    assert left and not done
