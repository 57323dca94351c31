"""What `droid exec --output-format stream-json` prints: JSON lines of events.

Source: recordings in public repositories of 2025 and 2026. What a run used is told once at its end,
for all requests together, so no answer has a usage.
"""

from workbench.engine.transcript.message import ToolResult
from workbench.recordings.importers.blocks import (
    result_blocks,
    text_block,
    thought_block,
)
from workbench.recordings.importers.format import Format, json_lines
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.tool_calls import tool_call
from workbench.recordings.importers.values import Record, identifier, label, text

_CALL_IDS = ("toolCallId", "id")


def knows_droid_stream(head: Head) -> bool:
    """Whether a line is a message, a call or the end of a run as this stream has them."""
    return any(_is_event(record) for record in head.records)


def _is_event(record: Record) -> bool:
    type_ = label(record, "type")
    if type_ == "message":
        has_session = "session_id" in record or "sessionId" in record
        return has_session and {"role", "text"} <= set(record)
    if type_ == "tool_call":
        return {"toolName", "parameters"} <= set(record)
    return type_ == "completion" and "finalText" in record


class DroidStreamBuilder(SessionBuilder):
    """Reads events; what is thought, said and called between two results is one answer."""

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.answer = Content()
        self.last_words = ""

    def starts(self, record: Record) -> str:
        """The id of the session whose run begins."""
        if label(record, "type") != "system":
            return ""
        return label(record, "session_id") or label(record, "sessionId")

    def read(self, record: Record) -> None:
        """Read one event."""
        type_ = text(record, "type")
        if type_ != "tool_result" and self.answer.results:
            self.close()
        self.time = self.source.time(record, "timestamp")
        words = text(record, "text")
        if type_ == "message" and label(record, "role") == "assistant":
            self._say_words(words)
        elif type_ == "reasoning":
            self.answer.blocks += thought_block(words)
        elif type_ == "tool_call":
            self._call(record)
        elif type_ == "tool_result":
            self._result(record)
        elif type_ == "completion":
            self.source.leave_total(record, "usage")
            final_words = text(record, "finalText")
            if final_words != self.last_words:
                self._say_words(final_words)
        else:
            self.close()
            self._other(type_, record)

    def _other(self, type_: str, record: Record) -> None:
        """Read an event that is no part of an answer."""
        if type_ == "system":
            self.id = self.id or text(record, "session_id", "sessionId")
            self.model = text(record, "model") or self.model
            self.cwd = self.cwd or text(record, "cwd")
        elif type_ == "message" and label(record, "role") == "user":
            self.say_text("user", text(record, "text"))
        elif type_ == "error":
            self.note("error", text(record, "message"))
        else:
            self.source.leave_record(f"event of type {type_!r:.40}", record)

    def _say_words(self, words: str) -> None:
        self.answer.blocks += text_block(words)
        self.last_words = words

    def _call(self, record: Record) -> None:
        call = {
            "id": identifier(record, *_CALL_IDS),
            "name": text(record, "toolName", "toolId"),
            "arguments": record.get("parameters"),
        }
        self.answer.blocks.append(tool_call(call))

    def _result(self, record: Record) -> None:
        result = ToolResult(
            id="",
            call_id=identifier(record, *_CALL_IDS),
            blocks=result_blocks(record.get("value")),
            is_error=record.get("isError") is True,
            time=self.time,
        )
        self.answer.results.append(result)

    def close(self) -> None:
        """Write the answer that came so far, and behind it the results of its calls."""
        if self.answer.blocks or self.answer.results:
            self.say_content("assistant", self.answer, model=self.model)
        self.answer = Content()


DROID_STREAM = Format(
    name="droid_stream",
    description="stream JSON of `droid exec` (JSON lines)",
    carries=("calls", "thinking", "times", "model"),
    knows=knows_droid_stream,
    sessions=json_lines(DroidStreamBuilder),
)
