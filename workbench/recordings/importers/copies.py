"""Requests that stand in several recordings: in a fork, in a session that was resumed in a new
file, in a backup copy, in the file of a sub-agent that begins with its parent's head.

A provider answers a request once. The session that was written first keeps it; in the others its
answer is a part of the context, and in no bill.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TypeAlias

from workbench.base.formats import some
from workbench.engine.transcript.log import ClearingEntry, CompactionEntry, Entry, MessageEntry
from workbench.engine.transcript.message import Message
from workbench.engine.transcript.session import NOTHING_COPIED, CopiedRequests, Session

Digest: TypeAlias = bytes

_ISSUED = re.compile(r"(?=[A-Za-z0-9]*\d)(?=[A-Za-z0-9]*[A-Za-z])[A-Za-z0-9]{12,}")
"""A part of a call's id that a provider drew by chance; others count the calls."""


@dataclass(slots=True)
class _Request:
    """An answer, or a compaction, in the tree of a session.

    Attributes:
        id: of its entry.
        marks: what no two requests have in common: its time and words, the ids of its calls.
        so_far: digest of all that was said up to and with it.
        previous: the request before it on its branch; None for the first.
    """

    id: str
    marks: tuple[Hashable, ...]
    so_far: Digest
    previous: "_Request | None"
    is_compaction: bool


def mark_copies(sessions: Sequence[Session]) -> list[Session]:
    """The sessions in their order, each with what it copied from another one of them.

    A request counts as copied where an earlier session has its very mark, or, on a branch with such
    a request, where all that was said up to it is the same. Sessions without times and ids of calls
    have no marks; they are copies only where their files are equal.
    """
    if len(sessions) < 2:
        return list(sessions)
    keepers: dict[Hashable, Session] = {}
    copied: dict[int, CopiedRequests] = {}
    file_marks = _file_marks(sessions)
    ages = _ages(sessions)
    for index in sorted(range(len(sessions)), key=ages.__getitem__):
        session = sessions[index]
        requests = list(_requests(session))
        original = keepers.get(file_marks[index])
        copied[index] = _copied(requests, keepers, original)
        keepers.setdefault(file_marks[index], session)
        _keep(session, requests, copied[index], keepers)
    marked: list[Session] = []
    for index, session in enumerate(sessions):
        marked.append(replace(session, copied=copied[index]))
    return marked


def marked_as_copied(
    sessions: Sequence[Session], copied: Sequence[CopiedRequests] | None
) -> list[Session]:
    """The sessions of a file, with what they copied from those of others as `importer.copied_requests`
    says; where it says nothing, with what they copied from each other.
    """
    if copied is None or len(copied) != len(sessions):
        return mark_copies(sessions)
    marked: list[Session] = []
    for session, copied_of_session in zip(sessions, copied, strict=True):
        marked.append(replace(session, copied=copied_of_session))
    return marked


def copied_from(session: Session) -> str:
    """How much a session copied, and which one keeps it, in words; else what its own file says
    of that. Empty where it copied nothing.
    """
    count = session.copied_requests
    if not count:
        return _forked_from(session)
    keeper = session.copied
    total = some(count + len(session.requests), "request")
    share = f"{count:,} of its {total}" if session.requests else f"all of its {total}"
    words = f"{share} were copied from session {keeper.session!r}"
    if keeper.path != session.origin.path:
        words += f" in {keeper.path}"
    return f"{words}, which keeps their bill"


def _forked_from(session: Session) -> str:
    """How many requests a session has from one that is not here, as its file says it, in words."""
    fork = session.fork
    count = 0
    for index in session.requests:
        count += session.messages[index].id in fork.answers
    if not count:
        return ""
    parent = "another session"
    if fork.parent:
        parent = f"session {fork.parent!r}"
    total = some(len(session.requests), "request")
    words = f"forked from {parent}, which is not among the files read"
    return f"{words}; {count:,} of its {total} may be billed there"


_Age: TypeAlias = tuple[bool, list[float], bool, int, int]


def _ages(sessions: Sequence[Session]) -> list[_Age]:
    """For each session what sorts the one that was written first before its copies.

    What says of itself that it is a fork comes behind all others. Of two sessions that share their
    head, the one that left it first is the original. Of several files of one session, that is the
    one with the session's name, then the longest, then the one in the folder above.
    """
    longest_times: dict[str, list[float]] = {}
    for session in sessions:
        times = _answer_times(session)
        longest = longest_times.setdefault(session.id, times)
        if len(times) > len(longest):
            longest_times[session.id] = times
    ages: list[_Age] = []
    for session in sessions:
        path = session.origin.path
        file_name = path.rpartition("/")[2]
        is_fork = bool(session.fork.answers)
        has_other_name = session.id not in file_name
        answer_count = len(_answer_times(session))
        folders = path.count("/")
        times = longest_times[session.id]
        ages.append((is_fork, times, has_other_name, -answer_count, folders))
    return ages


def _answer_times(session: Session) -> list[float]:
    """When each answer of the main path was given; 0 where that is unknown."""
    times: list[float] = []
    for message in session.messages:
        if message.role == "assistant":
            times.append(message.time or 0.0)
    return times


def _file_marks(sessions: Iterable[Session]) -> list[Hashable]:
    """For each session the digest of its file, and which of the file's sessions it is."""
    counts = Counter[str]()
    marks: list[Hashable] = []
    for session in sessions:
        origin = session.origin
        marks.append((origin.sha256 or origin.path, counts[origin.path]))
        counts[origin.path] += 1
    return marks


def _copied(
    requests: Sequence[_Request], keepers: Mapping[Hashable, Session], original: Session | None
) -> CopiedRequests:
    """What of a session stands in sessions before it; `original` is that of an equal file."""
    answers: set[str] = set()
    compactions: set[str] = set()
    keeper = original
    proven = _proven(requests, keepers)
    for request in requests:
        kept_by = _first_kept(request.marks, keepers)
        if kept_by is None and (original is not None or request.id in proven):
            kept_by = keepers.get(request.so_far)
        if kept_by is None:
            continue
        keeper = kept_by
        if request.is_compaction:
            compactions.add(request.id)
        else:
            answers.add(request.id)
    if keeper is None:
        return NOTHING_COPIED
    return CopiedRequests(keeper.id, keeper.origin.path, frozenset(answers), frozenset(compactions))


def _proven(requests: Sequence[_Request], keepers: Mapping[Hashable, Session]) -> set[str]:
    """Ids of the requests on a branch with one that an earlier session keeps by its mark."""
    proven: set[str] = set()
    for request in requests:
        is_behind_copy = request.previous is not None and request.previous.id in proven
        if is_behind_copy or _first_kept(request.marks, keepers) is not None:
            proven.add(request.id)
    for request in reversed(requests):
        if request.id in proven and request.previous is not None:
            proven.add(request.previous.id)
    return proven


def _first_kept(marks: Iterable[Hashable], keepers: Mapping[Hashable, Session]) -> Session | None:
    """The session that keeps a request with one of these marks; None where there is none."""
    for mark in marks:
        if mark in keepers:
            return keepers[mark]
    return None


def _keep(
    session: Session,
    requests: Iterable[_Request],
    copied: CopiedRequests,
    keepers: dict[Hashable, Session],
) -> None:
    """Note which requests a session keeps."""
    for request in requests:
        if request.id in copied.answers or request.id in copied.compactions:
            continue
        for mark in (*request.marks, request.so_far):
            keepers.setdefault(mark, session)


def _requests(session: Session) -> Iterator[_Request]:
    """The answers and compactions of a session's whole tree, parents first."""
    so_far: dict[str | None, Digest] = {None: b""}
    newest: dict[str | None, _Request | None] = {None: None}
    earlier_words: dict[str | None, Digest] = {None: b""}
    for entry in session.log:
        words = _digest_of(entry)
        parent = entry.parent
        so_far[entry.id] = so_far[parent]
        newest[entry.id] = newest[parent]
        earlier_words[entry.id] = words or earlier_words[parent]
        if not words:
            continue
        so_far[entry.id] = _digest(so_far[parent], words)
        is_compaction = isinstance(entry, CompactionEntry | ClearingEntry)
        if not is_compaction and not _is_answer(entry):
            continue
        request = _Request(
            id=entry.id,
            marks=tuple(_marks(entry, words, earlier_words[parent])),
            so_far=so_far[entry.id],
            previous=newest[parent],
            is_compaction=is_compaction,
        )
        newest[entry.id] = request
        yield request


def _is_answer(entry: Entry) -> bool:
    return isinstance(entry, MessageEntry) and entry.message.role == "assistant"


def _marks(entry: Entry, words: Digest, earlier_words: Digest) -> Iterator[Hashable]:
    """What tells a request from every other one.

    Two answers may begin alike in the same second; that both follow the same words, or have the
    same fraction of a second, happens to copies alone.
    """
    time = entry.message.time if isinstance(entry, MessageEntry) else _time_of(entry)
    if time is not None and time % 1:
        yield time, words
    elif time:
        yield time, earlier_words, words
    if isinstance(entry, MessageEntry) and entry.message.role == "assistant":
        for call in entry.message.calls:
            if _ISSUED.search(call.id):
                yield call.id, words


def _time_of(entry: Entry) -> float | None:
    """When the agent compacted or cleared its context; None where that is unknown."""
    if isinstance(entry, CompactionEntry | ClearingEntry):
        return entry.time
    return None


def _digest_of(entry: Entry) -> Digest:
    """Digest of what an entry says; empty where it says nothing to a model."""
    if isinstance(entry, MessageEntry):
        return _digest(entry.message.role.encode(), *_texts(entry.message))
    if isinstance(entry, CompactionEntry):
        summary = "" if entry.summary is None else entry.summary.text
        return _digest(b"compaction", summary.encode())
    if isinstance(entry, ClearingEntry):
        return _digest(b"clearing", *[call_id.encode() for call_id in entry.call_ids])
    return b""


def _texts(message: Message) -> Iterator[bytes]:
    """What a message says; what a model thought is left out, as copies may lack it."""
    if message.role == "tool":
        yield message.call_id.encode()
    for block in message.blocks:
        if block.type == "text":
            yield block.text.encode(errors="replace")
        elif block.type == "tool_call":
            yield block.id.encode(errors="replace")
            yield block.name.encode(errors="replace")
            yield block.arguments_json().encode(errors="replace")


def _digest(*parts: bytes) -> Digest:
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8))
        digest.update(part)
    return digest.digest()
