"""Which stage lost what: after each stage of each compaction, what a demand still finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.metrics.future import Demand, Retention
from workbench.metrics.metric import Trial
from workbench.metrics.ragged import Flags, kept_mask
from workbench.replay.step import Firing
from workbench.transcript.message import Message, said_text
from workbench.transcript.session import Session

VIEW = "view"
"""Stands for what was kept, and is not shown in what is sent."""


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """What the kept history held at one moment of a compaction.

    Attributes:
        at: the compaction's boundary; `share` its budget.
        stage: the stage that has just been applied; empty before the first.
        mask: which messages of the session were there whole.
        texts: the other texts.
    """

    at: int
    share: float | None
    stage: str
    mask: Flags
    texts: tuple[str, ...]

    def bound(self, demand: Demand) -> Flags:
        """Which demanded atoms stood there with their context."""
        return demand.retained(self.mask, self.texts).bound


def moments(trial: Trial) -> tuple[Moment, ...]:
    """Every moment of every compaction of a trial, in order."""
    session = trial.replay.session
    return tuple(
        moment
        for firing in trial.replay.firings
        if firing.share == trial.share
        for moment in _of_firing(session, firing)
    )


def _of_firing(session: Session, firing: Firing) -> list[Moment]:
    there: dict[str, Message] = {message.id: message for message in firing.compaction.before.messages}
    found = [_moment(session, firing, "", there)]
    for stage in firing.compaction.stages:
        if stage.used:
            for name in stage.dropped:
                there.pop(name, None)
            there.update((message.id, message) for message in stage.wrote)
            found.append(_moment(session, firing, stage.name, there))
    return found


def _moment(session: Session, firing: Firing, stage: str, there: dict[str, Message]) -> Moment:
    kept: list[int] = []
    texts: list[str] = []
    for message in there.values():
        at = session.place.get(id(message))
        if at is None:
            texts.append(said_text(message))
        else:
            kept.append(at)
    mask = kept_mask(kept, len(session.messages))
    return Moment(firing.at, firing.share, stage, mask, tuple(texts))


def culprits(retention: Retention, past: Sequence[Moment], otherwise: str = VIEW) -> tuple[str, ...]:
    """For each demanded atom the stage that lost it, in the demand's order; empty for one that is bound.

    The stage before which it was bound for the last time and after which it was not. An atom that the history kept to
    the end is lost by the view.

    Args:
        retention: what the context of a boundary holds.
        past: the moments of the compactions up to that boundary.
        otherwise: who is to blame where no stage is.
    """
    demand, bound = retention.demand, retention.bound
    found = np.full(len(demand), -1)
    open_ = ~bound  # whose stage is not known yet; most are lost late, so the newest moments are looked at first
    now = past[-1].bound(demand) if past and open_.any() else bound
    for i in range(len(past) - 1, -1, -1):
        if not open_.any():
            break
        before = past[i - 1].bound(demand) if i else np.ones(len(demand), dtype=bool)
        if past[i].stage:
            open_ &= ~now
            lost = open_ & before
            found[lost] = i
            open_ &= ~lost
        now = before
    return tuple("" if bound[slot] else past[i].stage if i >= 0 else otherwise for slot, i in enumerate(found.tolist()))
