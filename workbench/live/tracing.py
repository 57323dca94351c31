"""OpenTelemetry spans of a compaction, where its API is installed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any, Self

from workbench.compaction.engine import Compaction
from workbench.compaction.stage import Budget

TRACER = "workbench"


class CompactionTrace(ExitStack):
    """One span of the compaction, with one of each stage inside it; nothing where OpenTelemetry is missing."""

    def __init__(self, preset: str, budget: Budget, tokens: int) -> None:
        super().__init__()
        known: dict[str, str | int] = {
            "preset": preset,
            "reason": budget.reason,
            "tokens_before": tokens,
            "target": budget.target,
        }
        self._whole = _span("compaction", known)
        self._stages = ExitStack()
        self._span: Any = None  # the open stage's Span; the package that has its type may not be installed

    def __enter__(self) -> Self:
        self._compaction = self.enter_context(self._whole)
        self.push(lambda *error: self._stages.__exit__(*error))
        return self

    def stage(self, name: str, tokens: int) -> None:
        """The next stage starts; the one before it has ended with so many tokens."""
        self._end_stage(tokens)
        span = _span(f"compaction.stage {name}", {"stage": name, "tokens_before": tokens})
        self._span = self._stages.enter_context(span)

    def ended(self, done: Compaction) -> None:
        """The compaction is done."""
        self._end_stage(done.after.tokens)
        if self._compaction is not None:
            self._compaction.set_attribute("workbench.outcome", done.outcome)
            self._compaction.set_attribute("workbench.tokens_after", done.sent.tokens)

    def _end_stage(self, tokens: int) -> None:
        if self._span is not None:
            self._span.set_attribute("workbench.tokens_after", tokens)
        self._stages.close()


def _span(name: str, attributes: Mapping[str, str | int]) -> AbstractContextManager[Any]:
    try:
        from opentelemetry.trace import get_tracer
    except ImportError:
        return nullcontext()
    named = {f"workbench.{key}": value for key, value in attributes.items()}
    return get_tracer(TRACER).start_as_current_span(name, attributes=named)
