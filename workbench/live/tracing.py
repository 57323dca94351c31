"""OpenTelemetry spans of a compaction, where its API is installed."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any, Self

from workbench.compaction.engine import Compaction
from workbench.compaction.stage import Budget

TRACER = "workbench"


class CompactionTrace(ExitStack):
    """One span of the compaction, with one of each stage inside it; nothing where OpenTelemetry is missing."""

    def __init__(self, preset: str, budget: Budget, tokens: int) -> None:
        super().__init__()
        self._attributes: dict[str, str | int] = {
            "preset": preset, "reason": budget.reason, "tokens_before": tokens, "target": budget.target
        }  # fmt: skip
        self._stage = ExitStack()
        self._stage_span: Any = None  # a Span; the package that has its type may not be installed

    def __enter__(self) -> Self:
        self._span = self.enter_context(_span("compaction", **self._attributes))
        self.push(lambda *error: self._stage.__exit__(*error))
        return self

    def stage(self, name: str, tokens: int) -> None:
        """The next stage starts; the one before it has ended with so many tokens."""
        self._end_stage(tokens)
        self._stage_span = self._stage.enter_context(
            _span(f"compaction.stage {name}", stage=name, tokens_before=tokens)
        )

    def ended(self, done: Compaction) -> None:
        """The compaction is done."""
        self._end_stage(done.after.tokens)
        if self._span is not None:
            self._span.set_attribute("workbench.outcome", done.outcome)
            self._span.set_attribute("workbench.tokens_after", done.sent.tokens)

    def _end_stage(self, tokens: int) -> None:
        if self._stage_span is not None:
            self._stage_span.set_attribute("workbench.tokens_after", tokens)
        self._stage.close()


def _span(name: str, **attributes: str | int) -> AbstractContextManager[Any]:
    try:
        from opentelemetry.trace import get_tracer
    except ImportError:
        return nullcontext()
    named = {f"workbench.{key}": value for key, value in attributes.items()}
    return get_tracer(TRACER).start_as_current_span(name, attributes=named)
