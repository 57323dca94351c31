"""What an advice says of bills: what candidates save, which is the cheapest, and which were not
simulated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from workbench.base.formats import joined, missing, paragraph, percent
from workbench.evaluation.findings.look_ups import FAR_BEHIND
from workbench.evaluation.metrics import WORK
from workbench.lab.advice.advice import SAME_BILL, TODAY, UNCOMPACTED, Bill


@dataclass(frozen=True, slots=True)
class BillFacts:
    """What is told of the bill behind a verdict.

    Attributes:
        saved: by candidate the share of the bill that it saves.
        advised: the candidate to use.
        default: what it is compared with.
        set_aside: candidates that end far behind when simulated, with their distance in points.
        not_simulated: why the bill only estimates look-ups; empty where it pays each.
        bill: that savings are shares of.
        out_of_reach: candidates that no saving could bring to the default, with the points that
            they keep less.
    """

    saved: Mapping[str, float]
    advised: str
    default: str
    set_aside: Mapping[str, float]
    not_simulated: str
    bill: Bill = UNCOMPACTED
    out_of_reach: Mapping[str, float] = field(default_factory=dict)

    @property
    def cheapest(self) -> str:
        """The candidate that saves most; empty where nothing is priced."""
        savings = {name: share for name, share in self.saved.items() if not missing(share)}
        if not savings:
            return ""
        return max(savings, key=savings.__getitem__)

    @property
    def words(self) -> str:
        """All of it, in sentences."""
        return paragraph(
            self._dollars,
            self._far_behind,
            look_up_words(self.not_simulated),
            out_of_reach_words(self.out_of_reach, self.default),
        )

    @property
    def _dollars(self) -> str:
        """What to use if only dollars count; empty where that is what is advised."""
        cheapest = self.cheapest
        if not cheapest or cheapest == self.advised:
            return ""
        if self.saved[cheapest] - self.saved.get(self.advised, 0.0) < SAME_BILL:
            return ""
        change = self.bill.change(self.saved[cheapest])
        return f"If only dollars count, take {cheapest}, which {change}."

    @property
    def _far_behind(self) -> str:
        """Which candidates are not chosen since they end far behind; empty for none."""
        distances = []
        for name, points in self.set_aside.items():
            if name != self.default:
                distances.append(f"{name} by {points:.0f}")
        sentences = []
        if distances:
            sentences.append(
                "Not chosen, since agents that look up what they lack end more than"
                f" {FAR_BEHIND:.0f} points behind with them: {joined(distances)}."
            )
        if self.default in self.set_aside:
            points = self.set_aside[self.default]
            sentences.append(f"{self.default} itself ends {points:.0f} points behind the best.")
        return " ".join(sentences)


def look_up_words(not_simulated: str) -> str:
    """Whether the bill pays each look-up of what was lost, or why it only estimates them."""
    if not not_simulated:
        return "The bill is simulated: every look-up of what was lost is made and paid."
    reason = not_simulated.rstrip(".")
    return f"The bill estimates look-ups; they were not simulated, since {reason}."


def traded(
    table: pd.DataFrame,
    names: Sequence[str],
    half: str,
    bill: Bill = UNCOMPACTED,
) -> str:
    """What each of these candidates keeps and saves, the half that decides first; empty without
    figures.

    Args:
        table: as of `figures`.
        names: of the candidates, the default last.
        half: that decides.
        bill: that savings are shares of.
    """
    order = ("work", "names") if half == WORK else ("names", "work")
    titles = {"work": "the work", "names": "names"}
    parts = []
    rows = table.set_index("candidate")
    for name in dict.fromkeys(names):
        if name not in rows.index:
            continue
        row = rows.loc[name]
        kept_parts = []
        for column in order:
            if not missing(row[column]):
                kept_parts.append(f"{percent(row[column])} of {titles[column]}")
        facts = []
        if kept_parts:
            facts.append(f"keeps {' and '.join(kept_parts)}")
        is_today = bill is TODAY and name == names[-1]
        if not missing(row["saved"]) and not is_today:
            facts.append(bill.change(row["saved"]))
        if facts:
            parts.append(f"{name} {' and '.join(facts)}")
    return f"{'; '.join(parts)}." if parts else ""


def out_of_reach_words(out_of_reach: Mapping[str, float], default: str) -> str:
    """Which candidates were not simulated any more, and why; empty for none.

    Args:
        out_of_reach: by name how many points less than the default they keep.
        default: what that is called.
    """
    if not out_of_reach:
        return ""
    distances = []
    for name, points in out_of_reach.items():
        distances.append(f"{name} ({points:.0f})")
    return (
        f"Not simulated, since they keep so many points less than {default} that no saving makes up"
        f" for it: {joined(distances)}."
    )
