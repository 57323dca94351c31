"""Reading recordings: one file, many, a folder, a pattern, standard input; whatever their
format.
"""

import io
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from glob import has_magic
from io import BufferedReader
from pathlib import Path
from typing import TypeAlias

from workbench.base import remote
from workbench.base.errors import FormatError, WorkbenchError, error_text
from workbench.base.registry import find, found
from workbench.base.remote import RemoteFile
from workbench.engine.transcript.session import CopiedRequests, Origin, Session
from workbench.recordings.importers.accounting import accounted
from workbench.recordings.importers.copies import mark_copies, marked_as_copied
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.formats import BUILTIN
from workbench.recordings.importers.nearest import refusal
from workbench.recordings.importers.opening import PACKED_ENDINGS, in_time, opened, unpacked, whole
from workbench.recordings.importers.pairing import pairing_faults
from workbench.recordings.importers.shared_marks import files_with_shared_marks
from workbench.recordings.importers.source import SourceFile

Paths: TypeAlias = str | Path | Iterable[str | Path]

STDIN = "-"
ENDINGS = (
    ".jsonl",
    ".ndjson",
    ".json",
    ".traj",
    ".eval",
    ".md",
    ".log",
    ".db",
    ".sqlite",
    ".sqlite3",
)
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
    names = _named(paths)
    sessions: list[Session] = []
    for loaded in scan(names, lenient=lenient, format=format):
        is_other_file = isinstance(loaded.error, UnknownFormat) and loaded.path not in names
        if loaded.error is not None and not is_other_file:
            raise loaded.error
        sessions += loaded.sessions
    if not sessions:
        raise FormatError("no session was found", where=", ".join(names))
    return sessions


def scan(paths: Paths, *, lenient: bool = False, format: str = "") -> Iterator[Loaded]:
    """One `Loaded` a file, in order; a file that cannot be read does not stop the others.

    Requests that one of the sessions copied from another are marked as copied.
    """
    all_paths = list(files(paths))
    copied = copied_requests(all_paths, format=format)
    ids: set[str] = set()
    for path in all_paths:
        try:
            source = _source(path, lenient)
            file_format = _chosen(source, format)
            with _readable(source):
                read_sessions = list(_sessions(file_format, source))
                read_sessions = accounted(file_format, source, read_sessions, named=bool(format))
                read_sessions = marked_as_copied(read_sessions, copied.get(path))
            sessions = tuple(_with_own_id(session, ids) for session in read_sessions)
            ids.update(session.id for session in sessions)
            yield Loaded(path, sessions)
        except FormatError as error:
            yield Loaded(path, error=error)


def copied_requests(
    paths: Iterable[str], *, format: str = ""
) -> Mapping[str, tuple[CopiedRequests, ...]]:
    """What each session of these files copied from another of them, by file; files that share
    nothing are not read, and neither is what lies in a store.
    """
    local_paths: dict[str, None] = {}
    for path in paths:
        if path != STDIN and not remote.address_of(path):
            local_paths[path] = None
    if len(local_paths) < 2:
        return {}
    sessions: list[Session] = []
    for path in files_with_shared_marks(list(local_paths)):
        for loaded in scan([path], lenient=True, format=format):
            sessions += loaded.sessions
    copied: dict[str, tuple[CopiedRequests, ...]] = {}
    for session in mark_copies(sessions):
        path = session.origin.path
        copied[path] = (*copied.get(path, ()), session.copied)
    return copied


def read(path: str | Path, *, lenient: bool = False, format: str = "") -> Iterator[Session]:
    """The sessions of one file, one after another, so that a file of many needs memory for one.

    Raises:
        FormatError: the file is damaged, or no importer recognises its format.
    """
    source = _source(remote.name_of(path), lenient)
    yield from _sessions(_chosen(source, format), source)


def formats() -> tuple[Format, ...]:
    """Every format that can be read, built in or installed, by name."""
    return tuple(format for _, format in sorted(known_formats().items()))


@cache
def known_formats() -> dict[str, Format]:
    """The formats in the order in which they are tried: those of other packages first."""
    return found("importer", BUILTIN)


def _sessions(file_format: Format, source: SourceFile) -> Iterator[Session]:
    """The sessions of a file, each with its origin and what is odd in it."""
    with _readable(source):
        count = 0
        for session in file_format.sessions(source):
            count += 1
            in_time(source.began, source.where)
            yield _with_origin(session, file_format, source)
        if not count and source.skipped:
            raise _without_sessions(source)


def _with_origin(session: Session, file_format: Format, source: SourceFile) -> Session:
    """The session with its origin, and with what is odd about its calls and results."""
    origin = session.origin
    if origin == Origin():
        origin = source.origin(file_format.name)
    skipped = list(origin.skipped)
    # our own files give back what was saved, be it odd
    if file_format.name != "native" or source.lenient:
        for fault in pairing_faults(session.log):
            if fault not in origin.skipped:
                skipped.append(fault)
    return replace(session, origin=replace(origin, skipped=tuple(skipped)))


def _without_sessions(source: SourceFile) -> FormatError:
    """The error of a file of which nothing is left."""
    faults = source.skipped[0]
    if len(source.skipped) > 1:
        faults += f", and {len(source.skipped) - 1:,} more faults"
    return FormatError(f"no session of it can be read ({faults})", where=source.where)


def _chosen(source: SourceFile, format: str) -> Format:
    """The format of this name, or the one that recognises the file where none is named."""
    with _readable(source):
        if format:
            return find("importer", format, known_formats())
        return _format_of(source)


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
        reason = f"cannot be read ({error_text(error)}), which is a bug of the importer"
        raise FormatError(reason, where=source.where) from error


def _format_of(source: SourceFile) -> Format:
    """The first format that recognises the start of a file; a general one only where more of the
    file says no more.
    """
    reason = "the file is empty"
    for head in source.heads():
        for format in known_formats().values():
            is_asked = head.is_enough or not format.is_general
            if is_asked and format.knows(head):
                return format
        if head.text.strip():
            reason = refusal(head)
    raise UnknownFormat(reason, where=source.where)


def _with_own_id(session: Session, ids: set[str]) -> Session:
    """The session with an id that no session of another file has: a resumed one may have been
    saved twice.
    """
    free_id = session.id
    number = 1
    while free_id in ids:
        number += 1
        free_id = f"{session.id}~{number}"
    return replace(session, id=free_id)


def _source(path: str, lenient: bool) -> SourceFile:
    address = remote.address_of(path)
    if path == STDIN:
        where = "standard input"
        data = whole(sys.stdin.buffer, where)
        source = SourceFile(where, lambda: unpacked(_stream(data), where, note), lenient=lenient)
    elif address:
        content = cache(partial(_content, address))  # fetched once, though it is opened twice
        folder = address.split("/")[-2]
        source = SourceFile(
            address,
            lambda: unpacked(_stream(content()), address, note),
            folder=folder,
            lenient=lenient,
        )
    else:
        folder = Path(os.path.realpath(path)).parent.name
        source = SourceFile(
            path,
            lambda: opened(path, note),
            folder=folder,
            lenient=lenient,
        )
    note = source.leave_out if lenient else None
    return source


def _stream(content: bytes) -> BufferedReader:
    return BufferedReader(io.BytesIO(content))


def _content(address: str) -> bytes:
    """What is at an address.

    Raises:
        FormatError: nothing is there.
        SetupError: its store cannot be asked, or refuses.
    """
    content = remote.read(address)
    if content is None:
        raise FormatError("there is no such file", where=address)
    return content


def files(paths: Paths) -> Iterator[str]:
    """The files that these names mean: a file itself, those in a folder, those that match a
    pattern, in order. What a run of ours wrote is read only where it is named itself.

    Raises:
        FormatError: a pattern matches nothing, or is none.
        MissingPath, SetupError: as `remote_files`, for names that are addresses.
    """
    for name in _named(paths):
        address = remote.address_of(name)
        if address:
            for file in remote_files(address):
                yield file.address
            continue
        for path in _matching(name):
            is_named = path == name
            if path != STDIN and Path(path).is_dir():
                yield from _in_folder(Path(path))
            elif is_named or not _is_of_run(Path(path)):
                yield path


def remote_files(address: str) -> list[RemoteFile]:
    """The file at an address itself, or the recordings below it, without the tables of runs.

    Raises:
        MissingPath: nothing is there.
        SetupError: its store cannot be asked, or refuses.
    """
    listed = remote.files_below(address)
    if remote.is_pattern(address) or listed[0].address == address:
        return listed
    run_folders: set[str] = set()
    for file in listed:
        if file.name == "manifest.json":
            run_folders.add(file.folder)
    recordings: list[RemoteFile] = []
    for file in listed:
        is_hidden = "/." in file.address.removeprefix(address)
        is_of_run = not run_folders.isdisjoint((file.folder, file.folder.removesuffix("/replays")))
        if _is_recording(file.name) and not is_hidden and not is_of_run:
            recordings.append(file)
    return recordings


def _matching(name: str) -> list[str]:
    """The paths that match a pattern; the name itself where it is none."""
    if not has_magic(name) or Path(name).exists():
        return [name]
    root = Path(name).anchor
    try:
        matches = Path(root or ".").glob(name.removeprefix(root))
        paths = sorted(str(path) for path in matches)
    except (ValueError, NotImplementedError) as error:
        raise FormatError(f"cannot be read as a pattern ({error})", where=name) from None
    if not paths:
        raise FormatError("no file matches this pattern", where=name)
    return paths


def _named(paths: Paths) -> list[str]:
    if isinstance(paths, str | Path):
        return [remote.name_of(paths)]
    if isinstance(paths, bytes) or not isinstance(paths, Iterable):
        raise FormatError(f"{paths!r:.80} names no file; paths as text would be accepted")
    return [remote.name_of(path) for path in paths]


def _in_folder(folder: Path) -> Iterator[str]:
    if not os.access(folder, os.R_OK | os.X_OK):
        yield str(folder)
    for file in sorted(folder.rglob("*")):
        names = file.relative_to(folder).parts
        is_hidden = any(name.startswith(".") for name in names)
        if is_hidden or not _is_recording(file.name) or _is_of_run(file):
            continue
        if file.is_file():
            yield str(file)


def _is_of_run(file: Path) -> bool:
    """Whether a run of ours wrote this file in a folder of recordings."""
    folder = file.parent
    if folder.name == "replays":
        folder = folder.parent
    manifest = folder / "manifest.json"
    replays = folder / "replays.parquet"
    return manifest.is_file() and replays.is_file()


def _is_recording(name: str) -> bool:
    """Whether a file of a folder is read by its name, packed or not; what lies beside recordings
    is not.
    """
    if name.endswith(BESIDE):
        return False
    for ending in PACKED_ENDINGS:
        if name.endswith(ending):
            name = name.removesuffix(ending)
            break
    return name.endswith(ENDINGS)
