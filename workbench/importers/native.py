"""Our own format: JSON lines, a header a session and then one line an entry, read and written without loss."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

from workbench.errors import FormatError
from workbench.importers.heads import seen
from workbench.importers.source import Carries, Source
from workbench.importers.strict import (
    choice,
    flag,
    listed,
    mapping,
    maybe,
    number,
    record,
    tagged,
    text,
    whole,
)
from workbench.transcript.files import FileOps
from workbench.transcript.log import ClearingEntry, CompactionEntry, Log, LogError, MessageEntry, NoteEntry
from workbench.transcript.message import (
    AssistantMessage,
    Image,
    Json,
    Summary,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from workbench.transcript.session import Origin, Session

VERSION = 1
MARK = "workbench"

_TEXT = record(Text, {"text": text}, {})
_IMAGE = record(Image, {}, {"media_type": text, "bytes": whole, "tokens": whole})
_CALL = record(ToolCall, {"id": text, "name": text, "arguments": mapping}, {})
_THOUGHT = record(Thinking, {"text": text}, {"signature": text})
_SAID = listed(tagged("type", {"text": _TEXT, "image": _IMAGE}))
_ANSWER = listed(tagged("type", {"text": _TEXT, "image": _IMAGE, "thinking": _THOUGHT, "tool_call": _CALL}))
_USAGE = record(
    Usage,
    {},
    {
        "input": whole, "cache_read": whole, "cache_write": whole, "output": whole, "reasoning": whole,
        "cache_write_long": whole,
    },
)  # fmt: skip
_FILES = record(FileOps, {}, {"read": listed(text), "modified": listed(text)})
_COMMON = {"name": text, "pinned": flag, "time": maybe(number)}
_SUMMARY = record(
    Summary,
    {"id": text, "text": text},
    {
        **_COMMON, "replaces": listed(text), "files": _FILES, "lead": text, "tail": text, "model": text,
        "said_by": choice("user", "assistant"),
    },
)  # fmt: skip
_MESSAGE = tagged(
    "role",
    {
        "system": record(SystemMessage, {"id": text, "blocks": _SAID}, _COMMON),
        "user": record(UserMessage, {"id": text, "blocks": _SAID}, {**_COMMON, "synthetic": flag}),
        "assistant": record(
            AssistantMessage,
            {"id": text, "blocks": _ANSWER},
            {**_COMMON, "model": text, "usage": maybe(_USAGE), "stop": text},
        ),
        "tool": record(ToolResult, {"id": text, "call_id": text, "blocks": _SAID}, {**_COMMON, "is_error": flag}),
        "summary": _SUMMARY,
    },
)
_PLACE = {"id": text, "parent": maybe(text)}
_WHEN = {"reason": text, "time": maybe(number)}
_ENTRY = tagged(
    "type",
    {
        "message": record(MessageEntry, {**_PLACE, "message": _MESSAGE}, {}),
        "compaction": record(
            CompactionEntry,
            _PLACE,
            {
                **_WHEN, "summary": maybe(_SUMMARY), "first_kept": maybe(text), "kept": maybe(listed(text)),
                "tokens_before": maybe(whole), "tokens_after": maybe(whole),
            },
        ),
        "clearing": record(
            ClearingEntry,
            {**_PLACE, "call_ids": listed(text)},
            {**_WHEN, "tokens_before": maybe(whole), "tokens_saved": maybe(whole)},
        ),
        "note": record(NoteEntry, {**_PLACE, "kind": text}, {"text": text, "time": maybe(number)}),
    },
)  # fmt: skip
_ORIGIN = record(Origin, {}, {"format": text, "path": text, "sha256": text, "skipped": listed(text)})
_HEADER = record(
    dict,
    {MARK: choice("session"), "version": whole, "id": text},
    {
        "origin": _ORIGIN, "model": text, "window": maybe(whole), "title": text, "cwd": text, "project": text,
        "leaf": maybe(text),
    },
)  # fmt: skip


class Native:
    """The workbench's own session files."""

    name: ClassVar[str] = "native"
    description: ClassVar[str] = "the workbench's own sessions (JSON lines), read and written without loss"
    carries: ClassVar[tuple[Carries, ...]] = (
        "tree", "calls", "thinking", "images", "usage", "times", "model", "compactions", "system",
    )  # fmt: skip

    def knows(self, head: str) -> bool:
        """Whether a line is our header."""
        return any(one.get(MARK) == "session" for one in seen(head).records[:1])

    def sessions(self, source: Source) -> Iterator[Session]:
        """The sessions of a file, each as soon as the next header or the end is reached."""
        header: Mapping[str, Any] | None = None
        log = Log()
        for line, value in source.records():
            with source.at(line):
                if MARK in value:
                    if header is not None:
                        yield _session(source, header, log)
                    header, log = _known_version(_HEADER(value)), Log()
                else:
                    _append(log, header, value)
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


def _known_version(header: dict[str, Any]) -> dict[str, Any]:
    if header["version"] != VERSION:
        raise FormatError(f"version {header['version']} is not known; this package reads {VERSION}", field="version")
    return header


def _append(log: Log, header: Mapping[str, Any] | None, value: Mapping[str, Json]) -> None:
    if header is None:
        raise FormatError("an entry stands before the first header", field=MARK)
    try:
        log.append(_ENTRY(value))
    except LogError as error:
        raise FormatError(str(error), field="id" if "stands" in str(error) else "parent") from None


def _session(source: Source, header: Mapping[str, Any], log: Log) -> Session:
    leaf = header.get("leaf", log.leaf)
    if leaf is not None and leaf not in log:
        why = f"the leaf {leaf!r} is not among the entries"
        if not source.lenient:
            raise FormatError(why, where=source.where, field="leaf")
        source.skipped.append(why)
        leaf = log.leaf
    log.leaf = leaf
    known = {name: value for name, value in header.items() if name not in (MARK, "version", "leaf", "origin")}
    origin = header.get("origin", Origin())
    if source.skipped:
        origin = Origin(origin.format, origin.path, origin.sha256, (*origin.skipped, *source.skipped))
    return Session(log=log, origin=origin, **known)


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


def _plain(value: Any) -> Json:  # noqa: ANN401  # any dataclass of the transcript, or what stands in its fields
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
