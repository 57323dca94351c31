"""The list of the runs in a folder: what each is called, is about and recommends; sorted and
filtered.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from workbench.base.errors import SettingError
from workbench.base.formats import joined, missing, some
from workbench.base.remote import name_of
from workbench.evaluation.analysis.advice_note import joined_answers
from workbench.evaluation.experiment.run_folder import RunFolder
from workbench.evaluation.experiment.run_notes import RunNotes
from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.summaries import replayed_contenders
from workbench.recordings.datasets.bundled import bundled_files
from workbench.report.view.page import named_in
from workbench.report.view.runs import RunEntry

BUNDLED = "the bundled sessions"
SORTS = (
    "name",
    "created",
    "recordings",
    "sessions",
    "strategies",
    "answer",
    "usd",
    "tags",
    "state",
)
"""Columns by which the list can be sorted."""
NEWEST_FIRST = "-created"
GOING_ON = "going on"
STOPPED = "stopped"
IN_MEMORY = re.compile(r"session \d+")
"""What a manifest calls a session that was given in memory."""


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in the list.

    Attributes:
        run: its folder, as addresses and commands name it.
        name: that a person gave it, else its folder.
        created: when it was made, in UTC; of one that goes on, when its newest replay was.
        recordings: the folder of its recordings.
        sessions: that were replayed.
        strategies: without the references, best first.
        answer: what it recommends.
        because: what that trades and how sure it is.
        usd: what the run paid to models; None where that is unknown.
        tags, note: as a person wrote them.
        state: `finished`, `going on`, `stopped` (its process has ended before the run has),
            `shared copy` or `unreadable`.
    """

    run: str
    name: str
    state: str
    created: str = ""
    recordings: str = ""
    sessions: int | None = None
    strategies: str = ""
    answer: str = ""
    because: str = ""
    usd: float | None = None
    tags: tuple[str, ...] = ()
    note: str = ""

    @property
    def words(self) -> str:
        """All that a search looks into."""
        texts = (
            self.run,
            self.name,
            self.recordings,
            self.strategies,
            self.answer,
            self.because,
            " ".join(self.tags),
            self.note,
        )
        return " ".join(texts).lower()

    def record(self) -> dict[str, Any]:
        """The row for a table or for JSON."""
        return {**asdict(self), "tags": ", ".join(self.tags)}


def run_rows(entries: Collection[RunEntry]) -> list[RunRow]:
    """A row a run, in the order of the entries."""
    rows = []
    for entry in entries:
        row = _row(entry.path, entry.name, entry.stamp, entry.finished)
        if row.state == GOING_ON and RunFolder(entry.path).in_use is False:
            row = replace(row, state=STOPPED)
        rows.append(row)
    return rows


@lru_cache(maxsize=1024)
def _row(path: Path, name: str, stamp: str, is_finished: bool) -> RunRow:
    entry = RunEntry(name, path, is_finished, stamp)
    row = RunRow(name, name, "finished")
    try:
        notes = RunNotes.of(path)
        row = replace(
            row,
            name=notes.name or name,
            tags=notes.tags,
            note=notes.note,
        )
        if not is_finished:
            replays_stored = some(entry.replays, "replay is", "replays are")
            changed = _time(path.stat().st_mtime)
            return replace(
                row,
                state=GOING_ON,
                answer=f"{replays_stored} done.",
                created=changed,
            )
        return _finished_row(row, entry.findings())
    except Exception as error:  # noqa: BLE001 - a damaged run must not hide the others
        return replace(row, state="unreadable", answer=f"{error}")


def _finished_row(row: RunRow, findings: Findings) -> RunRow:
    run = findings.tables
    created = run.manifest.get("created")
    answer, because = _answer(findings)
    usd = run.replays["usd"].sum(skipna=False)
    is_shared = bool(run.manifest.get("shared"))
    return replace(
        row,
        state="shared copy" if is_shared else "finished",
        created=_time(created) if created else "",
        recordings="" if is_shared else _recordings(run.manifest),
        sessions=findings.counts.replayed.sessions,
        strategies=", ".join(replayed_contenders(run)),
        answer=answer,
        because=because,
        usd=None if missing(usd) else float(usd),
    )


def _time(seconds: float) -> str:
    return str(pd.Timestamp(seconds, unit="s").isoformat())


def _recordings(manifest: Mapping[str, Any]) -> str:
    """The folder that holds all recordings of a run; empty where none is known."""
    sources = manifest.get("sources") or ()
    bundled = {str(file) for file in bundled_files()}
    if sources and bundled.issuperset(sources):
        return BUNDLED
    folders: list[str] = []
    for source in sources:
        if not IN_MEMORY.fullmatch(source):
            folders.append(str(Path(source).parent))
    if not folders:
        return ""
    begun_in = str(manifest.get("folder") or Path.cwd())
    is_absolute = set(map(os.path.isabs, folders))
    if len(is_absolute) > 1:
        folders = [str(Path(begun_in, folder)) for folder in folders]
    try:
        folder = Path(os.path.commonpath(folders))
    except ValueError:  # paths on several drives
        different_folders = dict.fromkeys(folders)
        return joined(list(different_folders))
    home = Path.home()
    if folder.is_relative_to(home):
        below_home = folder.relative_to(home)
        return str(Path("~", below_home))
    return name_of(folder)


def _answer(findings: Findings) -> tuple[str, str]:
    """What a run recommends, and why: that of an advice is its own."""
    if findings.advice:
        return joined_answers(findings.advice)
    decision = findings.decision
    if decision is None:
        return findings.verdict.answer, ""
    reasons = (decision.trade_off, decision.agent, decision.confidence)
    return decision.recommendation, " ".join(reasons)


@dataclass(frozen=True, slots=True)
class RunFilters:
    """Which runs are asked for; an empty text asks nothing.

    Attributes:
        q: a text that stands in the row.
        tag: one of the run's tags.
        state: the run's state.
        strategy: one of its strategies.
    """

    q: str = ""
    tag: str = ""
    state: str = ""
    strategy: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> RunFilters:
        """The filters in an address."""
        return cls(**named_in(query, cls))

    def fits(self, row: RunRow, without: str = "") -> bool:
        """Whether a run is asked for; `without` names a filter that is left out."""
        if self.q and self.q.lower() not in row.words:
            return False
        if self.tag and without != "tag" and self.tag not in row.tags:
            return False
        if self.state and without != "state" and self.state != row.state:
            return False
        is_any = not self.strategy or without == "strategy"
        return is_any or self.strategy in row.strategies.split(", ")

    def counts(self, rows: Sequence[RunRow]) -> Mapping[str, list[str]]:
        """The values of each filter that rows have beside the other filters, one for each row."""
        tags: list[str] = []
        strategies: list[str] = []
        states: list[str] = []
        for row in rows:
            if self.fits(row, "tag"):
                tags += row.tags
            if row.strategies and self.fits(row, "strategy"):
                strategies += row.strategies.split(", ")
            if self.fits(row, "state"):
                states.append(row.state)
        return {"tag": tags, "state": states, "strategy": strategies}


def sorted_rows(rows: Sequence[RunRow], sort: str) -> list[RunRow]:
    """The rows by a column, of which a minus before its name turns the order; rows without a
    value come last.

    Raises:
        SettingError: there is no such column.
    """
    column = sort.removeprefix("-")
    if column not in SORTS:
        raise SettingError(f"`sort` is {sort!r}; it must be one of {', '.join(SORTS)}")

    def value(row: RunRow) -> Any:  # noqa: ANN401 - a text or a number
        field = getattr(row, column)
        if isinstance(field, str):
            return field.lower()
        return field

    with_value = []
    without_value = []
    for row in rows:
        if value(row) in (None, "", ()):
            without_value.append(row)
        else:
            with_value.append(row)
    with_value.sort(key=value, reverse=sort.startswith("-"))
    return with_value + without_value
