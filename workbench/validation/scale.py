"""Whether the references of a run mark the ends of the scale, by the run's own tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from workbench.metrics import HEADLINE
from workbench.validation.check import Check, check

if TYPE_CHECKING:
    import pandas as pd

REFERENCES = frozenset({"none", "null", "random", "oracle", "recorded"})
TINY = 1e-9
PLACE = ["session", "mode", "share"]
AT_SIZE = ["strategy", "session", "share"]


class RunTables(Protocol):
    """A run as it is on disk."""

    def table(self, name: str, /) -> pd.DataFrame:
        """One table by name."""
        ...


def floor(run: RunTables) -> Check:
    """The reference `null` is 0 on the scale, and never above the median strategy."""
    scores = run.table("scores")
    rows = scores[(scores["metric"] == HEADLINE) & scores["value"].notna()].copy()
    rows["share"] = rows["share"].fillna(-1.0)
    null = rows[rows["strategy"] == "null"]
    bent = null[null["scaled"].notna() & (null["scaled"].abs() > TINY)]
    contenders = rows[~rows["strategy"].isin(REFERENCES)]
    middle = contenders.groupby(PLACE)["value"].median().rename("median").reset_index()
    both = null.merge(middle, on=PLACE)
    above = both[both["value"] > both["median"] + TINY]
    wrong = [f"{row.session}, {row.mode}: null is {row.scaled} on the scale" for row in bent.itertuples()]
    wrong += [f"{row.session}, {row.mode}: null {row.value:.3f}, median {row.median:.3f}" for row in above.itertuples()]
    return check(
        "floor",
        "the reference null is 0 on the scale and never above the median strategy",
        not wrong if len(both) else None,
        f"{len(both) - len(above)} of {len(both)} times not above the median",
        wrong,
    )


def ceiling(run: RunTables) -> Check:
    """No strategy whose contexts are all within the budget answers more than the reference `oracle` there."""
    scores = run.table("scores")
    rows = scores[(scores["metric"] == HEADLINE) & (scores["mode"] == "matched") & scores["value"].notna()]
    fired = run.table("compactions")
    fired = fired[fired["mode"] == "matched"]
    within = (fired["tokens_sent"] <= fired["target"]).groupby([fired[name] for name in AT_SIZE]).all()
    best = rows[rows["strategy"] == "oracle"].set_index(["session", "share"])["value"].rename("oracle")
    both = rows[~rows["strategy"].isin(REFERENCES)].join(best, on=["session", "share"], how="inner")
    both = both[both.set_index(AT_SIZE).index.isin(within.index[within])]
    above = both[both["value"] > both["oracle"] + TINY]
    wrong = [
        f"{r.strategy} on {r.session} at {r.share:g}: {r.value:.3f}, oracle {r.oracle:.3f}" for r in above.itertuples()
    ]
    return check(
        "ceiling",
        "no strategy within its budget answers more of the exam than the reference oracle at the same size",
        not wrong if len(both) else None,
        f"{len(both) - len(above)} of {len(both)} means are not above it",
        wrong,
    )
