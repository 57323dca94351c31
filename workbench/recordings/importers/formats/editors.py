"""Agents inside editors: chats of GitHub Copilot in VS Code, and Windsurf's Cascade transcripts.

VS Code keeps `workspaceStorage/*/chatSessions`: a document, or a log of changes to one (source of
the log: microsoft/vscode, chat/common/model/objectMutationLog.ts). Windsurf writes
`~/.windsurf/transcripts/*.jsonl`: a step a line, under its type's name.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from workbench.engine.transcript.message import Json, ToolCall, ToolResult
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.blocks import (
    Content,
    as_json,
    text_block,
    thought_block,
    tool_calls,
)
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import (
    as_object,
    block_texts,
    items,
    label,
    mapping,
    objects,
    text,
)

USAGE = UsageFields("promptTokens", "outputTokens completionTokens")
SET, PUSH, DELETE = 1, 2, 3
RETURNED = frozenset(
    {"content", "output", "exit_code", "results", "total_results", "diff", "error", "summary"}
)
"""Fields of a step that its tool returned; `code_action` has none."""
WINDSURF_CLIENT = frozenset({"original_content", "acknowledgement_type", "user_rejected"})


def vscode_sessions(source: SourceFile) -> Iterator[Session]:
    """The one chat of a file."""
    chat = VscodeChatBuilder(source)
    for document in vscode_values(source):
        with source.at():
            chat.begin(document)
            chat.read_all(items(document, "requests"), "requests")
    yield chat.session()


def vscode_values(source: SourceFile) -> Iterator[dict[str, Json]]:
    """The chat's newest state."""
    if not source.in_lines():
        yield source.object_with("requests")
        return
    state: dict[str, Json] = {}
    for line, record in source.records():
        with source.at(line):
            state = (
                as_object(record.get("v"), "v")
                if record.get("kind") == 0
                else _changed(state, record)
            )
    yield state


def _changed(state: dict[str, Json], change: Mapping[str, Json]) -> dict[str, Json]:
    """The state after one change, in place; a change of what is not there is none."""
    *way, last_step = items(change, "k") or [""]
    holder: Any = state
    with suppress(KeyError, IndexError, TypeError):
        for step in way:
            holder = holder[step]
        if change.get("kind") == SET:
            holder[last_step] = change.get("v")
        elif change.get("kind") == PUSH:
            del holder[last_step][
                len(holder[last_step]) if change.get("i") is None else change["i"] :
            ]
            holder[last_step] += items(change, "v")
        elif change.get("kind") == DELETE:
            del holder[last_step]
    return state


class VscodeChatBuilder(SessionBuilder):
    """Reads requests: what was sent, and the rounds of answers, calls and results that came of
    it.
    """

    about = {"id": "sessionId", "title": "customTitle"}

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one request."""
        about, self.time = mapping(record, "result/metadata"), self.source.time(record, "timestamp")
        self.model = text(record, "modelId").rpartition("/")[2]
        if environment := block_texts(about, "renderedGlobalContext"):
            self.say_text("user", environment, synthetic=True)
        typed, sent = (
            text(record, "message/text"),
            block_texts(about, "renderedUserMessage").strip(),
        )
        self.say_content(
            "user", Content([*text_block(sent if typed in sent else f"{typed}\n{sent}".strip())])
        )
        rounds = objects(about, "toolCallRounds")
        if not rounds:
            answer = "".join(label(part, "value") for part in objects(record, "response"))
            rounds = [{"response": answer}] if answer else []
        summaries = {
            text(one, "toolCallRoundId"): one
            for one in [*objects(about, "summaries"), about.get("summary")]
            if isinstance(one, dict)
        }
        results = mapping(about, "toolCallResults")
        unanswered = set(results)
        for i, one in enumerate(rounds):
            usage = self.source.usage(USAGE, about if i == len(rounds) - 1 else {})
            calls = tool_calls(one, "toolCalls")
            thoughts = thought_block(_flat(mapping(one, "thinking").get("text")))
            parts = Content([*thoughts, *text_block(text(one, "response")), *calls])
            parts.results += [
                _result(call, results[call.id]) for call in calls if call.id in results
            ]
            unanswered -= {call.id for call in calls}
            self.say_content("assistant", parts, model=self.model, usage=usage)
            if summary := summaries.get(text(one, "id")):
                tokens_before = self.source.count(summary, "contextLengthBefore")
                self.compaction(text(summary, "text", "summary"), tokens_before=tokens_before)
        self.source.unknown["result of a call that is not there"] += len(unanswered)


def _result(call: ToolCall, value: Json) -> ToolResult:
    parts = objects(as_object(value, "toolCallResults"), "content")
    words = "".join(_flat(part.get("value")) for part in parts).strip("\n")
    return ToolResult(id="", call_id=call.id, blocks=tuple(text_block(words)), name=call.name)


def _flat(value: Json) -> str:
    """The text of a rendered prompt: text itself, a list of it, or a tree whose leaves have it."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(map(_flat, value))
    if not isinstance(value, dict):
        return ""
    start = "\n" if value.get("lineBreakBefore") is True else ""
    return start + label(value, "text") + _flat(value.get("node")) + _flat(value.get("children"))


class WindsurfBuilder(SessionBuilder):
    """Reads steps; what the model said belongs to the call that follows."""

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.said: Content | None = None

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one step."""
        type_ = text(record, "type")
        if not type_:
            self.source.leave_record("step without a type", record)
            return
        step = mapping(record, type_)
        self.source.unknown[f"step of type {type_!r} without its fields"] += type_ not in record
        self.time = self.source.time(record, "timestamp")
        if type_ == "user_input":
            self.close()
            self.say_text("user", text(step, "user_response"))
        elif type_ == "planner_response":
            self.close()
            self.said = Content(
                [*thought_block(text(step, "thinking")), *text_block(text(step, "response"))]
            )
        else:
            self._tool(type_, step, text(record, "status") == "error")

    def _tool(self, name: str, step: Mapping[str, Json], failed: bool) -> None:
        parts, self.said = self.said or Content(), None
        call_id = f"call-{len(self.log) + 1}"
        arguments = {
            field: value for field, value in step.items() if field not in RETURNED | WINDSURF_CLIENT
        }
        returned = {field: value for field, value in step.items() if field in RETURNED}
        words = text(step, "content", "output") or (as_json(returned) if returned else "")
        parts.blocks.append(ToolCall(call_id, name, arguments))
        parts.results.append(
            ToolResult(id="", call_id=call_id, blocks=tuple(text_block(words)), is_error=failed)
        )
        self.cwd = self.cwd or text(step, "cwd")
        self.say_content("assistant", parts)

    def close(self) -> None:
        """Write what was said without a call."""
        if self.said is not None:
            self.say_content("assistant", self.said)
        self.said = None
