"""Spans of a compaction, where OpenTelemetry is installed; and its absence where it is not."""

from __future__ import annotations

import sys

import pytest
from live.talk import openai

from workbench.live.compactor import Compactor
from workbench.live.events import CompactionEnded
from workbench.models.extractive import Extractive


def test_without_opentelemetry_a_compaction_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", None)
    live = Compactor("pipeline", model=Extractive(), window=3_000)
    live.before_request(openai(30))
    assert any(isinstance(event, CompactionEnded) for event in live.events)


def test_each_stage_is_a_span_inside_that_of_the_compaction() -> None:
    pytest.importorskip("opentelemetry.sdk", reason="OpenTelemetry's SDK is not installed")
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    live = Compactor("pipeline", model=Extractive(), window=3_000)
    live.before_request(openai(30))
    ended = next(event for event in live.events if isinstance(event, CompactionEnded))
    *stages, whole = exporter.get_finished_spans()
    assert whole.name == "compaction" and whole.attributes is not None
    assert whole.attributes["workbench.tokens_after"] == ended.tokens_after
    assert whole.attributes["workbench.outcome"] == "compacted"
    assert {stage.name for stage in ended.stages} <= {str((one.attributes or {})["workbench.stage"]) for one in stages}
    assert all(one.parent is not None and one.parent.span_id == whole.context.span_id for one in stages)
    assert all((one.attributes or {})["workbench.tokens_after"] for one in stages)
