"""Compacts the same history at the same boundaries to the same budgets, so that retention is compared at equal size."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.compaction.engine import compact
from workbench.compaction.stage import Budget
from workbench.compaction.strategy import Preset
from workbench.models.model import Model
from workbench.replay.sizing import Sizing
from workbench.replay.step import Firing, Replay, Snapshot
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
    firings: list[Firing] = []
    snapshots: list[Snapshot] = []
    final = sizing.empty()
    for boundary in at:
        history = sizing.history(session.messages, boundary)
        for share in shares:
            budget = Budget(target=sizing.overhead + int(share * history.spoken), window=window, reason="matched")
            done = compact(history, preset.strategy, budget, model)
            firings.append(Firing(len(firings), boundary, done, share))
            snapshots.append(Snapshot(boundary, done.sent, share))
            final = done.after
    return Replay(session, preset.name, "matched", window, sizing, (), tuple(firings), tuple(snapshots), final)
