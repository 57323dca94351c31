"""The context over each session: a picture a strategy, side by side, in one scale."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from workbench.base.formats import missing
from workbench.base.palette import looks
from workbench.evaluation.analysis.table_rows import rows_of_contenders, rows_with
from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.summaries import session_titles, typical
from workbench.evaluation.findings.tables import Tables
from workbench.report.page.html import Html, empty, part

MOST_SESSIONS = 24
"""Sessions that a report draws; `workbench view` has all."""
MOST_POINTS = 400
"""Requests of a line; of a longer session each point is the largest of its neighbours."""


def contexts_html(findings: Findings) -> Html:
    """The size of each request of every session under each strategy, with compactions; a typical
    session is open.

    The table behind it has a row a session and strategy: `session`, `strategy`, `requests`,
    `compactions`, and `peak`, the most tokens of a request.
    """
    run = findings.tables
    rows = rows_of_contenders(run.steps)
    if rows.empty:
        return empty("Nothing to draw: no session was replayed request by request.")
    groups = rows.groupby(["session", "strategy"], sort=False)
    data = groups.agg(
        requests=("request", "nunique"),
        compactions=("compaction", "count"),
        peak=("tokens_sent", "max"),
    )
    data = data.reset_index()
    by_session = data.groupby("session", sort=False)
    compaction_counts = by_session["compactions"].sum()
    compaction_counts = compaction_counts.sort_values(ascending=False, kind="stable")
    open_session = typical(run)
    names = sorted(compaction_counts.index, key=lambda name: name != open_session)
    titles = session_titles(run)
    sessions = []
    for name in names[:MOST_SESSIONS]:
        session_rows = rows_with(rows, session=name)
        picture = _session(run, session_rows, name, titles[name])
        sessions.append(picture)
    return part(
        "contexts",
        data,
        sessions=sessions,
        every=len(names),
        most=MOST_POINTS,
    )


def _session(
    run: Tables,
    rows: pd.DataFrame,
    session: str,
    title: str,
) -> dict[str, Any]:
    """What the template draws of one session; points are in requests and tokens."""
    facts = rows_with(run.sessions, session=session)
    window = facts["window_used"].iloc[0]
    if missing(window):
        window = None
    requests = rows.drop_duplicates("request")
    requests = requests.sort_values("request")
    first_request = int(requests["request"].iloc[0])
    last_request = int(requests["request"].iloc[-1])
    most_recorded = requests["tokens_recorded"].max()
    most_sent = rows["tokens_sent"].max()
    largest = max(most_recorded, most_sent, window or 0)
    line = _points(requests, "tokens_recorded")
    return {
        "session": session,
        "title": title,
        "first": first_request,
        "last": max(last_request, first_request + 1),
        "requests": len(requests),
        "top": int(1.05 * largest) + 1,
        "window": None if window is None else float(window),
        "whole": int(most_recorded),
        "area": f"{first_request},0 {line} {last_request},0",
        "panels": list(_panels(run, rows)),
    }


def _panels(run: Tables, rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    styles = looks(run.strategies)
    for name in run.contenders:
        steps = rows_with(rows, strategy=name)
        if steps.empty:
            continue
        steps = steps.sort_values("request")
        is_compacted = steps["compaction"].notna()
        compacted_requests = steps.loc[is_compacted, "request"]
        yield {
            "strategy": name,
            "colour": styles[name].colour,
            "points": _points(steps, "tokens_sent"),
            "compactions": [int(request) for request in compacted_requests],
            "peak": int(steps["tokens_sent"].max()),
        }


def _points(rows: pd.DataFrame, column: str) -> str:
    """A line through the requests as SVG has it: `request,tokens` between spaces."""
    row_count = len(rows)
    if row_count > MOST_POINTS:
        group_of_row = np.arange(row_count) * MOST_POINTS // row_count
        numbered = rows.reset_index(drop=True)
        groups = numbered.groupby(group_of_row)
        largest = groups[column].idxmax()
        rows = rows.iloc[largest]
    points = []
    for request, tokens in zip(rows["request"], rows[column], strict=True):
        point = f"{int(request)},{int(tokens)}"
        points.append(point)
    return " ".join(points)
