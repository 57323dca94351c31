"""One metric of all strategies against a baseline, from the `scores` table of a run."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.analysis.equivalence import not_worse, same
from workbench.analysis.paired import Pairs, holm, interval, pairs, sign_flip
from workbench.analysis.power import minimum_detectable, reporting_floor, sessions_needed
from workbench.errors import UnknownName
from workbench.metrics.metric import Better
from workbench.palette import REFERENCES

COLUMNS = (
    "strategy", "reference", "sessions", "dropped", "mean", "baseline", "difference", "low", "high", "ahead", "behind",
    "tied", "p", "p_holm", "verdict", "detectable", "would_do", "not_worse", "same", "why",
)  # fmt: skip
"""Of `compare_table`, see there."""


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
    rows = _rows(scores, metric, baseline, mode, share)
    better: Better = "lower" if (rows["better"] == "lower").any() else "higher"
    wide = rows.pivot_table(index=["session", "share"], columns="strategy", values="value", observed=True)
    everyone = [str(name) for name in rows["session"].unique()]
    names = [str(name) for name in rows["strategy"].unique() if name != baseline]
    contenders = sum(name not in REFERENCES for name in names)
    found = []
    for name in names:
        values = _both(wide, name, baseline)
        one, other = (dict.fromkeys(everyone) | values[column].to_dict() for column in ("one", "other"))
        both = pairs(one, other)
        row: dict[str, object] = {"strategy": name, "reference": name in REFERENCES}
        if both.n:
            row |= {"mean": float(values["one"].mean()), "baseline": float(values["other"].mean())}
        tests = 1 if name in REFERENCES else contenders
        found.append(row | _counts(both, better) | _findings(both, better, tests, worth, margin, alpha, seed))
    family = [row for row in found if not row["reference"]]
    for row, p in zip(family, holm([_number(row.get("p")) for row in family]), strict=True):
        row["p_holm"] = p
    for row in found:
        row["verdict"] = _verdict(row, better, alpha)
    table = pd.DataFrame(found, columns=list(COLUMNS))
    gain = pd.to_numeric(table["difference"]) * (-1 if better == "higher" else 1)
    order = table.assign(gain=gain).sort_values(["reference", "gain", "strategy"], na_position="last").index
    return table.loc[order].reset_index(drop=True)


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
    rows = _rows(scores, metric, first, mode, share)
    better: Better = "lower" if (rows["better"] == "lower").any() else "higher"
    wide = rows.pivot_table(index=["session", "share"], columns="strategy", values="value", observed=True)
    rivals = [str(name) for name in wide.columns if name not in REFERENCES and name != first]
    names = [first, *rivals]
    family = [(one, other) for place, one in enumerate(names) for other in names[place + 1 :]]
    everyone = [str(name) for name in rows["session"].unique()]
    ps: list[float | None] = []
    found = []
    for one, other in family:
        values = _both(wide, one, other)
        both = pairs(*(dict.fromkeys(everyone) | values[column].to_dict() for column in ("one", "other")))
        if one != first:
            ps.append(float(sign_flip(both.differences, seed=seed)) if both.n >= reporting_floor(alpha=alpha) else None)
            continue
        row: dict[str, object] = {"strategy": other, "reference": False}
        if both.n:
            row |= {"mean": float(values["one"].mean()), "baseline": float(values["other"].mean())}
        found.append(row | _counts(both, better) | _findings(both, better, len(family), worth, None, alpha, seed))
        ps.append(_number(found[-1].get("p")))
    for row, p in zip(found, holm(ps), strict=False):  # the pairs with the first come first
        row["p_holm"] = p
        row["verdict"] = _verdict(row, better, alpha)
    table = pd.DataFrame(found, columns=list(COLUMNS))
    gap = pd.to_numeric(table["difference"]) * (1 if better == "higher" else -1)
    order = table.assign(gap=gap).sort_values(["gap", "strategy"], na_position="last").index
    return table.loc[order].reset_index(drop=True)


def _rows(scores: pd.DataFrame, metric: str, baseline: str, mode: str, share: float | None) -> pd.DataFrame:
    """The scores that are asked for, with plain numbers; a missing share (natural mode) is 0 here."""
    known = scores.loc[scores["mode"] == mode]
    rows = known.loc[known["metric"] == metric, ["session", "strategy", "share", "value", "better"]]
    if rows.empty:
        raise UnknownName(f"metric of mode {mode!r}", metric, map(str, known["metric"].unique()))
    rows = rows.assign(
        share=pd.to_numeric(rows["share"]).astype("Float64").fillna(0.0).astype(float),
        value=pd.to_numeric(rows["value"]).astype("Float64").astype("float64"),
    )
    if share is not None:
        shares = rows["share"].unique()
        rows = rows[(rows["share"] - share).abs() < 1e-9]
        if rows.empty:
            raise UnknownName("share of this run", f"{share:g}", (f"{one:g}" for one in shares))
    if baseline not in set(rows["strategy"]):
        raise UnknownName("strategy of this run", baseline, map(str, rows["strategy"].unique()))
    return rows


def _both(wide: pd.DataFrame, name: str, baseline: str) -> pd.DataFrame:
    """The two strategies' values by session, over the shares at which both have one."""
    values = wide.reindex(columns=[name, baseline]).set_axis(["one", "other"], axis=1).astype(float)
    return values.dropna().groupby(level="session").mean()


def _counts(both: Pairs, better: Better) -> dict[str, object]:
    """How many sessions there are, and in how many each side is better."""
    gaps = np.array(both.differences) * (1 if better == "higher" else -1)
    return {
        "sessions": both.n,
        "dropped": both.dropped,
        "ahead": int((gaps > 0).sum()),
        "behind": int((gaps < 0).sum()),
        "tied": int((gaps == 0).sum()),
    }


def _findings(
    both: Pairs, better: Better, tests: int, worth: float, margin: float | None, alpha: float, seed: int
) -> dict[str, object]:
    """What the differences show, as far as there are enough of them."""
    gaps, floor = np.array(both.differences), reporting_floor(tests, alpha)
    if not both.n:
        return {"why": f"no session has both values; at least {floor} would do", "would_do": floor}
    found: dict[str, object] = {"difference": float(gaps.mean())}
    deviation = float(gaps.std(ddof=1)) if both.n > 1 else 0.0
    if both.differ and both.n > 1:
        needed = sessions_needed(worth, deviation, alpha / tests)
        found["would_do"] = None if needed is None else max(floor, needed)
    if both.n < floor:
        found["why"] = f"too few sessions: {both.n}, at least {floor} would do for {tests} comparison{'s'[: tests > 1]}"
    if both.n < reporting_floor(alpha=alpha):
        return found
    found["p"] = float(sign_flip(gaps, seed=seed))
    if deviation <= 1e-12 * float(np.abs(gaps).max()):
        return found | {"why": f"the difference is the same in all {both.n} sessions, so there is no interval"}
    low, high = interval(gaps, 1 - alpha)
    found |= {"low": float(low), "high": float(high)}
    found["detectable"] = minimum_detectable(deviation, both.n, alpha / tests)
    if margin is not None:
        found["not_worse"] = not_worse(gaps, margin, better=better, alpha=alpha / 2).holds
        found["same"] = same(gaps, margin, alpha=alpha / 2).holds
    if both.differ < floor and "why" not in found:
        found["why"] = f"only {both.differ} of {both.n} sessions differ; at least {floor} that do would be needed"
    return found


def _number(value: object) -> float | None:
    return value if isinstance(value, float) else None


def _verdict(row: dict[str, object], better: Better, alpha: float) -> str:
    """Two keys: the test over the family, and an interval without 0."""
    if str(row.get("why", "")).startswith(("too few", "no session")):
        return "too few sessions"
    p = _number(row.get("p") if row["reference"] else row.get("p_holm"))
    difference, low, high = (_number(row.get(column)) for column in ("difference", "low", "high"))
    if p is None or p > alpha or difference is None or (low is not None and high is not None and low <= 0 <= high):
        return "undecided"
    return "better" if (difference > 0) == (better == "higher") else "worse"
