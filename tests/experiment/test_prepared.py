"""A session is made ready for replays: counted and calibrated, and its entities are extracted."""

from __future__ import annotations

from builders import remembering, rules
from workbench.experiment.prepared import prepared
from workbench.metrics.index import Index
from workbench.models.tokenizer import TiktokenCounter
from workbench.transcript.session import Session

SESSION = Session.of([rules("be brief"), *remembering(30)])


def test_it_has_every_size_and_everything_that_was_said() -> None:
    ready = prepared(SESSION, 6_000)
    assert ready.sizing.sizes == tuple(map(TiktokenCounter(), SESSION.messages))
    assert list(ready.index.entities) == list(Index(SESSION.messages).entities)
    assert ready.window == 6_000
