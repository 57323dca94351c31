"""Sessions that OpenCode exported: one JSON document of messages and their parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from workbench.errors import FormatError
from workbench.importers.content import arguments
from workbench.importers.fields import epoch, inner, known_id, objects, whole, words
from workbench.importers.growth import Growth, main_model, project
from workbench.importers.heads import seen
from workbench.importers.images import linked
from workbench.importers.source import Carries, Source, kind
from workbench.transcript.log import ClearingEntry, CompactionEntry, Log, NoteEntry
from workbench.transcript.message import (
    AnswerBlock,
    AssistantMessage,
    Json,
    SaidBlock,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from workbench.transcript.session import Session

SILENT = frozenset({"step-start", "step-finish", "patch", "snapshot", "agent", "retry"})


class OpenCode:
    """What `opencode export` writes, versions 1.3 to 1.14."""

    name: ClassVar[str] = "opencode"
    description: ClassVar[str] = "OpenCode exports (JSON)"
    carries: ClassVar[tuple[Carries, ...]] = (
        "calls", "thinking", "images", "usage", "times", "model", "compactions",
    )  # fmt: skip

    def knows(self, head: str) -> bool:
        """Whether it begins with the description of a session and has messages of parts."""
        start = seen(head)
        return not start.is_list and "info" in start.keys and '"ses_' in head and "traces" not in start.keys

    def sessions(self, source: Source) -> Iterator[Session]:
        """The one session of a file."""
        document = source.document()
        if not isinstance(document, dict):
            raise FormatError(
                f"expected an object with `info` and `messages`, found {kind(document)}", where=source.where
            )
        reading = _Reading(source)
        info: dict[str, Json] = {}
        with source.at():
            info = inner(document, "info")
        messages: list[dict[str, Json]] = []
        with source.at():
            messages = objects(document, "messages")
        for i, message in enumerate(messages):
            with source.at(field=f"messages[{i}]"):
                reading.hear(message)
        log = reading.finished()
        with source.at(field="info"):
            cwd = words(info, "directory")
            yield Session(
                id=words(info, "id") or source.stem,
                log=log,
                model=main_model(log),
                title=words(info, "title"),
                cwd=cwd,
                project=project(cwd, source.folder),
            )


class _Reading:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.growth = Growth()
        self.asked: Mapping[str, Json] | None = None
        self.cleared: list[tuple[float, str]] = []

    def hear(self, record: Mapping[str, Json]) -> None:
        info = inner(record, "info")
        parts = objects(record, "parts")
        time = epoch(inner(info, "time"), "created")
        role = words(info, "role")
        if role == "user":
            self._user(info, parts, time)
        elif role == "assistant" and info.get("summary") is True:
            self._summary(info, parts, time)
        elif role == "assistant":
            self._answer(info, parts, time)
        else:
            raise FormatError(f"no role is named {role!r}; known are user and assistant", field="info.role")

    def _user(self, info: Mapping[str, Json], parts: list[dict[str, Json]], time: float | None) -> None:
        blocks: list[SaidBlock] = []
        typed = False
        for part in parts:
            type_ = words(part, "type")
            if type_ == "compaction":
                self.asked = part
            elif type_ == "text":
                blocks.append(Text(words(part, "text")))
                typed = typed or part.get("synthetic") is not True
            elif type_ == "file":
                blocks += _file(part)
            elif type_ not in SILENT:
                self.source.unknown[f"part of type {type_!r}"] += 1
        if blocks or self.asked is None:
            self.growth.say(
                UserMessage(id=words(info, "id"), blocks=tuple(blocks), synthetic=bool(blocks) and not typed, time=time)
            )

    def _answer(self, info: Mapping[str, Json], parts: list[dict[str, Json]], time: float | None) -> None:
        blocks: list[AnswerBlock] = []
        results: list[ToolResult] = []
        for part in parts:
            type_ = words(part, "type")
            if type_ == "text":
                blocks.append(Text(words(part, "text")))
            elif type_ == "reasoning":
                blocks.append(Thinking(words(part, "text")))
            elif type_ == "tool":
                call, answers = self._tool(part)
                blocks.append(call)
                results += answers
            elif type_ not in SILENT:
                self.source.unknown[f"part of type {type_!r}"] += 1
        self.growth.say(
            AssistantMessage(
                id=words(info, "id"),
                blocks=tuple(blocks),
                model=words(info, "modelID"),
                usage=_usage(inner(info, "tokens")),
                stop=words(info, "finish") or ("error" if info.get("error") else ""),
                time=time,
            )
        )
        for result in results:
            self.growth.say(result)

    def _tool(self, part: Mapping[str, Json]) -> tuple[ToolCall, list[ToolResult]]:
        state = inner(part, "state")
        times = inner(state, "time")
        call = ToolCall(
            known_id(part, "callID") or known_id(part, "id"), words(part, "tool"), arguments(state.get("input"))
        )
        status = words(state, "status")
        if status not in ("completed", "error"):
            return call, []
        blocks: list[SaidBlock] = (
            [Text(text)] if (text := words(state, "output" if status == "completed" else "error")) else []
        )
        for attached in objects(state, "attachments"):
            blocks += _file(attached)
        gone = epoch(times, "compacted")
        if gone is not None:
            self.cleared.append((gone, call.id))
        result = ToolResult(
            id=f"{call.id}-result",
            call_id=call.id,
            blocks=tuple(blocks),
            name=call.name,
            is_error=status == "error",
            time=epoch(times, "end"),
        )
        return call, [result]

    def _summary(self, info: Mapping[str, Json], parts: list[dict[str, Json]], time: float | None) -> None:
        asked = self.asked or {}
        self.asked = None
        text = "\n".join(words(part, "text") for part in parts if words(part, "type") == "text")
        usage = _usage(inner(info, "tokens"))
        self.growth.note(
            CompactionEntry(
                id=words(info, "id"),
                parent=None,
                summary=Summary(id=f"{words(info, 'id')}-summary", text=text, model=words(info, "modelID"), time=time),
                first_kept=words(asked, "tail_start_id") or None,
                tokens_before=usage.prompt if usage is not None else None,
                reason="auto" if asked.get("auto") is True else "manual",
                time=time,
            )
        )

    def finished(self) -> Log:
        """The log, with a clearing at its end for results that were pruned while the session ran."""
        if self.asked is not None:
            self.growth.note(NoteEntry(id="", parent=None, kind="unanswered_compaction"))
        if self.cleared:
            calls = tuple(call for _, call in sorted(self.cleared))
            self.growth.note(ClearingEntry(id="", parent=None, call_ids=calls, time=max(self.cleared)[0]))
        return self.growth.log


def _file(part: Mapping[str, Json]) -> list[SaidBlock]:
    """A picture as a placeholder; the text of other files stands in a text part beside it."""
    if words(part, "mime").startswith(("image/", "application/pdf")):
        return [linked(words(part, "url"))]
    return []


def _usage(tokens: Mapping[str, Json]) -> Usage | None:
    cache = inner(tokens, "cache")
    usage = Usage(
        whole(tokens, "input"), whole(cache, "read"), whole(cache, "write"), whole(tokens, "output"),
        whole(tokens, "reasoning"),
    )  # fmt: skip
    return usage if usage != Usage() else None
