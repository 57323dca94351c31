"""Reading recordings: one file, many, a folder, a pattern, standard input; whatever their
format.
"""

import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from glob import has_magic
from io import BufferedReader
from itertools import count as numbers
from pathlib import Path
from typing import TypeAlias

from workbench.base.errors import FormatError, WorkbenchError
from workbench.base.registry import find, found
from workbench.engine.transcript.session import Origin, Session
from workbench.recordings.importers.accounting import accounted
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.formats import BUILTIN
from workbench.recordings.importers.nearest import refusal
from workbench.recordings.importers.opening import PACKED_ENDINGS, in_time, opened, unpacked, whole
from workbench.recordings.importers.pairing import pairing_faults
from workbench.recordings.importers.source import SourceFile

Paths: TypeAlias = str | Path | Iterable[str | Path]

STDIN = "-"
ENDINGS = (".jsonl", ".ndjson", ".json", ".traj", ".eval", ".md", ".log", ".db")
"""Endings of the files that are read in a folder, also packed; a file that is named is read
whatever its ending.
"""

BESIDE = ".exam.json"
"""What the names of files end with that lie beside recordings and are none: written exams."""


class UnknownFormat(FormatError):
    """No importer recognises the content; a folder may hold files that are not recordings."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was read from one file.

    Attributes:
        path: the file.
        sessions: what is in it; empty where there is an error.
        error: why it could not be read, None if it could.
    """

    path: str
    sessions: tuple[Session, ...] = ()
    error: FormatError | None = None


def load(paths: Paths, *, lenient: bool = False, format: str = "") -> list[Session]:
    """All sessions of a file, of several, of a folder, of a pattern, or of standard input (`-`).

    Args:
        paths: files, folders and patterns; those that are packed by gzip, zstd, bzip2 or xz are
            unpacked.
        lenient: skip what is damaged and list it in `Session.origin.skipped`, instead of raising.
        format: the importer's name; without it, the content decides.

    Raises:
        FormatError: a file is damaged, or no importer recognises its format; it names file, line
            and field.
    """
    named = _named(paths)
    sessions: list[Session] = []
    for loaded in scan(named, lenient=lenient, format=format):
        if loaded.error is not None and (
            not isinstance(loaded.error, UnknownFormat) or loaded.path in named
        ):
            raise loaded.error
        sessions += loaded.sessions
    if not sessions:
        raise FormatError("no session was found", where=", ".join(named))
    return sessions


def scan(paths: Paths, *, lenient: bool = False, format: str = "") -> Iterator[Loaded]:
    """One `Loaded` a file, in order; a file that cannot be read does not stop the others."""
    ids: set[str] = set()
    for path in files(paths):
        try:
            source = _source(path, lenient)
            file_format = _chosen(source, format)
            with _readable(source):
                read_from = accounted(
                    file_format, source, list(_sessions(file_format, source)), named=bool(format)
                )
            sessions = [_with_own_id(session, ids) for session in read_from]
            ids.update(session.id for session in sessions)
            yield Loaded(path, tuple(sessions))
        except FormatError as error:
            yield Loaded(path, error=error)


def read(path: str | Path, *, lenient: bool = False, format: str = "") -> Iterator[Session]:
    """The sessions of one file, one after another, so that a file of many needs memory for one.

    Raises:
        FormatError: the file is damaged, or no importer recognises its format.
    """
    source = _source(str(path), lenient)
    yield from _sessions(_chosen(source, format), source)


def formats() -> tuple[Format, ...]:
    """Every format that can be read, built in or installed, by name."""
    return tuple(format for _, format in sorted(known_formats().items()))


@cache
def known_formats() -> dict[str, Format]:
    """The formats in the order in which they are tried: those of other packages first."""
    return found("importer", BUILTIN)


def _sessions(file_format: Format, source: SourceFile) -> Iterator[Session]:
    with _readable(source):
        count = 0
        for session in file_format.sessions(source):
            count += 1
            in_time(source.began, source.where)
            origin = (
                source.origin(file_format.name) if session.origin == Origin() else session.origin
            )
            # our own files give back what was saved, be it odd
            lists_faults = file_format.name != "native" or source.lenient
            faults = (
                [fault for fault in pairing_faults(session.log) if fault not in origin.skipped]
                if lists_faults
                else []
            )
            yield replace(session, origin=replace(origin, skipped=(*origin.skipped, *faults)))
        if not count and source.skipped:
            more = (
                f", and {len(source.skipped) - 1:,} more faults" if len(source.skipped) > 1 else ""
            )
            raise FormatError(
                f"no session of it can be read ({source.skipped[0]}{more})", where=source.where
            )


def _chosen(source: SourceFile, format: str) -> Format:
    with _readable(source):
        return find("importer", format, known_formats()) if format else _format_of(source)


@contextmanager
def _readable(source: SourceFile) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FormatError(f"cannot be read ({reason})", where=source.where) from None
    except MemoryError as error:
        raise FormatError("memory ran out while it was read", where=source.where) from error
    except WorkbenchError:
        raise
    except Exception as error:  # whatever a file does to an importer is that file's own row
        reason = f"cannot be read ({type(error).__name__}: {error}), which is a bug of the importer"
        raise FormatError(reason, where=source.where) from error


def _format_of(source: SourceFile) -> Format:
    """The first format that recognises the start of a file; a general one only where more of the
    file says no more.
    """
    formats = known_formats()
    reason = "the file is empty"
    for head in source.heads():
        for format in formats.values():
            if (head.is_enough or not format.is_general) and format.knows(head):
                return format
        if head.text.strip():
            reason = refusal(head)
    raise UnknownFormat(reason, where=source.where)


def _with_own_id(session: Session, ids: set[str]) -> Session:
    """The session with an id that no session of another file has: a resumed one may have been
    saved twice.
    """
    numbered = (session.id if n == 1 else f"{session.id}~{n}" for n in numbers(1))
    return replace(session, id=next(free_id for free_id in numbered if free_id not in ids))


def _source(path: str, lenient: bool) -> SourceFile:
    if path == STDIN:
        where, data = "standard input", whole(sys.stdin.buffer, "standard input")
        source = SourceFile(
            where, lambda: unpacked(BufferedReader(io.BytesIO(data)), where, note), lenient=lenient
        )
    else:
        folder = Path(os.path.realpath(path)).parent.name
        source = SourceFile(path, lambda: opened(path, note), folder=folder, lenient=lenient)
    note = source.leave_out if lenient else None
    return source


def files(paths: Paths) -> Iterator[str]:
    """The files that these names mean: a file itself, those in a folder, those that match a
    pattern, in order.

    Raises:
        FormatError: a pattern matches nothing, or is none.
    """
    for name in _named(paths):
        is_pattern = has_magic(name) and not Path(name).exists()
        root = Path(name).anchor
        try:
            matched = (
                sorted(map(str, Path(root or ".").glob(name.removeprefix(root))))
                if is_pattern
                else [name]
            )
        except (ValueError, NotImplementedError) as error:
            raise FormatError(f"cannot be read as a pattern ({error})", where=name) from None
        if not matched:
            raise FormatError("no file matches this pattern", where=name)
        for path in matched:
            yield from _in_folder(Path(path)) if path != STDIN and Path(path).is_dir() else [path]


def _named(paths: Paths) -> list[str]:
    if isinstance(paths, bytes) or not isinstance(paths, str | Path | Iterable):
        raise FormatError(f"{paths!r:.80} names no file; paths as text would be accepted")
    return [str(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]


def _in_folder(folder: Path) -> Iterator[str]:
    if not os.access(folder, os.R_OK | os.X_OK):
        yield str(folder)
    for file in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
        if not hidden and _is_recording(file.name) and file.is_file():
            yield str(file)


def _is_recording(name: str) -> bool:
    """Whether a file of a folder is read by its name, packed or not; what lies beside recordings
    is not.
    """
    if name.endswith(BESIDE):
        return False
    packed = next((ending for ending in PACKED_ENDINGS if name.endswith(ending)), "")
    return name.removesuffix(packed).endswith(ENDINGS)
