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
    alive = (first < n) & (began < len(firings))
    ended = np.where(alive, len(firings), began)  # one behind the last compaction that an atom entered alive
    lost = np.zeros(len(first), dtype=bool)
    for number, firing in enumerate(firings):
        seen = view(trial.replay.session, firing.compaction.sent)
        gone = alive & (began <= number) & ~index.held(kept_mask(seen.kept, n), seen.texts)
        ended[gone], lost[gone] = number + 1, True
        alive &= ~gone
    rounds = ended - began
    entered = _by_round(rounds, kind, len(firings))
    at_risk = np.cumsum(entered[::-1], axis=0)[::-1]
    died = _by_round(rounds[lost], kind[lost], len(firings))
    for round, row in enumerate(at_risk[1:].tolist(), 1):
        for which, many in enumerate(row):
            if many:
                yield ChainRound(KINDS[which], round, many, int(died[round, which]))


def _by_round(rounds: Ints, kinds: Ints, most: int) -> Ints:
    """How many of each kind have each number of rounds, 0..most."""
    shape = (most + 1, len(KINDS))
    counts: Ints = np.bincount(rounds * shape[1] + kinds, minlength=shape[0] * shape[1]).reshape(shape)
    return counts
