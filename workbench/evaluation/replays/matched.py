"""Compacts the same history at the same boundaries to the same budgets, so that retention is
compared at equal size.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from workbench.base.errors import PlanError
from workbench.engine.compaction.engine import Compaction, compact
from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models.model import Model
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.log import CompactionEntry, Entry, MessageEntry, fold
from workbench.engine.transcript.message import SystemMessage
from workbench.engine.transcript.session import Session
from workbench.evaluation.replays.boundaries import worth
from workbench.evaluation.replays.broken_results import BrokenResult, broken_results, placed
from workbench.evaluation.replays.budgets import budget, least
from workbench.evaluation.replays.chain import chain_stops, compacted_in_chain
from workbench.evaluation.replays.sizing import Sizing, turn_start
from workbench.evaluation.replays.step import CompactionEvent, Mode, Replay, Snapshot


@dataclass(frozen=True, slots=True)
class RecordedContexts:
    """A recorded compaction, seen from the first request after it.

    Attributes:
        before: what that request would have sent without it: an earlier summary, if there was one,
            and what came since.
        after: what it did send.
    """

    before: Context
    after: Context


def recorded_contexts(session: Session, sizing: Sizing) -> Mapping[int, RecordedContexts]:
    """By boundary, each recorded compaction whose summary can be read, at the first request after
    it.

    The system prompt comes first, as in every request, also where the recording does not repeat it.
    Boundaries with too little before or after them are left out.
    """
    requests = iter(session.requests)
    contexts: dict[int, RecordedContexts] = {}
    next_request = next(requests, None)
    compaction: CompactionEntry | None = None
    for number, entry in enumerate(session.path):
        if isinstance(entry, CompactionEntry):
            compaction = entry
            continue
        if next_request is None or not isinstance(entry, MessageEntry):
            continue
        if entry.message is not session.messages[next_request]:
            continue
        is_readable = compaction is not None and compaction.summary is not None
        if is_readable and worth(session, next_request):
            path = session.path[:number]
            without_it = [
                earlier_entry for earlier_entry in path if earlier_entry is not compaction
            ]
            contexts[next_request] = RecordedContexts(
                _context(session, sizing, without_it), _context(session, sizing, path)
            )
        compaction = None
        next_request = next(requests, None)
    return contexts


def _context(session: Session, sizing: Sizing, path: Sequence[Entry]) -> Context:
    """What would be sent at the end of this path."""
    messages = fold(path)
    for prompt in session.messages[:1]:
        if isinstance(prompt, SystemMessage) and not any(prompt is sent for sent in messages):
            messages = (prompt, *messages)
    sizes: list[int] = []
    start = turn_start(messages)
    for place, message in enumerate(messages):
        index = session.place.get(id(message))
        if index is None:
            size = sizing.count(message)
        elif place < start:
            size = sizing.after_turn(index)
        else:
            size = sizing.sizes[index]
        sizes.append(size)
    return Context(messages, tuple(sizes), sizing.overhead, sizing.count)


ALLOWED = 1.1
"""A context may be so many times as large as its budget: strategies stop at whole messages and
guess at lengths.
"""
MOST_OVER_TARGET = 0.1
"""The share of sessions in which a strategy may stay larger than the size that all are cut to,
and still be ranked.
"""
TOO_LARGE = "it stays larger than the size that was set"
"""How the reason begins that such a score has for being none."""


class SizedHistory(NamedTuple):
    """A history and the size to which every strategy compacts it.

    Attributes:
        at: the boundary.
        share: of the history, in (0, 1); None where the recorded agent set the size.
        asked: tokens of the whole context, overhead included.
        target: the same with the room that `budget` adds.
    """

    at: int
    share: float | None
    history: Context
    asked: int
    target: int

    @property
    def fits(self) -> bool:
        """Whether what must stay is no larger than the size; where it is larger, nothing is
        scored in any mode.
        """
        return least(self.history) <= self.asked


def sized_histories(
    session: Session, sizing: Sizing, boundaries: Iterable[int], shares: Sequence[float]
) -> tuple[SizedHistory, ...]:
    """Every boundary at every share of its history, also those where what must stay is larger."""
    sized: list[SizedHistory] = []
    for boundary in boundaries:
        history = sizing.history(session.messages, boundary)
        for share in shares:
            tokens = history.overhead + int(share * history.spoken)
            sized.append(SizedHistory(boundary, share, history, tokens, budget(history, share)))
    return tuple(sized)


def recorded_histories(contexts: Mapping[int, RecordedContexts]) -> tuple[SizedHistory, ...]:
    """What the recorded agent had at each of its compactions, by boundary, with the size of what
    it went on with.
    """
    sized: list[SizedHistory] = []
    for boundary, recorded in contexts.items():
        tokens = recorded.after.tokens
        sized.append(SizedHistory(boundary, None, recorded.before, tokens, tokens))
    return tuple(sized)


def matched(
    session: Session,
    preset: Preset,
    model: Model,
    sizing: Sizing,
    *,
    window: int,
    boundaries: Sequence[int],
    shares: Sequence[float],
    exam_at: Sequence[int] = (),
    chain: int = 1,
) -> Replay:
    """Every boundary at every budget, each from the whole history.

    The budgets are shares of the history's tokens without overhead, in (0, 1), see `budget`. A
    boundary where what must stay is larger than the share is left out. Of the preset only the
    strategy is used, not its trigger and its counter. At `exam_at`, further boundaries, only the
    exam of the work is asked.

    Args:
        session: n messages.
        preset: how to compact.
        model: writes summaries.
        sizing: the session's sizes.
        window: tokens.
        boundaries: from which on nothing is compacted.
        shares: of the history.
        exam_at: further boundaries.
        chain: compactions in a row that bring a history to its size, see `compacted_in_chain`. A
            boundary with too few requests before it is left out.

    Raises:
        ModelError: the model failed and the strategy has nothing to use otherwise.
    """
    sized = sized_histories(session, sizing, (*boundaries, *exam_at), shares)
    return _compacted(
        session, preset, model, sizing, window, "matched", sized, chain, frozenset(exam_at)
    )


def at_recorded_sizes(
    session: Session,
    preset: Preset,
    model: Model,
    sizing: Sizing,
    *,
    window: int,
    recorded: Mapping[int, RecordedContexts],
) -> Replay:
    """At every recorded compaction, by boundary, what the recorded agent had, cut to the size of
    what it went on with.

    Everything else is as for `matched`.
    """
    return _compacted(
        session, preset, model, sizing, window, "recorded", recorded_histories(recorded)
    )


def _compacted(
    session: Session,
    preset: Preset,
    model: Model,
    sizing: Sizing,
    window: int,
    mode: Mode,
    histories: Iterable[SizedHistory],
    chain: int = 1,
    exam_only: frozenset[int] = frozenset(),
) -> Replay:
    events: list[CompactionEvent] = []
    broken: list[BrokenResult] = []
    for sized in histories:
        if not sized.fits:
            continue
        budget_of_all = Budget(target=sized.target, window=window, reason="matched")
        try:
            compactions = _chained(session, sized, preset, budget_of_all, model, chain)
        except PlanError as error:
            raise placed(error, sized.at) from (error.__cause__ or error)
        for compaction in compactions:
            broken += broken_results(compaction, sized.at, share=sized.share)
        if compactions:
            *earlier, final = compactions
            events.append(
                CompactionEvent(len(events), sized.at, final, sized.share, tuple(earlier))
            )
    snapshots: list[Snapshot] = []
    for event in events:
        is_exam_only = event.at in exam_only
        context = event.compaction.sent
        snapshots.append(Snapshot(event.at, context, event.share, exam_only=is_exam_only))
    return Replay(
        session,
        preset.name,
        mode,
        window,
        sizing,
        steps=(),
        events=tuple(events),
        snapshots=tuple(snapshots),
        broken=tuple(broken),
    )


def _chained(
    session: Session,
    sized: SizedHistory,
    preset: Preset,
    budget_of_all: Budget,
    model: Model,
    chain: int,
) -> tuple[Compaction, ...]:
    """The compactions that bring a history to its size; none where it has too few requests."""
    if chain == 1:
        return (compact(sized.history, preset.strategy, budget_of_all, model),)
    assert sized.share is not None  # what the recorded agent had is never parted
    stops = chain_stops(sized.history, session.requests, chain)
    return compacted_in_chain(
        sized.history, stops, preset.strategy, budget_of_all, sized.share, model
    )


def stays_larger(replay: Replay, share: float | None) -> str:
    """Why the contexts of a replay at one budget may not be compared at the size that was set;
    empty where they may.

    A context is too large above `ALLOWED` times its budget. The reference `none` is never cut.
    """
    if replay.mode == "natural" or replay.preset == "none":
        return ""
    ratios: list[float] = []
    for event in replay.events:
        if event.share == share:
            compaction = event.compaction
            ratios.append(compaction.sent.tokens / max(compaction.budget.target, 1))
    too_large = [ratio for ratio in ratios if ratio > ALLOWED]
    if not too_large:
        return ""
    where = "at its boundary"
    if len(ratios) > 1:
        where = f"at {len(too_large)} of {len(ratios)} boundaries"
    return f"{TOO_LARGE} {where}, up to {max(too_large):.1f} times"
