"""The sessions of a run, read again from their recordings: a run's folder holds none."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from threading import RLock
from typing import Any

from workbench.base.errors import WorkbenchError
from workbench.engine.transcript.redaction import redacted
from workbench.engine.transcript.session import CopiedRequests, Session
from workbench.evaluation.analysis.table_rows import rows_with
from workbench.evaluation.experiment.prepared import Prepared, prepared
from workbench.evaluation.experiment.sources import SessionSource, sessions_in
from workbench.evaluation.experiment.spec import Masking
from workbench.evaluation.findings.tables import Tables
from workbench.recordings.importers.importer import copied_requests
from workbench.report.view.not_shown import SHARED, NotShown
from workbench.report.view.runs import RunEntry

LOCK = RLock()
"""Recordings are read and replayed one at a time, however many pages ask for them."""


def session_row(run: Tables, session: str) -> Mapping[str, Any]:
    """The row of a session in its run.

    Raises:
        NotShown: the run has no such session, it could not be read, or the run is a shared copy.
    """
    if run.manifest.get("shared"):
        raise NotShown(SHARED)
    rows = rows_with(run.replayed, session=session)
    if rows.empty:
        raise NotShown(f"The run has no session {session!r}.")
    first_row = rows.to_dict("records")[0]
    return {str(name): value for name, value in first_row.items()}


def recording(entry: RunEntry, session: str) -> Prepared:
    """A session of the run, read from its recording.

    Raises:
        NotShown: the recording is not there or has changed.
    """
    session_row(entry.tables(), session)
    with LOCK:
        path = recording_file(entry, session)
        return prepared_again(entry, session, path, change_time(path))


def recorded_session(entry: RunEntry, session: str) -> Session:
    """A session of the run as its recording has it today; nothing of it is counted.

    Raises:
        NotShown: the recording is not there or has changed.
    """
    run = entry.tables()
    row = session_row(run, session)
    kinds = _redaction(run.settings)
    with LOCK:
        path = recording_file(entry, session)
        for recorded in _of_the_name(path, session, change_time(path)):
            if len(recorded.messages) == row["messages"]:
                return redacted(recorded, kinds)
    raise NotShown(f"The recording {path} has changed since the run: it has other messages.")


def _redaction(settings: Mapping[str, Any]) -> frozenset[str] | None:
    """The kinds that a run masked, as its manifest says."""
    masking = Masking(
        redact=bool(settings.get("redact")),
        unmasked=settings.get("unmasked", ()),
    )
    return masking.redaction


@lru_cache(maxsize=4)
def prepared_again(
    entry: RunEntry,
    session: str,
    path: Path,
    changed: int,
) -> Prepared:
    """The session, read from its recording and made ready; it must be the one that the run
    replayed.
    """
    run = entry.tables()
    row = session_row(run, session)
    kinds = _redaction(run.settings)
    for recorded in _of_the_name(path, session, changed, _copied(run, path)):
        masked = redacted(recorded, kinds)
        window = run.settings.get("window")
        session_ready = prepared(masked, window)
        has_all_messages = len(recorded.messages) == row["messages"]
        has_all_tokens = sum(session_ready.sizing.sizes) == row["tokens"]
        if has_all_messages and has_all_tokens:
            return session_ready
    raise NotShown(
        f"The recording {path} has changed since the run: its contexts would be other ones."
    )


def _sources(run: Tables) -> list[str]:
    """What the run read, as its manifest names it."""
    sources = run.manifest.get("sources") or ()
    return list(map(str, sources))


def _copied(run: Tables, path: Path) -> tuple[CopiedRequests, ...] | None:
    """What the sessions of a file copied from others of the run; None where they copied nothing."""
    notes = run.sessions["copied"].fillna("")
    if not notes.any():
        return None
    paths = [str(path)]
    for source in _sources(run):
        place = Path(_begun_in(run), source)
        if place.is_file() and not place.samefile(path):
            paths.append(str(place))
    copied = copied_requests(paths)
    return copied.get(str(path))


def _begun_in(run: Tables) -> str:
    """The folder in which the run was begun; empty where its manifest does not say it."""
    return str(run.manifest.get("folder") or "")


@lru_cache(maxsize=4)
def _of_the_name(
    path: Path,
    session: str,
    changed: int,
    copied: tuple[CopiedRequests, ...] | None = None,
) -> list[Session]:
    """The sessions of that id in a recording. A second one of an id is named `id~2` in a run."""
    try:
        sessions = sessions_in(SessionSource(path=path, copied=copied))
    except (OSError, WorkbenchError) as error:
        raise NotShown(f"The recording {path} cannot be read any more: {error}.") from None
    id, _, _ = session.rpartition("~")
    return [candidate for candidate in sessions if candidate.id in (session, id)]


def change_time(path: Path) -> int:
    """When a file was changed last."""
    return path.stat().st_mtime_ns


@lru_cache(maxsize=64)
def recording_file(entry: RunEntry, session: str) -> Path:
    """The recording of a session: what its row names, else the first of the run's sources that
    holds the session.

    A path that is not absolute is looked for where the run was begun, then here, then in the folders
    above the run.
    """
    run = entry.tables()
    row = session_row(run, session)
    sources = _sources(run)
    sources.sort(key=lambda source: session not in source)
    folders = (Path(_begun_in(run)), Path(), *entry.path.parents)
    for name in (str(row["path"]), *sources):
        if not name:
            continue
        for folder in folders:
            path = folder / name
            if not path.is_file():
                continue
            changed = change_time(path)
            if _of_the_name(path, session, changed):
                return path
    raise NotShown(
        f"The recording of {session} is no longer where the run read it ({row['path']})."
    )
