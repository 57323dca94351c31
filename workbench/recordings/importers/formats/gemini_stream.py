"""What `gemini --output-format stream-json` prints: JSON lines of events.

Source: google-gemini/gemini-cli, packages/core/src/output/types.ts. Text comes in pieces; what is
said and called between two results is one answer.
"""

from workbench.recordings.importers.blocks import result_blocks, text_block
from workbench.recordings.importers.format import Format, json_lines
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.tool_calls import tool_call
from workbench.recordings.importers.values import Record, label, mapping, text


def knows_gemini_stream(head: Head) -> bool:
    """Whether a line is the start of a run, or a call by the names of this stream."""
    for record in head.records:
        type_name = record.get("type")
        if type_name == "init" and {"session_id", "model"} <= set(record):
            return True
        if type_name == "tool_use" and {"tool_name", "tool_id"} <= set(record):
            return True
    return False


class GeminiStreamBuilder(SessionBuilder):
    """Reads events; a second run of a session in one file goes on after the first."""

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.pieces: list[str] = []
        self.is_in_pieces = False
        self.answer = Content()
        self.is_over = False
        self.early: list[Record] = []

    def starts(self, record: Record) -> str:
        """The id of the session whose run begins."""
        if label(record, "type") != "init":
            return ""
        return label(record, "session_id")

    def read(self, record: Record) -> None:
        """Read one event."""
        type_ = text(record, "type")
        if self.early:
            self._decide(is_outside=type_ == "init")
        self.time = self.source.time(record, "timestamp")
        if type_ == "message" and label(record, "role") == "assistant":
            self._add_words(text(record, "content"), is_piece=record.get("delta") is True)
        elif type_ == "tool_use":
            self._end_text()
            call = {
                "id": record.get("tool_id"),
                "name": record.get("tool_name"),
                "arguments": record.get("parameters"),
            }
            self.answer.blocks.append(tool_call(call))
        else:
            self.close()
            self._other(type_, record)

    def _other(self, type_: str, record: Record) -> None:
        """Read an event that is no part of an answer."""
        if type_ == "init":
            self.id = self.id or text(record, "session_id")
            self.model = text(record, "model") or self.model
            self.is_over = False
        elif type_ == "message" and label(record, "role") == "user":
            if self.is_over or not (self.id or len(self.log)):
                self.early.append(record)
            else:
                self.say_text("user", text(record, "content"))
        elif type_ == "tool_result":
            call_id = text(record, "tool_id")
            failed = text(record, "status") == "error"
            value = record.get("output")
            if not value:
                value = mapping(record, "error").get("message")
            self.say_result(call_id, result_blocks(value), failed=failed)
        elif type_ in ("error", "result"):
            self.note(type_, text(record, "message") or text(record, "error/message"))
            self.source.leave_total(record, "stats")
            self.is_over = type_ == "result"
        else:
            self.source.leave_record(f"event of type {type_!r:.40}", record)

    def _decide(self, *, is_outside: bool) -> None:
        """Say the prompts that came before a run began; a program around the agent wrote those
        that the beginning of a run or the end of the last one sets apart.
        """
        early = self.early
        self.early = []
        for record in early:
            if is_outside or self.is_over:
                self.source.leave_record("message outside of a run", record)
            else:
                self.time = self.source.time(record, "timestamp")
                self.say_text("user", text(record, "content"))

    def _add_words(self, words: str, *, is_piece: bool) -> None:
        """Add to the answer; pieces of text do not go on with what was told whole."""
        if self.pieces and is_piece != self.is_in_pieces:
            self.close()
        self.is_in_pieces = is_piece
        self.pieces.append(words)

    def _end_text(self) -> None:
        """Put the pieces of text that came so far together."""
        self.answer.blocks += text_block("".join(self.pieces))
        self.pieces = []

    def close(self) -> None:
        """Write what came so far: an answer, or prompts that no run follows."""
        self._decide(is_outside=False)
        self._end_text()
        if self.answer.blocks:
            self.say_content("assistant", self.answer, model=self.model)
        self.answer = Content()


GEMINI_STREAM = Format(
    name="gemini_stream",
    description="stream JSON of Gemini CLI (JSON lines)",
    carries=("calls", "times", "model"),
    knows=knows_gemini_stream,
    sessions=json_lines(GeminiStreamBuilder),
)
