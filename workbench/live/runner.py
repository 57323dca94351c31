"""One compaction of a living history: the host's hooks, the engine, and the events around it."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import RLock

from workbench.base.errors import ModelError, SettingError
from workbench.engine.compaction.attempts import Attempts, failure_of
from workbench.engine.compaction.engine import Compaction
from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.stages.truncate import RepairPairs
from workbench.engine.compaction.strategy import Failure, HostPolicy, Strategy
from workbench.engine.models.model import Model
from workbench.engine.models.provider_errors import Diagnosis
from workbench.engine.models.wrappers import SplittingModel
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.message import Json
from workbench.live.breaker import Breaker
from workbench.live.budgets import Budgets
from workbench.live.calibration import Calibration, newest_pinned, pending_pinned, with_own_pins
from workbench.live.callbacks import Host, reason
from workbench.live.events import (
    CompactionDropped,
    CompactionEnded,
    CompactionStarted,
    CompactsOften,
    PaidInVain,
    Rewound,
    RunEnds,
)
from workbench.live.feasibility import asks_first
from workbench.live.gauge import Gauge
from workbench.live.hooked_compaction import hooked_compaction
from workbench.live.hooks import Cancel, Cause, Due, Hooks, Supply, is_cancelled, refuse_awaitable
from workbench.live.last_resort import make_room
from workbench.live.meter import NO_MODEL, Meter, NoModel, total
from workbench.live.preparation import Preparation, prepared
from workbench.live.server_compaction import ServerModel

REPAIR = Strategy("repair", (RepairPairs(),))
CALL_CANCELLED = "the call was cancelled"
ENOUGH_AFTER_REFUSAL = 0.8
"""The part of a refused request above which a compaction of it helps too little, so that the
last resort follows.
"""

OFTEN, REQUESTS_BETWEEN = 4, 3
"""So many compactions with fewer requests between each are worth an event."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a compaction starts from.

    Attributes:
        started: the event that it started.
        history: as the strategy keeps it, by our count.
        start: the same in the provider's tokens, which is what is compacted.
        calibration: of our count against the provider's.
        heard_count: how many of the host's messages had been heard.
        version: of the history.
    """

    started: CompactionStarted
    history: Context
    start: Context
    calibration: Calibration
    heard_count: int
    version: int


class Runner:
    """Runs compactions. If one breaks off, the history stays as it was.

    Attributes:
        attempts: those so far; its tokens are those of messages, by our count.
        breaker: says whether one may start by itself.
        usd: what all summaries cost so far; None once the cost of one is unknown.
        undone, undone_usd: how many compactions the host undid, and what these had cost.
        undone_in_row: how often it undid some since two compactions stood behind each other.
        was_undone: whether it undid some since the newest compaction.
        ending: how the preset's system would have ended its run, until a compaction has an effect.
        lists_heard: how many lists of messages were heard.
        requests_at: how many requests had been handed out at each of the newest compactions that
            started by themselves.
        told_often: whether it was told that they come too often.
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
        self.model = NoModel(gauge.preset.name) if model is None else model
        self.breaker = Breaker(host.tell, gauge.clock)
        self.number = self.lists_heard = 0
        self.attempts = Attempts()
        self.requests_at: deque[int] = deque(maxlen=OFTEN)
        self.told_often = False
        self.usd: float | None = 0.0
        self.undone = self.undone_in_row = 0
        self.undone_usd: float | None = 0.0
        self.was_undone = False
        self.ending: RunEnds | None = None
        self._after = host.guarded("after", self._tell_after, lambda _: None, lambda _: True)
        if (
            model is None
            and hooks.before is None
            and gauge.preset.host.needs_model
            and asks_first(gauge)
        ):
            raise SettingError(f"{NO_MODEL.format(gauge.preset.name)}, such as 'extractive'")

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
            usd = total([mark.usd for mark in undone])
            self.gauge.forget()
            if undone or same < heard_count - 1:
                self._release()
            self.tell(Rewound(same, len(undone), usd))
            if undone:
                self._note_undone(len(undone), usd)

    def _note_undone(self, undone: int, usd: float | None) -> None:
        """Count compactions that the host undid; where it undoes each of them, none starts by
        itself for a while.
        """
        self.undone += undone
        self.was_undone = True
        self.undone_usd = total([self.undone_usd, usd])
        self.undone_in_row += 1
        if self.undone_in_row >= self.gauge.settings.breaker:
            self.tell(PaidInVain(self.undone, self.undone_usd))
            self.breaker.pause(self.gauge.spoken, self.gauge.own_window, self.gauge.settings)

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
        if ending is not None and (cause != "error" or failure == "overflow"):
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
        except Exception as error:  # an event has said why, and the agent goes on
            if is_cancelled():
                return None
            self._settle(budget, cause, None)
            if cause != "by_hand":
                self.fail(
                    "failed", str(error) if isinstance(error, ModelError) else reason(error), cause
                )
            elif isinstance(error, ModelError):
                raise
            return None
        finally:
            self.usd = total([self.usd, meter.usd])
        if compaction is None and not is_cancelled():
            self._wait()
        elif compaction is not None:
            self._settle(budget, cause, compaction)
        if compaction is not None and compaction.outcome == "unchanged" and cause != "by_hand":
            self.fail(failure_of(compaction), compaction.refusal or compaction.why, cause)
        return compaction

    def overcome(self, cause: Cause) -> bool:
        """Compact since a provider found the request too large; whether the next one differs."""
        compaction = self.run(self.budgets.forced("overflow"), cause, self.gauge.preset.recovery)
        changed = compaction is not None and compaction.outcome != "unchanged"
        enough = (
            changed
            and compaction is not None
            and compaction.sent.tokens <= ENOUGH_AFTER_REFUSAL * compaction.before.tokens
        )
        return self.fit(refused=not enough) or changed

    def fit(self, *, refused: bool = False) -> bool:
        """Drop the oldest messages where the request is larger than the window all the same;
        whether any went.
        """
        if is_cancelled():
            return False
        with self.lock:
            dropped = make_room(self.gauge, self.tell, refused=refused)
            if dropped:
                self._wait()
                self.breaker.rest(self.gauge.spoken, self.gauge.own_window, self.gauge.settings)
            return dropped

    def remedy(self, diagnosis: Diagnosis) -> bool:
        """Do what helps against a provider's error; whether the next request differs from the
        one that failed.
        """
        if diagnosis.action == "lower_output":
            return diagnosis.output is not None
        if diagnosis.action == "repair":
            budget = Budget(
                target=self.gauge.tokens, window=self.gauge.window, reason="repair", force=True
            )
            repair = replace(REPAIR, recall=self.gauge.preset.strategy.recall)
            compaction = self.run(budget, "error", repair)
            return compaction is not None and compaction.outcome != "unchanged"
        if diagnosis.action == "compact" or diagnosis.kind == "bytes":
            if diagnosis.kind != "bytes":
                self.gauge.take_refusal(diagnosis.used)
            return self.overcome("error")
        return False

    def _settle(self, budget: Budget, cause: Cause, compaction: Compaction | None) -> None:
        """Count a compaction as a miss or not; None is one that failed."""
        with self.lock:
            self._wait()
            hit = compaction is not None and (
                compaction.sent.tokens <= budget.target or not self.budgets.still_due(cause)
            )
            if budget.reason == "repair":
                return
            if hit:
                self.breaker.reset("a compaction reached its target")
            elif cause != "by_hand":
                settings = self.gauge.settings
                most_misses = max(settings.breaker, self.gauge.preset.host.stuck_after)
                self.breaker.miss(
                    self.gauge.spoken, self.gauge.own_window, replace(settings, breaker=most_misses)
                )

    def _wait(self) -> None:
        """Do not compact again before the messages have grown by the hysteresis."""
        gauge = self.gauge
        self.attempts = self.attempts.until_grown(
            gauge.spoken, gauge.own_window, gauge.settings.hysteresis
        )

    def _tell_after(self, compaction: Compaction) -> None:
        if self.hooks.after is not None:
            refuse_awaitable("after", self.hooks.after(compaction))

    def _announced(
        self, budget: Budget, cause: Cause, strategy: Strategy, meter: Meter
    ) -> Compaction | None:
        """The compaction with its events and hooks."""
        attempt = self._new_attempt(budget, cause)
        started = attempt.started
        host = self.gauge.preset.host
        if not host.silent:
            self.tell(started)
        try:
            choice = self._choice(Due(started.number, cause, attempt.start, budget), strategy)
            refuse_awaitable("before", choice)
            if isinstance(choice, Cancel):
                cancelled = CompactionDropped(started.number, choice.why, "compaction_cancelled")
                self._end(started, cancelled)
                return None
            supplied = None
            if isinstance(choice, Supply) and choice.summary.strip():
                supplied = choice.summary
            model = ServerModel(SplittingModel(meter), meter, self.gauge)
            compaction, used = hooked_compaction(
                attempt.start, strategy, budget, model, self.hooks, supplied, host.hook_summary
            )
            compaction = with_own_pins(compaction, attempt.history)
            objection = self._take(compaction, attempt)
        except BaseException as error:
            failure = str(error) if isinstance(error, ModelError) else reason(error)
            failed = CompactionDropped(started.number, failure, "compaction_failed", meter.usd)
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
            self.attempts, self.ending = self.attempts.none_in_vain(), None
            self._note_frequency(cause)
        elif host.silent and not compaction.stages:
            return compaction
        self._end(started, self._ended(started, compaction, meter.usd, used))
        self._after(compaction)
        return compaction

    def _new_attempt(self, budget: Budget, cause: Cause) -> Attempt:
        """What a compaction starts from."""
        with self.lock:
            state = self.memory.state
            history = replace(state.kept.closed(), overhead=self.gauge.overhead)
            start = self._measured(history, budget, cause)
            self.number += 1
            started = CompactionStarted(
                self.number,
                cause,
                budget.reason,
                self.gauge.tokens,
                budget.target,
                budget.window,
                len(state.sent.messages),
            )
            return Attempt(
                started=started,
                history=history,
                start=start,
                calibration=self.gauge.calibration,
                heard_count=state.heard,
                version=self.memory.version,
            )

    def _take(self, compaction: Compaction, attempt: Attempt) -> str:
        """Put a compaction in place; why it was not, empty if it was or changes nothing."""
        with self.lock:
            if is_cancelled():
                return CALL_CANCELLED
            if compaction.outcome == "unchanged":
                return ""
            own = attempt.calibration.undone(compaction, attempt.history)
            return self.memory.take(own, attempt.heard_count, attempt.version)

    def _ended(
        self, started: CompactionStarted, compaction: Compaction, usd: float | None, used: bool
    ) -> CompactionEnded:
        """The event that a compaction is over; `used` says whether it took the host's summary."""
        tokens_after, messages_after, warning = started.tokens, started.messages, ""
        if compaction.outcome != "unchanged":
            tokens_after = compaction.sent.tokens
            messages_after = len(compaction.sent.messages)
            warning = _warning(self.gauge.preset.host, compaction)
        return CompactionEnded(
            started.number,
            compaction.outcome,
            compaction.refusal or compaction.why,
            started.tokens,
            tokens_after,
            compaction.stages,
            usd,
            used,
            warning,
            messages_before=started.messages,
            messages_after=messages_after,
        )

    def _choice(self, due: Due, strategy: Strategy) -> Cancel | Supply | None:
        """What the host's hook says of a compaction that is about to start; it sees what would
        be done.
        """
        if self.hooks.before is None:
            return None
        try:
            preparation = prepared(due.context, strategy, due.budget, self.memory.state.place)
        except Exception:  # noqa: BLE001  # the stage fails again in the compaction itself, which tells it
            preparation = None
        return self.hooks.before(replace(due, preparation=preparation))

    def prepare(self, budget: Budget) -> Preparation | None:
        """What a compaction by hand would do now."""
        with self.lock:
            history = replace(self.memory.state.kept.closed(), overhead=self.gauge.overhead)
            start = self._measured(history, budget, "by_hand")
            return prepared(start, self.gauge.preset.strategy, budget, self.memory.state.place)

    def _note_frequency(self, cause: Cause) -> None:
        """Tell of compactions that start by themselves again and again, once until they become
        rarer.
        """
        if cause in ("by_hand", "error"):
            return
        if not self.was_undone:
            self.undone_in_row = 0
        self.was_undone = False
        self.requests_at.append(self.gauge.requests)
        requests = self.gauge.requests - self.requests_at[0]
        is_often = len(self.requests_at) == OFTEN and requests < REQUESTS_BETWEEN * OFTEN
        if is_often and not self.told_often:
            self.tell(CompactsOften(OFTEN, requests, self.gauge.window))
        self.told_often = is_often

    def _measured(self, history: Context, budget: Budget, cause: Cause) -> Context:
        """The history in the provider's tokens, of which after a refusal the newest part must stay.

        Where the host or the preset's system says how much stays, that is enough.
        """
        calibration = self.gauge.calibration
        measured = pending_pinned(
            history if calibration.is_neutral else calibration.applied(history)
        )
        if (budget.reason, cause) != ("overflow", "error") or budget.keep_recent is not None:
            return measured
        return newest_pinned(measured, budget.target - measured.overhead)

    def _end(self, started: CompactionStarted, ended: CompactionEnded | CompactionDropped) -> None:
        """Tell how a compaction ended; where the preset's system is silent about vain ones, also
        that it started.
        """
        if self.gauge.preset.host.silent:
            self.tell(started)
        self.tell(ended)


def _warning(host: HostPolicy, compaction: Compaction) -> str:
    """What the preset's system tells its user, and whether a note is in the place of a summary."""
    notes = [completion for completion in compaction.completions if completion.fallback]
    failures = [
        f"a note replaces the summary, since the model failed: {note.why}" for note in notes[:1]
    ]
    return "; ".join(filter(None, [host.warning, *failures]))
