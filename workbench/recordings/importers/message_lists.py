"""Lists of messages, in a JSON list, in an object that has one, or in JSON lines: a session a
list.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from workbench.engine.transcript.message import Json
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.chat import ROLES, ChatBuilder
from workbench.recordings.importers.format import Sessions
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    as_list,
    as_object,
    block_texts,
    items,
    label,
)

_TASK_MESSAGES = "traj"
LISTS = ("messages", "conversation", "conversations", _TASK_MESSAGES)
"""Fields that hold the messages; the last is tau-bench's."""


def starts_with_messages(head: Head) -> bool:
    """Whether a file starts with messages that have a role, or with an object that holds such a
    list.
    """
    record = head.first_record
    has_role = label(record, "role") in ROLES
    has_words = bool({"content", "tool_calls"} & set(record))
    if has_role and has_words and not head.is_list:
        return True
    if {"role", "content"} <= head.keys:
        return True
    has_list = bool(head.keys & set(LISTS))
    return has_list and '"role"' in head.text


def message_sessions(
    builder: Callable[[SourceFile], ChatBuilder] = ChatBuilder,
    lists: Sequence[str] = LISTS,
) -> Sessions:
    """Reads one session a list of messages, whatever holds it: lines, a list, an object.

    Args:
        builder: reads one message after another.
        lists: fields of an object that hold its messages.
    """
    return MessageFile(builder, lists).sessions


class MessageFile:
    """How messages stand in a file."""

    def __init__(self, builder: Callable[[SourceFile], ChatBuilder], lists: Sequence[str]) -> None:
        self.builder = builder
        self.lists = lists

    def sessions(self, source: SourceFile) -> Iterator[Session]:
        """The sessions of a file."""
        if source.in_lines():
            yield from self._from_lines(source)
            return
        document = source.document()
        holders = as_list(document)
        if not any(self._is_holder(holder) for holder in holders):
            holders = [{self.lists[0]: holders}]
        if len(holders) == 1:
            with source.at():
                yield from self._sessions(source, holders[0])
            return
        for number, holder in enumerate(holders):
            place = f"[{number}]"
            with source.at(field=place):
                if self._is_holder(holder):
                    yield from self._sessions(source, holder, number, f"{place}.")
                else:
                    source.leave_record("element without messages", as_object(holder))

    def _is_holder(self, value: Json) -> bool:
        """Whether a value is a list of messages, or an object with one."""
        return isinstance(value, list) or self._has_messages(value)

    def _holder(self, value: Json) -> JsonObject:
        """The object that holds a list of messages; one is made for a bare list."""
        if isinstance(value, list):
            return {self.lists[0]: value}
        return as_object(value)

    def _has_messages(self, value: Json) -> bool:
        """Whether a value is an object with a list of messages."""
        return isinstance(value, dict) and any(name in value for name in self.lists)

    def _from_lines(self, source: SourceFile) -> Iterator[Session]:
        single = self.builder(source)
        for line, record in source.records():
            with source.at(line):
                if self._has_messages(record) and "role" not in record:
                    yield from self._sessions(source, record, line)
                else:
                    single.line = line
                    single.read(record)
        if len(single.log):
            yield from single.sessions()

    def _sessions(
        self,
        source: SourceFile,
        value: Json,
        number: int | None = None,
        place: str = "",
    ) -> Iterator[Session]:
        """The session of one list of messages, and those of its sub-agents; `number` is its place
        among several.
        """
        holder = self._holder(value)
        field = next(name for name in self.lists if name in holder)
        chat = self.builder(source)
        chat.begin(holder)
        if holder.get("system"):
            prompt = label(holder, "system") or block_texts(holder, "system")
            chat.say_text("system", prompt, id="system")
        messages = items(holder, field)
        if not messages:
            source.note("holds no messages", field=field)
        chat.read_all(messages, place + field)
        if field == _TASK_MESSAGES:
            chat.id = _task_id(source, holder, number or 0)
        else:
            chat.id = chat.id or _list_id(source, holder, number)
        chat.title = chat.title or source.name(holder, "title")
        model = source.name(holder, "model")
        for session in chat.sessions():
            yield replace(session, model=model or session.model)


def _task_id(source: SourceFile, task: Record, number: int) -> str:
    """The id of a task of tau-bench: its run, task and trial."""
    task_id = source.identifier(task, "task_id")
    trial = source.identifier(task, "trial")
    return f"{source.stem}-{number}-task{task_id}-trial{trial}"


def _list_id(source: SourceFile, holder: Record, number: int | None) -> str:
    """The id that is beside a list of messages, else that of the file with the list's place."""
    own_id = source.identifier(holder, "id", "session_id")
    if own_id:
        return own_id
    if number is None:
        return source.stem
    return f"{source.stem}-{number}"


chat_sessions = message_sessions()
