"""The context over each session: a picture a strategy, side by side, in one scale."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from workbench.base.formats import missing
from workbench.base.palette import REFERENCES, looks
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
    rows = run.steps[~run.steps["strategy"].isin(REFERENCES)]
    if rows.empty:
        return empty("Nothing to draw: no session was replayed request by request.")
    groups = rows.groupby(["session", "strategy"], sort=False)
    data = groups.agg(
        requests=("request", "nunique"),
        compactions=("compaction", "count"),
        peak=("tokens_sent", "max"),
    )
    data = data.reset_index()
    typical_session = typical(run)
    compaction_counts = (
        data.groupby("session", sort=False)["compactions"]
        .sum()
        .sort_values(ascending=False, kind="stable")
    )
    shown_sessions = sorted(
        compaction_counts.index, key=lambda session: session != typical_session
    )[:MOST_SESSIONS]
    titles = session_titles(run)
    sessions = [
        _session(run, rows[rows["session"] == session], session, titles[session])
        for session in shown_sessions
    ]
    return part("contexts", data, sessions=sessions, every=len(compaction_counts), most=MOST_POINTS)


def _session(run: Tables, rows: pd.DataFrame, session: str, title: str) -> dict[str, Any]:
    """What the template draws of one session; points are in requests and tokens."""
    facts = run.sessions.loc[run.sessions["session"] == session].iloc[0]
    requests = rows.drop_duplicates("request").sort_values("request")
    first_request, last_request = (
        int(requests["request"].iloc[0]),
        int(requests["request"].iloc[-1]),
    )
    window = None if missing(facts["window_used"]) else float(facts["window_used"])
    largest = max(
        requests["tokens_recorded"].max(),
        rows["tokens_sent"].max(),
        0 if window is None else window,
    )
    area = f"{first_request},0 {_points(requests, 'tokens_recorded')} {last_request},0"
    return {
        "session": session,
        "title": title,
        "first": first_request,
        "last": max(last_request, first_request + 1),
        "top": int(1.05 * largest) + 1,
        "window": window,
        "whole": int(requests["tokens_recorded"].max()),
        "area": area,
        "panels": list(_panels(run, rows)),
    }


def _panels(run: Tables, rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    look = looks(run.strategies)
    for name in run.contenders:
        steps = rows[rows["strategy"] == name].sort_values("request")
        if len(steps):
            compacted_requests = steps.loc[steps["compaction"].notna(), "request"]
            yield {
                "strategy": name,
                "colour": look[name].colour,
                "points": _points(steps, "tokens_sent"),
                "compactions": [int(request) for request in compacted_requests],
                "peak": int(steps["tokens_sent"].max()),
            }


def _points(rows: pd.DataFrame, column: str) -> str:
    """A line through the requests as SVG has it: `request,tokens` between spaces."""
    if len(rows) > MOST_POINTS:
        groups = np.arange(len(rows)) * MOST_POINTS // len(rows)
        rows = rows.loc[
            rows.reset_index().groupby(groups)[column].idxmax().map(lambda place: rows.index[place])
        ]
    return " ".join(
        f"{int(x)},{int(y)}" for x, y in zip(rows["request"], rows[column], strict=True)
    )
