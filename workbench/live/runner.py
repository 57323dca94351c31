"""One compaction of a living history: the host's hooks, the engine, and the events around it."""

from collections.abc import Sequence
from dataclasses import replace
from threading import RLock

from workbench.base.errors import ModelError, SettingError, error_text
from workbench.engine.compaction.attempts import Attempts, failure_of
from workbench.engine.compaction.engine import Compaction
from workbench.engine.compaction.host_policy import Failure
from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.strategy import Strategy
from workbench.engine.models.model import Model
from workbench.engine.models.splitting import SplittingModel
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.message import Json
from workbench.live.attempt import Attempt
from workbench.live.breaker import Breaker
from workbench.live.budgets import Budgets
from workbench.live.calibration import measured, with_own_pins
from workbench.live.callbacks import FAILURES, Host
from workbench.live.compaction_counts import Frequency, UndoneCompactions
from workbench.live.events import (
    CompactionDropped,
    CompactionEnded,
    CompactionStarted,
    PaidInVain,
    Rewound,
    RunEnds,
)
from workbench.live.feasibility import asks_first
from workbench.live.gauge import Gauge
from workbench.live.hooked_compaction import hooked_compaction
from workbench.live.hooks import (
    Cancel,
    Cause,
    Due,
    Hooks,
    Supply,
    checked_choice,
    is_cancelled,
    refuse_awaitable,
)
from workbench.live.last_resort import make_room
from workbench.live.meter import NO_MODEL, Meter, NoModel, total
from workbench.live.preparation import Preparation, prepared
from workbench.live.server_compaction import ServerModel

CALL_CANCELLED = "the call was cancelled"


class Runner:
    """Runs compactions. If one breaks off, the history stays as it was.

    Attributes:
        attempts: those so far; its tokens are those of messages, by our count.
        breaker: says whether one may start by itself.
        usd: what all summaries cost so far; None once the cost of one is unknown.
        undone: the compactions that the host undid.
        frequency: of compactions that start by themselves.
        ending: how the preset's system would have ended its run, until a compaction has an effect.
        lists_heard: how many lists of messages were heard.
    """

    def __init__(
        self, gauge: Gauge, model: Model | None, hooks: Hooks, host: Host, lock: RLock
    ) -> None:
        self.gauge = gauge
        self.memory = gauge.memory
        self.budgets = Budgets(gauge, host)
        self.hooks = hooks
        self.tell = host.tell
        self.lock = lock
        self.model: Model = NoModel(gauge.preset.name)
        if model is not None:
            self.model = model
        self.breaker = Breaker(host.tell, gauge.clock)
        self.number = 0
        self.lists_heard = 0
        self.attempts = Attempts()
        self.usd: float | None = 0.0
        self.undone = UndoneCompactions()
        self.frequency = Frequency()
        self.ending: RunEnds | None = None
        self._after = host.guarded("after", self._tell_after, lambda _: None, lambda _: True)
        has_no_summary = model is None and hooks.before is None
        if has_no_summary and gauge.preset.host.needs_model and asks_first(gauge):
            objection = NO_MODEL.format(gauge.preset.name)
            raise SettingError(f"{objection}, such as 'extractive'")

    def hear(self, messages: Sequence[Json] | None) -> None:
        """Take in what is new; a list that does not continue the last one goes back in the
        conversation.
        """
        if messages is None:
            return
        with self.lock:
            memory = self.memory
            self.lists_heard += 1
            marks = memory.state.checkpoints
            heard_count = memory.state.heard
            version = memory.version
            same = memory.hear(messages)
            if same is None:
                self.gauge.follow(version)
                return
            undone = marks[len(memory.state.checkpoints) :]
            undone_count = len(undone)
            usd = total([mark.usd for mark in undone])
            self.gauge.forget()
            if undone or same < heard_count - 1:
                self._release()
            rewound = Rewound(same, undone_count, usd)
            self.tell(rewound)
            if undone:
                self._note_undone(undone_count, usd)

    def _note_undone(self, undone: int, usd: float | None) -> None:
        """Count compactions that the host undid; where it undoes each of them, none starts by
        itself for a while.
        """
        self.undone.note(undone, usd)
        if self.undone.times_in_row >= self.gauge.settings.breaker:
            gauge = self.gauge
            event = PaidInVain(self.undone.count, self.undone.usd)
            self.tell(event)
            self.breaker.pause(gauge.spoken, gauge.own_window, gauge.settings)

    def _release(self) -> None:
        """Forget earlier compactions: the history is another one, and not only its newest
        message.
        """
        self.attempts = Attempts()
        self.ending = None
        self.breaker.reset("the history is another one")

    def fail(self, failure: Failure, reason_text: str, cause: Cause) -> None:
        """Count an attempt in vain, and say where the preset's system would end its run by it.

        What fails while an error is answered ends the run by that error.
        """
        self.attempts = self.attempts.failed(failure)
        ending = self.attempts.ending(failure, self.gauge.preset.host)
        ends_the_run = cause != "error" or failure == "overflow"
        if ending is not None and ends_the_run:
            self.ending = RunEnds(*ending, reason_text)
            self.tell(self.ending)

    def run(self, budget: Budget, cause: Cause, strategy: Strategy) -> Compaction | None:
        """The compaction; None where it failed, the host cancelled it, or the history changed
        meanwhile.

        Raises:
            ModelError: the model failed in a compaction by hand.
        """
        meter = Meter(self.model, self.gauge.settings.model_seconds)
        try:
            compaction = self._announced(budget, cause, strategy, meter)
        except FAILURES as error:  # an event has said why, and the agent goes on
            if is_cancelled():
                return None
            self._settle(budget, cause, None)
            if cause != "by_hand":
                self.fail("failed", error_text(error), cause)
            elif isinstance(error, ModelError):
                raise
            return None
        finally:
            self.usd = total([self.usd, meter.usd])
        if compaction is None:
            if not is_cancelled():
                self._wait()
            return None
        self._settle(budget, cause, compaction)
        if compaction.outcome == "unchanged" and cause != "by_hand":
            failure = failure_of(compaction)
            reason_text = compaction.refusal or compaction.why
            self.fail(failure, reason_text, cause)
        return compaction

    def fit(self, *, refused: bool = False) -> bool:
        """Drop the oldest messages where the request is larger than the window all the same;
        whether any went.
        """
        if is_cancelled():
            return False
        with self.lock:
            gauge = self.gauge
            has_dropped = make_room(gauge, self.tell, refused=refused)
            if has_dropped:
                self._wait()
                self.breaker.rest(gauge.spoken, gauge.own_window, gauge.settings)
            return has_dropped

    def _settle(self, budget: Budget, cause: Cause, compaction: Compaction | None) -> None:
        """Count a compaction as a miss or not; None is one that failed."""
        with self.lock:
            self._wait()
            is_hit = False
            if compaction is not None:
                is_hit = self._is_hit(compaction, budget, cause)
            if budget.reason == "repair":
                return
            if is_hit:
                self.breaker.reset("a compaction reached its target")
            elif cause != "by_hand":
                gauge = self.gauge
                settings = gauge.settings
                most_misses = max(settings.breaker, gauge.preset.host.stuck_after)
                settings = replace(settings, breaker=most_misses)
                self.breaker.miss(gauge.spoken, gauge.own_window, settings)

    def _is_hit(self, compaction: Compaction, budget: Budget, cause: Cause) -> bool:
        """Whether a compaction reached its target, or none is due any more."""
        if compaction.sent.tokens <= budget.target:
            return True
        return not self.budgets.still_due(cause)

    def _wait(self) -> None:
        """Do not compact again before the messages have grown by the hysteresis."""
        gauge = self.gauge
        self.attempts = self.attempts.until_grown(
            gauge.spoken, gauge.own_window, gauge.settings.hysteresis
        )

    def _tell_after(self, compaction: Compaction) -> None:
        if self.hooks.after is not None:
            answer = self.hooks.after(compaction)
            refuse_awaitable("after", answer)

    def _announced(
        self, budget: Budget, cause: Cause, strategy: Strategy, meter: Meter
    ) -> Compaction | None:
        """The compaction with its events and hooks."""
        attempt = self._new_attempt(budget, cause, strategy)
        started = attempt.started
        host = self.gauge.preset.host
        try:
            if not host.silent:
                self.tell(started)
            due = Due(started.number, cause, attempt.start, budget)
            choice = self._choice(due, strategy)
            if isinstance(choice, Cancel):
                cancelled = CompactionDropped(started.number, choice.why, "compaction_cancelled")
                self._end(started, cancelled)
                return None
            supplied = None
            if choice is not None:
                supplied = choice.summary
            model = ServerModel(SplittingModel(meter), meter, self.gauge)
            compaction, is_supplied = hooked_compaction(
                attempt.start,
                strategy,
                budget,
                model,
                self.hooks,
                supplied,
                host.hook_summary,
            )
            compaction = with_own_pins(compaction, attempt.history)
            objection = self._take(compaction, attempt)
        except BaseException as error:
            failed = CompactionDropped(
                started.number, error_text(error), "compaction_failed", meter.usd
            )
            if is_cancelled():
                failed = replace(failed, why=CALL_CANCELLED, type="compaction_discarded")
            self._end(started, failed)
            raise
        if objection:
            discarded = CompactionDropped(
                started.number, objection, "compaction_discarded", meter.usd
            )
            self._end(started, discarded)
            return None
        if compaction.outcome != "unchanged":
            self.attempts = self.attempts.none_in_vain()
            self.ending = None
            self._note_frequency(cause)
        elif host.silent and not compaction.stages:
            return compaction
        ended = attempt.ended(compaction, meter.usd, is_supplied, host)
        self._end(started, ended)
        self._after(compaction)
        return compaction

    def _new_attempt(self, budget: Budget, cause: Cause, strategy: Strategy) -> Attempt:
        """What a compaction starts from."""
        with self.lock:
            state = self.memory.state
            history = self._history()
            is_refused = budget.reason == "overflow" and cause == "error"
            start = measured(history, self.gauge.calibration, budget, is_refused=is_refused)
            self.number += 1
            started = CompactionStarted(
                self.number,
                cause,
                budget.reason,
                self.gauge.tokens,
                budget.target,
                budget.window,
                len(state.sent.messages),
                strategy.name,
            )
            return Attempt(
                started=started,
                history=history,
                start=start,
                calibration=self.gauge.calibration,
                heard_count=state.heard,
                version=self.memory.version,
            )

    def _history(self) -> Context:
        """What is compacted, in our tokens."""
        return replace(self.memory.state.kept.closed(), overhead=self.gauge.overhead)

    def _take(self, compaction: Compaction, attempt: Attempt) -> str:
        """Put a compaction in place; why it was not, empty if it was or changes nothing."""
        with self.lock:
            if is_cancelled():
                return CALL_CANCELLED
            if compaction.outcome == "unchanged":
                return ""
            own_compaction = attempt.calibration.undone(compaction, attempt.history)
            return self.memory.take(own_compaction, attempt.heard_count, attempt.version)

    def _choice(self, due: Due, strategy: Strategy) -> Cancel | Supply | None:
        """What the host's hook says of a compaction that is about to start; it sees what would
        be done.
        """
        if self.hooks.before is None:
            return None
        try:
            places = self.memory.state.place
            preparation = prepared(due.context, strategy, due.budget, places)
        except Exception:  # noqa: BLE001  # the stage fails again in the compaction itself, which tells it
            preparation = None
        answer = self.hooks.before(replace(due, preparation=preparation))
        return checked_choice(answer)

    def prepare(self, budget: Budget) -> Preparation | None:
        """What a compaction by hand would do now."""
        with self.lock:
            state = self.memory.state
            start = measured(self._history(), self.gauge.calibration, budget)
            strategy = self.gauge.preset.strategy
            return prepared(start, strategy, budget, state.place)

    def _note_frequency(self, cause: Cause) -> None:
        """Tell of compactions that start by themselves again and again, once until they become
        rarer.
        """
        if cause in ("by_hand", "error"):
            return
        self.undone.note_compaction()
        event = self.frequency.note_compaction(self.gauge.requests, self.gauge.window)
        if event is not None:
            self.tell(event)

    def _end(self, started: CompactionStarted, ended: CompactionEnded | CompactionDropped) -> None:
        """Tell how a compaction ended; where the preset's system is silent about vain ones, also
        that it started.
        """
        if self.gauge.preset.host.silent:
            self.tell(started)
        self.tell(ended)
