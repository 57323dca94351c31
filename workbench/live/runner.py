"""One compaction from its decision to its place in the history, with the host's hooks around it."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock

from workbench.compaction.engine import Compaction, compact
from workbench.compaction.stage import Budget
from workbench.compaction.stages.summarize import Summarize
from workbench.compaction.strategy import Strategy
from workbench.live.events import (
    CompactionCancelled,
    CompactionDiscarded,
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    Event,
)
from workbench.live.hooks import Cancel, Cause, Due, Hooks, Supply
from workbench.live.memory import Memory, Snapshot
from workbench.live.tracing import Spans, Watch
from workbench.models.model import Model


class Runner:
    """Runs compactions. Whatever breaks one off, the history stays as it was until the moment it is put in place."""

    def __init__(
        self, memory: Memory, model: Model, hooks: Hooks, tell: Callable[[Event], None], lock: RLock, preset: str
    ) -> None:
        self.memory, self.model, self.hooks, self.tell, self.lock, self.preset = (
            memory,
            model,
            hooks,
            tell,
            lock,
            preset,
        )
        self.number = 0

    def run(self, budget: Budget, cause: Cause, strategy: Strategy) -> Compaction | None:
        """The compaction; None where the host cancelled it or the history changed meanwhile.

        Raises:
            ModelError: no summary could be had.
        """
        with self.lock:
            start, before = self.memory.snapshot(), self.memory.state.sent.tokens
            self.number += 1
            number = self.number
        self.tell(CompactionStarted(number, cause, budget.reason, before, budget.target, budget.window))
        try:
            word = self.hooks.before(Due(number, cause, start.kept, budget)) if self.hooks.before is not None else None
            if isinstance(word, Cancel):
                self.tell(CompactionCancelled(number, word.why))
                return None
            with Spans(self.preset, budget, before) as spans:
                watch = Watch(spans, self.hooks.before_stage, word.summary if isinstance(word, Supply) else None)
                done = self._compacted(start, strategy, budget, watch)
                spans.ended(done)
            with self.lock:
                why = self.memory.take(done, start) if done.outcome != "unchanged" else ""
        except BaseException as error:
            self.tell(CompactionFailed(number, f"{type(error).__name__}: {error}"))
            raise
        if why:
            self.tell(CompactionDiscarded(number, why))
            return None
        self._ended(number, done, before, watch.used)
        return done

    def _compacted(self, start: Snapshot, strategy: Strategy, budget: Budget, watch: Watch) -> Compaction:
        """By the strategy; where it has no use for the host's summary, with a summary's stage before its own."""
        done = compact(start.kept, watch.strategy(strategy), budget, self.model)
        if watch.supplied is None or watch.used:
            return done
        return compact(start.kept, watch.strategy(strategy, Summarize()), budget, self.model)

    def _ended(self, number: int, done: Compaction, before: int, supplied: bool) -> None:
        costs = [answer.usd for answer in done.completions]
        known = [usd for usd in costs if usd is not None]
        after = before if done.outcome == "unchanged" else done.sent.tokens
        usd = sum(known) if len(known) == len(costs) else None
        self.tell(CompactionEnded(number, done.outcome, done.why, before, after, done.stages, usd, supplied))
        if self.hooks.after is not None:
            self.hooks.after(done)
