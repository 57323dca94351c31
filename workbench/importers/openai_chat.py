"""OpenAI chat messages: a JSON list, an object with `messages`, or JSON lines of either."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from workbench.errors import FormatError
from workbench.importers.chat import ROLES, Chat
from workbench.importers.fields import block_texts, items, known_id, label, words
from workbench.importers.growth import main_model, project
from workbench.importers.heads import Head, seen
from workbench.importers.source import Carries, Source, kind
from workbench.transcript.message import Json, SystemMessage, Text
from workbench.transcript.session import Session

LISTS = ("messages", "conversation", "conversations")


class OpenAIChat:
    """Messages as OpenAI's chat completions API takes them."""

    name: ClassVar[str] = "openai_chat"
    description: ClassVar[str] = 'OpenAI chat messages: a JSON list, {"messages": [...]}, or JSON lines of these'
    carries: ClassVar[tuple[Carries, ...]] = ("calls", "thinking", "images", "usage", "times", "model", "system")

    def knows(self, head: str) -> bool:
        """Whether messages with a role stand at the start."""
        return says_messages(seen(head), head)

    def sessions(self, source: Source) -> Iterator[Session]:
        """One session a list of messages."""
        yield from chats(source)


def says_messages(start: Head, head: str) -> bool:
    """Whether a file starts with messages that have a role, or with an object that holds such a list."""
    if start.records and not start.is_list:
        first = start.records[0]
        if label(first, "role") in ROLES and {"content", "tool_calls"} & set(first):
            return True
    if {"role", "content"} <= start.keys:
        return True
    return bool(start.keys & set(LISTS)) and '"role"' in head


def chats(source: Source) -> Iterator[Session]:
    """The sessions of a file of chat messages, whatever holds them: lines, a list, an object."""
    if source.in_lines():
        yield from _from_lines(source)
        return
    document = source.document()
    if isinstance(document, dict) and label(document, "role") in ROLES:
        document = [document]
    lists = document if isinstance(document, list) else [document]
    if lists and all(isinstance(one, dict) and "role" in one for one in lists):
        lists = [{"messages": lists}]
    for i, one in enumerate(lists):
        with source.at(field=f"[{i}]" if len(lists) > 1 else ""):
            yield _session(source, one, i if len(lists) > 1 else None)


def _from_lines(source: Source) -> Iterator[Session]:
    single = Chat(source)
    for line, record in source.records():
        with source.at(line):
            if "role" in record:
                single.hear(record)
            else:
                yield _session(source, record, line)
    if len(single.growth.log):
        yield _finished(source, single, {}, None)


def _session(source: Source, holder: Json, n: int | None) -> Session:
    if isinstance(holder, list):
        holder = {"messages": holder}
    if not isinstance(holder, dict):
        raise FormatError(f"expected a list of messages or an object that has one, found {kind(holder)}")
    field = next((name for name in LISTS if name in holder), "messages")
    chat = Chat(source)
    system = holder.get("system")
    if system:
        text = system if isinstance(system, str) else block_texts(holder, "system")
        chat.growth.say(SystemMessage(id="system", blocks=(Text(text),)))
    chat.hear_all(items(holder, field), field)
    return _finished(source, chat, holder, n)


def _finished(source: Source, chat: Chat, holder: Mapping[str, Json], n: int | None) -> Session:
    log = chat.growth.log
    given = known_id(holder, "id") or known_id(holder, "session_id")
    return Session(
        id=given or (source.stem if n is None else f"{source.stem}-{n}"),
        log=log,
        model=words(holder, "model") or main_model(log),
        title=words(holder, "title"),
        project=project("", source.folder),
    )
