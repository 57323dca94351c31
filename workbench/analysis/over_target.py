"""Which answers at equal size may stand beside each other: those of sessions in which everybody gets that small."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.metrics.sizes import MOST_OVER_TARGET, TOO_LARGE

if TYPE_CHECKING:
    import pandas as pd

OVER_TARGET = "over_target"
"""The outcome of a context that stays larger than the size that was set: nobody was asked about it."""


@dataclass(frozen=True, slots=True)
class OverTarget:
    """Where one strategy stays larger than the size that was set.

    Attributes:
        inside: the sessions in which it does, at any size.
        of: sessions in which it was measured or would have been.
    """

    inside: frozenset[str]
    of: int

    @property
    def compared(self) -> bool:
        """Whether its figures may stand beside the others': it gets that small in nine sessions of ten."""
        return len(self.inside) <= MOST_OVER_TARGET * self.of


def over_target(table: pd.DataFrame) -> dict[str, OverTarget]:
    """By strategy that stays larger somewhere.

    Args:
        table: of a measurement with a model: the columns `session`, `strategy` and `reason`.
    """
    large = table[is_over_target(table)]
    inside = large.groupby("strategy")["session"].unique()
    of = table.groupby("strategy")["session"].nunique()
    return {str(name): OverTarget(frozenset(map(str, found)), int(of[name])) for name, found in inside.items()}


def is_over_target(table: pd.DataFrame) -> pd.Series[bool]:
    """The rows that stand for such a context; none where no row has a reason."""
    import pandas as pd

    if "reason" not in table:
        return pd.Series(False, index=table.index)
    return table["reason"].astype("string").str.startswith(TOO_LARGE).fillna(False).astype(bool)


def evenly(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that may be compared.

    As in a run's own comparison at equal size: a session in which a strategy that is compared stays larger counts for
    nobody; a strategy of which that is true in more than a tenth of its sessions loses only those, and is not compared.
    """
    found = over_target(table)
    if not found:
        return table
    shared = {session for one in found.values() if one.compared for session in one.inside}
    own = [(name, session) for name, one in found.items() for session in one.inside]
    lost = table.set_index(["strategy", "session"]).index.isin(own)
    return table[~table["session"].isin(shared) & ~lost]


def over_target_notes(table: pd.DataFrame) -> list[str]:
    """A sentence for each such strategy: where it stays larger, and what follows."""
    told = []
    for name, one in over_target(table).items():
        many = len(one.inside)
        where = f"{name} stays larger than the size that was set in {many} of {one.of} session{'s' * (one.of > 1)}"
        if one.compared:
            told.append(f"{where}; nobody's figures count {'it' if many == 1 else 'those'}.")
        elif many < one.of:
            told.append(f"{where}; its figures are of the other {one.of - many} and may not be compared.")
        else:
            told.append(f"{where}; it has no figures.")
    return told
