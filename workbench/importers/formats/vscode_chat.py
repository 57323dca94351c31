"""Chats of GitHub Copilot in VS Code, `workspaceStorage/*/chatSessions`: a document, or a log of changes to one.

Source of the log: microsoft/vscode, chat/common/model/objectMutationLog.ts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from workbench.importers.blocks import Content, text_block, thought_block, tool_calls
from workbench.importers.decoding import as_object
from workbench.importers.session_builder import SessionBuilder
from workbench.importers.source import SourceFile
from workbench.importers.usage import UsageFields
from workbench.importers.values import block_texts, items, label, mapping, objects, optional_count, text, timestamp
from workbench.transcript.message import Json, ToolCall, ToolResult
from workbench.transcript.session import Session

USAGE = UsageFields("promptTokens", "outputTokens completionTokens")
SET, PUSH, DELETE = 1, 2, 3


def sessions(source: SourceFile) -> Iterator[Session]:
    """The one chat of a file."""
    chat = VscodeChatBuilder(source)
    for document in values(source):
        with source.at():
            chat.begin(document)
            chat.read_all(items(document, "requests"), "requests")
    yield chat.session()


def values(source: SourceFile) -> Iterator[dict[str, Json]]:
    """The chat's newest state."""
    if not source.in_lines():
        yield source.object_with("requests")
        return
    state: dict[str, Json] = {}
    for line, record in source.records():
        with source.at(line):
            state = as_object(record.get("v"), "v") if record.get("kind") == 0 else _changed(state, record)
    yield state


def _changed(state: dict[str, Json], change: Mapping[str, Json]) -> dict[str, Json]:
    """The state after one change, in place; a change of what is not there is none."""
    *way, last = items(change, "k") or [""]
    holder: Any = state
    with suppress(KeyError, IndexError, TypeError):
        for step in way:
            holder = holder[step]
        if change.get("kind") == SET:
            holder[last] = change.get("v")
        elif change.get("kind") == PUSH:
            del holder[last][len(holder[last]) if change.get("i") is None else change["i"] :]
            holder[last] += items(change, "v")
        elif change.get("kind") == DELETE:
            del holder[last]
    return state


class VscodeChatBuilder(SessionBuilder):
    """Reads requests: what was sent, and the rounds of answers, calls and results that came of it."""

    def begin(self, document: Mapping[str, Json]) -> None:
        """Read the chat's id and its title."""
        self.id, self.title = text(document, "sessionId"), text(document, "customTitle")

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one request."""
        about, self.time = mapping(record, "result/metadata"), timestamp(record, "timestamp")
        self.model = text(record, "modelId").rpartition("/")[2]
        if environment := block_texts(about, "renderedGlobalContext"):
            self.say_text("user", environment, synthetic=True)
        typed, sent = text(record, "message/text"), block_texts(about, "renderedUserMessage").strip()
        self.say_content("user", Content([*text_block(sent if typed in sent else f"{typed}\n{sent}".strip())]))
        rounds = objects(about, "toolCallRounds")
        if not rounds:
            shown = "".join(label(part, "value") for part in objects(record, "response"))
            rounds = [{"response": shown}] if shown else []
        summaries = {text(one, "toolCallRoundId"): one for one in [*objects(about, "summaries"), about.get("summary")]
                     if isinstance(one, dict)}  # fmt: skip
        results = mapping(about, "toolCallResults")
        for i, one in enumerate(rounds):
            usage = USAGE.read(about if i == len(rounds) - 1 else {})
            calls = tool_calls(one, "toolCalls")
            thoughts = thought_block(_flat(mapping(one, "thinking").get("text")))
            found = Content([*thoughts, *text_block(text(one, "response")), *calls])
            found.results += [_result(call, results[call.id]) for call in calls if call.id in results]
            self.say_content("assistant", found, model=self.model, usage=usage)
            if summary := summaries.get(text(one, "id")):
                before = optional_count(summary, "contextLengthBefore")
                self.compaction(text(summary, "text", "summary"), tokens_before=before)


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
