"""Agents inside editors: chats of GitHub Copilot in VS Code, and Windsurf's Cascade transcripts.

VS Code keeps `workspaceStorage/*/chatSessions`: a document, or a log of changes to one (source of
the log: microsoft/vscode, chat/common/model/objectMutationLog.ts). Windsurf writes
`~/.windsurf/transcripts/*.jsonl`: a step a line, under its type's name.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from workbench.engine.transcript.message import Json, ToolCall, ToolResult
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.blocks import as_json, text_block, thought_block
from workbench.recordings.importers.format import Format, json_lines
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.tool_calls import tool_calls
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
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
"""Kinds of changes in a log."""
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


def vscode_values(source: SourceFile) -> Iterator[JsonObject]:
    """The chat's newest state."""
    if not source.in_lines():
        yield source.object_with("requests")
        return
    state: JsonObject = {}
    for line, record in source.records():
        with source.at(line):
            if record.get("kind") == 0:
                state = as_object(record.get("v"), "v")
            else:
                _change(state, record)
    yield state


def _change(state: JsonObject, change: Record) -> None:
    """Make one change of a state; a change of what is not there is none."""
    *path, last_step = items(change, "k") or [""]
    kind = change.get("kind")
    holder: Any = state
    with suppress(KeyError, IndexError, TypeError):
        for step in path:
            holder = holder[step]
        if kind == SET:
            holder[last_step] = change.get("v")
        elif kind == PUSH:
            values = holder[last_step]
            start = len(values) if change.get("i") is None else change["i"]
            del values[start:]
            holder[last_step] += items(change, "v")
        elif kind == DELETE:
            del holder[last_step]


class VscodeChatBuilder(SessionBuilder):
    """Reads requests: what was sent, and the rounds of answers, calls and results that came of
    it.
    """

    about = {"id": "sessionId", "title": "customTitle"}

    def read(self, record: Record) -> None:
        """Read one request."""
        about = mapping(record, "result/metadata")
        self.time = self.source.time(record, "timestamp")
        self.model = text(record, "modelId").rpartition("/")[2]
        self._prompt(record, about)
        rounds = _rounds(record, about)
        summaries = _summaries(about)
        results = mapping(about, "toolCallResults")
        unanswered = set(results)
        for number, call_round in enumerate(rounds, 1):
            is_last = number == len(rounds)
            usage = self.source.usage(USAGE, about if is_last else {})
            parts = _answer(call_round, results)
            unanswered.difference_update(result.call_id for result in parts.results)
            self.say_content(
                "assistant",
                parts,
                model=self.model,
                usage=usage,
            )
            summary = summaries.get(text(call_round, "id"))
            if summary:
                tokens_before = self.source.count(summary, "contextLengthBefore")
                self.compaction(text(summary, "text", "summary"), tokens_before=tokens_before)
        self.source.unknown["result of a call that is not there"] += len(unanswered)

    def _prompt(self, record: Record, about: Record) -> None:
        """Read what was sent: the environment, and what was typed, as the client worded it."""
        environment = block_texts(about, "renderedGlobalContext")
        if environment:
            self.say_text("user", environment, synthetic=True)
        typed = text(record, "message/text")
        sent = block_texts(about, "renderedUserMessage").strip()
        if typed not in sent:
            sent = f"{typed}\n{sent}".strip()
        self.say_content("user", Content([*text_block(sent)]))


def _rounds(record: Record, about: Record) -> list[JsonObject]:
    """The rounds of a request; the answer as it is shown where there are none."""
    rounds = objects(about, "toolCallRounds")
    if rounds:
        return rounds
    answer = "".join(label(part, "value") for part in objects(record, "response"))
    return [{"response": answer}] if answer else []


def _summaries(about: Record) -> dict[str, Record]:
    """The summaries of a request, by the id of the call_round that each follows."""
    summaries: dict[str, Record] = {}
    for summary in [*objects(about, "summaries"), about.get("summary")]:
        if isinstance(summary, dict):
            summaries[text(summary, "toolCallRoundId")] = summary
    return summaries


def _answer(call_round: Record, results: Record) -> Content:
    """What the model said in a call_round: a thought, words, and calls with their results."""
    calls = tool_calls(call_round, "toolCalls")
    parts = Content()
    thinking = mapping(call_round, "thinking")
    parts.blocks += thought_block(_flat(thinking.get("text")))
    parts.blocks += text_block(text(call_round, "response"))
    parts.blocks += calls
    for call in calls:
        if call.id in results:
            parts.results.append(_result(call, results[call.id]))
    return parts


def _result(call: ToolCall, value: Json) -> ToolResult:
    parts = objects(as_object(value, "toolCallResults"), "content")
    words = "".join(_flat(part.get("value")) for part in parts).strip("\n")
    blocks = tuple(text_block(words))
    return ToolResult(
        id="",
        call_id=call.id,
        blocks=blocks,
        name=call.name,
    )


def _flat(value: Json) -> str:
    """The text of a rendered prompt: text itself, a list of it, or a tree whose leaves have it."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(map(_flat, value))
    if not isinstance(value, dict):
        return ""
    start = "\n" if value.get("lineBreakBefore") is True else ""
    words = label(value, "text")
    node = _flat(value.get("node"))
    children = _flat(value.get("children"))
    return start + words + node + children


class WindsurfBuilder(SessionBuilder):
    """Reads steps; what the model said belongs to the call that follows."""

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.answer: Content | None = None

    def read(self, record: Record) -> None:
        """Read one step."""
        type_ = text(record, "type")
        if not type_:
            self.source.leave_record("step without a type", record)
            return
        step = mapping(record, type_)
        if type_ not in record:
            self.source.unknown[f"step of type {type_!r} without its fields"] += 1
        self.time = self.source.time(record, "timestamp")
        if type_ == "user_input":
            self.close()
            self.say_text("user", text(step, "user_response"))
        elif type_ == "planner_response":
            self.close()
            thoughts = thought_block(text(step, "thinking"))
            words = text_block(text(step, "response"))
            self.answer = Content([*thoughts, *words])
        else:
            self._tool(type_, step, text(record, "status") == "error")

    def _tool(self, name: str, step: Record, failed: bool) -> None:
        parts = self.answer or Content()
        self.answer = None
        call_id = f"call-{len(self.log) + 1}"
        arguments: JsonObject = {}
        returned: JsonObject = {}
        for field, value in step.items():
            if field in RETURNED:
                returned[field] = value
            elif field not in WINDSURF_CLIENT:
                arguments[field] = value
        words = text(step, "content", "output")
        if not words and returned:
            words = as_json(returned)
        parts.blocks.append(ToolCall(call_id, name, arguments))
        blocks = tuple(text_block(words))
        result = ToolResult(
            id="",
            call_id=call_id,
            blocks=blocks,
            is_error=failed,
        )
        parts.results.append(result)
        self.cwd = self.cwd or text(step, "cwd")
        self.say_content("assistant", parts)

    def close(self) -> None:
        """Write what was said without a call."""
        if self.answer is not None:
            self.say_content("assistant", self.answer)
        self.answer = None


def knows_windsurf(head: Head) -> bool:
    """Whether a step stands under the name of its type."""
    return any(
        label(record, "type") in record and "status" in record for record in head.records[:3]
    )


def knows_vscode_chat(head: Head) -> bool:
    """Whether it is a chat, or a log that begins with one."""
    if head.is_object_with("sessionId", "requests"):
        return True
    if head.is_object_with("responderUsername", "requests"):
        return True  # what "Chat: Export Session" writes has no id
    if '"sessionId"' not in head.text:
        return False
    record = head.first_record
    return record.get("kind") == 0 and isinstance(record.get("v"), dict)


WINDSURF = Format(
    name="windsurf",
    description="Windsurf Cascade transcripts (JSON lines)",
    carries=("calls", "thinking"),
    knows=knows_windsurf,
    sessions=json_lines(WindsurfBuilder),
    aside=" ".join(f"code_action.{name}" for name in WINDSURF_CLIENT),
)

VSCODE_CHAT = Format(
    name="vscode_chat",
    description="VS Code Copilot chats (JSON, or a log of changes as JSON lines)",
    carries=("calls", "thinking", "usage", "times", "model", "compactions"),
    knows=knows_vscode_chat,
    sessions=vscode_sessions,
    values=vscode_values,
    aside="customTitle requests.message requests.response requests.agent requests.variableData requests.followups "
    "requests.result.metadata.codeBlocks requests.result.details",
)
