"""The pages with tables: the list of runs, and one run with its sessions and losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

import pandas as pd

from workbench.base.errors import SettingError
from workbench.evaluation.analysis import marks
from workbench.evaluation.experiment.run_folder import RunFolder
from workbench.evaluation.experiment.run_notes import (
    LONGEST_NAME,
    LONGEST_NOTE,
    RunNotes,
)
from workbench.evaluation.findings.summaries import replayed_contenders
from workbench.evaluation.metrics import HALVES
from workbench.report.page.provenance import recorded_html
from workbench.report.page.verdict import headline_html, verdict_html
from workbench.report.view.losses import LossFilters, loss_counts, loss_rows
from workbench.report.view.not_shown import SHARED, NotShown
from workbench.report.view.page import Page, Query, asking, counted
from workbench.report.view.run_list import (
    NEWEST_FIRST,
    SORTS,
    RunFilters,
    run_rows,
    sorted_rows,
)
from workbench.report.view.runs import RunEntry
from workbench.report.view.session_list import session_rows, session_table
from workbench.report.view.sorting import BETWEEN, HIDDEN, column_switches, hidden_columns

MOST = 200
"""Messages or losses on one page."""
RUN_COLUMNS = {
    "created": "When (UTC)",
    "recordings": "Recordings",
    "sessions": "Sessions",
    "strategies": "Strategies",
    "answer": "Decision",
    "usd": "Cost",
    "tags": "Tags",
    "state": "State",
}
"""Columns of the list of runs beside their names."""
LARGEST_FIRST = ("created", "sessions", "usd")
"""Columns of the list of runs that are sorted downwards at first."""


def runs_page(entries: Mapping[str, RunEntry], query: Query) -> Page:
    """All runs as a table, sorted and filtered as the address says."""
    rows = run_rows(entries.values())
    comparable = [row for row in rows if row.state in ("finished", "shared copy")]
    filters = RunFilters.of(query)
    fitting_rows = [row for row in rows if filters.fits(row)]
    sort = query.get("sort", NEWEST_FIRST) or NEWEST_FIRST
    try:
        shown_rows = sorted_rows(fitting_rows, sort)
    except SettingError as error:
        raise NotShown(f"{error} in this address.") from None
    hidden = hidden_columns(query, RUN_COLUMNS)
    state = {**asdict(filters), "sort": sort, HIDDEN: BETWEEN.join(hidden)}
    counts = {}
    for name, choices in filters.counts(rows).items():
        counts[name] = counted(choices)
    values = {
        "runs": shown_rows,
        "count": len(rows),
        "wanted": asdict(filters),
        "counts": counts,
        "sort": sort,
        "hidden": hidden,
        "hide": BETWEEN.join(hidden),
        "column_switches": column_switches(RUN_COLUMNS, hidden, state),
        "sorted_by": _sorting_links(sort, state),
        "chart": asking(**asdict(filters)),
        "comparable": comparable,
    }
    records = [row.record() for row in shown_rows]
    return Page("runs", "Runs", values, pd.DataFrame(records))


def _sorting_links(sort: str, state: Mapping[str, str]) -> dict[str, str]:
    """For each column the address of the same list sorted by it; a second time turns the order."""
    links = {}
    for column in SORTS:
        downwards = f"-{column}"
        direction = column
        if sort == column or (sort != downwards and column in LARGEST_FIRST):
            direction = downwards
        links[column] = asking(**{**state, "sort": direction})
    return links


def _unfinished_page(entry: RunEntry) -> Page:
    """A run that goes on: its replays, and what it says so far."""
    rows = entry.partial()
    values = {
        "run": entry,
        "rows": rows.to_dict("records"),
        "so_far": entry.so_far(),
        "stopped": RunFolder(entry.path).in_use is False,
    }
    return Page("going_on", entry.name, values, rows)


def run_page(entry: RunEntry, query: Query) -> Page:
    """One run: its verdict and headline table, its sessions, and its losses; filtered as the
    address says.
    """
    if not entry.finished:
        return _unfinished_page(entry)
    findings = entry.findings()
    run = findings.tables
    shared = bool(run.manifest.get("shared"))
    sessions = session_rows(findings)
    titles = {}
    for row in sessions:
        titles[row["session"]] = row["title"]
    filters = LossFilters.of(query)
    shown_sessions = [row for row in sessions if filters.fits_session(row)]
    losses = [] if shared else loss_rows(run, titles)
    contenders = replayed_contenders(run)
    table = session_table(shown_sessions, contenders, query, asdict(filters))
    notes = RunNotes.of(entry.path)
    marked_note = ""
    if run.marked is not None:
        marked_note = marks.note(run.marked, run.marks)
    shown_losses = [row for row in losses if filters.fits(row)]
    losses_of_recommended = asking(by=findings.recommended) + "#losses"
    values = {
        "run": entry,
        "shared": SHARED if shared else "",
        "half": HALVES[run.first_half],
        "verdict": verdict_html(findings, losses_of_recommended).html,
        "recorded": recorded_html(findings).html,
        "headline": headline_html(findings).html,
        "sessions": table,
        "all_sessions": len(sessions),
        "losses": shown_losses[:MOST],
        "fitting": len(shown_losses),
        "all_losses": len(losses),
        "wanted": asdict(filters),
        "counts": loss_counts(losses, filters),
        "titles": titles,
        "known": run.strategies,
        "unreadable": run.unreadable.to_dict("records"),
        "notes": notes,
        "longest": (LONGEST_NAME, LONGEST_NOTE),
        "marks": notes.standing,
        "marked_note": marked_note,
    }
    download = table.rows if query.get("of") == "sessions" else shown_losses
    return Page("run", entry.name, values, pd.DataFrame(download))
