"""Who may be ranked at equal size, and over which sessions: those in which everybody gets that small."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from workbench.metrics.sizes import MOST_OVER_TARGET, TOO_LARGE

if TYPE_CHECKING:
    from workbench.report.tables import Tables

RETENTION = "recall"
"""The headline metric: future-reference recall, at the level where an entity still stands with its context."""


def larger(scores: pd.DataFrame) -> frozenset[tuple[str, str, float]]:
    """Strategy, session and share where a strategy stays larger than the size that was set."""
    if scores.empty:
        return frozenset()
    rows = scores[(scores["metric"] == RETENTION) & (scores["mode"] == "matched")]
    rows = rows[rows["why"].astype(str).str.startswith(TOO_LARGE)]
    return frozenset(
        (str(name), str(session), float(share))
        for name, session, share in zip(rows["strategy"], rows["session"], rows["share"], strict=True)
    )


def stays_larger(run: Tables, share: float | None = None) -> dict[str, set[str]]:
    """By strategy the sessions in which it stays larger than a share; than any of them where none is named."""
    found: dict[str, set[str]] = {}
    for name, session, at in run.larger:
        if share is None or abs(at - share) < 1e-9:
            found.setdefault(name, set()).add(session)
    return found


def over_target(run: Tables, share: float | None = None) -> dict[str, tuple[int, int]]:
    """By strategy that stays larger than the size that was set: in how many sessions, and of how many.

    Sessions in which too little is needed later for a score count in neither.
    """
    large = stays_larger(run, share)
    if not large:
        return {}
    rows = run.scores[(run.scores["metric"] == RETENTION) & (run.scores["mode"] == "matched")]
    rows = rows[rows["session"].isin(rows.loc[rows["value"].notna(), "session"])]
    of = rows.groupby("strategy")["session"].unique()
    found = {str(name): (len(large.get(name, set()) & set(every)), len(every)) for name, every in of.items()}
    return {name: (many, every) for name, (many, every) in found.items() if many}


def unranked(run: Tables, share: float | None = None) -> dict[str, tuple[int, int]]:
    """Those of `over_target` that so few sessions are left of that their mean may not stand beside the others'."""
    found = over_target(run, share)
    return {name: (large, every) for name, (large, every) in found.items() if large > MOST_OVER_TARGET * every}


def left_out(run: Tables, share: float | None = None) -> set[str]:
    """The sessions in which a strategy that is ranked stays larger: nobody's figure at that size counts them."""
    large = stays_larger(run, share)
    out = unranked(run, share) if large else {}
    return {session for name, sessions in large.items() if name not in out for session in sessions}
