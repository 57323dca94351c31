"""What each strategy keeps and what it saves under its own trigger, both numbers over the same sessions."""

from __future__ import annotations

import pandas as pd

from workbench.analysis.estimate import Estimate, estimate
from workbench.palette import REFERENCES
from workbench.report.digits import listed, percent, some
from workbench.report.tables import RETENTION, Tables, contenders, strategies, values

SAVED = "tokens_saved"
COLUMNS = (
    "strategy", "reference", "recall", "recall_low", "recall_high", "saved", "saved_low", "saved_high",
    "sessions", "of",
)  # fmt: skip


def points(run: Tables) -> pd.DataFrame:
    """One row a strategy that some session has both numbers for; a session with one of them counts in neither mean.

    Columns: `strategy`, `reference`, `recall` and `saved` (means, shares) with `_low` and `_high` (95 % intervals),
    `sessions` (that have both numbers), `of` (sessions that have any).
    """
    found = []
    for name in strategies(run):
        both = dots(run, name)
        either = values(run, RETENTION, name).index.union(values(run, SAVED, name).index)
        kept, saved = estimate(both["recall"].tolist(), least=0, most=1), estimate(both["saved"].tolist())
        if kept is not None and saved is not None:
            columns = {**_columns("recall", kept), **_columns("saved", saved), "sessions": len(both), "of": len(either)}
            found.append({"strategy": name, "reference": name in REFERENCES, **columns})
    return pd.DataFrame(found, columns=list(COLUMNS))


def dots(run: Tables, strategy: str) -> pd.DataFrame:
    """One row a session that has both numbers: `recall`, `saved`."""
    kept, saved = values(run, RETENTION, strategy), values(run, SAVED, strategy)
    return pd.concat([kept.rename("recall"), saved.rename("saved")], axis=1, join="inner")


def _columns(name: str, found: Estimate) -> dict[str, float | None]:
    return {name: found.mean, f"{name}_low": found.low, f"{name}_high": found.high}


def counted(rows: pd.DataFrame) -> str:
    """How many sessions the points rest on: `n = 10 sessions`, `n = 2 to 3 of 3 sessions`."""
    least, most, whole = int(rows["sessions"].min()), int(rows["sessions"].max()), int(rows["of"].max())
    reach = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    return f"n = {some(whole, 'session')}" if least == whole else f"n = {reach} of {some(whole, 'session')}"


def points_words(run: Tables) -> str:
    """The same as the chart, for those who cannot see it."""
    rows = points(run)
    told = [
        f"{one['strategy']} keeps {percent(one['recall'])} and saves {percent(one['saved'])}{_part(one)}"
        for one in rows.to_dict("records")
    ]
    return "Kept against saved: " + (listed(told) or "no data")


def _part(one: dict[object, object]) -> str:
    return "" if one["sessions"] == one["of"] else f" in {one['sessions']} of {one['of']} sessions"


def unscored_note(run: Tables) -> str:
    """Which contenders have fewer sessions that say what is kept than sessions that say what is saved; often empty."""
    parts: dict[tuple[int, int], list[str]] = {}
    for name in contenders(run):
        kept, saved = len(values(run, RETENTION, name)), len(values(run, SAVED, name))
        if kept < saved:
            parts.setdefault((kept, saved), []).append(name)
    if not parts:
        return ""
    told = listed([f"{kept} of {some(saved, 'session')} for {listed(names)}" for (kept, saved), names in parts.items()])
    return (
        f"Kept on its own trigger: {told}; in the others too little is needed after a compaction, or there is none. "
        "The chart of kept against saved shows sessions that have both figures."
    )
