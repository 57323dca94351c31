"""Messages of OpenAI or Anthropic, in a JSON list, in an object that has one, or in JSON lines; tau-bench's runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.errors import FormatError
from workbench.importers.chat import ROLES, ChatBuilder
from workbench.importers.decoding import kind
from workbench.importers.head import Head
from workbench.importers.source import Source
from workbench.importers.values import block_texts, identifier, items, label, text
from workbench.transcript.message import Json
from workbench.transcript.session import Session

LISTS = ("messages", "conversation", "conversations")


def starts_with_messages(head: Head) -> bool:
    """Whether a file starts with messages that have a role, or with an object that holds such a list."""
    if head.records and not head.is_list:
        first = head.records[0]
        if label(first, "role") in ROLES and {"content", "tool_calls"} & set(first):
            return True
    return {"role", "content"} <= head.keys or (bool(head.keys & set(LISTS)) and '"role"' in head.text)


def sessions(source: Source) -> Iterator[Session]:
    """One session a list of messages, whatever holds it: lines, a list, an object."""
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
    single = ChatBuilder(source)
    for line, record in source.records():
        with source.at(line):
            if "role" in record:
                single.read(record)
            else:
                yield _session(source, record, line)
    if len(single.log):
        yield single.session()


def _session(source: Source, holder: Json, n: int | None) -> Session:
    if isinstance(holder, list):
        holder = {"messages": holder}
    if not isinstance(holder, dict):
        raise FormatError(f"expected a list of messages or an object that has one, found {kind(holder)}")
    field = next((name for name in LISTS if name in holder), "messages")
    chat = ChatBuilder(source)
    if holder.get("system"):
        chat.say_text("system", label(holder, "system") or block_texts(holder, "system"), id="system")
    chat.read_all(items(holder, field), field)
    chat.id = identifier(holder, "id", "session_id") or (source.stem if n is None else f"{source.stem}-{n}")
    chat.title = text(holder, "title")
    session = chat.session()
    return replace(session, model=text(holder, "model") or session.model)


def tau_bench_sessions(source: Source) -> Iterator[Session]:
    """One session a run of tau-bench. Its id has its number, the task and the trial: a task is run several times."""
    document = source.document()
    for i, run in enumerate(document if isinstance(document, list) else [document]):
        with source.at(field=f"[{i}]"):
            if not isinstance(run, dict):
                raise FormatError(f"expected a run, found {kind(run)}")
            chat = ChatBuilder(source)
            chat.read_all(items(run, "traj"), f"[{i}].traj")
            chat.id = f"{source.stem}-{i}-task{identifier(run, 'task_id')}-trial{identifier(run, 'trial')}"
            yield chat.session()
