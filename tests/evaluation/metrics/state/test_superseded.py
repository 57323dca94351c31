from __future__ import annotations

import numpy as np
import pytest

from builders import called, result, said, told
from workbench.engine.transcript.message import Message
from workbench.evaluation.metrics.index import Index


def index(*messages: Message) -> Index:
    return Index([*messages])


def pairs(of: Index) -> list[tuple[str, str]]:
    return [(change.old, change.new) for change in of.changes.changes]


def stale(of: Index, kept: list[int], *texts: str, at: int | None = None) -> tuple[int, int]:
    mask = np.zeros(len(of.messages), dtype=bool)
    mask[kept] = True
    return of.changes.stale(len(of.messages) if at is None else at, mask, texts)


OLD = "at most 200 lines an upload, otherwise several files"


@pytest.mark.parametrize(
    ("old", "new", "pair"),
    [
        (OLD, "150 lines an upload, not 200. Their proxy.", ("200", "150")),
        ("Keep reports for 400 days.", "the auditor wants reports for 1095 days instead of 400", ("400", "1095")),
        ("the grace of a hold is 45 minutes", "raised the grace of the hold from 45 to 60 minutes", ("45", "60")),
        ("In clause 14 the deduction of 150 holds.", "In clause 14 the deduction of 150 becomes 180.", ("150", "180")),
        ("retry limit of the mailer is 3000", "From now on retry limit of the mailer is 5000", ("3000", "5000")),
        ("* At most 500 records a file.", "they update it: up to 750 records a file, Petr says", ("500", "750")),
        ("the queue is called job_queue", "the queue is called work_queue, not job_queue", ("job_queue", "work_queue")),
    ],
)  # fmt: skip
def test_a_value_that_is_said_to_change_is_found(old: str, new: str, pair: tuple[str, str]) -> None:
    assert pair in pairs(index(said(old), said(new)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (OLD, "150 files were sent, not bad"),
        ("the retry limit of the mailer is 3000", "the page has 5000 visitors"),
        ("the retry limit of the mailer is 3000", "From now on the colour of the banner is 5000"),
        ("* At most 500 records a file.", "at least 750 records a file"),
        ("* At most 500 records a file.", "up to 750 records in the log"),
        ("nothing of the kind", "150 lines an upload, not 200"),
    ],
)
def test_a_number_that_replaces_nothing_is_none(old: str, new: str) -> None:
    assert pairs(index(said(old), said(new))) == []


def test_an_edit_of_one_value_in_a_line_is_a_change() -> None:
    edit = called(
        "edit",
        "c1",
        path="a.py",
        old_string="hold_minutes: int = 45",
        new_string="hold_minutes: int = 60",
    )
    assert pairs(index(result("hold_minutes: int = 45"), edit)) == [("45", "60")]
    other = called("edit", "c1", path="a.py", old_string="minutes = 45", new_string="seconds = 60")
    assert pairs(index(result("minutes = 45"), other)) == []


LIMIT = index(said(OLD), told("noted"), said("150 lines an upload, not 200."), told("noted"))


def test_a_value_is_stale_where_the_old_one_alone_is_there() -> None:
    assert stale(LIMIT, [0]) == (1, 1)
    for kept in ([0, 2], [2], [1, 3]):
        assert stale(LIMIT, kept) == (0, 1)


def test_a_summary_gives_a_value_only_beside_what_it_is_about() -> None:
    assert stale(LIMIT, [], "an upload has 200 lines") == (1, 1)
    assert stale(LIMIT, [], "an upload has 200 lines, no: an upload has 150 lines") == (0, 1)
    assert stale(LIMIT, [], "the shop has 200 rooms") == (0, 1)
    assert stale(LIMIT, [], "an upload has 2000 lines") == (0, 1)


def test_before_the_change_nothing_was_replaced() -> None:
    assert stale(LIMIT, [0], at=2) == (0, 0)


def test_a_value_that_is_replaced_again_counts_once_with_the_newest() -> None:
    port = index(
        said("the server listens on port 8090 today"),
        said("the server listens on port 8112, not 8090"),
        said("the server listens on port 9140, not 8112"),
    )
    assert stale(port, [1]) == (1, 1)
    assert stale(port, [2]) == (0, 1)
