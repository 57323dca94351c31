"""Sessions of Gemini CLI: one JSON document of messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from workbench.errors import FormatError
from workbench.importers.content import arguments, result_blocks
from workbench.importers.fields import epoch, inner, known_id, objects, whole, words
from workbench.importers.gemini_parts import Parts, parts_of
from workbench.importers.growth import Growth, main_model, project
from workbench.importers.heads import seen
from workbench.importers.source import Carries, Source, kind
from workbench.transcript.log import NoteEntry
from workbench.transcript.message import (
    AnswerBlock,
    AssistantMessage,
    Json,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from workbench.transcript.session import Session

NOTES = frozenset({"info", "error", "warning"})


class GeminiCli:
    """The files under `~/.gemini/tmp/<project>/chats`."""

    name: ClassVar[str] = "gemini_cli"
    description: ClassVar[str] = "Gemini CLI sessions (JSON)"
    carries: ClassVar[tuple[Carries, ...]] = ("calls", "thinking", "images", "usage", "times", "model")

    def knows(self, head: str) -> bool:
        """Whether it begins with the CLI's own fields."""
        start = seen(head)
        return not start.is_list and {"sessionId", "projectHash"} <= start.keys

    def sessions(self, source: Source) -> Iterator[Session]:
        """The one session of a file."""
        document = source.document()
        if not isinstance(document, dict):
            raise FormatError(f"expected an object with `messages`, found {kind(document)}", where=source.where)
        growth = Growth()
        messages: list[dict[str, Json]] = []
        with source.at():
            messages = objects(document, "messages")
        for i, message in enumerate(messages):
            with source.at(field=f"messages[{i}]"):
                _hear(source, growth, message)
        with source.at():
            yield Session(
                id=known_id(document, "sessionId") or source.stem,
                log=growth.log,
                model=main_model(growth.log),
                title=words(document, "summary"),
                project=project("", source.folder)
                if not document.get("projectHash")
                else words(document, "projectHash"),
            )


def _hear(source: Source, growth: Growth, record: Mapping[str, Json]) -> None:
    type_ = words(record, "type")
    said_id = known_id(record, "id")
    time = epoch(record, "timestamp")
    found = _content(record)
    source.unknown.update(found.unknown)
    if type_ == "user":
        growth.say(UserMessage(id=said_id, blocks=found.said, time=time))
    elif type_ == "gemini":
        _answer(growth, record, said_id, found, time)
    elif type_ in NOTES:
        text = "\n".join(block.text for block in found.blocks if isinstance(block, Text))
        growth.note(NoteEntry(id=said_id or growth.fresh(""), parent=None, kind=type_, text=text, time=time))
    else:
        source.unknown[f"message of type {type_!r}"] += 1


def _content(record: Mapping[str, Json]) -> Parts:
    if isinstance(record.get("content"), str):
        return Parts([Text(record["content"])] if record["content"] else [])
    return parts_of(objects(record, "content"))


def _answer(growth: Growth, record: Mapping[str, Json], said_id: str, found: Parts, time: float | None) -> None:
    thoughts: list[AnswerBlock] = [
        Thinking(f"{words(thought, 'subject')}\n{words(thought, 'description')}".strip())
        for thought in objects(record, "thoughts")
    ]
    calls, results = [], []
    for call in objects(record, "toolCalls"):
        call_id, name = known_id(call, "id"), words(call, "name")
        calls.append(ToolCall(call_id, name, arguments(call.get("args"))))
        results += _results(call, call_id, name)
    growth.say(
        AssistantMessage(
            id=said_id,
            blocks=(*thoughts, *found.blocks, *calls),
            model=words(record, "model"),
            usage=_usage(inner(record, "tokens")),
            time=time,
        )
    )
    for result in results:
        growth.say(result)


def _results(call: Mapping[str, Json], call_id: str, name: str) -> list[ToolResult]:
    """One result a call: what the CLI sent back may be several parts."""
    status = words(call, "status")
    given = call.get("result")
    found = parts_of([part for part in given if isinstance(part, dict)]) if isinstance(given, list) else Parts()
    blocks = tuple(block for _, _, said, _ in found.results for block in said) + found.said
    if isinstance(given, str):
        blocks = result_blocks(given)
    if not blocks and given is None and status not in ("success", "error", "cancelled"):
        return []
    failed = status in ("error", "cancelled") or any(error for *_, error in found.results)
    time = epoch(call, "timestamp")
    return [ToolResult(id=f"{call_id}-result", call_id=call_id, blocks=blocks, name=name, is_error=failed, time=time)]


def _usage(tokens: Mapping[str, Json]) -> Usage | None:
    prompt = whole(tokens, "input")
    cached = min(whole(tokens, "cached"), prompt)
    usage = Usage(prompt - cached, cached, 0, whole(tokens, "output"), whole(tokens, "thoughts"))
    return usage if usage != Usage() else None
