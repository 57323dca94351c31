"""The compactions of a live compactor as OpenTelemetry spans.

A span lies below the one that is current in the agent; below it lies one for each answer that a
summariser gave. Like events they hold numbers and reasons, and no text.

Source:
    open-telemetry/semantic-conventions-genai, inference spans. What the conventions have no name
    for is called `workbench.compaction.*`.
"""

from __future__ import annotations

from time import time_ns

from workbench import __version__
from workbench.engine.models.model import Completion
from workbench.engine.models.provider_names import provider_named
from workbench.live.events import CompactionDropped, CompactionEnded, CompactionStarted, Event

try:
    from opentelemetry import trace
    from opentelemetry.context import Context
    from opentelemetry.trace import SpanKind, StatusCode, Tracer
except ImportError as error:
    install_hint = (
        "CompactionSpans needs OpenTelemetry's API;"
        " `pip install 'compaction-workbench[opentelemetry]'` installs it"
    )
    raise ModuleNotFoundError(install_hint, name=error.name) from None

SECOND = 1_000_000_000
"""In nanoseconds."""


class CompactionSpans:
    """A function for `on_event` of a compactor: a span for each compaction."""

    def __init__(self, conversation: str = "", tracer: Tracer | None = None) -> None:
        """Spans of one conversation.

        Args:
            conversation: its id, for `gen_ai.conversation.id`.
            tracer: None takes that of the global provider.
        """
        self._tracer = tracer or trace.get_tracer("workbench", __version__)
        self._shared: dict[str, str] = {}
        if conversation:
            self._shared["gen_ai.conversation.id"] = conversation
        self._started: dict[int, tuple[CompactionStarted, int]] = {}  # with nanoseconds since 1970

    def __call__(self, event: Event) -> None:
        """Remember a compaction that starts, and write the span of one that ends."""
        if isinstance(event, CompactionStarted):
            self._started[event.number] = event, time_ns()
        elif isinstance(event, CompactionEnded | CompactionDropped):
            self._write(event)

    def _write(self, ended: CompactionEnded | CompactionDropped) -> None:
        started, begin = self._started.pop(ended.number)
        completions: list[Completion] = []
        attributes: dict[str, str | int | float] = {
            "strategy": started.strategy,
            "reason": started.reason,
            "window": started.window,
            "target": started.target,
            "tokens_before": started.tokens,
            "outcome": ended.type.removeprefix("compaction_"),
            "why": ended.why,
        }
        if isinstance(ended, CompactionEnded):
            attributes |= {
                "tokens_before": ended.tokens_before,
                "tokens_after": ended.tokens_after,
                "outcome": ended.outcome,
            }
            for stage in ended.stages:
                completions += stage.completions
        if ended.usd is not None:
            attributes["usd"] = ended.usd
        span = self._tracer.start_span(f"compaction {ended.number}", start_time=begin)
        span.set_attributes(self._shared)
        for name, value in attributes.items():
            span.set_attribute(f"workbench.compaction.{name}", value)
        if ended.type == "compaction_failed":
            span.set_status(StatusCode.ERROR, ended.why)
        parent = trace.set_span_in_context(span)
        for completion in completions:
            begin = self._write_completion(completion, begin, parent)
        span.end(max(begin, time_ns()))

    def _write_completion(self, completion: Completion, begin: int, parent: Context) -> int:
        """Write the span of an answer for a summary; when it ends."""
        kind = SpanKind.CLIENT
        if not completion.seconds:  # written in this process
            kind = SpanKind.INTERNAL
        name = f"chat {completion.model}"
        span = self._tracer.start_span(name, parent, kind, start_time=begin)
        span.set_attributes(self._shared)
        span.set_attributes(
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": provider_named(completion.model),
                "gen_ai.request.model": completion.model,
                "gen_ai.usage.input_tokens": completion.input_tokens,
                "gen_ai.usage.output_tokens": completion.output_tokens,
            }
        )
        if completion.fallback:
            span.set_status(StatusCode.ERROR, completion.why)
        end = begin + int(completion.seconds * SECOND)
        span.end(end)
        return end
