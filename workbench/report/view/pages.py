"""The pages with tables: the list of runs, and one run with its sessions and losses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from workbench.base.errors import SettingError
from workbench.evaluation.analysis import marks
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.run_notes import (
    LONGEST_NAME,
    LONGEST_NOTE,
    MARKS,
    RunNotes,
    loss_key,
)
from workbench.evaluation.findings.losses import worst_losses
from workbench.evaluation.findings.summaries import replayed_contenders, session_titles
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.metrics import HALVES
from workbench.report.page.losses import way_note
from workbench.report.page.provenance import recorded_html
from workbench.report.page.verdict import headline_html, verdict_html
from workbench.report.view.contexts import SHARED, NotShown
from workbench.report.view.page import Page, Query, asking, counted, named_in, path_of
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
ALL_LOSSES = 10**9
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
        "comparable": [row for row in rows if row.state in ("finished", "shared copy")],
    }
    records = [row.record() for row in shown_rows]
    return Page("runs", "Runs", values, pd.DataFrame(records))


def _sorting_links(sort: str, state: Mapping[str, str]) -> dict[str, str]:
    """For each column the address of the same list sorted by it; a second time turns the order."""
    links = {}
    for column in SORTS:
        direction = column
        if sort == column or (sort != f"-{column}" and column in LARGEST_FIRST):
            direction = f"-{column}"
        links[column] = asking(**{**state, "sort": direction})
    return links


def run_page(entry: RunEntry, query: Query) -> Page:
    """One run: its verdict and headline table, its sessions, and its losses; filtered as the
    address says.
    """
    if not entry.finished:
        rows = entry.partial()
        values = {"run": entry, "rows": rows.to_dict("records"), "so_far": entry.so_far()}
        return Page("going_on", entry.name, values, rows)
    findings = entry.findings()
    run = findings.tables
    shared = bool(run.manifest.get("shared"))
    sessions = session_rows(findings)
    titles = {row["session"]: row["title"] for row in sessions}
    filters = LossFilters.of(query)
    shown_sessions = [row for row in sessions if filters.fits_session(row)]
    losses = [] if shared else _losses(run, titles)
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
        "counts": _loss_counts(losses, filters),
        "titles": titles,
        "known": run.strategies,
        "unreadable": run.unreadable.to_dict("records"),
        "notes": notes,
        "longest": (LONGEST_NAME, LONGEST_NOTE),
        "marked": len(notes.marks),
        "marked_note": marked_note,
    }
    download = table.rows if query.get("of") == "sessions" else shown_losses
    return Page("run", entry.name, values, pd.DataFrame(download))


@dataclass(frozen=True, slots=True)
class LossFilters:
    """What an address asks of the losses of a run; an empty text asks nothing.

    Attributes:
        q: a text that stands in the loss, its evidence or the session's title.
        by: the strategy that lost it.
        kind: the kind of what was lost.
        session: where it was lost.
    """

    q: str = ""
    by: str = ""
    kind: str = ""
    session: str = ""

    @classmethod
    def of(cls, query: Query) -> LossFilters:
        """The filters in an address."""
        return cls(**named_in(query, cls))

    def fits_session(self, row: Mapping[str, Any]) -> bool:
        """Whether the text stands in what a session is called."""
        text = f"{row['title']} {row['session']} {row['project']}"
        return self.q.lower() in text.lower()

    def fits(self, loss: Mapping[str, Any], without: str = "") -> bool:
        """Whether a loss is asked for; `without` names a filter that is left out."""
        text = f"{loss['entity']} {loss['evidence']} {loss['title']}".lower()
        if self.q and without != "q" and self.q.lower() not in text:
            return False
        if self.by and without != "by" and self.by not in loss["by"]:
            return False
        if self.kind and without != "kind" and self.kind != loss["kind"]:
            return False
        return not self.session or without == "session" or self.session == loss["session"]


def all_losses(entry: RunEntry) -> list[dict[str, Any]]:
    """All losses of a run, worst first, those too that leave the figures by their marks.

    Raises:
        NotShown: the run is a shared copy, or goes on.
    """
    if not entry.finished:
        raise NotShown("This run goes on; its losses can be marked when it is finished.")
    return _all_losses(entry.path, entry.table_stamp).losses


@dataclass(frozen=True, slots=True)
class RunLosses:
    """All losses of a run, worst first, and its strategies."""

    losses: list[dict[str, Any]]
    strategies: tuple[str, ...]


@lru_cache(maxsize=8)
def _all_losses(path: Path, table_stamp: str) -> RunLosses:
    """Whatever is marked, the losses are the same: a mark waits for no figure."""
    run = Tables.of(Results.open(path))
    if run.manifest.get("shared"):
        raise NotShown(SHARED)
    losses = _losses(run.with_marked_losses(), session_titles(run))
    return RunLosses(losses, run.strategies)


def queue_page(entry: RunEntry, query: Query) -> Page:
    """The losses of a run one after another, to be marked: the named one, else the first without
    a mark.
    """
    run_marks = RunNotes.of(entry.path).marks
    losses = []
    marked = []
    unmarked = []
    for row in all_losses(entry):
        loss = {**row, "mark": run_marks.get(row["loss"], "")}
        losses.append(loss)
        if loss["mark"]:
            marked.append(loss)
        else:
            unmarked.append(loss)
    shown_loss = _loss_to_mark(losses, unmarked, query.get("loss", ""))
    counts = Counter(loss["mark"] for loss in marked)
    values = {
        "run": entry,
        "loss": shown_loss,
        "next": _next_unmarked(unmarked, losses, shown_loss),
        "marked": marked,
        "counts": [(mark, counts[mark]) for mark in MARKS],
        "count": len(losses),
        "marks": MARKS,
        "known": _all_losses(entry.path, entry.table_stamp).strategies,
    }
    return Page("queue", f"Losses of {entry.name} to mark", values, pd.DataFrame(losses))


def _loss_to_mark(
    losses: Sequence[dict[str, Any]], unmarked: Sequence[dict[str, Any]], key: str
) -> dict[str, Any] | None:
    """The loss that an address names, else the first without a mark; None where all have one."""
    for loss in losses:
        if loss["loss"] == key:
            return loss
    if key:
        raise NotShown(f"The run has no loss {key!r}.")
    if not unmarked:
        return None
    return unmarked[0]


def _next_unmarked(
    unmarked: Sequence[Mapping[str, Any]],
    losses: Sequence[Mapping[str, Any]],
    loss: Mapping[str, Any] | None,
) -> str:
    """The first loss without a mark behind this one, else from the start; empty for none."""
    if loss is None:
        return ""
    keys = [row["loss"] for row in losses]
    place = keys.index(loss["loss"])
    unmarked_keys = {row["loss"] for row in unmarked}
    for key in [*keys[place + 1 :], *keys[:place]]:
        if key in unmarked_keys:
            return str(key)
    return ""


def _losses(run: Tables, titles: Mapping[str, str]) -> list[dict[str, Any]]:
    """The losses of a run, worst first, as the page shows them."""
    rows = []
    for loss in worst_losses(run, ALL_LOSSES).to_dict("records"):
        session = loss["session"]
        row = {
            "loss": _key(loss),
            "entity": loss["entity"],
            "kind": loss["kind"],
            "recoverable": loss["recoverable"],
            "way_note": way_note(loss),
            "said_at": int(loss["evidence_at"]),
            "needed_at": int(loss["needed_at"]),
            "session": session,
            "title": titles.get(session, session),
            "by": [name for name, _, _ in loss["lost_by"]],
            "evidence": loss["evidence"],
            "use": loss["use"],
        }
        rows.append(row)
    return rows


def _key(loss: Mapping[Hashable, Any]) -> str:
    """The name of a loss in addresses."""
    return loss_key(loss["session"], loss["kind"], loss["entity"], int(loss["needed_at"]))


def _loss_counts(losses: Sequence[dict[str, Any]], filters: LossFilters) -> dict[str, Any]:
    """How many losses each choice of a filter would show beside the other filters."""
    strategies: list[str] = []
    kinds: list[str] = []
    sessions: list[str] = []
    for loss in losses:
        if filters.fits(loss, "by"):
            strategies += loss["by"]
        if filters.fits(loss, "kind"):
            kinds.append(loss["kind"])
        if filters.fits(loss, "session"):
            sessions.append(loss["session"])
    return {
        "by": counted(strategies),
        "kind": counted(kinds),
        "session": counted(sessions),
    }


def loss_address(entry: RunEntry, key: str) -> str:
    """Where a loss of the run is shown: its session under who lost it and who kept it; empty if
    there is none.
    """
    run = entry.tables()
    losses = worst_losses(run.with_marked_losses(), ALL_LOSSES)
    for loss in losses.to_dict("records"):
        if _key(loss) != key:
            continue
        losers = [name for name, _, _ in loss["lost_by"]]
        keepers = [name for name in replayed_contenders(run) if name not in losers]
        address = path_of(
            entry.name,
            "session",
            id=loss["session"],
            left=losers[0],
            right=keepers[0] if keepers else "",
            mode=loss["mode"],
            share=loss["share"],
            at=int(loss["at"]),
            loss=key,
        )
        return f"{address}#loss"
    return ""
