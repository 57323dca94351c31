"""One compaction of a living history: the host's hooks, the engine, and the events around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import RLock

from workbench.compaction.engine import Compaction, compact
from workbench.compaction.plan import Draft, Plan
from workbench.compaction.stage import Budget, Stage
from workbench.compaction.stages.repair_pairs import RepairPairs
from workbench.compaction.stages.summarize import Summarize
from workbench.compaction.strategy import Strategy
from workbench.errors import ModelError, SettingError
from workbench.live.budgets import Brake, Budgets
from workbench.live.events import (
    AutomaticStopped,
    CompactionCancelled,
    CompactionDiscarded,
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    Event,
)
from workbench.live.hooks import Cancel, Cause, Due, Hooks, Supply
from workbench.live.memory import Snapshot
from workbench.live.tracing import CompactionTrace
from workbench.models.model import Completion, Model, SummaryRequest
from workbench.models.provider_errors import Verdict
from workbench.transcript.context import Context
from workbench.transcript.message import Message, Usage

REPAIR = Strategy("repair", (RepairPairs(),))


class Runner:
    """Runs compactions. If one breaks off, the history stays as it was.

    Attributes:
        brake: keeps compactions from following each other without effect.
    """

    def __init__(
        self, budgets: Budgets, model: Model | None, hooks: Hooks, tell: Callable[[Event], None], lock: RLock
    ) -> None:
        self.budgets, self.gauge, self.memory = budgets, budgets.gauge, budgets.gauge.memory
        self.hooks, self.tell, self.lock = hooks, tell, lock
        self.model = _NoModel(budgets.preset.name) if model is None else model
        self.brake = Brake()
        self.number = 0

    def attempt(self, budget: Budget, cause: Cause, strategy: Strategy) -> Compaction | None:
        """A compaction that may fail: without a summary from the model it counts as one without effect."""
        try:
            return self.run(budget, cause, strategy)
        except ModelError:
            self._settle(budget, 0, 0)
            return None

    def run(self, budget: Budget, cause: Cause, strategy: Strategy) -> Compaction | None:
        """The compaction; None where the host cancelled it or the history changed meanwhile.

        Raises:
            ModelError: the model wrote no summary.
        """
        before = self.memory.state.sent.tokens
        done = self._done(budget, cause, strategy)
        with self.lock:
            self.gauge.weigh()
            if done is None:
                self.brake.wait(self.gauge.spoken, budget.window, self.budgets.settings)
            else:
                self._settle(budget, before, before if done.outcome == "unchanged" else done.sent.tokens)
        return done

    def remedy(self, verdict: Verdict) -> bool:
        """Do what helps against a provider's error; whether the next request differs from the one that failed."""
        if verdict.action == "lower_output":
            return verdict.output is not None
        preset, window = self.budgets.preset, self.budgets.window
        if verdict.action == "repair":
            budget = Budget(target=self.memory.state.sent.tokens, window=window, reason="repair", force=True)
            done = self.attempt(budget, "error", REPAIR)
        elif verdict.action == "compact" or verdict.kind == "bytes":
            if verdict.used:
                self.gauge.take(Usage(input=verdict.used), refused=True)
            done = self.attempt(self.budgets.forced("overflow"), "error", preset.overflow or preset.strategy)
        else:
            return False
        return done is not None and done.outcome != "unchanged"

    def _settle(self, budget: Budget, before: int, after: int) -> None:
        settings = self.budgets.settings
        self.brake.wait(self.gauge.spoken, budget.window, settings)
        if self.brake.record(before, after, settings):
            self.tell(AutomaticStopped(self.brake.ineffective))

    def _done(self, budget: Budget, cause: Cause, strategy: Strategy) -> Compaction | None:
        with self.lock:
            start, before = self.memory.snapshot(), self.memory.state.sent.tokens
            self.number += 1
            number = self.number
        self.tell(CompactionStarted(number, cause, budget.reason, before, budget.target, budget.window))
        try:
            choice = self.hooks.before(Due(number, cause, start.kept, budget)) if self.hooks.before else None
            if isinstance(choice, Cancel):
                self.tell(CompactionCancelled(number, choice.why))
                return None
            with CompactionTrace(self.budgets.preset.name, budget, before) as trace:
                stages = _StageHooks(trace, self.hooks, choice.summary if isinstance(choice, Supply) else None)
                done = self._compacted(start, strategy, budget, stages)
                trace.ended(done)
            with self.lock:
                why = self.memory.take(done, start) if done.outcome != "unchanged" else ""
        except BaseException as error:
            self.tell(CompactionFailed(number, f"{type(error).__name__}: {error}"))
            raise
        if why:
            self.tell(CompactionDiscarded(number, why))
            return None
        self._ended(number, done, before, stages.used)
        return done

    def _compacted(self, start: Snapshot, strategy: Strategy, budget: Budget, stages: _StageHooks) -> Compaction:
        """By the strategy; where it does not use the host's summary, with a summary's stage before its own."""
        done = compact(start.kept, stages.around(strategy), budget, self.model)
        if stages.supplied is None or stages.used:
            return done
        return compact(start.kept, stages.around(strategy, Summarize()), budget, self.model)

    def _ended(self, number: int, done: Compaction, before: int, supplied: bool) -> None:
        costs = [completion.usd for completion in done.completions if completion.usd is not None]
        usd = sum(costs) if len(costs) == len(done.completions) else None
        after = before if done.outcome == "unchanged" else done.sent.tokens
        self.tell(CompactionEnded(number, done.outcome, done.why, before, after, done.stages, usd, supplied))
        if self.hooks.after is not None:
            self.hooks.after(done)


@dataclass(slots=True)
class _StageHooks:
    """The hooks around the stages of one compaction.

    Attributes:
        supplied: the host's summary, used where a model would be asked.
        used: whether it was used.
    """

    trace: CompactionTrace
    hooks: Hooks
    supplied: str | None = None
    used: bool = False

    def around(self, strategy: Strategy, *first: Stage) -> Strategy:
        """The strategy with these hooks; `first` come before its own stages."""
        return replace(strategy, stages=tuple(_HookedStage(stage, self) for stage in (*first, *strategy.stages)))

    def plan(self, stage: Stage, context: Context, budget: Budget) -> Plan | None:
        """The stage's plan, unless the host skips the stage."""
        allow = self.hooks.before_stage
        if allow is not None and allow(stage.name, context, budget) is False:
            return None
        self.trace.stage(stage.name, context.tokens)
        plan = stage.plan(context, budget)
        if plan is None or self.supplied is None:
            return plan
        edits = tuple(replace(edit, by=tuple(map(self._with_summary, edit.by))) for edit in plan.edits)
        return replace(plan, edits=edits)

    def _with_summary(self, part: Message | Draft) -> Message | Draft:
        if not isinstance(part, Draft):
            return part
        self.used = True
        return replace(part, requests=(), template="", footer=(self.supplied or "") + part.footer)


@dataclass(frozen=True, slots=True)
class _HookedStage:
    stage: Stage
    hooks: _StageHooks

    @property
    def name(self) -> str:
        return self.stage.name

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        return self.hooks.plan(self.stage, context, budget)


@dataclass(frozen=True, slots=True)
class _NoModel:
    """Used when no model is configured."""

    preset: str
    name: str = "none"

    def complete(self, request: SummaryRequest, /) -> Completion:
        raise SettingError(f"preset {self.preset!r} asks a model for a summary: pass one as `model`")
