"""A session is made ready for replays: counted and calibrated, and its entities are extracted."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import workbench as wb
from builders import remembering, rules
from workbench import Session, prepared
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.evaluation.metrics.index import Index

SESSION = Session.of([rules("be brief"), *remembering(30)])
SHORT = Session.of(SESSION.messages[:2])


def test_it_has_every_size_and_everything_that_was_said() -> None:
    ready = prepared(SESSION, 6_000)
    assert ready.sizing.sizes == tuple(map(TiktokenCounter(), SESSION.messages))
    assert list(ready.index.entities) == list(Index(SESSION.messages).entities)
    assert ready.window == 6_000


WRONG: list[tuple[Callable[[], object], str]] = [
    (
        lambda: wb.replay(SHORT, "truncate", window=10),
        "`window` is 10; it must be at least 1000",
    ),
    (lambda: wb.compare(SHORT, window=10), "`window` is 10; it must be at least 1000"),
    (lambda: prepared(SHORT, 10), "`window` is 10; it must be at least 1000"),
    (
        lambda: wb.replay(prepared(SHORT), "truncate", window=10),
        "`window` is 10; it must be at least 1000",
    ),
    (
        lambda: wb.replay(SHORT, "truncate", window="8k"),  # type: ignore[arg-type]  # text
        "window is '8k'; a whole number of at least 1000",
    ),
    (
        lambda: wb.replay("s.jsonl", "truncate"),  # type: ignore[arg-type]  # a file
        "session is 's.jsonl'; a session, such as wb.load gives, would be",
    ),
    (lambda: wb.exam(SHORT, at=100), "at is 100; the session's boundaries are 0 to 2"),
    (lambda: wb.exam(SHORT, at=-1), "at is -1; a whole number of at least 0 would be accepted"),
    (lambda: wb.exam(SHORT, at=1.5), "at is 1.5; a whole number of at least 0 would be accepted"),  # type: ignore[arg-type]
    (
        lambda: wb.compare(None),  # type: ignore[arg-type]  # nothing
        "None is nothing to read; files, folders, patterns or sessions would be accepted",
    ),
    (lambda: wb.load(None), "None names no file; paths as text would be accepted"),  # type: ignore[arg-type]
    (lambda: wb.load(b"s.jsonl"), "b's.jsonl' names no file; paths as text would be accepted"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("use", "sentence"), WRONG, ids=[sentence for _, sentence in WRONG])
def test_an_argument_that_cannot_work_is_refused_in_a_sentence(
    use: Callable[[], object], sentence: str
) -> None:
    with pytest.raises(wb.WorkbenchError) as error:
        use()
    assert sentence in str(error.value)
