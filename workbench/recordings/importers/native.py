"""Our own format: JSON lines, a header a session and then one line an entry, read and written
without loss.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, fields, is_dataclass, replace
from os import PathLike
from pathlib import Path
from typing import BinaryIO, Literal

from workbench.base.errors import FormatError, SettingError
from workbench.base.private_files import open_private
from workbench.base.typed_value import check_instance
from workbench.engine.transcript.log import Entry, Log, LogError
from workbench.engine.transcript.message import Json
from workbench.engine.transcript.session import NO_FORK, Fork, Origin, Session
from workbench.engine.transcript.shared_range import SharedRange
from workbench.recordings.importers.records import TAGS, read_as
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.values import JsonObject, Record

VERSION = 1
MARK = "workbench"
_ABOUT = ("model", "window", "title", "cwd", "project", "fork")


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a session: everything but its entries. Its fields are those of
    `Session`.
    """

    workbench: Literal["session"]
    version: int
    id: str
    origin: Origin = Origin()
    model: str = ""
    window: int | None = None
    title: str = ""
    cwd: str = ""
    project: str = ""
    fork: Fork = NO_FORK
    leaf: str | None = None


def sessions(source: SourceFile) -> Iterator[Session]:
    """The sessions of a file, each as soon as the next header or the end is reached."""
    header: Header | None = None
    log = Log()
    moved = False
    for line, record in source.records():
        with source.at(line):
            if MARK in record:
                if header is not None:
                    yield _session(source, header, log, moved)
                header = _header(record, source)
                log = Log()
                moved = "leaf" in record
            elif header is None:
                reason = "an entry comes before the first header; a file starts with a header line"
                raise FormatError(reason, field=MARK)
            else:
                _append(log, record, source)
    if header is not None:
        yield _session(source, header, log, moved)


def _header(record: Record, source: SourceFile) -> Header:
    header: Header = _read_as(Header, record, source)
    if header.version != VERSION:
        raise FormatError(
            f"version {header.version} is unknown; this package reads version {VERSION}",
            field="version",
        )
    return header


def save(sessions: Session | Iterable[Session], path: str | Path) -> None:
    """Write one session or several to a file, so that reading gives the same again.

    Raises:
        SettingError: one is no session, `path` is no path, or the file cannot be written. A file
            that was there before stays as it was, unless writing stopped midway.
    """
    check_instance("path", path, (str, PathLike), "the path of a file")
    if isinstance(sessions, Session):
        sessions = [sessions]
    check_instance("sessions", sessions, Iterable, "a session or a list of sessions")
    session_list = list(sessions)
    for session in session_list:
        check_instance("a session", session, Session, "a session, such as wb.load gives,")
    try:
        with open_private(Path(path)) as stream:
            write(session_list, stream)
    except OSError as error:
        raise SettingError(f"{path} cannot be written: {error.strerror or error}") from error


def write(sessions: Session | Iterable[Session], stream: BinaryIO) -> None:
    """Write one session or several to an open stream of bytes."""
    if isinstance(sessions, Session):
        sessions = [sessions]
    for session in sessions:
        about = {name: getattr(session, name) for name in _ABOUT}
        header = Header("session", VERSION, session.id, session.origin, **about)
        header_record = as_plain(header)
        header_record["leaf"] = session.log.leaf
        stream.write(_line(header_record))
        for entry in session.log:
            record = as_plain(entry)
            stream.write(_line(record))


def _append(log: Log, record: Record, source: SourceFile) -> None:
    try:
        log.append(_read_as(Entry, record, source))
    except LogError as error:
        field = "id" if record["id"] in log else "parent"
        raise FormatError(str(error), field=field) from None


def _read_as(annotation: Json, record: Record, source: SourceFile) -> Json:
    """A header or an entry; a field that it can do without is left out where it cannot be read, and
    a note says so.

    It can do without a time and a report of usage; when lenient, without every field that has a
    default.

    Raises:
        FormatError: a field that it needs is missing or wrong.
    """
    faults: list[FormatError] = []
    while True:
        try:
            value = read_as(annotation, record)
        except FormatError as error:
            readable = _without(record, error.field, any_field=source.lenient)
            if readable is None:
                raise (faults or [error])[0] from None
            faults.append(error)
            record = readable
        else:
            for fault in faults:
                source.leave_unused(fault)
            return value


_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
_UNNEEDED = ("time", "usage")


def _without(record: Record, place: str, *, any_field: bool) -> JsonObject | None:
    """A copy of a record without the field at this place, or the report that it is in; None
    where there is none.
    """
    copied: JsonObject = deepcopy(dict(record))
    holder: Json = copied
    steps = [int(index) if index else name for name, index in _STEP.findall(place)]
    for depth, step in enumerate(steps, 1):
        is_last = depth == len(steps)
        is_removable = step in _UNNEEDED or (is_last and any_field)
        if is_removable and isinstance(holder, dict) and step in holder:
            del holder[step]
            return copied
        try:
            holder = holder[step]
        except (KeyError, IndexError, TypeError):
            return None
    return None


def _session(source: SourceFile, header: Header, log: Log, moved: bool) -> Session:
    """The session of a header and its entries; its leaf is the newest entry unless the header
    has one (`moved`).
    """
    with source.at():
        if header.leaf is not None and header.leaf not in log:
            raise FormatError(f"the leaf {header.leaf!r} is not the id of an entry", field="leaf")
        if moved:
            log.leaf = header.leaf
    origin = header.origin
    notes = source.origin("native").skipped
    if notes:
        origin = replace(origin, skipped=(*origin.skipped, *notes))
    about = {name: getattr(header, name) for name in _ABOUT}
    return Session(id=header.id, log=log, origin=origin, **about)


def _line(value: Json) -> bytes:
    text = json.dumps(
        value,
        ensure_ascii=False,
        separators=(",", ":"),
        allow_nan=False,
    )
    # half a surrogate pair becomes its JSON escape
    return f"{text}\n".encode(errors="backslashreplace")


def as_plain(value: Json) -> Json:
    """A dataclass of the transcript or a field's value as JSON takes it; defaults are left out,
    but for the tag.
    """
    if value is None or type(value) in (str, int, float, bool):
        return value  # most are, by far
    if is_dataclass(value) and not isinstance(value, type):
        tags: JsonObject = {}
        other_fields: JsonObject = {}
        for field in fields(value):
            item = getattr(value, field.name)
            if field.name in TAGS:
                tags[field.name] = as_plain(item)
            elif item != field.default:
                other_fields[field.name] = as_plain(item)
        return tags | other_fields
    if isinstance(value, tuple | SharedRange):
        return [as_plain(item) for item in value]
    if isinstance(value, Mapping):
        return dict(value)
    return value
