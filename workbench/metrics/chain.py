"""How long what was said lives through a chain of compactions: who was at risk in each round, and who was lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from workbench.metrics.metric import Trial
from workbench.metrics.ragged import Ints, kept_mask
from workbench.metrics.view import view
from workbench.transcript.atoms import KINDS, Kind


@dataclass(frozen=True, slots=True)
class ChainRound:
    """Atoms of one kind in one round of their life: how many entered it, and how many it took.

    Attributes:
        round: 1 for the first compaction after an atom was first said, 2 for the second, ...
        at_risk: atoms that entered the round alive, whenever they were said.
        lost: those that no longer stood in what was sent after it.
    """

    kind: Kind
    round: int
    at_risk: int
    lost: int


def chain(trial: Trial) -> Iterator[ChainRound]:
    """The rounds of all atoms and statements of a natural replay, background left out.

    An atom that was lost once stays lost, even if somebody says it again. Those that are alive at the last compaction
    are censored there. Fails to see what a paraphrase keeps of an atom: an atom stands there or not.
    """
    firings = [firing for firing in trial.replay.firings if firing.share is None]
    if trial.replay.mode != "natural" or not firings:
        return
    index, n = trial.index, trial.index.postings.n
    first, kind = index.everything
    began = np.searchsorted(np.array([firing.at for firing in firings]), first, side="right")
    alive = first < n
    shape = (len(firings) + 1, len(KINDS))
    risk, lost = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for number, firing in enumerate(firings):
        seen = view(trial.replay.session, firing.compaction.sent)
        here = index.held(kept_mask(seen.kept, n), seen.texts)
        entered = alive & (began <= number)
        gone = entered & ~here
        _count(risk, number + 1 - began[entered], kind[entered])
        _count(lost, number + 1 - began[gone], kind[gone])
        alive &= ~gone
    for round, row in enumerate(risk.tolist()):
        for which, at_risk in enumerate(row):
            if at_risk:
                yield ChainRound(KINDS[which], round, at_risk, int(lost[round, which]))


def _count(into: Ints, rounds: Ints, kinds: Ints) -> None:
    into += np.bincount(rounds * into.shape[1] + kinds, minlength=into.size).reshape(into.shape)
