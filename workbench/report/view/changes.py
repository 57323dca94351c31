"""The page of what changed from one run to another: regressions first, by session and by loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import pandas as pd

from workbench.base.formats import missing, percent
from workbench.evaluation.analysis.run_changes import CHANGES, RunChanges
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.run_notes import RunNotes, loss_key
from workbench.evaluation.findings.summaries import session_titles
from workbench.evaluation.metrics import HALVES
from workbench.report.view.not_shown import NotShown
from workbench.report.view.page import (
    Page,
    Query,
    asking,
    counted,
    named_in,
    path_of,
)
from workbench.report.view.pages import MOST
from workbench.report.view.runs import RunEntry
from workbench.report.view.sorting import headings, sorted_records

VALUE_COLUMNS = {
    "title": "Session",
    "strategy": "Strategy",
    "place": "Where",
    "before": "Before",
    "after": "After",
    "by_size": "By size",
    "difference": "Difference",
}
LOSS_COLUMNS = {
    "change": "Change",
    "entity": "What",
    "kind": "Kind",
    "title": "Session",
    "strategy": "Strategy",
    "place": "Where",
    "needed_at": "Needed in",
    "stage": "Removed by",
}
FILTERED = ("session", "strategy", "place", "change", "kind")
"""Columns that filters choose values of."""
IN_USE = "in use"


@dataclass(frozen=True, slots=True)
class ChangeFilters:
    """What an address asks of the changes; an empty text asks nothing.

    Attributes:
        q: a text that stands in the row.
        session, strategy, place, change, kind: a value of that column.
    """

    q: str = ""
    session: str = ""
    strategy: str = ""
    place: str = ""
    change: str = ""
    kind: str = ""

    @classmethod
    def of(cls, query: Query) -> ChangeFilters:
        """The filters in an address."""
        return cls(**named_in(query, cls))

    def fits(self, row: Mapping[str, Any], without: str = "") -> bool:
        """Whether a row is asked for; `without` names a filter that is left out. A filter by a
        column that a row does not have asks nothing of it.
        """
        words = " ".join(map(str, row.values()))
        if self.q.lower() not in words.lower():
            return False
        for column in FILTERED:
            value = getattr(self, column)
            if not value or column == without:
                continue
            if row.get(column, value) != value:
                return False
        return True


def changes_page(entries: Mapping[str, RunEntry], query: Query) -> Page:
    """What changed from one run to another, largest regressions first, else sorted as the address
    says.
    """
    earlier = _finished(entries, query.get("before", ""))
    later = _finished(entries, query.get("after", ""))
    metric = query.get("metric", "")
    changes = _changes(earlier, later, metric)
    titles = session_titles(earlier.tables()) | session_titles(later.tables())
    filters = ChangeFilters.of(query)
    sorts = {
        "sort": query.get("sort", ""),
        "loss_sort": query.get("loss_sort", ""),
    }
    state = {
        "before": earlier.name,
        "after": later.name,
        "metric": metric,
        **asdict(filters),
        **sorts,
    }
    values = _rows(changes.values, titles)
    losses = _loss_rows(changes.entities, titles, earlier, later)
    fitting_values = [row for row in values if filters.fits(row)]
    fitting_losses = [row for row in losses if filters.fits(row)]
    shown_values = sorted_records(fitting_values, sorts["sort"], VALUE_COLUMNS)
    shown_losses = sorted_records(fitting_losses, sorts["loss_sort"], LOSS_COLUMNS)
    names = {}
    for entry in (earlier, later):
        notes = RunNotes.of(entry.path)
        names[entry.name] = notes.name
    strategies = (*later.tables().strategies, *earlier.tables().strategies)
    swapped = {**state, "before": later.name, "after": earlier.name}
    page_values = {
        "before": earlier,
        "after": later,
        "names": names,
        "metric": metric,
        "metrics": _shared_metrics(changes),
        "metric_words": HALVES.get(changes.metric, changes.metric),
        "changes": changes,
        "loss_changes": [(change, changes.entity_counts[change]) for change in CHANGES],
        "values": shown_values[:MOST],
        "fitting_values": len(shown_values),
        "losses": shown_losses[:MOST],
        "fitting_losses": len(shown_losses),
        "value_columns": headings(VALUE_COLUMNS, state, "sort"),
        "loss_columns": headings(LOSS_COLUMNS, state, "loss_sort"),
        "sorts": sorts,
        "wanted": asdict(filters),
        "counts": _filter_counts(values, losses, filters),
        "titles": titles,
        "known": dict.fromkeys(strategies),
        "swap": asking(**swapped),
    }
    title = f"From {earlier.name} to {later.name}"
    download = shown_losses if query.get("of") == "losses" else shown_values
    return Page("changes", title, page_values, pd.DataFrame(download))


def _filter_counts(
    values: Sequence[Mapping[str, Any]],
    losses: Sequence[Mapping[str, Any]],
    filters: ChangeFilters,
) -> dict[str, dict[str, int]]:
    """How many rows each choice of a filter would show beside the other filters."""
    counts = {}
    for column in FILTERED:
        choices = []
        for row in (*values, *losses):
            if column in row and filters.fits(row, column):
                choices.append(row[column])
        counts[column] = counted(choices)
    return counts


def _finished(entries: Mapping[str, RunEntry], name: str) -> RunEntry:
    if name not in entries:
        raise NotShown(f"There is no run {name!r} here.")
    entry = entries[name]
    if not entry.finished:
        raise NotShown(f"The run {name} goes on; it can be compared when it is finished.")
    return entry


@lru_cache(maxsize=8)
def _changes(
    earlier: RunEntry,
    later: RunEntry,
    metric: str,
) -> RunChanges:
    earlier_results = Results.open(earlier.path)
    later_results = Results.open(later.path)
    changes = RunChanges.of(earlier_results, later_results, metric)
    if changes.metric not in _shared_metrics(changes):
        raise NotShown(f"The two runs have no metric {changes.metric!r} in common.")
    return changes


def _shared_metrics(changes: RunChanges) -> list[str]:
    earlier_metrics = set(changes.scores.earlier["metric"])
    later_metrics = set(changes.scores.later["metric"])
    return sorted(earlier_metrics & later_metrics)


def _rows(table: pd.DataFrame, titles: Mapping[str, str]) -> list[dict[str, Any]]:
    """The rows of a table of changes, with what readers call a session and a place."""
    rows = []
    for record in table.to_dict("records"):
        row: dict[str, Any] = {}
        for name, value in record.items():
            row[str(name)] = None if missing(value) else value
        session = row["session"]
        row["title"] = titles.get(session, session)
        row["place"] = IN_USE
        if row["share"] is not None:
            row["place"] = f"at {percent(row['share'])}"
        rows.append(row)
    return rows


def _loss_rows(
    entities: pd.DataFrame,
    titles: Mapping[str, str],
    earlier: RunEntry,
    later: RunEntry,
) -> list[dict[str, Any]]:
    """The changed entities, each with where the run that lost it shows it."""
    rows = _rows(entities, titles)
    for row in rows:
        entry = later
        if row["change"] == "mended":
            entry = earlier
        row["address"] = ""
        manifest = entry.tables().manifest
        if not manifest.get("shared"):
            key = loss_key(
                row["session"],
                row["kind"],
                row["entity"],
                int(row["needed_at"]),
            )
            row["address"] = path_of(entry.name, "loss", key)
    return rows
