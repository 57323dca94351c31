"""Building a session: a log that grows at its leaf, and what becomes known on the way."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar

from workbench.engine.transcript.files import FileOps
from workbench.engine.transcript.log import CompactionEntry, Entry, Log, MessageEntry, NoteEntry
from workbench.engine.transcript.message import (
    AnswerBlock,
    AssistantMessage,
    Json,
    Message,
    SaidBlock,
    Summary,
    SystemMessage,
    Text,
    Thinking,
    ToolResult,
    UserMessage,
)
from workbench.engine.transcript.session import Fork, Session
from workbench.recordings.importers.blocks import content
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.values import Record, as_object

_SPEAKERS: Mapping[str, Any] = {
    "system": SystemMessage,
    "user": UserMessage,
    "assistant": AssistantMessage,
}
_NESTED = frozenset({".worktrees", "worktrees", ".git"})
_NOWHERE = frozenset({"", "root", "home", "tmp", "~", "workspace", "workspaces", "app"})


class SessionBuilder:
    """One session while it is read, message by message. A format whose file is a list of records
    reads them in `read`.

    Attributes:
        about: the fields of a document that name the session's `id`, `title`, `cwd`, `project` and
            `model`; of several, separated by spaces, the first that holds something counts.
        log: what has been read; an id that is taken already gets a number as a suffix.
        id: the recording's own, or else the file's name; `title`, `cwd` and `project` are empty
            until named.
        model: used where no answer names one.
        window: the model's context window in tokens, where the recording says.
        names: the tools' names by the ids of their calls.
        line: the line that is read, in JSON lines.
        time: when the record that is read was written, in seconds since 1970; all that is appended
            gets it.
        forked_from: the session that the recording says it was forked from, where it names one.
        is_copied: whether the record that is read says that it was copied in a fork; all answers
            that are appended with it were.
        speaker: whose entries are read: a sub-agent's, or empty for the main conversation.
        agents: ids of the entries with which sub-agents begin, each a root of the log.
    """

    about: ClassVar[Mapping[str, str]] = {}

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.log = Log()
        self.id = ""
        self.model = ""
        self.title = ""
        self.cwd = ""
        self.project = ""
        self.window: int | None = None
        self.names: dict[str, str] = {}
        self.line = 0
        self.time: float | None = None
        self.forked_from = ""
        self.is_copied = False
        self.speaker = ""
        self.agents: list[str] = []
        self._leaves: dict[str, str | None] = {}
        self._copies: dict[str, int] = {}
        self._copied_answers: list[str] = []

    def begin(self, document: Record) -> None:
        """Read what a document says of the whole session, before its records."""
        for name, fields in self.about.items():
            read = self.source.identifier if name == "id" else self.source.name
            setattr(self, name, read(document, *fields.split()))

    def read_all(self, records: Iterable[Json], field: str) -> None:
        """Read a list of records; a damaged one is placed by its index in this field."""
        for index, record in enumerate(records):
            with self.source.at(self.line or None, f"{field}[{index}]"):
                self.read(as_object(record))

    def starts(self, record: Record) -> str:
        """The id of the session that a record starts; empty where it starts none, as always in a
        format with one session a file.
        """
        return ""

    def read(self, record: Record) -> None:
        """Read one record; a wrong field is a `FormatError` that names it."""
        raise NotImplementedError

    def close(self) -> None:
        """Write what was gathered and is not written yet, at the end of the recording."""

    def turn_to(self, speaker: str) -> None:
        """Go on with the entries of another speaker, after the newest of them."""
        self._leaves[self.speaker] = self.log.leaf
        self.log.leaf = self._leaves.get(speaker)
        self.speaker = speaker

    def fresh_id(self, base_id: str = "") -> str:
        """This id, or the next free one after it; `m1`, `m2`... where none is wanted."""
        base_id = base_id or f"m{len(self.log) + 1}"
        free_id = base_id
        while free_id in self.log:
            number = self._copies.get(base_id, 1) + 1
            self._copies[base_id] = number
            free_id = f"{base_id}~{number}"
        return free_id

    def say(self, message: Message) -> str:
        """Append a message, and return its id. A message without a time gets the record's, a
        result its call's name.
        """
        if isinstance(message, AssistantMessage):
            for call in message.calls:
                self.names.setdefault(call.id, call.name)
        elif isinstance(message, ToolResult) and not message.name and message.call_id in self.names:
            message = replace(message, name=self.names[message.call_id])
        if message.time is None:
            message = replace(message, time=self.time)
        entry = MessageEntry(id=message.id, parent=None, message=message)
        return self.add(entry)

    def say_content(
        self,
        role: str,
        parts: Content,
        *,
        id: str = "",
        **fields: Json,
    ) -> None:
        """Append what one record of a `system`, a `user` or an `assistant` says: a message, and the
        results in it.

        Results come before a user's words and after a model's; a record of results alone gives no
        message.
        """
        self.source.leave_unknown(parts.unknown)
        is_answer = role == "assistant"
        blocks: Sequence[AnswerBlock] = parts.blocks
        if not is_answer:
            blocks = parts.said_by(role, self.source.unknown)
        messages: list[Message] = [*parts.results]
        if parts.blocks or not parts.results:
            message = _SPEAKERS[role](id=id, blocks=tuple(blocks), **fields)
            messages.insert(0 if is_answer else len(messages), message)
        for message in messages:
            self.say(message)

    def say_result(
        self,
        call_id: str,
        blocks: Iterable[SaidBlock],
        *,
        id: str = "",
        name: str = "",
        failed: bool = False,
    ) -> None:
        """Append the result of a call."""
        result = ToolResult(
            id=id,
            call_id=call_id,
            blocks=tuple(blocks),
            name=name,
            is_error=failed,
        )
        self.say(result)

    def say_text(
        self,
        role: str,
        words: str,
        *,
        id: str = "",
        **fields: Json,
    ) -> None:
        """Append a message of one text."""
        parts = Content([Text(words)])
        self.say_content(role, parts, id=id, **fields)

    def note(self, kind: str, text: str = "", *, id: str = "") -> str:
        """Append what has a place in the log and was not sent, and return its id."""
        note = NoteEntry(
            id=id,
            parent=None,
            kind=kind,
            text=text,
            time=self.time,
        )
        return self.add(note)

    def note_thoughts(self, parts: Content) -> None:
        """Note what a model thought before it wrote a summary; no later request has it."""
        for block in parts.blocks:
            if isinstance(block, Thinking) and block.text:
                self.note("thought_before_summary", block.text)

    def summary_in(self, message: Record) -> str:
        """The words of a summary; parts of unknown kinds in it are told."""
        summary = content(message)
        self.source.leave_unknown(summary.unknown)
        return summary.words

    def compaction(
        self,
        text: str | None,
        *,
        id: str = "",
        files: FileOps | None = None,
        model: str = "",
        **about: Json,
    ) -> str:
        """Append a recorded compaction, and return its id. `about` are further fields of
        `CompactionEntry`.

        The text is the summary, None where the recording does not show it; `model` wrote it,
        `files` are named in it.
        """
        entry_id = self.fresh_id(id)
        summary: Summary | None = None
        if text is not None:
            summary = Summary(
                id=f"{entry_id}-summary",
                text=text,
                files=files or FileOps(),
                model=model,
                time=self.time,
            )
        entry = CompactionEntry(
            id=entry_id,
            parent=None,
            summary=summary,
            time=self.time,
            **about,
        )
        return self.add(entry)

    def add(self, entry: Entry) -> str:
        """Append an entry after the leaf, and return its id; its own parent does not matter."""
        entry = replace(entry, id=self.fresh_id(entry.id), parent=self.log.leaf)
        if isinstance(entry, MessageEntry) and entry.message.id != entry.id:
            message = replace(entry.message, id=entry.id)
            entry = replace(entry, message=message)
        if self.speaker and entry.parent is None:
            self.agents.append(entry.id)
        is_answer = isinstance(entry, MessageEntry) and entry.message.role == "assistant"
        if is_answer and self.is_copied:
            self._copied_answers.append(entry.id)
        self.log.append(entry)
        return entry.id

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all entries so far."""
        return tuple(entry.id for entry in self.log)

    @property
    def system_ids(self) -> tuple[str, ...]:
        """The ids of the system messages so far, which no compaction touches."""
        ids: list[str] = []
        for entry in self.log:
            if entry.type == "message" and entry.message.role == "system":
                ids.append(entry.id)
        return tuple(ids)

    def sessions(self) -> Iterator[Session]:
        """What has been read: the main conversation, and each sub-agent's as a session of its
        own; a sub-agent's file has no main one.
        """
        session = self.session()
        root_of: dict[str, str] = {}
        main_log = Log()
        agent_logs: dict[str, Log] = {}
        for entry in session.log:
            root = entry.id if entry.parent is None else root_of[entry.parent]
            root_of[entry.id] = root
            log = main_log
            if root in self.agents:
                log = agent_logs.setdefault(root, Log())
            log.append(entry)
        if session.log.leaf in main_log:
            main_log.leaf = session.log.leaf
        if len(main_log) or not agent_logs:
            model = main_model(main_log) or session.model
            yield replace(session, log=main_log, model=model)
        for number, log in enumerate(agent_logs.values(), 1):
            yield replace(
                session,
                id=f"{session.id}-agent{number}",
                title=f"{session.title} (sub-agent {number})".lstrip(),
                log=log,
                model=main_model(log) or session.model,
            )

    def so_far(self) -> Session:
        """The main conversation of what has been read up to now; reading can go on after it."""
        snapshot = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, dict | list | set | Log):
                setattr(snapshot, name, copy(value))
        counted = {field: copy(note) for field, note in self.source.counted.items()}
        snapshot.source = replace(
            self.source,
            skipped=list(self.source.skipped),
            unknown=Counter(self.source.unknown),
            counted=counted,
        )
        return next(snapshot.sessions())

    def session(self) -> Session:
        """What has been read, in one log."""
        self.close()
        self.turn_to("")
        cwd = self.cwd.removeprefix("file://")
        return Session(
            id=self.id or self.source.stem,
            log=self.log,
            model=main_model(self.log) or self.model,
            window=self.window,
            title=self.title,
            cwd=cwd,
            project=self.project or project_name(cwd, self.source.folder),
            fork=Fork(self.forked_from, tuple(self._copied_answers)),
        )


def main_model(log: Log) -> str:
    """The model that gave most answers; empty if none is named."""
    answers = Counter[str]()
    for entry in log:
        if not isinstance(entry, MessageEntry):
            continue
        message = entry.message
        if isinstance(message, AssistantMessage) and message.model:
            answers[message.model] += 1
    return answers.most_common(1)[0][0] if answers else ""


def project_name(cwd: str, folder: str) -> str:
    """The name of the repository that a session worked in: the working folder's, else that of
    the file's folder.
    """
    names: list[str] = []
    for name in re.split(r"[/\\]+", cwd):
        if name in _NESTED:
            break
        if name:
            names.append(name)
    name = names[-1] if names else ""
    if name.lower() in _NOWHERE or name.endswith(":"):
        return folder
    return name
