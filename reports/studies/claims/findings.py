"""What a claim is held against: rows of this project, and what they come to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from scipy.stats import t

STUDY = Path(__file__).parent
STUDIES = STUDY.parent
NEAR = 0.1
"""A ratio or a share is reproduced where it differs by this much at most."""


@dataclass(frozen=True)
class Finding:
    """What this project's figures say of a claim, and whether that is what the claim says."""

    text: str
    holds: bool = False


@dataclass(frozen=True)
class Evidence:
    """The rows that were measured for this study; see `recordings`."""

    compactions: pd.DataFrame
    costs: pd.DataFrame
    edits: pd.DataFrame
    sources: pd.DataFrame
    usage: pd.DataFrame

    def maskable(self) -> pd.DataFrame:
        """The costs of recordings whose first requests have a result to mask."""
        masked = self.costs[(self.costs["context"] == "mask") & (self.costs["compactions"] > 0)]
        return self.costs[self.costs["session"].isin(masked["session"])]


def near(value: float, published: float, by: float = NEAR) -> bool:
    """Whether a figure is as published, or nearly."""
    return abs(value - published) <= by


def signed_percent(share: float) -> str:
    """A change in per cent."""
    return f"{100 * share:+.0f} %"


def within(value: float, low: float, high: float, by: float = NEAR) -> bool:
    """Whether a figure lies in a published range, or nearly."""
    return low - by <= value <= high + by


@dataclass(frozen=True)
class Interval:
    """A mean of paired differences, with its 95 % interval from t."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, differences: pd.Series) -> Interval:
        """That of some differences, one a recording or task."""
        width = t.ppf(0.975, len(differences) - 1) * differences.sem()
        mean = differences.mean()
        return cls(mean, mean - width, mean + width)

    def __str__(self) -> str:
        mean, low, high = (round(value, 2) + 0 for value in (self.mean, self.low, self.high))
        return f"{mean:.2f} ({low:.2f} to {high:.2f})"


def recordings(rows: pd.DataFrame) -> str:
    """How many recordings there are, of how many projects."""
    return f"{rows['session'].nunique()} recordings of {rows['project'].nunique()} projects"


def rows_of(study: str, name: str) -> pd.DataFrame:
    """The kept rows of another study; `null` is a strategy."""
    path = STUDIES / study / "rows" / f"{name}.csv"
    return pd.read_csv(path, keep_default_na=False, na_values=[""])
