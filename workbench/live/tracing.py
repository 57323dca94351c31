"""Stages as a host watches them: asked first, given its summary, timed as spans where OpenTelemetry is installed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from importlib import import_module
from types import TracebackType
from typing import Any, Self

from workbench.compaction.engine import Compaction
from workbench.compaction.plan import Draft, Plan
from workbench.compaction.stage import Budget, Stage
from workbench.compaction.strategy import Strategy
from workbench.transcript.context import Context

TRACER = "workbench"


@dataclass(slots=True)
class Watch:
    """What happens around the stages of one compaction.

    Attributes:
        allow: the host's word on each stage.
        supplied: the host's summary, to stand where a model would be asked.
        used: whether it was.
    """

    spans: Spans
    allow: Callable[[str, Context, Budget], bool | None] | None = None
    supplied: str | None = None
    used: bool = False

    def strategy(self, strategy: Strategy, *first: Stage) -> Strategy:
        """The same strategy, watched; `first` come before its own stages."""
        return replace(strategy, stages=tuple(Watched(stage, self) for stage in (*first, *strategy.stages)))

    def plan(self, stage: Stage, context: Context, budget: Budget) -> Plan | None:
        """The stage's plan, if the host lets it."""
        if self.allow is not None and self.allow(stage.name, context, budget) is False:
            return None
        self.spans.stage(stage.name, context.tokens)
        plan = stage.plan(context, budget)
        if plan is None or self.supplied is None:
            return plan
        edits = tuple(
            replace(edit, by=tuple(self._told(one) if isinstance(one, Draft) else one for one in edit.by))
            for edit in plan.edits
        )
        return replace(plan, edits=edits)

    def _told(self, draft: Draft) -> Draft:
        self.used = True
        return replace(draft, requests=(), template="", footer=(self.supplied or "") + draft.footer)


@dataclass(frozen=True, slots=True)
class Watched:
    """A stage of a watched compaction."""

    stage: Stage
    watch: Watch

    @property
    def name(self) -> str:
        """The stage's own."""
        return self.stage.name

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The stage's own plan, or None where the host skips it."""
        return self.watch.plan(self.stage, context, budget)


class Spans:
    """OpenTelemetry spans of one compaction, one a stage inside one of the whole; nothing where its API is missing."""

    def __init__(self, preset: str, budget: Budget, tokens: int) -> None:
        self._tracer = _tracer()
        self._whole = self._span(
            "compaction", preset=preset, reason=budget.reason, tokens_before=tokens, target=budget.target
        )
        self._stage: AbstractContextManager[Any] | None = None
        self._open: Any = None  # a Span; the package that has its type may not be installed

    def __enter__(self) -> Self:
        if self._whole is not None:
            self._root = self._whole.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close(None, kind, error, trace)
        if self._whole is not None:
            self._whole.__exit__(kind, error, trace)

    def stage(self, name: str, tokens: int) -> None:
        """The next stage starts; the one before it has ended with so many tokens."""
        self._close(tokens)
        self._stage = self._span(f"compaction.stage {name}", stage=name, tokens_before=tokens)
        if self._stage is not None:
            self._open = self._stage.__enter__()

    def ended(self, done: Compaction) -> None:
        """The compaction is done."""
        self._close(done.after.tokens)
        if self._whole is not None:
            self._root.set_attribute("workbench.outcome", done.outcome)
            self._root.set_attribute("workbench.tokens_after", done.sent.tokens)

    def _close(
        self,
        tokens: int | None,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        if self._stage is not None:
            if tokens is not None:
                self._open.set_attribute("workbench.tokens_after", tokens)
            self._stage.__exit__(kind, error, trace)
            self._stage = None

    def _span(self, name: str, **attributes: str | int) -> AbstractContextManager[Any] | None:
        if self._tracer is None:
            return None
        named = {f"workbench.{key}": value for key, value in attributes.items()}
        span: AbstractContextManager[Any] = self._tracer.start_as_current_span(name, attributes=named)
        return span


def _tracer() -> Any:  # noqa: ANN401 - an optional extra: its types are not here when it is not installed
    try:
        return import_module("opentelemetry.trace").get_tracer(TRACER)
    except ImportError:
        return None
