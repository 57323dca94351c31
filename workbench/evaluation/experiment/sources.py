"""What a run reads: files, folders, patterns and sessions in memory, each a source."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from workbench.base.errors import MissingPath, SettingError
from workbench.base.formats import joined
from workbench.base.remote import RemoteFile, address_of, name_of
from workbench.engine.models.bundled_answers import NAME as BUNDLED
from workbench.engine.transcript.session import CopiedRequests, Session
from workbench.evaluation.experiment.spec import DEFAULT_MODEL
from workbench.recordings.datasets.bundled import bundled_files, is_bundled_file, is_bundled_session
from workbench.recordings.importers.copies import mark_copies, marked_as_copied
from workbench.recordings.importers.importer import (
    copied_requests,
    files,
    load,
    remote_files,
    scan,
)

Item: TypeAlias = str | Path | Session
"""A file, a folder, a pattern or a session."""
What: TypeAlias = Iterable[str | Path | Session] | str | Path | Session
"""Files, folders, patterns or sessions; none: the bundled sessions."""

MOST_REASONS = 3
"""Files of which an error says why they could not be read."""


@dataclass(frozen=True, slots=True)
class SessionSource:
    """One file, or one session in memory.

    Attributes:
        number: its place in the run.
        named: whether the user named it, rather than a folder that holds it.
        most: sessions to take of it at most; None takes all.
        remote: the file in a store that `path` is the address of.
        copied: what each session of the file copied from one of another source; None where no file
            of the run shares a request with it.
    """

    path: Path | None = None
    session: Session | None = None
    number: int = 0
    named: bool = True
    most: int | None = None
    remote: RemoteFile | None = None
    copied: tuple[CopiedRequests, ...] | None = None

    @property
    def name(self) -> str:
        """Its address or path, or the session's id."""
        if self.remote is not None:
            return self.remote.address
        if self.path is not None:
            return str(self.path)
        if self.session is not None:
            return self.session.id
        return ""

    @property
    def place(self) -> str:
        """Where it is, whatever the current folder; the id of a session in memory."""
        if self.path is not None and self.remote is None:
            return str(self.path.resolve())
        return self.name

    @property
    def is_there(self) -> bool:
        """Whether there is anything to read; a file in a store was listed there."""
        return self.path is None or self.remote is not None or self.path.exists()

    @property
    def bytes(self) -> int:
        """The file's size; 0 for a session in memory."""
        if self.remote is not None:
            return self.remote.size
        if self.path is None or not self.path.exists():
            return 0
        return self.path.stat().st_size


def sources_of(what: What, bundled: Sequence[Path] | None = None) -> list[SessionSource]:
    """The files and sessions, numbered in their order; a file that is given twice counts once.

    Args:
        what: files, folders, patterns or sessions.
        bundled: used where there are none; None takes all bundled sessions.

    Raises:
        MissingPath: no file of these names exists.
        SettingError: there are none.
    """
    items = _items(what)
    if not items:
        items = list(bundled_files() if bundled is None else bundled)
    sources: list[SessionSource] = []
    for item in items:
        sources += _sources_of_item(item)
    if not sources:
        names = joined(list(map(str, items)))
        raise SettingError(
            f"there is no recording in {names}; `workbench list formats` shows what can be read"
        )
    if not any(source.is_there for source in sources):
        raise MissingPath(joined([source.name for source in sources]))
    by_place: dict[object, SessionSource] = {}
    for index, source in enumerate(sources):
        place = index if source.path is None else source.place
        if place not in by_place or source.named:
            by_place[place] = source
    numbered_sources: list[SessionSource] = []
    for number, source in enumerate(by_place.values()):
        numbered_sources.append(replace(source, number=number))
    return _with_copies(numbered_sources)


def _with_copies(sources: Sequence[SessionSource]) -> list[SessionSource]:
    """The sources, each with what its sessions copied from those of another one."""
    paths: list[str] = []
    sessions: list[Session] = []
    for source in sources:
        if source.session is not None:
            sessions.append(source.session)
        elif not is_bundled(source):
            paths.append(str(source.path))
    copied_of_file = copied_requests(paths)
    marked_sessions = iter(mark_copies(sessions))
    sources_with_copies: list[SessionSource] = []
    for source in sources:
        if source.session is not None:
            source = replace(source, session=next(marked_sessions))
        else:
            source = replace(source, copied=copied_of_file.get(str(source.path)))
        sources_with_copies.append(source)
    return sources_with_copies


def _items(what: What) -> list[Item]:
    """What is named, one after another."""
    if isinstance(what, str | Path | Session):
        return [what]
    items = list(what) if isinstance(what, Iterable) else [what]
    for item in items:
        if not isinstance(item, str | PathLike | Session):
            raise SettingError(
                f"{what!r:.80} is nothing to read; files, folders, patterns or sessions would be"
                " accepted"
            )
    return items


def _sources_of_item(item: Item) -> Iterator[SessionSource]:
    """The files or sessions that one thing means."""
    if isinstance(item, Session):
        yield SessionSource(session=item)
    elif str(item) == "-":  # standard input can be read once, and by this process alone
        for session in load("-", lenient=True):
            yield SessionSource(session=session)
    elif address_of(item):
        yield from _remote_sources(address_of(item))
    else:
        yield from _local_sources(name_of(item))


def _local_sources(name: str) -> Iterator[SessionSource]:
    """The files that a path or a pattern means."""
    for path in files([name]):
        yield SessionSource(path=Path(path), named=path == name)


def _remote_sources(address: str) -> Iterator[SessionSource]:
    """The recordings at an address and below it."""
    for file in remote_files(address):
        is_named = file.address == address
        yield SessionSource(path=Path(file.address), named=is_named, remote=file)


def is_bundled(source: SessionSource) -> bool:
    """Whether a source is a bundled session, as a file or in memory."""
    if source.path is not None:
        return is_bundled_file(source.path)
    return source.session is not None and is_bundled_session(source.session)


def default_model_for(sources: Sequence[SessionSource]) -> str:
    """The model that writes summaries where none is named: bundled sessions alone have those
    that ship.
    """
    for source in sources:
        if not is_bundled(source):
            return DEFAULT_MODEL
    return BUNDLED


def limited(sources: Sequence[SessionSource], limit: int | None) -> list[SessionSource]:
    """The first sources that hold that many sessions, each with how many to take; None takes
    all.
    """
    if limit is None:
        return list(sources)
    chosen_sources: list[SessionSource] = []
    for source in sources:
        session_count = len(sessions_in(source))
        chosen_sources.append(replace(source, most=min(session_count, limit)))
        limit -= session_count
        if limit <= 0:
            break
    return chosen_sources


def sessions_in(source: SessionSource) -> list[Session]:
    """The sessions of a source that hold an answer of a model, not yet counted and extracted."""
    if source.session is not None:
        return [source.session]
    if source.path is None:
        return []
    sessions = []
    for loaded in scan([source.path], lenient=True):
        for session in marked_as_copied(loaded.sessions, source.copied):
            if session.requests:
                sessions.append(session)
    return sessions


def readable_sessions(source: SessionSource) -> list[Session]:
    """As `sessions_in`, for commands that leave nothing out.

    Raises:
        FormatError: the user named a file that cannot be read.
    """
    sessions = sessions_in(source)
    if not sessions and source.named and source.path is not None:
        for loaded in scan([source.path], lenient=True):
            if loaded.error is not None:
                raise loaded.error
    return sessions


def reasons_unread(sources: Iterable[SessionSource]) -> str:
    """Why files of which nothing can be read could not be, the first few; empty where each could
    be read.
    """
    reasons = []
    for source in sources:
        if source.path is None:
            continue
        for loaded in scan([source.path], lenient=True):
            if loaded.error is not None:
                reasons.append(str(loaded.error))
        if len(reasons) == MOST_REASONS:
            break
    return "; ".join(reasons)
