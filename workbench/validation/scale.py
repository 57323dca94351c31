"""Whether the references of a run mark the ends of the scale, by the run's own tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from workbench.validation.check import Check, check

if TYPE_CHECKING:
    import pandas as pd

REFERENCES = frozenset({"none", "null", "random", "oracle", "recorded"})
TINY = 1e-9
PLACE = ["session", "mode", "share"]


class RunTables(Protocol):
    """A run as it is on disk."""

    def table(self, name: str, /) -> pd.DataFrame:
        """One table by name."""
        ...


def floor(run: RunTables) -> Check:
    """The reference `null` is 0 on the scale, and never above the median strategy."""
    scores = run.table("scores")
    rows = scores[(scores["metric"] == "recall") & scores["value"].notna()].copy()
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
    """No strategy whose context is within the budget keeps more than the reference `oracle` there."""
    kept = run.table("retention")
    kept = kept[kept["mode"] == "matched"].groupby(["strategy", "session", "share", "at"])["bound"].sum().reset_index()
    best = kept[kept["strategy"] == "oracle"].drop(columns="strategy").rename(columns={"bound": "oracle"})
    fired = run.table("compactions")
    fired = fired[(fired["mode"] == "matched") & (fired["tokens_sent"] <= fired["target"])]
    within = fired[["strategy", "session", "share", "at"]]
    both = kept[~kept["strategy"].isin(REFERENCES)].merge(within, on=["strategy", "session", "share", "at"])
    both = both.merge(best, on=["session", "share", "at"])
    above = both[both["bound"] > both["oracle"] + TINY]
    wrong = [f"{r.strategy} on {r.session} at {r.at}: {r.bound:g} of oracle's {r.oracle:g}" for r in above.itertuples()]
    return check(
        "ceiling",
        "no context within its budget keeps more than the reference oracle at the same place and size",
        not wrong if len(both) else None,
        f"{len(both) - len(above)} of {len(both)} contexts are not above it",
        wrong,
    )
