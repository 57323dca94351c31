"""What one side of `workbench lab validate` gives: a short table, a sentence, and longer tables
behind it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd


@dataclass(frozen=True)
class SideTable:
    """The outcome of one side.

    Attributes:
        rows: the short table; empty where the side's data are not at hand.
        says: one sentence: what the table says, or what is missing.
        details: longer tables by their titles.
    """

    rows: pd.DataFrame
    says: str
    details: Mapping[str, pd.DataFrame] = field(default_factory=dict)

    @classmethod
    def absent(cls, says: str) -> SideTable:
        """A side without its data."""
        return cls(pd.DataFrame(), says)
