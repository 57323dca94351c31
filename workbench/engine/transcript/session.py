"""A recorded conversation with what is known about it; never changed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from workbench.base.markup import card, clipped
from workbench.base.typed_value import check_instance, check_whole_number
from workbench.engine.transcript.log import ClearingEntry, CompactionEntry, Entry, Log, MessageEntry
from workbench.engine.transcript.message import (
    Message,
    checked_messages,
    is_real_user,
    said_texts,
)

FIRST = 8
"""Messages that a session shows of itself."""


@dataclass(frozen=True, slots=True)
class UnreadField:
    """Text of a file that stands in none of its sessions.

    Attributes:
        field: its name with those of the objects around it; empty for lines of text.
        characters: in strings of 20 and more, and in every string of a block whose kind is unknown.
        client_only: whether the format is known to keep it for the client alone.
    """

    field: str
    characters: int
    client_only: bool = False

    def __str__(self) -> str:
        name = self.field or "lines"
        if self.client_only:
            return f"{name} ({self.characters:,}, kept by the client)"
        return f"{name} ({self.characters:,})"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a session came from.

    Attributes:
        skipped: what was left out, one sentence each.
        text_read: the share of the file's text that stands in its sessions, 0 to 1; None where it
            was not counted.
        text_noted: the share that stands in notes alone, which no model was sent: a client's own
            lines, for example.
        unread: what stands in no session, the largest first.
    """

    format: str = "built"
    path: str = ""
    sha256: str = ""
    skipped: tuple[str, ...] = ()
    text_read: float | None = None
    text_noted: float = 0.0
    unread: tuple[UnreadField, ...] = ()


@dataclass(frozen=True, slots=True)
class Recorded:
    """A compaction or clearing that the recorded agent made before `messages[at]`."""

    at: int
    entry: CompactionEntry | ClearingEntry


@dataclass(frozen=True, slots=True)
class CopiedRequests:
    """What a session copied from another one, which keeps the bill: the head of a fork or of a
    resumed session, all of a backup copy.

    Attributes:
        session: id of the session that keeps it.
        path: the file of that session.
        answers: ids of the copied answers, each to one request.
        compactions: ids of the copied compactions and clearings.
    """

    session: str
    path: str = ""
    answers: frozenset[str] = frozenset()
    compactions: frozenset[str] = frozenset()


NOTHING_COPIED = CopiedRequests("")


@dataclass(frozen=True, slots=True)
class Fork:
    """What a session's own file says that it copied from the session that it was forked from.

    Attributes:
        parent: id or file name of that session; empty where the file does not name it.
        answers: ids of the copied answers, each to one request.
    """

    parent: str = ""
    answers: tuple[str, ...] = ()


NO_FORK = Fork()


_TAGGED = re.compile(r"<([\w-]+)>.*?</\1>", re.DOTALL)
"""What a client puts around what it says itself in the user's name."""
LONGEST_HEADING = 100


@dataclass(frozen=True)
class Session:
    """One recorded conversation.

    Attributes:
        id: unique among the sessions of a run.
        log: the whole tree. Its main path is from the root to `log.leaf`.
        model: the model that answered most, as the recording names it; empty if unknown.
        window: the model's context window in tokens; None where the recording does not say.
        title: a few words for people.
        cwd: the folder in which the recorded agent worked; makes one path of absolute and relative
            ones.
        project: what unrelated sessions do not share, such as a repository or a folder.
        copied: which of its requests another session keeps. They are part of its contexts, and of
            no bill of its own.
        fork: what its file says of the session that it was forked from.
    """

    id: str
    log: Log
    origin: Origin = field(default_factory=Origin)
    model: str = ""
    window: int | None = None
    title: str = ""
    cwd: str = ""
    project: str = ""
    copied: CopiedRequests = NOTHING_COPIED
    fork: Fork = NO_FORK

    @classmethod
    def of(
        cls, messages: Iterable[Message], id: str = "session", **fields: str | int | None
    ) -> Session:
        """A session of these messages in a straight line, for examples and tests.

        Args:
            messages: in order, each with another id.
            id: of the session.
            fields: further ones of the session.

        Raises:
            LogError: two messages have one id.
            SettingError: one of them is no message, or a field has a wrong value.
        """
        texts = {"id": id, **fields}
        check_whole_number("window", texts.pop("window", None), optional=True)
        for name, text in texts.items():
            if name != "origin":
                check_instance(name, text, str, "a text")
        log = Log()
        for message in checked_messages(messages):
            log.append(MessageEntry(id=message.id, parent=log.leaf, message=message))
        return cls(id, log, **fields)  # type: ignore[arg-type]  # the fields of this class, by name

    @cached_property
    def path(self) -> tuple[Entry, ...]:
        """The entries of the main path."""
        return self.log.path()

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """All messages of the main path, those that the recorded agent compacted away included."""
        return tuple(entry.message for entry in self.path if isinstance(entry, MessageEntry))

    @cached_property
    def place(self) -> dict[int, int]:
        """The index of each message object by its `id()`: recognises messages that were kept."""
        return {id(message): i for i, message in enumerate(self.messages)}

    @cached_property
    def index_of(self) -> dict[str, int]:
        """The index of each message by its own id: recognises messages that were rewritten."""
        return {message.id: i for i, message in enumerate(self.messages)}

    @cached_property
    def requests(self) -> tuple[int, ...]:
        """The index of each assistant message: the recorded answer to one request of its own."""
        requests: list[int] = []
        for index, message in enumerate(self.messages):
            if message.role == "assistant" and message.id not in self.copied.answers:
                requests.append(index)
        return tuple(requests)

    @cached_property
    def copied_requests(self) -> int:
        """How many answers of the main path are to requests of another session."""
        answer_count = sum(message.role == "assistant" for message in self.messages)
        return answer_count - len(self.requests)

    @cached_property
    def recorded(self) -> tuple[Recorded, ...]:
        """The compactions and clearings on the main path, with their place among the messages."""
        recorded: list[Recorded] = []
        message_count = 0
        for entry in self.path:
            if isinstance(entry, MessageEntry):
                message_count += 1
            elif isinstance(entry, CompactionEntry | ClearingEntry):
                recorded.append(Recorded(message_count, entry))
        return tuple(recorded)

    @cached_property
    def own_recorded(self) -> tuple[Recorded, ...]:
        """Those that no other session keeps."""
        copied_ids = self.copied.compactions
        return tuple(
            compaction for compaction in self.recorded if compaction.entry.id not in copied_ids
        )

    @cached_property
    def branches(self) -> int:
        """How many leaves the log has."""
        return len(self.log.leaves())

    @property
    def heading(self) -> str:
        """Words that tell it from others: its title, how its first request begins, or its id."""
        title = self.title.strip()
        if title and not title.startswith("("):
            return title
        user_texts = (_line(message) for message in self.messages if is_real_user(message))
        words = next(
            (
                text
                for message in user_texts
                if (text := " ".join(_TAGGED.sub(" ", message).split()))
            ),
            "",
        )
        parts = (title.strip("()"), words[:LONGEST_HEADING])
        return ": ".join(filter(None, parts)) or self.id

    def __repr__(self) -> str:
        model = f", model {self.model}" if self.model else ""
        return (
            f"<Session {self.id!r}: messages {len(self.messages):,}, requests"
            f" {len(self.requests):,}, format {self.origin.format}{model}>"
        )

    def _repr_html_(self) -> str:
        facts = {
            "session": self.id,
            "messages": len(self.messages),
            "requests": len(self.requests),
            "branches": self.branches if self.branches > 1 else None,
            "compacted when recorded": len(self.recorded) or None,
            "model": self.model,
            "window": self.window,
            "format": self.origin.format,
            "read from": self.origin.path,
        }
        rows: list[tuple[int, str, str]] = []
        for index, message in enumerate(self.messages[:FIRST]):
            rows.append((index, message.role, _line(message)))
        hidden_count = len(self.messages) - len(rows)
        note = ""
        if hidden_count:
            note = f"and {hidden_count:,} more messages; wb.explore(session) walks through them"
        return card(self.title or self.id, facts, ("", "who", "says"), rows, note)


def _line(message: Message) -> str:
    """What a message says, or the tools that it calls, on one line."""
    text = " ".join(clipped(said_text) for said_text in said_texts(message))
    words = " ".join(text.split())
    if message.role == "assistant" and message.calls:
        names = ", ".join(call.name for call in message.calls)
        return f"calls {names}: {words}"
    return words
