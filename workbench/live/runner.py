"""One compaction of a living history: the host's hooks, the engine, and the events around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import RLock

from workbench.compaction.engine import Compaction, compact
from workbench.compaction.host_policy import Failure, HostPolicy
from workbench.compaction.plan import Draft, Plan
from workbench.compaction.stage import Budget, Stage
from workbench.compaction.stages.repair_pairs import RepairPairs
from workbench.compaction.stages.summarize import Summarize
from workbench.compaction.strategy import Strategy
from workbench.errors import ModelError, SettingError
from workbench.live.events import (
    AutomaticStopped,
    CompactionDropped,
    CompactionEnded,
    CompactionStarted,
    Event,
    RunEnds,
)
from workbench.live.gauge import Gauge
from workbench.live.hooks import Cancel, Cause, Due, Hooks, Supply, is_cancelled
from workbench.models.model import Completion, Model, SummaryRequest
from workbench.models.provider_errors import Diagnosis
from workbench.transcript.context import Context
from workbench.transcript.message import Usage

REPAIR = Strategy("repair", (RepairPairs(),))


class Runner:
    """Runs compactions. If one breaks off, the history stays as it was.

    Attributes:
        patience: tokens of messages below which the trigger is not asked again.
        ineffective: how many compactions in a row had no effect.
        vain: how many attempts in a row came to nothing while one was due.
        ending: how the preset's system would have ended its run, until a compaction has an effect.
    """

    def __init__(
        self, gauge: Gauge, model: Model | None, hooks: Hooks, tell: Callable[[Event], None], lock: RLock
    ) -> None:
        self.gauge, self.memory, self.hooks, self.tell, self.lock = gauge, gauge.memory, hooks, tell, lock
        self.model = _NoModel(gauge.preset.name) if model is None else model
        self.number = self.patience = self.ineffective = self.vain = 0
        self.ending: RunEnds | None = None

    @property
    def breaker(self) -> int:
        """After so many compactions in a row without effect none starts by itself; the preset's own attempts count."""
        return max(self.gauge.settings.breaker, self.gauge.preset.host.stuck_after)

    def release(self) -> None:
        """Forget earlier compactions: the history is another one."""
        self.patience = self.ineffective = self.vain = 0
        self.ending = None

    def attempt(self, budget: Budget, cause: Cause, strategy: Strategy) -> Compaction | None:
        """A compaction that may fail: without a summary from the model it counts as one without effect."""
        try:
            done = self.run(budget, cause, strategy)
        except ModelError as error:
            self._settle(budget, 0, 0)
            self.fail("failed", str(error), cause)
            return None
        if done is not None and done.outcome == "unchanged":
            self.fail("no_room" if done.refusal else "nothing", done.refusal or done.why, cause)
        return done

    def fail(self, failure: Failure, why: str, cause: Cause) -> None:
        """Count an attempt in vain, and say where the preset's system would end its run by it.

        What fails while an error is answered ends the run by that error.
        """
        self.vain += failure in ("nothing", "failed")
        ending = self.gauge.preset.host.ending(failure, self.vain)
        if ending is not None and (cause != "error" or failure == "overflow"):
            self.ending = RunEnds(*ending, why)
            self.tell(self.ending)

    def run(self, budget: Budget, cause: Cause, strategy: Strategy) -> Compaction | None:
        """The compaction; None where the host cancelled it or the history changed meanwhile.

        Raises:
            ModelError: the model wrote no summary.
        """
        before = self.gauge.tokens
        done = self._announced(budget, cause, strategy)
        with self.lock:
            if done is None and not is_cancelled():
                self._wait(budget)
            elif done is not None:
                self._settle(budget, before, before if done.outcome == "unchanged" else done.sent.tokens)
        return done

    def remedy(self, diagnosis: Diagnosis) -> bool:
        """Do what helps against a provider's error; whether the next request differs from the one that failed."""
        if diagnosis.action == "lower_output":
            return diagnosis.output is not None
        if diagnosis.action == "repair":
            budget = Budget(target=self.gauge.tokens, window=self.gauge.window, reason="repair", force=True)
            done = self.attempt(budget, "error", REPAIR)
        elif diagnosis.action == "compact" or diagnosis.kind == "bytes":
            if diagnosis.used:
                self.gauge.take(Usage(input=diagnosis.used), refused=True)
            preset = self.gauge.preset
            done = self.attempt(self.gauge.forced("overflow"), "error", preset.overflow or preset.strategy)
        else:
            return False
        return done is not None and done.outcome != "unchanged"

    def _settle(self, budget: Budget, before: int, after: int) -> None:
        """Count a compaction, in tokens of the request."""
        self._wait(budget)
        settings = self.gauge.settings
        effective = before - after >= max(settings.effective * before, 1)
        self.ineffective = 0 if effective else self.ineffective + 1
        if self.ineffective == self.breaker:
            self.tell(AutomaticStopped(self.ineffective))

    def _wait(self, budget: Budget) -> None:
        """Do not compact again before the messages have grown by the hysteresis."""
        self.patience = self.gauge.spoken + int(self.gauge.settings.hysteresis * budget.window) + 1

    def _announced(self, budget: Budget, cause: Cause, strategy: Strategy) -> Compaction | None:
        """The compaction with its events and hooks."""
        with self.lock:
            start = replace(self.memory.state.kept.closed(), overhead=self.gauge.overhead)
            heard, version, before = self.memory.state.heard, self.memory.version, self.gauge.tokens
            self.number += 1
            number = self.number
        host = self.gauge.preset.host
        started = CompactionStarted(number, cause, budget.reason, before, budget.target, budget.window)
        if not host.silent:
            self.tell(started)
        try:
            choice = self.hooks.before(Due(number, cause, start, budget)) if self.hooks.before else None
            if isinstance(choice, Cancel):
                self._end(started, CompactionDropped(number, choice.why, "compaction_cancelled"))
                return None
            supplied = choice.summary if isinstance(choice, Supply) and choice.summary.strip() else None
            done, used = self._compacted(start, strategy, budget, supplied)
            with self.lock:
                why = "the call was cancelled" if is_cancelled() else ""
                if not why and done.outcome != "unchanged":
                    why = self.memory.take(done, heard, version)
        except BaseException as error:
            self._end(started, CompactionDropped(number, f"{type(error).__name__}: {error}", "compaction_failed"))
            raise
        if why:
            self._end(started, CompactionDropped(number, why, "compaction_discarded"))
            return None
        changed = done.outcome != "unchanged"
        if changed:
            self.vain, self.ending = 0, None
        elif host.silent:
            return done
        costs = [completion.usd for completion in done.completions if completion.usd is not None]
        usd = sum(costs) if len(costs) == len(done.completions) else None
        after = done.sent.tokens if changed else before
        warning, why = host.warning if changed else "", done.refusal or done.why
        self._end(started, CompactionEnded(number, done.outcome, why, before, after, done.stages, usd, used, warning))
        if self.hooks.after is not None:
            self.hooks.after(done)
        return done

    def _end(self, started: CompactionStarted, ended: CompactionEnded | CompactionDropped) -> None:
        """Tell how a compaction ended; where the preset's system is silent about vain ones, also that it started."""
        if self.gauge.preset.host.silent:
            self.tell(started)
        self.tell(ended)

    def _compacted(
        self, history: Context, strategy: Strategy, budget: Budget, supplied: str | None
    ) -> tuple[Compaction, bool]:
        """The compaction, and whether it used the host's summary; if need be with a summary's stage before its own."""
        used = False

        def plan(stage: Stage, context: Context, budget: Budget) -> Plan | None:
            nonlocal used
            allow = self.hooks.before_stage
            if allow is not None and allow(stage.name, context, budget) is False:
                return None
            planned = stage.plan(context, budget)
            if planned is None or supplied is None:
                return planned
            used = used or any(isinstance(part, Draft) for edit in planned.edits for part in edit.by)
            return _with_summary(planned, supplied, self.gauge.preset.host)

        done = compact(history, strategy, budget, self.model, plan)
        if supplied is not None and not used:
            strategy = replace(strategy, stages=(Summarize(), *strategy.stages))
            done = compact(history, strategy, budget, self.model, plan)
        return done, used


def _with_summary(plan: Plan, summary: str, host: HostPolicy) -> Plan:
    """The plan with this summary where a model would be asked."""
    edits, as_is = [], host.hook_summary == "as_is"
    for edit in plan.edits:
        drafts = {id(part): part for part in edit.by if isinstance(part, Draft)}
        texts = {at: summary if as_is else summary + one.footer for at, one in drafts.items()}
        written = {at: replace(one, requests=(), template="", footer=texts[at]) for at, one in drafts.items()}
        edits.append(edit._replace(by=tuple(written.get(id(part), part) for part in edit.by)))
    return replace(plan, edits=tuple(edits), then=None if as_is else plan.then)


@dataclass(frozen=True, slots=True)
class _NoModel:
    """Used when no model is configured."""

    preset: str
    name: str = "none"

    def complete(self, request: SummaryRequest, /) -> Completion:
        raise SettingError(f"preset {self.preset!r} asks a model for a summary: pass one as `model`")
