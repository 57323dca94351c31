"""Which results at equal size may be compared: those of sessions in which every compared strategy reaches the size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.replay.matched import MOST_OVER_TARGET, TOO_LARGE

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class OverTarget:
    """The sessions in which one strategy stays larger than the size that was set, of so many."""

    inside: frozenset[str]
    of: int

    @property
    def compared(self) -> bool:
        """Whether its figures may be compared with the others': it reaches the size in nine sessions of ten."""
        return len(self.inside) <= MOST_OVER_TARGET * self.of


def over_target(table: pd.DataFrame) -> dict[str, OverTarget]:
    """The strategies that stay larger somewhere, from a judge's table with `session`, `strategy` and `reason`."""
    inside = table[is_over_target(table)].groupby("strategy")["session"].unique()
    of = table.groupby("strategy")["session"].nunique()
    return {str(name): OverTarget(frozenset(map(str, found)), int(of[name])) for name, found in inside.items()}


def is_over_target(table: pd.DataFrame) -> pd.Series[bool]:
    """The rows whose reason is such a context; none where no row has a reason."""
    reasons = table.reindex(columns=["reason"])["reason"]
    return reasons.astype("string").str.startswith(TOO_LARGE).fillna(False).astype(bool)


def evenly(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that may be compared.

    As in a run's own comparison at equal size: a session in which a compared strategy stays larger counts for none; a
    strategy that stays larger in more than a tenth of its sessions loses only those, and is not compared.
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
    notes = []
    for name, one in over_target(table).items():
        many = len(one.inside)
        follows = "it has no figures" if many == one.of else f"its figures are of the other {one.of - many} sessions"
        if one.compared:
            follows = f"no strategy's figures count {'it' if many == 1 else 'those'}"
        elif many < one.of:
            follows += " and may not be compared"
        of = f"{one.of} session{'s' * (one.of > 1)}"
        notes.append(f"{name} stays larger than the size that was set in {many} of {of}; {follows}.")
    return notes
