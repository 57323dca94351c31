from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import pytest

from builders import remembering, rules
from workbench import (
    Budget,
    Completion,
    Context,
    Plan,
    Preset,
    Session,
    Strategy,
    SummaryRequest,
    find_model,
    prepared,
    preset,
)
from workbench.engine.compaction.stages import BUILTIN as STAGES
from workbench.engine.transcript.message import Message
from workbench.lab.validation.checks import blindness

MESSAGES = (rules("be brief"), *remembering(40))
READY = prepared(Session.of(MESSAGES, id="one", project="one"))


@dataclass
class Peeking:
    """A stage that keeps more each time it is asked: its output depends on what it remembers,
    not on the context.
    """

    name: ClassVar[str] = "peeking"
    calls: list[int] = field(default_factory=list)

    def plan(self, context: Context, budget: Budget) -> Plan | None:
        self.calls.append(1)
        return STAGES["truncate"]().plan(context, budget) if len(self.calls) % 2 else None


class Knowing:
    """A model that knows how the session is really called."""

    name: ClassVar[str] = "knowing"

    def __init__(self, future: Sequence[Message]) -> None:
        self.asked = 0
        self.future = future

    def complete(self, request: SummaryRequest) -> Completion:
        self.asked += 1
        return Completion(
            text=f"answer {self.asked} about {self.future[-self.asked].id}", model=self.name
        )


def what_was_read(writer: object, request: SummaryRequest) -> Completion:
    """A summary by rules, if it depended on what the writer's index has read of the future."""
    reader = getattr(writer, "reader")  # noqa: B009
    return Completion(text=f"{len(reader.extractor.spans)} lines were read", model="extractive")


def test_strategies_are_blind() -> None:
    assert blindness([READY]).outcome == "passed"


def test_a_stage_whose_output_depends_on_more_than_the_context_fails() -> None:
    check = blindness([READY], [Preset("peeking", Strategy("peeking", (Peeking(),)))])
    assert check.failed
    assert "peeking" in check.where[0]


def test_a_model_that_knows_the_future_fails() -> None:
    assert blindness([READY], [preset("summarize")], Knowing(MESSAGES)).failed


def test_a_writer_that_knows_what_its_index_has_read_of_the_future_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    writer = find_model("extractive")
    assert blindness([READY], [preset("summarize")], writer).outcome == "passed"
    monkeypatch.setattr(type(writer), "complete", what_was_read)
    assert blindness([READY], [preset("summarize")], writer).failed


def test_a_short_session_is_skipped() -> None:
    assert blindness([prepared(Session.of(MESSAGES[:9]))]).outcome == "skipped"
