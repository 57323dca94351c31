"""How much of a file's text stands in the sessions that were read from it: one walk over its values
for all formats.

Text is every string of 20 characters and more that has white space or a letter outside ASCII, which
ids, paths, hashes and pictures have not. It is compared line by line, and a line that occurs again
counts once.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.base.errors import FormatError
from workbench.engine.transcript.log import CompactionEntry, Entry, MessageEntry, NoteEntry
from workbench.engine.transcript.message import Json, Message, ToolResult, said_texts
from workbench.engine.transcript.session import Session, UnreadField
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.json_text import as_printed, decode_or
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.values import strings

LEAST = 20
"""Characters of a line that is text."""
ENOUGH = 0.8
"""The share of a file's text below which the largest unread fields are named."""
NAMED = 3
MATTERS = 100
"""Unread characters from which a file may be refused."""
EMPTY = 0.5
"""The share of tool results without content above which a file with unread text is refused."""
ADVICE = "name its importer with `format`, or write its messages as docs/own-format.md shows"

_WORDS = re.compile(r"\s|[^\x00-\x7f]")
_DATA = re.compile(r"[!-~]{200,}")
"""A run without white space that no person wrote: base64 in the middle of a text."""
_PRINTED = re.compile(r"role='|[A-Z]\w+\(\w+=")
"""How a record begins that Python printed field by field."""
_QUOTED = re.compile(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*\"""")
_TAG = re.compile(r"<(?:/|!--)?[a-z][^<>]*>")
_MARKS = "#>*_|-` \t"
"""How markdown begins or ends a line; its importers leave such marks out."""


@dataclass(frozen=True, slots=True)
class Account:
    """What became of a file's text.

    Attributes:
        read: the share of its characters that stand in a session, 0 to 1; None where the file has
            no text.
        noted: the share that stands in notes alone: in the log, but sent to no model.
        unread: characters that do not, by the name of their field, the most first.
        client_only: likewise of fields that a client keeps for itself.
    """

    read: float | None = None
    noted: float = 0.0
    unread: tuple[UnreadField, ...] = ()
    client_only: tuple[UnreadField, ...] = ()

    def __str__(self) -> str:
        share = self.read or 0
        fields = ", ".join(str(field) for field in self.unread[:NAMED])
        return f"{share:.0%} of the file's text was read; unread characters by field: {fields}"


def accounted(
    format: Format, source: SourceFile, sessions: Sequence[Session], *, named: bool
) -> list[Session]:
    """The sessions of a file, with the share of its text that was read; below `ENOUGH`, what was
    not is said.

    Raises:
        FormatError: no message has text, or most tool results are empty while text is unread, and
            no format was `named`.
    """
    messages: list[Message] = []
    for session in sessions:
        messages += session.messages
    if not named and format.name != "native" and _is_silent(source, sessions, messages):
        reason = "nothing in it was said to or by a model"
        if messages:
            reason = f"none of {len(messages)} messages has text"
        raise FormatError(f"read as {format.name}, {reason}; {ADVICE}", where=source.where)
    read_values = format.values or SourceFile.values
    values = read_values(source)
    text_account = account(values, sessions, format.aside, source.unknown_texts)
    share_read = text_account.read
    if share_read is None and not text_account.client_only:
        return list(sessions)
    unread: tuple[str, ...] = ()
    if share_read is not None and share_read < ENOUGH:
        refusal = _refusal(text_account, messages)
        if refusal and not named:
            reason = f"read as {format.name}, {refusal}: {text_account}; {ADVICE}"
            raise FormatError(reason, where=source.where)
        unread = (str(text_account),)
    if share_read is not None:
        share_read = round(share_read, 4)
    accounted_sessions: list[Session] = []
    for session in sessions:
        origin = replace(
            session.origin,
            skipped=(*session.origin.skipped, *unread),
            text_read=share_read,
            text_noted=round(text_account.noted, 4),
            unread=text_account.unread + text_account.client_only,
        )
        accounted_sessions.append(replace(session, origin=origin))
    return accounted_sessions


def _is_silent(
    source: SourceFile, sessions: Sequence[Session], messages: Sequence[Message]
) -> bool:
    """Whether something was read or left out, and nothing of it is a message with text."""
    if any(message.blocks for message in messages):
        return False
    return source.unknown.total() > 0 or any(len(session.log) for session in sessions)


def account(
    values: Iterator[Json],
    sessions: Sequence[Session],
    aside: str = "",
    unknown: Mapping[str, Sequence[str]] | None = None,
) -> Account:
    """How much of the text in these values stands in these sessions.

    Args:
        values: everything that a file holds.
        sessions: what was read from it.
        aside: fields that a client keeps for itself, such as `message.details`, separated by
            spaces.
        unknown: the texts of blocks that no message got, by kind; each counts as unread, however
            short it is.
    """
    ledger = _Ledger(sessions)
    for kind, texts in (unknown or {}).items():
        ledger.add_unknown(kind, texts)
    client_fields = frozenset(aside.split())
    for field, line in _text_lines(values):
        if _is_inside(field, client_fields):
            ledger.add_client_line(field, line)
        else:
            ledger.add_line(field, line)
    return ledger.account()


class _Ledger:
    """The lines of a file, each held against the text of the sessions that were read from it."""

    def __init__(self, sessions: Sequence[Session]) -> None:
        notes: list[Entry] = []
        sent: list[Entry] = []
        for session in sessions:
            for entry in session.log:
                if entry.type == "note":
                    notes.append(entry)
                else:
                    sent.append(entry)
        self.note_lines = set(_lines_of(notes))
        self.sent_lines = set(_lines_of(sent))
        self.all_text = "\n".join(self.sent_lines | self.note_lines)
        self.unread = Counter[str]()
        self.client_only = Counter[str]()
        self.is_read: dict[str, bool] = {}
        self.client_lines: set[str] = set()

    def add_unknown(self, kind: str, texts: Sequence[str]) -> None:
        """Count the lines of blocks of an unknown kind as unread."""
        for text in texts:
            for line in _lines(text):
                if not line:
                    continue
                characters = 0
                if line not in self.is_read:
                    characters = len(line)
                self.unread[kind] += characters
                self.is_read[line] = False

    def add_client_line(self, field: str, line: str) -> None:
        """Count a line of a field that a client keeps for itself."""
        if line not in self.client_lines and not self._is_line(line):
            self.client_lines.add(line)
            self.client_only[field] += len(line)

    def add_line(self, field: str, line: str) -> None:
        """Count a line of any other field."""
        if line not in self.is_read:
            is_read = self._was_read(line)
            self.is_read[line] = is_read
            characters = 0
            if not is_read:
                characters = len(line)
            self.unread[field] += characters

    def _was_read(self, line: str) -> bool:
        # a transcript names the speaker before the words
        _, _, words_of_speaker = line.partition(": ")
        for words in (line, words_of_speaker):
            if words and self._is_line(words):
                return True
        return _stands_in(self.all_text, line)

    def _is_line(self, words: str) -> bool:
        return words in self.sent_lines or words in self.note_lines

    def account(self) -> Account:
        """What became of all lines."""
        client_only = _unread_fields(self.client_only, client_only=True)
        total = sum(len(line) for line in self.is_read)
        if not total:
            return Account(client_only=client_only)
        noted = 0
        for line in self.is_read:
            if line in self.note_lines and line not in self.sent_lines:
                noted += len(line)
        return Account(
            read=1 - self.unread.total() / total,
            noted=noted / total,
            unread=_unread_fields(self.unread),
            client_only=client_only,
        )


def _stands_in(all_text: str, line: str) -> bool:
    """Whether a line, or each text in it where it is JSON itself, stands in the text of all
    entries.
    """
    if line in all_text:
        return True
    if line[:1] not in ("{", "["):
        return False
    texts = list(strings(decode_or(line)))
    return bool(texts) and all(text in all_text for text in texts)


def _text_lines(values: Iterator[Json]) -> Iterator[tuple[str, str]]:
    """Each line of text in these values, with the names of the objects that it is in."""
    for value in values:
        for field, text in _fields(value):
            for line in _lines_with_words(text):
                yield field, line


def _lines_with_words(text: str) -> Iterator[str]:
    """The lines of a text, decoded where it is encoded, that are long enough to say something."""
    for piece in _decoded(text):
        for line in _lines(piece):
            if len(line) >= LEAST and _WORDS.search(line):
                yield line


def _is_inside(field: str, outer_fields: frozenset[str]) -> bool:
    """Whether a field is one of these or inside of one."""
    while field:
        if field in outer_fields:
            return True
        field, _, _ = field.rpartition(".")
    return False


def _unread_fields(
    characters: Counter[str], *, client_only: bool = False
) -> tuple[UnreadField, ...]:
    unread: list[UnreadField] = []
    for field, count in characters.most_common():
        if count:
            unread.append(UnreadField(field, count, client_only))
    return tuple(unread)


def _refusal(text_account: Account, messages: Sequence[Message]) -> str:
    """Why what was read of a file is of no use; empty where it is."""
    unread_count = sum(field.characters for field in text_account.unread)
    if unread_count < MATTERS:
        return ""
    result_count = 0
    empty_count = 0
    for message in messages:
        if isinstance(message, ToolResult):
            result_count += 1
            if not message.blocks:
                empty_count += 1
    if empty_count <= EMPTY * result_count:
        return ""
    return f"{empty_count} of {result_count} tool results are empty"


def _lines_of(entries: Sequence[Entry]) -> Iterator[str]:
    """The lines of all entries' texts, and of the texts inside where these are JSON."""
    for entry in entries:
        for text in _texts(entry):
            if len(text) >= LEAST:
                for piece in {text, *_decoded(text)}:
                    yield from _lines(piece)


def _texts(entry: Entry) -> Iterator[str]:
    """All texts of an entry."""
    if isinstance(entry, MessageEntry):
        yield from said_texts(entry.message)
    elif isinstance(entry, NoteEntry):
        yield entry.text
    elif isinstance(entry, CompactionEntry) and entry.summary is not None:
        yield entry.summary.text


def _decoded(text: str) -> list[str]:
    """A text, or the texts inside where it is JSON itself or a record as Python prints it."""
    if _PRINTED.match(text):
        return [as_printed(quoted_text) for quoted_text in _QUOTED.findall(text)]
    if text[:1] not in ("{", "[", '"'):
        return [text]
    value = decode_or(text)
    if value is None:
        return [text]
    return [inner for _, inner in _fields(value)]


def _fields(value: Json, field: str = "") -> Iterator[tuple[str, str]]:
    """The texts of a decoded value, each with the names of the objects that it is in."""
    if isinstance(value, str):
        if len(value) >= LEAST and _WORDS.search(value):
            yield field, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            inner_field = name
            if field:
                inner_field = f"{field}.{name}"
            yield from _fields(inner, inner_field)
    elif isinstance(value, list):
        for inner in value:
            yield from _fields(inner, field)


def _lines(text: str) -> Iterator[str]:
    """The lines of a text without tags, without marks of markdown and without data."""
    for line in text.splitlines():
        words = line
        if "<" in line:
            words = _TAG.sub("", line)
        words = words.strip(_MARKS)
        if len(words) > 200:
            words = _DATA.sub("", words)
        yield words
