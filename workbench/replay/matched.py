"""Compacts the same history at the same boundaries to the same budgets, so that retention is compared at equal size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.compaction.engine import compact
from workbench.compaction.stage import Budget
from workbench.compaction.strategy import Preset
from workbench.models.model import Model
from workbench.replay.sizing import Sizing
from workbench.replay.step import Firing, Mode, Replay, Snapshot
from workbench.transcript.session import Session


def matched(
    session: Session,
    preset: Preset,
    model: Model,
    sizing: Sizing,
    *,
    window: int,
    at: Sequence[int],
    shares: Sequence[float],
) -> Replay:
    """Every boundary at every budget, each from the whole history: nothing chains.

    Args:
        session: n messages.
        preset: only its strategy is used; its trigger and its counter are not.
        model: who writes summaries.
        sizing: the session's sizes.
        window: tokens.
        at: boundaries, in (0, n).
        shares: budgets as shares of the history's tokens without overhead, in (0, 1).

    Raises:
        ModelError: the model failed and the strategy has nothing to use otherwise.
    """
    budgets = [
        (boundary, share, sizing.overhead + int(share * sizing.history(session.messages, boundary).spoken))
        for boundary in at
        for share in shares
    ]
    return _compacted(session, preset, model, sizing, window, "matched", budgets)


def at_sizes(
    session: Session, preset: Preset, model: Model, sizing: Sizing, *, window: int, targets: Mapping[int, int]
) -> Replay:
    """Every boundary once, to a size of its own: that of what the recorded agent went on with.

    Args:
        session: n messages.
        preset: only its strategy is used.
        model: who writes summaries.
        sizing: the session's sizes.
        window: tokens.
        targets: tokens with overhead, by boundary.

    Raises:
        ModelError: the model failed and the strategy has nothing to use otherwise.
    """
    budgets = [(boundary, None, target) for boundary, target in targets.items()]
    return _compacted(session, preset, model, sizing, window, "recorded", budgets)


def _compacted(
    session: Session,
    preset: Preset,
    model: Model,
    sizing: Sizing,
    window: int,
    mode: Mode,
    budgets: Sequence[tuple[int, float | None, int]],
) -> Replay:
    firings: list[Firing] = []
    snapshots: list[Snapshot] = []
    final = sizing.empty()
    for boundary, share, target in budgets:
        budget = Budget(target=target, window=window, reason="matched")
        done = compact(sizing.history(session.messages, boundary), preset.strategy, budget, model)
        firings.append(Firing(len(firings), boundary, done, share))
        snapshots.append(Snapshot(boundary, done.sent, share))
        final = done.after
    return Replay(session, preset.name, mode, window, sizing, (), tuple(firings), tuple(snapshots), final)
