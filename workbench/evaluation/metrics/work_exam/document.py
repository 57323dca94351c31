"""Written exams as files: beside the session that they are about, or in a folder of exams."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from operator import attrgetter
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from workbench.base.errors import FormatError, SettingError
from workbench.base.package import shipped_folder
from workbench.engine.transcript.session import Session
from workbench.evaluation.metrics.work_exam.question import (
    SessionExams,
    digest,
    opening_digest,
    verified,
)
from workbench.recordings.importers.importer import BESIDE

FORMAT = "workbench work exams"
VERSION = 1
_SESSIONS = TypeAdapter(tuple[SessionExams, ...])


def file_beside(recording: str | Path) -> Path:
    """The file for the exams of a recording's sessions: `session.jsonl.exam.json` beside
    `session.jsonl`.
    """
    path = Path(recording)
    return path.with_name(path.name + BESIDE)


def file_in(folder: Path, session: Session) -> Path:
    """The file for a session's exams in a folder of exams; its name tells nothing of the
    session.
    """
    return folder / f"{digest(session.id)}-{opening_digest(session)}.json"


def read_exams(path: Path) -> tuple[SessionExams, ...]:
    """The exams in a file.

    Raises:
        FormatError: it is no file of exams, or one of a newer version.
    """
    try:
        document: Any = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise FormatError(f"cannot be read as written exams ({error})", where=str(path)) from None
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise FormatError(f"holds no written exams; `format` must be {FORMAT!r}", where=str(path))
    version = document.get("version")
    if version != VERSION:
        raise FormatError(f"has version {version!r}; version {VERSION} is read", where=str(path))
    try:
        return _SESSIONS.validate_python(document.get("sessions"))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        field = ".".join(map(str, fault["loc"]))
        raise FormatError(
            fault["msg"],
            where=str(path),
            field=f"sessions.{field}",
        ) from None


def exams_text(sessions: Iterable[SessionExams]) -> str:
    """Exams as the text of a file; equal exams give equal text."""
    ordered = sorted(sessions, key=attrgetter("session", "opening"))
    document = {
        "format": FORMAT,
        "version": VERSION,
        "sessions": [asdict(exams) for exams in ordered],
    }
    text = json.dumps(document, indent=1, ensure_ascii=False)
    return text + "\n"


def exams_of(session: Session, folder: Path | None = None) -> SessionExams | None:
    """The written exams of a session, less the questions whose evidence the session does not have;
    None if it has none.

    They are looked for in `folder`, then beside the recording, then among those that ship with the
    package.

    Raises:
        SettingError: `folder` is none.
        FormatError: a file that should hold them cannot be read.
    """
    if folder is not None and not folder.is_dir():
        raise SettingError(
            f"{folder} is no folder of written exams; `workbench lab exam write --out` makes one"
        )
    places: list[Path] = []
    if folder is not None:
        places.append(file_in(folder, session))
    if session.origin.path:
        places.append(file_beside(session.origin.path))
    shipped_exams = shipped_folder("exams")
    places.append(file_in(shipped_exams, session))
    for place in places:
        if not place.is_file():
            continue
        for exams in read_exams(place):
            if exams.belongs_to(session):
                standing = tuple(verified(exam, session) for exam in exams.exams)
                return SessionExams(exams.session, exams.opening, standing)
    return None
