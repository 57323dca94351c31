"""The sessions of a run as a table: what each strategy kept in them, sorted as the address says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.summaries import replayed_contenders
from workbench.report.view.page import Query
from workbench.report.view.sorting import (
    BETWEEN,
    HIDDEN,
    ColumnSwitch,
    Heading,
    column_switches,
    headings,
    hidden_columns,
    sorted_records,
)

COLUMNS = {
    "title": "Session",
    "project": "Project",
    "messages": "Messages",
    "requests": "Requests",
    "tokens": "Tokens",
}
"""Before a column for each strategy."""


@dataclass(frozen=True, slots=True)
class SessionTable:
    """The sessions that an address asks for.

    Attributes:
        rows: in the order that is asked for.
        headings: of the columns that are shown.
        switches: to show columns, or leave them out.
        sort: the column that sorts the rows; empty for the run's own order.
        hidden: the columns left out, as the address has them.
    """

    rows: Sequence[dict[str, Any]]
    headings: Sequence[Heading]
    switches: Sequence[ColumnSwitch]
    sort: str
    hidden: str


def session_table(
    rows: Sequence[dict[str, Any]],
    strategies: Sequence[str],
    query: Query,
    filters: Mapping[str, str],
) -> SessionTable:
    """The table of these sessions; a first time, a strategy's column shows the worst first.

    Raises:
        NotShown: the address sorts by what is no column.
    """
    columns = dict(COLUMNS)
    for strategy in strategies:
        columns[strategy] = strategy
    sort = query.get("sort", "")
    sorted_rows = sorted_records(rows, sort, columns)
    hidden = hidden_columns(query, columns)
    state = {**filters, "sort": sort, HIDDEN: BETWEEN.join(hidden)}
    shown_headings = []
    for heading in headings(columns, state, "sort"):
        if heading.column not in hidden:
            shown_headings.append(heading)
    switches = column_switches(columns, hidden, state)
    return SessionTable(sorted_rows, shown_headings, switches, sort, state[HIDDEN])


def session_rows(findings: Findings) -> list[dict[str, Any]]:
    """The sessions of a run with what each strategy kept in them."""
    run = findings.tables
    recall_of = {}
    for score in findings.figures.by_session.to_dict("records"):
        recall_of[score["session"], score["strategy"]] = score["recall"]
    strategies = replayed_contenders(run)
    rows = []
    for row in run.replayed.to_dict("records"):
        session = {
            "session": row["session"],
            "title": row["title"] or row["session"],
            "project": row["project"],
            "messages": row["messages"],
            "requests": row["requests"],
            "tokens": row["tokens"],
        }
        for strategy in strategies:
            session[strategy] = recall_of.get((row["session"], strategy))
        rows.append(session)
    return rows
