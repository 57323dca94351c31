"""What `codex exec --json` prints: the events of a run, as JSON lines."""

from workbench.engine.transcript.message import (
    AnswerBlock,
    ToolCall,
    ToolResult,
)
from workbench.recordings.importers.blocks import result_blocks, text_block, thought_block
from workbench.recordings.importers.format import Format, json_lines
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.values import (
    Record,
    as_mapping,
    first_value,
    identifier,
    label,
    mapping,
    text,
)

EXEC_RUNNING = frozenset({"item.started", "item.updated"})
EXEC_ITEMS = EXEC_RUNNING | {"item.completed"}
EXEC_EVENTS = EXEC_ITEMS | {"thread.started", "turn.started", "turn.completed", "turn.failed"}
EXEC_WORDS = frozenset({"agent_message", "plan", "reasoning", "error"})
EXEC_RESULTS = frozenset(
    {"id", "type", "status", "aggregated_output", "exit_code", "result", "error"}
)


def knows_codex_exec(head: Head) -> bool:
    """Whether it begins with the start of a thread, or holds its items."""
    for record in head.records:
        if record.get("type") == "thread.started" and "thread_id" in record:
            return True
        if label(record, "type") in EXEC_EVENTS and "id" in as_mapping(record.get("item")):
            return True
    return False


class CodexExecBuilder(SessionBuilder):
    """Reads events: an item is a message, a thought, or a call with its result. The prompt is not
    among them.

    The items of one answer are gathered until the next begins: behind a result.
    """

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.answer = Content()
        self.calls: dict[str, ToolCall] = {}

    def starts(self, record: Record) -> str:
        """The id of the thread that begins."""
        if label(record, "type") != "thread.started":
            return ""
        return label(record, "thread_id")

    def read(self, record: Record) -> None:
        """Read one event."""
        type_ = text(record, "type")
        if "item" in record and type_ not in EXEC_ITEMS:
            self.source.leave_record(f"item in an event of type {type_!r:.40}", record)
        elif type_ == "thread.started":
            self.id = text(record, "thread_id")
        elif type_ == "turn.completed":
            self.source.leave_total(record, "usage")
        elif type_ in EXEC_ITEMS:
            self._item(mapping(record, "item"), is_whole=type_ == "item.completed")
        elif type_ in ("turn.failed", "error"):
            self.note(type_, text(record, "error/message") or label(record, "message"))
        elif type_ not in EXEC_EVENTS:
            self.source.leave_record(f"event of type {type_!r:.40}", record)

    def _item(self, item: Record, *, is_whole: bool) -> None:
        type_ = text(item, "type")
        if type_ not in EXEC_WORDS:
            self._call(item, type_, is_whole=is_whole)
        elif is_whole and type_ == "error":
            self.note("error", text(item, "message"))
        elif is_whole and type_ == "reasoning":
            self._gather([*thought_block(text(item, "text"))])
        elif is_whole:
            self._gather([*text_block(text(item, "text"))])

    def _call(self, item: Record, type_: str, *, is_whole: bool) -> None:
        """Read a call when it begins, and its result when it ends."""
        call_id = identifier(item, "id")
        name_parts = (label(item, "server"), label(item, "tool"))
        name = ".".join(filter(None, name_parts)) or type_
        call = self.calls.get(call_id)
        if call is None:
            fields = {field: value for field, value in item.items() if field not in EXEC_RESULTS}
            call = ToolCall(call_id, name, as_mapping(item.get("arguments")) or fields)
            self.calls[call_id] = call
            self._gather([call])
        elif call.name != name:
            self.source.leave_record("item with the id of another", item)
        if is_whole:
            self.answer.results.append(_exec_result(item, call))

    def _gather(self, blocks: list[AnswerBlock]) -> None:
        if self.answer.results:
            self.close()
        self.answer.blocks += blocks

    def close(self) -> None:
        """Write the answer that was gathered, and behind it the results of its calls."""
        if self.answer.blocks or self.answer.results:
            self.say_content("assistant", self.answer)
        self.answer = Content()


def _exec_result(item: Record, call: ToolCall) -> ToolResult:
    blocks = result_blocks(first_value(item, "aggregated_output result/content error/message"))
    code = item.get("exit_code")
    failed = label(item, "status") in ("failed", "declined")
    if isinstance(code, int) and code != 0:
        failed = True
    return ToolResult(
        id=f"{call.id}-result",
        call_id=call.id,
        blocks=blocks,
        name=call.name,
        is_error=failed,
    )


CODEX_EXEC = Format(
    name="codex_exec",
    description="events of `codex exec --json` (JSON lines; they hold no prompt)",
    carries=("calls", "thinking"),
    knows=knows_codex_exec,
    sessions=json_lines(CodexExecBuilder),
)
