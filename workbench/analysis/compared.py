"""One metric of all strategies against a baseline, from the `scores` table of a run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np
import pandas as pd

from workbench.analysis.equivalence import not_worse, same
from workbench.analysis.paired import Pairs, holm, interval, pairs, sign_flip
from workbench.analysis.power import minimum_detectable, reporting_floor, sessions_needed
from workbench.analysis.scores import by_session, direction, select, shared
from workbench.errors import UnknownName
from workbench.palette import REFERENCES

COLUMNS = (
    "strategy", "reference", "sessions", "dropped", "mean", "baseline", "difference", "low", "high", "ahead", "behind",
    "tied", "p", "p_holm", "verdict", "detectable", "would_do", "not_worse", "same", "why",
)  # fmt: skip
"""Of `compare_table`, see there."""


Row: TypeAlias = dict[str, object]


def compare_table(
    scores: pd.DataFrame,
    metric: str,
    baseline: str,
    mode: str = "natural",
    share: float | None = None,
    *,
    worth: float = 0.05,
    margin: float | None = None,
    alpha: float = 0.05,
    seed: int = 20,
) -> pd.DataFrame:
    """Compare every strategy with a baseline on the sessions that both have a value for.

    Args:
        scores: the table of that name of a run, see `docs/tables.md`.
        metric: one of its metrics.
        baseline: a strategy of the table.
        mode: `natural` or `matched`.
        share: of matched mode, in (0, 1); None takes each session's mean over all shares.
        worth: the difference worth knowing, in the metric's unit, > 0: how many sessions would show it.
        margin: of `not_worse` and `same`, in the metric's unit, > 0; those stay empty where it is None.
        alpha: of the family of tests, two-sided, in (0, 1); intervals are of confidence 1 - alpha.
        seed: of the draws where there are too many sessions to look at all sign flips.

    Returns:
        A row a strategy, best difference first and references last, with the columns

        - `strategy`, `reference` (a reference that measures the scale: tested, but no member of the family);
        - `sessions` (pairs; the mean over the shares at which both have a value is one), `dropped` (sessions that lack
          one of the two values: left out, never zero);
        - `mean`, `baseline`: over the same paired sessions; `difference` of them with `low` and `high`, unit of the
          metric, missing below the reporting floor and where all differences are equal;
        - `ahead`, `behind`, `tied`: sessions in which the strategy is better, worse, equal;
        - `p`: sign-flip test; `p_holm`: over all contenders of this table;
        - `verdict`: `better` or `worse` than the baseline where `p_holm` (of a reference: `p`) is at most alpha and
          the interval leaves out 0; else `undecided`, or `too few sessions`;
        - `detectable`: the difference that so many sessions would have shown four times in five;
        - `would_do`: sessions that would show a difference of `worth` four times in five, as these sessions vary, in
          a family of this size (missing where they do not vary at all, or a million would not do);
        - `not_worse`, `same`: by `margin`, one-sided at alpha / 2 each;
        - `why`: a sentence where something is missing, else empty.

    Raises:
        UnknownName: the table has no such metric, share or baseline; the message names those that it has.
    """
    rows = _known(select(scores, metric, mode, share), baseline)
    names = [str(name) for name in rows["strategy"].unique() if name != baseline]
    contenders = sum(name not in REFERENCES for name in names)
    test = _PairedTest(rows, worth, margin, alpha, seed)
    found = [
        {"strategy": name, "reference": name in REFERENCES}
        | test.row(name, baseline, 1 if name in REFERENCES else contenders)
        for name in names
    ]
    family = [row for row in found if not row["reference"]]
    for row, p in zip(family, holm([_number(row.get("p")) for row in family]), strict=True):
        row["p_holm"] = p
    return test.table(found, largest_first=True)


def lead_table(
    scores: pd.DataFrame,
    metric: str,
    first: str,
    mode: str = "natural",
    share: float | None = None,
    *,
    worth: float = 0.05,
    alpha: float = 0.05,
    seed: int = 20,
) -> pd.DataFrame:
    """Compare the strategy that came out first with every other contender, as one must who picked it by these scores.

    Whoever picks the winner by looking has looked at all pairs, so Holm's family is all pairs of contenders, and the
    reporting floor counts them all: two strategies that are equal are then called apart in 5 % of runs at most, not
    more often because the luckier of many was picked.

    Args:
        scores: the table of that name of a run, see `docs/tables.md`.
        metric: one of its metrics.
        first: the contender that came out first.
        mode: `natural` or `matched`.
        share: of matched mode, in (0, 1); None takes each session's mean over all shares.
        worth: the difference worth knowing, in the metric's unit, > 0.
        alpha: of the family of all pairs, in (0, 1).
        seed: of the draws.

    Returns:
        The columns of `compare_table`, a row a rival: `strategy` is the rival, `mean` is that of `first`, `baseline`
        that of the rival, and `difference` is positive where `first` is higher. The smallest difference comes first.

    Raises:
        UnknownName: as of `compare_table`.
    """
    rows = _known(select(scores, metric, mode, share), first)
    test = _PairedTest(rows, worth, None, alpha, seed)
    rivals = [str(name) for name in test.wide.columns if name not in REFERENCES and name != first]
    others = list(combinations(rivals, 2))
    found = [
        {"strategy": name, "reference": False} | test.row(first, name, len(rivals) + len(others)) for name in rivals
    ]
    ps = [_number(row.get("p")) for row in found] + [test.p(test.pairs(*pair)) for pair in others]
    for row, p in zip(found, holm(ps), strict=False):  # the pairs with the first come first
        row["p_holm"] = p
    return test.table(found, largest_first=False)


def _known(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """The rows, if the strategy is among them."""
    if name not in set(rows["strategy"]):
        raise UnknownName("strategy of this run", name, map(str, rows["strategy"].unique()))
    return rows


class _PairedTest:
    """Compares strategies in pairs on the sessions that both have a value for; arguments as of `compare_table`."""

    def __init__(self, rows: pd.DataFrame, worth: float, margin: float | None, alpha: float, seed: int) -> None:
        self.better = direction(rows)
        self.wide = by_session(rows)
        self.sessions = [str(name) for name in rows["session"].unique()]
        self.worth, self.margin, self.alpha, self.seed = worth, margin, alpha, seed

    def pairs(self, one: str, other: str) -> Pairs:
        """The differences by session."""
        values = shared(self.wide, one, other).reindex(self.sessions)
        return pairs(values[one].to_dict(), values[other].to_dict())

    def p(self, both: Pairs) -> float | None:
        """Of the sign-flip test; None where so few sessions could not show anything."""
        return (
            float(sign_flip(both.differences, seed=self.seed)) if both.n >= reporting_floor(alpha=self.alpha) else None
        )

    def row(self, one: str, other: str, tests: int) -> Row:
        """What `compare_table` says of two strategies, in a family of so many tests."""
        both, means = self.pairs(one, other), shared(self.wide, one, other).mean()
        gains = np.array(both.differences) * (1 if self.better == "higher" else -1)
        return {
            "sessions": both.n, "dropped": both.dropped,
            "mean": float(means[one]) if both.n else None, "baseline": float(means[other]) if both.n else None,
            "ahead": int((gains > 0).sum()), "behind": int((gains < 0).sum()), "tied": int((gains == 0).sum()),
            **self._findings(both, tests),
        }  # fmt: skip

    def _findings(self, both: Pairs, tests: int) -> Row:
        """What the differences show, as far as there are enough of them."""
        gaps, floor = np.array(both.differences), reporting_floor(tests, self.alpha)
        if not both.n:
            return {"why": f"no session has both values; at least {floor} would do", "would_do": floor}
        found: Row = {"difference": float(gaps.mean())}
        deviation = float(gaps.std(ddof=1)) if both.n > 1 else 0.0
        if both.differ and both.n > 1:
            needed = sessions_needed(self.worth, deviation, self.alpha / tests)
            found["would_do"] = None if needed is None else max(floor, needed)
        if both.n < floor:
            found["why"] = (
                f"too few sessions: {both.n}, at least {floor} would do for {tests} comparison{'s'[: tests > 1]}"
            )
        if (p := self.p(both)) is None:
            return found
        found["p"] = p
        if deviation <= 1e-12 * float(np.abs(gaps).max()):
            return found | {"why": f"the difference is the same in all {both.n} sessions, so there is no interval"}
        low, high = interval(gaps, 1 - self.alpha)
        found |= {"low": float(low), "high": float(high)}
        found["detectable"] = minimum_detectable(deviation, both.n, self.alpha / tests)
        if self.margin is not None:
            found["not_worse"] = not_worse(gaps, self.margin, better=self.better, alpha=self.alpha / 2).holds
            found["same"] = same(gaps, self.margin, alpha=self.alpha / 2).holds
        if both.differ < floor and "why" not in found:
            found["why"] = f"only {both.differ} of {both.n} sessions differ; at least {floor} that do would be needed"
        return found

    def table(self, rows: Sequence[Row], *, largest_first: bool) -> pd.DataFrame:
        """The rows with their verdicts, references last, by gain."""
        table = pd.DataFrame([row | {"verdict": self._verdict(row)} for row in rows], columns=list(COLUMNS))
        gain = pd.to_numeric(table["difference"]) * (-1 if (self.better == "higher") == largest_first else 1)
        order = table.assign(gain=gain).sort_values(["reference", "gain", "strategy"], na_position="last").index
        return table.loc[order].reset_index(drop=True)

    def _verdict(self, row: Row) -> str:
        """Two keys: the test over the family, and an interval without 0."""
        if str(row.get("why", "")).startswith(("too few", "no session")):
            return "too few sessions"
        p = _number(row.get("p") if row["reference"] else row.get("p_holm"))
        difference, low, high = (_number(row.get(column)) for column in ("difference", "low", "high"))
        if p is None or p > self.alpha or difference is None:
            return "undecided"
        if low is not None and high is not None and low <= 0 <= high:
            return "undecided"
        return "better" if (difference > 0) == (self.better == "higher") else "worse"


def _number(value: object) -> float | None:
    return value if isinstance(value, float) else None
