"""Messages of OpenAI or Anthropic, in a JSON list, in an object that has one, or in JSON lines; tau-bench's runs."""

from collections.abc import Iterator
from dataclasses import replace

from workbench.base.errors import FormatError
from workbench.engine.transcript.message import Json
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.chat import ROLES, ChatBuilder
from workbench.recordings.importers.source import Head, SourceFile
from workbench.recordings.importers.values import as_object, block_texts, items, label

LISTS = ("messages", "conversation", "conversations", "traj")
"""Fields that hold the messages; the last is tau-bench's, whose ids have run, task and trial."""


def starts_with_messages(head: Head) -> bool:
    """Whether a file starts with messages that have a role, or with an object that holds such a list."""
    if head.records and not head.is_list:
        first = head.records[0]
        if label(first, "role") in ROLES and {"content", "tool_calls"} & set(first):
            return True
    return {"role", "content"} <= head.keys or (bool(head.keys & set(LISTS)) and '"role"' in head.text)


def sessions(source: SourceFile) -> Iterator[Session]:
    """One session a list of messages, whatever holds it: lines, a list, an object."""
    if source.in_lines():
        yield from _from_lines(source)
        return
    document = source.document()
    if isinstance(document, dict) and label(document, "role") in ROLES:
        document = [document]
    lists = document if isinstance(document, list) else [document]
    if any(isinstance(one, dict) and "role" in one for one in lists):
        lists = [{"messages": lists}]
    for i, one in enumerate(lists):
        place = f"[{i}]" if len(lists) > 1 else ""
        with source.at(field=place):
            yield _session(source, one, i if place else None, place and f"{place}.")


def _from_lines(source: SourceFile) -> Iterator[Session]:
    single = ChatBuilder(source)
    for line, record in source.records():
        with source.at(line):
            if "role" in record:
                single.read(record)
            elif any(name in record for name in LISTS):
                yield _session(source, record, line)
            else:
                source.leave_record("line without a role and without messages", record)
    if len(single.log):
        yield single.session()


def _session(source: SourceFile, value: Json, n: int | None, place: str = "") -> Session:
    holder = as_object({"messages": value} if isinstance(value, list) else value)
    field = next((name for name in LISTS if name in holder), "")
    if not field:
        raise FormatError(f"expected an object with {' or '.join(LISTS)}", field=place.rstrip("."))
    chat = ChatBuilder(source)
    if holder.get("system"):
        chat.say_text("system", label(holder, "system") or block_texts(holder, "system"), id="system")
    chat.read_all(items(holder, field), place + field)
    chat.id = source.identifier(holder, "id", "session_id") or (source.stem if n is None else f"{source.stem}-{n}")
    if field == "traj":
        task, trial = source.identifier(holder, "task_id"), source.identifier(holder, "trial")
        chat.id = f"{source.stem}-{n or 0}-task{task}-trial{trial}"
    chat.title = source.name(holder, "title")
    session = chat.session()
    return replace(session, model=source.name(holder, "model") or session.model)
