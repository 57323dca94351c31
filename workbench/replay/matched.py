"""Compacts the same history at the same boundaries to the same budgets, so that retention is compared at equal size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from workbench.compaction.engine import compact
from workbench.compaction.plan import Budget
from workbench.compaction.strategy import Preset
from workbench.models.model import Model
from workbench.replay.recorded import RecordedContexts
from workbench.replay.sizing import Sizing
from workbench.replay.step import CompactionEvent, Mode, Replay, Snapshot
from workbench.transcript.context import Context
from workbench.transcript.pairing import protected
from workbench.transcript.session import Session

ROOM = 0.5
"""The part of a share that is left for what may be taken away, however much must stay."""


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
        """Whether what must stay is no larger than the size; where it is larger, nothing is scored in any mode."""
        return least(self.history) <= self.asked


def sized_histories(
    session: Session, sizing: Sizing, at: Iterable[int], shares: Sequence[float]
) -> tuple[SizedHistory, ...]:
    """Every boundary at every share of its history, also those where what must stay is larger."""
    histories = [(boundary, sizing.history(session.messages, boundary)) for boundary in at]
    return tuple(
        SizedHistory(at, share, history, history.overhead + int(share * history.spoken), budget(history, share))
        for at, history in histories
        for share in shares
    )


def recorded_histories(really: Mapping[int, RecordedContexts]) -> tuple[SizedHistory, ...]:
    """What the recorded agent had at each of its compactions, by boundary, with the size of what it went on with."""
    return tuple(SizedHistory(at, None, one.before, one.after.tokens, one.after.tokens) for at, one in really.items())


def matched(
    session: Session, preset: Preset, model: Model, sizing: Sizing, *, window: int, at: Sequence[int],
    shares: Sequence[float],
) -> Replay:  # fmt: skip
    """Every boundary at every budget, each from the whole history: nothing chains.

    The budgets are shares of the history's tokens without overhead, in (0, 1), see `budget`. A boundary where what must
    stay is larger than the share is left out. Of the preset only the strategy is used, not its trigger and its counter.

    Raises:
        ModelError: the model failed and the strategy has nothing to use otherwise.
    """
    wanted = sized_histories(session, sizing, at, shares)
    return _compacted(session, preset, model, sizing, window, "matched", wanted)


def budget(history: Context, share: float) -> int:
    """Tokens of the whole context, overhead included, for a share in (0, 1) of the history's tokens without overhead.

    Never less than what must stay and half of that share of the rest: a budget that what must stay uses up would not
    measure what a strategy keeps.
    """
    stays = least(history)
    loose = history.tokens - stays
    return max(history.overhead + int(share * history.spoken), stays + int(ROOM * share * loose))


def least(history: Context) -> int:
    """Tokens of what must stay: overhead, pinned messages with their partners, the newest user message."""
    return history.overhead + sum(history.sizes[i] for i in protected(history.messages))


def at_recorded_sizes(
    session: Session, preset: Preset, model: Model, sizing: Sizing, *, window: int,
    really: Mapping[int, RecordedContexts],
) -> Replay:  # fmt: skip
    """At every recorded compaction, by boundary, what the recorded agent had, cut to the size of what it went on with.

    Everything else is as for `matched`.
    """
    return _compacted(session, preset, model, sizing, window, "recorded", recorded_histories(really))


def _compacted(
    session: Session, preset: Preset, model: Model, sizing: Sizing, window: int, mode: Mode,
    wanted: Iterable[SizedHistory],
) -> Replay:  # fmt: skip
    events = []
    for number, one in enumerate(one for one in wanted if one.fits):
        done = compact(one.history, preset.strategy, Budget(target=one.target, window=window, reason="matched"), model)
        events.append(CompactionEvent(number, one.at, done, one.share))
    shots = tuple(Snapshot(event.at, event.compaction.sent, event.share) for event in events)
    return Replay(session, preset.name, mode, window, sizing, (), tuple(events), shots)
