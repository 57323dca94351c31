"""A live compactor's compactions as spans, by the real SDK."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from live.talk import openai

from workbench import Cancel, Compactor, Completion, Hooks, ModelError, SummaryRequest
from workbench.live.events import CompactionEnded

pytest.importorskip("opentelemetry.sdk")

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from workbench.live.dropins.opentelemetry import CompactionSpans

NO_HOOKS = Hooks()


class Writer:
    """A model whose answers cost a cent and take a second and a half."""

    name = "claude-haiku-4-5"
    at_once = True

    def complete(self, request: SummaryRequest, /) -> Completion:
        return Completion(
            text="The parts were read.",
            model=self.name,
            input_tokens=900,
            output_tokens=5,
            usd=0.01,
            seconds=1.5,
        )


class Broken(Writer):
    """A model that fails."""

    def complete(self, request: SummaryRequest, /) -> Completion:
        raise ModelError("down")


def compacted(model: Writer, hooks: Hooks = NO_HOOKS) -> tuple[Compactor, list[ReadableSpan]]:
    """A compactor after a request that was too large, and the spans that its agent exported; the
    agent's own is the last.
    """
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("agent")
    live = Compactor(
        "summarize",
        model=model,
        window=8_000,
        on_event=CompactionSpans("chat-1", tracer),
        hooks=hooks,
    )
    with tracer.start_as_current_span("turn"):
        live.before_request(openai(40))
    return live, list(exporter.get_finished_spans())


def of(span: ReadableSpan) -> Mapping[str, Any]:
    attributes: Mapping[str, Any] = span.attributes
    return attributes


def test_a_compaction_is_a_span_of_the_turn_and_its_summary_a_span_of_it() -> None:
    live, (summary, compaction, turn) = compacted(Writer())
    (event,) = [event for event in live.events if isinstance(event, CompactionEnded)]
    assert compaction.name == "compaction 1" and compaction.parent == turn.context
    assert of(compaction) == {
        "gen_ai.conversation.id": "chat-1",
        "workbench.compaction.strategy": "summarize",
        "workbench.compaction.reason": "threshold",
        "workbench.compaction.window": 8_000,
        "workbench.compaction.target": of(compaction)["workbench.compaction.target"],
        "workbench.compaction.tokens_before": event.tokens_before,
        "workbench.compaction.tokens_after": event.tokens_after,
        "workbench.compaction.outcome": "compacted",
        "workbench.compaction.why": "",
        "workbench.compaction.usd": 0.01,
    }
    assert summary.parent == compaction.context and summary.kind is SpanKind.CLIENT
    assert summary.name == "chat claude-haiku-4-5"
    assert of(summary) == {
        "gen_ai.conversation.id": "chat-1",
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-haiku-4-5",
        "gen_ai.usage.input_tokens": 900,
        "gen_ai.usage.output_tokens": 5,
    }
    assert summary.end_time is not None and summary.start_time is not None
    assert summary.end_time - summary.start_time == 1_500_000_000


def test_no_span_holds_a_word_of_the_conversation_or_of_a_summary() -> None:
    _, spans = compacted(Writer())
    assert "part" not in " ".join(span.to_json() for span in spans)


def test_a_summariser_that_fails_and_a_note_in_its_place_are_seen() -> None:
    _, (summary, compaction, _) = compacted(Broken())
    assert summary.status.status_code is StatusCode.ERROR
    assert summary.status.description == "down"
    assert of(compaction)["workbench.compaction.outcome"] == "compacted"


def test_a_compaction_that_the_host_cancels_has_a_span_with_its_reason() -> None:
    hooks = Hooks(before=lambda due: Cancel("not now"))
    _, (compaction, _) = compacted(Writer(), hooks)
    assert of(compaction)["workbench.compaction.outcome"] == "cancelled"
    assert of(compaction)["workbench.compaction.why"] == "not now"
    assert "workbench.compaction.tokens_after" not in of(compaction)


def test_a_compaction_that_fails_is_a_span_with_an_error() -> None:
    def refuse(due: object) -> None:
        raise ValueError("no")

    _, (compaction, _) = compacted(Writer(), Hooks(before=refuse))
    assert compaction.status.status_code is StatusCode.ERROR
    assert of(compaction)["workbench.compaction.outcome"] == "failed"
