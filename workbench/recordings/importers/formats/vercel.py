"""The Vercel AI SDK's model messages and UI messages (5 and 6)."""

import re
from collections.abc import Iterator

from workbench.engine.transcript.message import ToolResult
from workbench.recordings.importers.blocks import add_part, result_blocks
from workbench.recordings.importers.chat import ChatBuilder
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.message_lists import message_sessions, starts_with_messages
from workbench.recordings.importers.tool_calls import tool_call
from workbench.recordings.importers.values import JsonObject, Record, identifier, label, objects

_VERCEL = re.compile(r'"type":\s*"tool-(?:call|result)"')
_UI_PART = re.compile(
    r'"parts":\s*\[\s*\{[^{}]*?"type":\s*"(?:text|reasoning|file|step-start|source-|data-|tool-|dynamic-tool)'
)


def knows_vercel(head: Head) -> bool:
    """Whether its messages have the SDK's calls or results."""
    return (
        starts_with_messages(head)
        and '"toolCallId"' in head.text
        and _VERCEL.search(head.text) is not None
    )


def knows_vercel_ui(head: Head) -> bool:
    """Whether its messages have typed parts, as the SDK's hooks keep them."""
    holds_messages = {"role", "parts"} <= head.keys or (
        "messages" in head.keys and "info" not in head.keys
    )
    return holds_messages and '"role"' in head.text and _UI_PART.search(head.text) is not None


class VercelUiBuilder(ChatBuilder):
    """Reads messages; an answer's parts are those of all steps that it took."""

    def read(self, record: Record) -> None:
        """Read one message; each step of an answer is one."""
        if record.get("role") != "assistant":
            parts = [part for part in objects(record, "parts") if not self._is_client_only(part)]
            super().read({**record, "parts": parts, "timestamp": record.get("createdAt")})
            return
        self.time = self.source.time(record, "createdAt")
        parts = objects(record, "parts")
        for part in parts:
            if is_step_start(part) and len(part) > 1:
                self.source.leave_record("start of a step with other content", part)
        for step in _steps(parts):
            answer = Content()
            for part in step:
                self._part(answer, part)
            if answer.blocks or answer.results or answer.unknown:
                self.say_content("assistant", answer, id=identifier(record, "id"))

    def _is_client_only(self, part: Record) -> bool:
        """Whether a part is data for the page alone."""
        is_data = label(part, "type").startswith(("data-", "source-"))
        if is_data:
            self.source.leave_record(f"part of type {label(part, 'type')!r:.40}", part)
        return is_data

    def _part(self, answer: Content, part: Record) -> None:
        type_ = label(part, "type")
        if type_ == "dynamic-tool" or type_.startswith("tool-"):
            self._tool(answer, part, label(part, "toolName") or type_.removeprefix("tool-"))
        elif not self._is_client_only(part):
            add_part(answer, dict(part))

    def _tool(self, answer: Content, part: Record, name: str) -> None:
        """Read a call of this tool, and its result where it has one."""
        call_id = part.get("toolCallId")
        call = tool_call({"id": call_id, "name": name, "input": part.get("input")})
        answer.blocks.append(call)
        failed = part.get("errorText") is not None
        value = part.get("errorText") if failed else part.get("output")
        if value is not None:
            blocks = result_blocks(value)
            result = ToolResult(
                id="",
                call_id=call.id,
                blocks=blocks,
                name=name,
                is_error=failed,
            )
            answer.results.append(result)


def is_step_start(part: Record) -> bool:
    """Whether a part only says that another request of the answer begins."""
    return part.get("type") == "step-start"


def _steps(parts: list[JsonObject]) -> Iterator[list[JsonObject]]:
    """The parts of each request that an answer took."""
    step: list[JsonObject] = []
    for part in parts:
        if is_step_start(part):
            yield step
            step = []
        else:
            step.append(part)
    yield step


VERCEL_UI = Format(
    name="vercel_ui",
    description="UI messages of the Vercel AI SDK (JSON)",
    carries=("calls", "thinking", "images", "times", "system"),
    knows=knows_vercel_ui,
    sessions=message_sessions(VercelUiBuilder),
)

VERCEL = Format(
    name="vercel",
    description="model messages of the Vercel AI SDK (JSON)",
    carries=("calls", "thinking", "images", "system"),
    knows=knows_vercel,
    sessions=message_sessions(),
)
