"""A session is made ready for replays: counted and calibrated, and its entities extracted meanwhile."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Event

import pytest

import workbench.experiment.prepared as module
from builders import remembering, rules
from workbench.experiment.prepared import prepared
from workbench.metrics.index import Index
from workbench.models.tokenizer import TiktokenCounter
from workbench.transcript.message import Message
from workbench.transcript.session import Session

SESSION = Session.of([rules("be brief"), *remembering(30)])
PATIENCE = 30.0
"""Seconds that one side waits for the other before the test has failed."""


def test_it_has_every_size_and_everything_that_was_said() -> None:
    ready = prepared(SESSION, 6_000)
    assert ready.sizing.sizes == tuple(map(TiktokenCounter(), SESSION.messages))
    assert list(ready.index.entities) == list(Index(SESSION.messages).entities)
    assert ready.window == 6_000


def test_counting_and_extraction_go_on_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    counting, extraction = Event(), Event()

    class SlowIndex(Index):
        def __init__(self, messages: Iterable[Message], cwd: str = "") -> None:
            extraction.set()
            assert counting.wait(PATIENCE), "nothing is counted during extraction"
            super().__init__(tuple(messages), cwd)

    class Counting(TiktokenCounter):
        def sizes(self, messages: Iterable[Message]) -> tuple[int, ...]:
            counting.set()
            assert extraction.wait(PATIENCE), "nothing is extracted while the messages are counted"
            return super().sizes(messages)

    monkeypatch.setattr(module, "Index", SlowIndex)
    monkeypatch.setattr(module, "TiktokenCounter", Counting)
    assert len(prepared(SESSION).sizing.sizes) == len(SESSION.messages)


def test_what_goes_wrong_during_extraction_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> Index:
        raise MemoryError("no room")

    monkeypatch.setattr(module, "Index", broken)
    with pytest.raises(MemoryError, match="no room"):
        prepared(SESSION)
