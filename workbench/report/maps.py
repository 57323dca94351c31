"""Tables in which each figure is a way in: by kind of information and by session, down to what was lost there."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from workbench.markup import shown
from workbench.palette import REFERENCES
from workbench.report.digits import NOTHING, amount, percent
from workbench.report.html import Cell, Html, dot, row, table
from workbench.report.tables import RETENTION, Tables, by_kind, contenders, replayed, shares, strategies, values

FEWEST = 5
"""Needed things of a kind below which a share of them says nothing."""
MOST_KINDS = 14
FEW = 15
"""Sessions that are listed without being asked for."""


def kinds_html(run: Tables) -> Html:
    """What each strategy keeps of each kind of information; a figure leads to what was lost of it."""
    rows = by_kind(run)
    names = [name for name in strategies(run) if name in set(rows["strategy"]) and name != "none"]
    if rows.empty or not names:
        return Html('<p class="empty">Nothing that was said before a boundary was needed after it.</p>', data=rows)
    needed = rows.groupby("kind", sort=False)["demanded"].first()
    needed = needed[needed >= min(FEWEST, needed.max())].head(MOST_KINDS)
    known = rows.set_index(["kind", "strategy"])["recall"].to_dict()
    heads: list[Cell] = [("Kind", ""), ("Needed", "n"), *((dot(name, strategies(run)), "n") for name in names)]
    lines = []
    for kind, count in needed.items():
        figures = [_share(known.get((kind, name)), name, kind=str(kind)) for name in names]
        lines.append(row([(shown(kind), ""), (f"{count:,}", "n"), *figures]))
    how = "all cut to the same size" if shares(run) else "each on its own trigger"
    note = (
        f"Share still held, {how}; n = {amount(int(needed.sum()))} needed things, higher is better. "
        "A figure leads to the worst losses of its kind."
    )
    return Html(table(heads, lines, kind="heat", caption=note, label="recall by kind of information"), data=rows)


def by_session(run: Tables) -> pd.DataFrame:
    """What each strategy keeps in each session: `session`, `title`, `strategy`, `recall` (share, if scored).

    At equal size, mean over the shares, where the run has matched mode, else under each strategy's own trigger.
    """
    mode = "matched" if shares(run) else "natural"
    found = {name: values(run, RETENTION, name, mode) for name in contenders(run)}
    titles = dict(zip(run.sessions["session"], run.sessions["title"], strict=True))
    rows = [
        (session, str(titles.get(session) or session), name, float(kept.get(session, float("nan"))))
        for session in replayed(run)["session"]
        for name, kept in found.items()
    ]
    return pd.DataFrame(rows, columns=["session", "title", "strategy", "recall"])


def by_session_html(run: Tables) -> Html:
    """What each strategy keeps in each session; a figure leads to what was lost there."""
    rows = by_session(run)
    names = contenders(run)
    if rows.empty:
        return Html('<p class="empty">No session was replayed.</p>', data=rows)
    heads: list[Cell] = [("Session", ""), *((dot(name, strategies(run)), "n") for name in names)]
    lines = [_session(str(session), part.to_dict("records")) for session, part in rows.groupby("session", sort=False)]
    how = "all cut to the same size" if shares(run) else "each on its own trigger"
    note = f"Share still held, {how}. A figure leads to the worst losses there; {NOTHING} is a session without a score."
    full = table(heads, lines, kind="heat by-session", caption=note, label="recall by session")
    if len(lines) > FEW:
        full = f"<details><summary>All {len(lines):,} sessions</summary>{full}</details>"
    return Html(full, data=rows)


def _session(session: str, cells: Sequence[Mapping[Hashable, Any]]) -> str:
    figures = [_share(one["recall"], str(one["strategy"]), session=session) for one in cells]
    return row([(shown(cells[0]["title"], 80), "what"), *figures])


def _share(kept: float | None, strategy: str, *, kind: str = "", session: str = "") -> Cell:
    """A share on its shade, that leads to the losses behind it; a reference's leads nowhere."""
    if kept is None or kept != kept:
        return NOTHING, "n"
    shade = f'<span class="shade" style="--share:{100 * kept:.0f}%">{percent(kept)}</span>'
    if strategy in REFERENCES:
        return shade, "n"
    wanted = {"by": strategy, "kind": kind, "session": session}
    asked = "".join(f' data-show-{key}="{shown(value, 1000)}"' for key, value in wanted.items() if value)
    return f'<a class="into" href="#losses"{asked}>{shade}</a>', "n"
