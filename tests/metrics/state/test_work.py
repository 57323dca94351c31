from __future__ import annotations

import numpy as np
import pytest

from builders import called, result, said, told
from workbench.metrics.index import Index
from workbench.metrics.state.work import done_and_other_lines, says_done
from workbench.transcript.message import Message


def index(*messages: Message) -> Index:
    return Index([*messages])


def states(of: Index, kept: list[int], *texts: str, at: int | None = None) -> dict[str, int]:
    mask = np.zeros(len(of.messages), dtype=bool)
    mask[kept] = True
    found = of.work.states(len(of.messages) if at is None else at, mask, texts)
    return {name: n for name, n in found.items() if n}


LISTED = index(
    said("plan it"),
    called("todowrite", "c1", todos=[{"content": "migrate the user table", "status": "pending"},
                                     {"content": "delete the legacy cron job", "status": "pending"}]),
    result("ok", "c1"),
    called("todowrite", "c2", todos=[{"content": "migrate the user table", "status": "completed"},
                                     {"content": "delete the legacy cron job", "status": "in_progress"}]),
)  # fmt: skip


def test_open_work_is_stated_where_its_list_is_kept() -> None:
    assert states(LISTED, [3]) == {"stated": 1, "settled": 1}
    assert states(LISTED, [0]) == {"missing": 1, "settled": 1}


def test_done_work_comes_back_where_only_the_older_list_is_kept() -> None:
    assert states(LISTED, [1]) == {"stated": 1, "resurrected": 1}
    assert states(LISTED, [1, 3]) == {"stated": 1, "settled": 1}


def test_a_summary_brings_done_work_back_unless_it_says_so() -> None:
    assert states(LISTED, [], "Next: migrate the user table") == {"missing": 1, "resurrected": 1}
    assert states(LISTED, [], "## Done\n- migrate the user table") == {"missing": 1, "settled": 1}
    assert states(LISTED, [], "- [x] migrate the user table") == {"missing": 1, "settled": 1}


def test_before_it_was_done_it_was_open() -> None:
    assert states(LISTED, [1], at=3) == {"stated": 2}


def test_a_ticked_box_and_a_plain_sentence_end_work() -> None:
    boxes = index(told("- [ ] rewrite the billing export"), told("- [x] rewrite the billing export"))
    assert states(boxes, [1]) == {"settled": 1}
    more = [told("we need to see, and it is still so", f"f{i}") for i in range(9)]
    words = index(*more, told("We still need to rewrite the billing export."), told("Done: rewrite of billing export."))
    assert states(words, [10]) == {"settled": 1}


def test_work_that_looks_alike_does_not_end_it() -> None:
    words = index(told("We still need to rewrite the billing export."), told("The tax import is done."))
    assert states(words, [0, 1]) == {"stated": 1}


@pytest.mark.parametrize("line", ["- [x] migrate the table", "the migration is finished", "Fixed the retry bug"])
def test_a_line_says_done(line: str) -> None:
    assert says_done(line)


@pytest.mark.parametrize(
    "line", ["- [ ] migrate", "not done yet", "it will be finished on Monday", "must be fixed", "we look at it"]
)
def test_a_line_does_not_say_done(line: str) -> None:
    assert not says_done(line)


def test_a_heading_says_it_for_its_lines() -> None:
    found = done_and_other_lines("## Completed work\n- the parser\n- [ ] the printer\n## Open\n- the lexer")
    assert found == ("- the parser", "- [ ] the printer\n- the lexer")
