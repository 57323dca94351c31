"""What would change an answer that leaves an agent's compaction as it is: another price of what is
kept, or more sessions. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import ceil, isfinite

import numpy as np
import pandas as pd

from workbench.base.formats import dollars, percent, some
from workbench.evaluation.analysis.paired import FEWEST, estimate
from workbench.evaluation.analysis.power import sessions_needed
from workbench.evaluation.analysis.trade import MARGIN
from workbench.lab.advice.advice import SAME_BILL

TENTHS = 10
"""Of a bill."""
MOST_WORTH = 20.0
"""Points that a tenth of the bill may be worth to somebody."""


@dataclass(frozen=True, slots=True)
class PricedSetting:
    """A setting that saves more than today's and keeps less.

    Attributes:
        candidate: its name.
        usd: that it saves of a session.
        share: of today's bill that it saves.
        points: that it keeps less, above 0.
    """

    candidate: str
    usd: float
    share: float
    points: float

    @property
    def worth(self) -> float:
        """Points for a tenth of the bill from which on it is the better one."""
        return self.points / (TENTHS * self.share)

    def words(self, setting: str, measure: str) -> str:
        """At which price it is to be set, in a sentence.

        Args:
            setting: what is to be set.
            measure: what the points are of.
        """
        tenths_of_a_point = round(10 * self.worth, 6)
        worth = ceil(tenths_of_a_point) / 10
        points = max(round(self.points), 1)
        return (
            f"That changes if {dollars(self.usd)} a session, {percent(self.share)} of today's bill,"
            f" is worth more to you than {some(points, 'point')} of {measure} (--worth {worth:g}):"
            f" then set {setting}."
        )


def priced_setting(
    table: pd.DataFrame,
    default: str,
    measure: str,
    worth: float,
    excluded: Collection[str],
) -> PricedSetting | None:
    """The setting that pays at the lowest price of a bill; None where none does at a higher one than
    today's.

    Args:
        table: as of `figures`.
        default: the candidate that is in use.
        measure: the column of what is kept.
        worth: points that a tenth of the bill counts today.
        excluded: candidates that are not chosen at any price.
    """
    rows = table.set_index("candidate")
    today = rows.loc[default]
    cheapest: PricedSetting | None = None
    for candidate in rows.index:
        row = rows.loc[candidate]
        share = float(row["saved"])
        points = 100 * float(today[measure] - row[measure])
        saves = share >= SAME_BILL
        keeps_less = points > 0
        if candidate in excluded or not saves or not keeps_less:
            continue
        setting = PricedSetting(
            str(candidate),
            usd=float(today["usd"] - row["usd"]),
            share=share,
            points=points,
        )
        if not worth < setting.worth <= MOST_WORTH:
            continue
        if cheapest is None or setting.worth < cheapest.worth:
            cheapest = setting
    return cheapest


def more_sessions_words(differences: Sequence[float], unit: str, sessions: int, best: str) -> str:
    """How many more sessions would tell whether a lead is chance, by the spread of those that have a
    figure; empty where none has.

    Args:
        differences: points by which the best of the other settings is ahead of today's, one a unit.
        unit: `project` or `session`.
        sessions: in which they were looked for.
        best: that other setting, in words.
    """
    count = len(differences)
    if not count or not all(map(isfinite, differences)):
        return ""
    mean = float(np.mean(differences))
    if abs(mean) < MARGIN:
        return "More sessions would hardly change that: nobody would notice the difference."
    lead = f"Today's setting is ahead by {-mean:.1f} points"
    if mean > 0:
        lead = f"The best other setting, {best}, is ahead by {mean:.1f} points"
    lead = f"{lead} on {some(count, unit)}"
    gain = estimate(differences)
    if gain is not None and gain.low is not None and gain.high is not None:
        is_clear = gain.low > 0 or gain.high < 0
        if is_clear:
            return f"{lead}, clear of chance: more sessions like these would hardly change that."
    needed: int | None = FEWEST
    if count > 1:
        deviation = float(np.std(differences, ddof=1))
        needed = sessions_needed(mean, deviation)
    if needed is None:
        return f"{lead}, and no number of sessions would show that it is more than chance."
    needed = max(needed, count + 1)
    further_sessions = ceil((needed - count) * sessions / count)
    return (
        f"{lead}: to tell whether that is chance takes {needed} of them, about"
        f" {some(further_sessions, 'more session', 'more sessions')} like your {sessions}."
    )
