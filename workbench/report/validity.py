"""Whether this run's own scale holds, and what the recorded agent kept where it compacted for real."""

from __future__ import annotations

import pandas as pd

from workbench.markup import shown
from workbench.report.digits import percent
from workbench.report.html import Cell, Html, dot, row, table
from workbench.report.tables import Source, plain
from workbench.validation.scale import ceiling, floor

WHOLE = (
    "These are read off this run. <code>workbench selfcheck</code> with the same recordings checks the rest: that"
    " planted needs are found, that foreign futures need nothing, that strategies are blind, and that lists of words"
    " win nothing."
)


def validity_html(run: Source) -> Html:
    """The checks that the run's own cells allow: one row each with `check`, `outcome`, `found`, `claim`."""
    checks = [floor(run), ceiling(run)]
    heads: list[Cell] = [("check", ""), ("outcome", ""), ("what must hold", ""), ("found", "")]
    rows = [
        row([(shown(c.name), ""), (shown(c.outcome), ""), (shown(c.claim), ""), (shown(_found(c.found, c.where)), "")])
        for c in checks
    ]
    data = pd.DataFrame([{"check": c.name, "outcome": c.outcome, "found": c.found, "claim": c.claim} for c in checks])
    return Html(table(heads, rows, caption=WHOLE, label="checks of the scale"), data=data)


def _found(found: str, where: tuple[str, ...]) -> str:
    return f"{found}; {'; '.join(where)}" if where else found


def recorded_html(run: Source) -> Html:
    """What was really kept at recorded compactions beside the strategies at the same size; empty where there is none.

    One row a strategy: `strategy`, `sessions`, `recall` and `tokens_kept` (shares, means over sessions).
    """
    scores = plain(run.table("scores"))
    scores = scores[(scores["mode"] == "recorded") & scores["metric"].isin(["recall", "tokens_kept"])]
    if not (scores["strategy"] == "recorded").any():
        return Html("", "no recording has a compaction with a summary that can be read")
    wide = scores.pivot_table(index=["strategy", "session"], columns="metric", values="value").reset_index()
    wide = wide.reindex(columns=["strategy", "session", "recall", "tokens_kept"])
    means = wide.groupby("strategy").agg(
        sessions=("recall", "count"), recall=("recall", "mean"), tokens_kept=("tokens_kept", "mean")
    )
    data = means.sort_values("recall", ascending=False).reset_index()
    names = list(data["strategy"])
    heads: list[Cell] = [("strategy", ""), ("still knows", "n"), ("size", "n"), ("sessions", "n")]
    rows = [
        row(
            [
                (dot(str(one["strategy"]), names), ""),
                (percent(one["recall"]), "n"),
                (percent(one["tokens_kept"]), "n"),
                (str(one["sessions"]), "n"),
            ]
        )
        for one in data.to_dict("records")
    ]
    lead = (
        "<h2>Where the recorded agent compacted</h2><p>Each strategy cut the same history to the size of what that"
        " agent really went on with, which stands here as <i>recorded</i>.</p>"
    )
    return Html(
        lead + table(heads, rows, caption=shown(rereads_told(run)), label="recall at recorded compactions"), data=data
    )


def rereads_told(run: Source) -> str:
    """How often the recorded agents looked again at what they had seen, in a sentence."""
    rows = plain(run.table("rereads"))
    known = rows[rows["expected"].notna()] if len(rows) else rows
    if not len(known):
        return "Too few tool calls stand before these compactions to say how often agents look again anyway."
    return (
        f"In the {int(known['calls'].sum())} tool calls after {len(known)} such compactions the agents looked"
        f" {int(known['repeats'].sum())} times at what they had seen before; at their rate from before it would have"
        f" been {known['expected'].sum():.0f} times."
    )
