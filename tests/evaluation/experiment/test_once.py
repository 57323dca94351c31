"""Each message is parsed, counted and extracted once, whatever the number of strategies and
metrics.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from builders import remembering, rules
from workbench import Session, find_model, prepared, preset, save
from workbench.engine.extraction.extractor import Extractor
from workbench.engine.transcript.message import Message, chars_per_token
from workbench.evaluation.experiment.prepared import read
from workbench.evaluation.experiment.replay_rows import replay_rows
from workbench.evaluation.experiment.sources import SessionSource
from workbench.evaluation.experiment.spec import RunSpec
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.replays.sizing import Sizing

STRATEGIES = ("none", "truncate", "summarize", "pipeline", "null")


class Counting:
    """A token counter that remembers how often it was asked about each message."""

    def __init__(self) -> None:
        self.asked: Counter[int] = Counter()

    def __call__(self, message: Message, /) -> int:
        self.asked[id(message)] += 1
        return chars_per_token(message)


def test_a_recorded_message_is_counted_and_extracted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session.of([rules("be brief"), *remembering(60)])
    counter = Counting()
    sizing = Sizing.of(session, [counter(message) for message in session.messages], counter)
    ready = prepared(session, 6_000)
    read_of: Counter[int] = Counter()
    read_message = Extractor.read_message

    def counted(extractor: Extractor, message: Message) -> object:
        read_of[id(message)] += 1
        return read_message(extractor, message)

    monkeypatch.setattr(Extractor, "read_message", counted)
    index = Index(session.messages)
    ready = replace(ready, sizing=sizing, index=index)
    for name in STRATEGIES:
        tables = replay_rows(ready, preset(name), find_model("extractive"), RunSpec())
        assert tables["scores"]
    assert {counter.asked[id(message)] for message in session.messages} == {1}
    assert {read_of[id(message)] for message in session.messages} == {1}


def test_a_file_is_parsed_once_a_process(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    save(Session.of(remembering(30)), path)
    source = SessionSource(path=path)
    assert read(source, 6_000) is read(source, 6_000)
    save(Session.of(remembering(40)), path)
    assert len(read(source, 6_000).ready[0].session.messages) == 160
