"""Our own format: JSON lines, a header a session and then one line an entry, read and written without loss."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, Literal

from workbench.errors import FormatError
from workbench.importers.records import read_as, read_one_of
from workbench.importers.source import Source
from workbench.transcript.log import Entry, Log, LogError
from workbench.transcript.message import Json
from workbench.transcript.session import Origin, Session

VERSION = 1
MARK = "workbench"


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a session: everything but its entries. Its fields are those of `Session`."""

    workbench: Literal["session"]
    version: int
    id: str
    origin: Origin = field(default_factory=Origin)
    model: str = ""
    window: int | None = None
    title: str = ""
    cwd: str = ""
    project: str = ""
    leaf: str | None = None


def sessions(source: Source) -> Iterator[Session]:
    """The sessions of a file, each as soon as the next header or the end is reached."""
    header: Mapping[str, Json] | None = None
    log = Log()
    for line, record in source.records():
        with source.at(line):
            if MARK in record:
                if header is not None:
                    yield _session(source, header, log)
                header, log = _known_version(record), Log()
            elif header is None:
                raise FormatError(
                    "an entry comes before the first header; a file starts with a header line", field=MARK
                )
            else:
                _append(log, record)
    if header is not None:
        yield _session(source, header, log)


def save(sessions: Session | Iterable[Session], path: str | Path) -> None:
    """Write one session or several to a file, so that reading gives the same again."""
    with Path(path).open("wb") as stream:
        write(sessions, stream)


def write(sessions: Session | Iterable[Session], stream: BinaryIO) -> None:
    """Write one session or several to an open stream of bytes."""
    for session in [sessions] if isinstance(sessions, Session) else sessions:
        stream.write(_line(_header(session)))
        for entry in session.log:
            stream.write(_line(_plain(entry)))


def _known_version(record: Mapping[str, Json]) -> Mapping[str, Json]:
    header = read_as(Header, record)
    if header.version != VERSION:
        raise FormatError(f"version {header.version} is unknown; this package reads version {VERSION}", field="version")
    return record


def _append(log: Log, record: Mapping[str, Json]) -> None:
    try:
        log.append(read_one_of(Entry, record))
    except LogError as error:
        raise FormatError(str(error), field="id" if record["id"] in log else "parent") from None


def _session(source: Source, record: Mapping[str, Json], log: Log) -> Session:
    header = read_as(Header, record)
    leaf = header.leaf if "leaf" in record else log.leaf
    if leaf is not None and leaf not in log:
        why = f"the leaf {leaf!r} is not the id of an entry"
        if not source.lenient:
            raise FormatError(why, where=source.where, field="leaf")
        source.skipped.append(why)
        leaf = log.leaf
    log.leaf = leaf
    origin = header.origin
    if source.skipped:
        origin = replace(origin, skipped=(*origin.skipped, *source.skipped))
    return Session(
        id=header.id,
        log=log,
        origin=origin,
        model=header.model,
        window=header.window,
        title=header.title,
        cwd=header.cwd,
        project=header.project,
    )


def _header(session: Session) -> dict[str, Json]:
    header: dict[str, Json] = {MARK: "session", "version": VERSION, "id": session.id}
    for name in ("model", "window", "title", "cwd", "project"):
        value = getattr(session, name)
        if value not in ("", None):
            header[name] = value
    if session.origin != Origin():
        header["origin"] = _plain(session.origin)
    header["leaf"] = session.log.leaf
    return header


def _line(value: Json) -> bytes:
    try:
        return (json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n").encode()
    except UnicodeEncodeError:
        return (json.dumps(value, separators=(",", ":"), allow_nan=False) + "\n").encode()


def _plain(value: Any) -> Json:  # noqa: ANN401  # any dataclass of the transcript, or the value of a field
    """The value as JSON takes it; fields that have their default are left out, but for the type or role."""
    if is_dataclass(value) and not isinstance(value, type):
        given: dict[str, Json] = {}
        for name, default in _defaults(type(value)):
            item = getattr(value, name)
            if name in ("type", "role") or item != default:
                given[name] = _plain(item)
        return given
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping) and not isinstance(value, dict):
        return dict(value)
    return value


@lru_cache(maxsize=64)
def _defaults(cls: type[Any]) -> tuple[tuple[str, Any], ...]:
    found = []
    for one in fields(cls):
        default = one.default_factory() if one.default_factory is not MISSING else one.default
        found.append((one.name, default))
    return tuple(sorted(found, key=lambda pair: pair[0] not in ("type", "role")))
