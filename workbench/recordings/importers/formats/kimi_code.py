"""Kimi Code's records (protocol 1.4 and 1.5): `~/.kimi-code/sessions/*/*/agents/*/wire.jsonl`.

An answer is a step: it begins, its parts and calls follow with what the calls returned, and it ends
with its usage.
"""

from workbench.engine.transcript.message import ToolResult
from workbench.recordings.importers.blocks import add_part, content, result_blocks
from workbench.recordings.importers.format import Format, json_lines
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.nearest import is_kimi_screen
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.tool_calls import tool_call
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import Record, label, mapping, text

USAGE = UsageFields("inputOther", "output", "inputCacheRead", "inputCacheCreation")
ASIDE = (
    "tools input message.message event.display finalMessage hint action sessionApprovalRule"
    " environmentDisclosure summary event.description"
)
"""What its client keeps: tools, repeated prompts and answers, and how it shows a call."""
_MESSAGES = frozenset({"context.append_message", "context.append_loop_event"})
_QUIET = (
    "metadata",
    "runtime.",
    "tools.",
    "llm.",
    "usage.",
    "token_counting.",
    "turn.",
    "agent.",
    "prompt.",
    "permission.",
    "plan_mode.",
    "plugin.",
    "full_compaction.",
    "step.",
)
"""How types begin that tell of the client alone."""


def knows_kimi_code(head: Head) -> bool:
    """Whether it begins with the version of the protocol, or a line appends to the context."""
    if head.first_record.get("type") == "metadata" and "protocol_version" in head.first_record:
        return not is_kimi_screen(head)
    return any(label(record, "type") in _MESSAGES for record in head.records)


class KimiCodeBuilder(SessionBuilder):
    """Reads records; what a step says is one answer, written where the step ends."""

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.answer: Content | None = None
        self.results: list[ToolResult] = []
        self.typed: list[str] = []

    def read(self, record: Record) -> None:
        """Read one record."""
        self.time = self.source.time(record, "time")
        type_ = text(record, "type")
        prompt = label(record, "systemPrompt")
        if prompt and prompt not in self._prompts():
            self.say_text("system", prompt)
        if type_ == "llm.request":
            self.model = text(record, "model")
        elif type_ == "context.append_message":
            self._message(mapping(record, "message"))
        elif type_ == "context.append_loop_event":
            self._step(mapping(record, "event"))
        elif type_ == "context.apply_compaction":
            self._compaction(record)
        elif not prompt and not type_.startswith(_QUIET) and type_ != "config.update":
            self.source.leave_record(f"record of type {type_!r}", record)

    def _prompts(self) -> list[str]:
        """The system prompts so far."""
        prompts: list[str] = []
        for entry in self.log:
            if entry.type == "message" and entry.message.role == "system":
                for block in entry.message.blocks:
                    if block.type == "text":
                        prompts.append(block.text)
        return prompts

    def _message(self, message: Record) -> None:
        """Read a message of the user or of the client."""
        self.close()
        is_typed = label(mapping(message, "origin"), "kind") in ("", "user")
        if label(message, "role") != "user":
            self.source.leave_record(f"message of role {message.get('role')!r:.40}", message)
            return
        self.say_content("user", content(message), synthetic=not is_typed)
        if is_typed and self.log.leaf is not None:
            self.typed.append(self.log.leaf)

    def _step(self, event: Record) -> None:
        """Read one event of a step."""
        type_ = text(event, "type")
        answer = self.answer or Content()
        if type_ == "content.part":
            add_part(answer, event.get("part"))
        elif type_ == "tool.call":
            call = {
                "id": event.get("toolCallId"),
                "name": event.get("name"),
                "arguments": event.get("args"),
            }
            answer.blocks.append(tool_call(call))
        elif type_ == "tool.result":
            self.results.append(_result(event))
        elif type_ == "step.end":
            self._end(event)
            return
        elif type_ == "step.begin":
            self.close()
            answer = Content()
        else:
            self.source.leave_record(f"event of type {type_!r}", event)
        self.answer = answer

    def _end(self, event: Record) -> None:
        """Write the answer of a step, and what its calls returned."""
        answer = self.answer or Content()
        answer.results = self.results
        self.answer = None
        self.results = []
        usage = self.source.usage(USAGE, event, "usage")
        stop = text(event, "finishReason")
        self.say_content(
            "assistant",
            answer,
            model=self.model,
            usage=usage,
            stop=stop,
        )

    def close(self) -> None:
        """Write what a step said that did not end."""
        if self.answer is not None and (self.answer.blocks or self.results):
            self._end({})
        self.answer = None

    def _compaction(self, record: Record) -> None:
        """Read a compaction: the summary stands for all but the newest prompts that were typed."""
        self.close()
        count = self.source.count(record, "keptUserMessageCount") or 0
        first_count = self.source.count(record, "keptHeadUserMessageCount") or 0
        newest_count = max(count - first_count, 0)
        newest = self.typed[len(self.typed) - newest_count :]
        self.typed = [*self.typed[:first_count], *newest]
        summary = text(record, "contextSummary", "summary")
        self.compaction(
            summary or None,
            hidden_summary=not summary,
            kept=(*self.system_ids, *self.typed),
            tokens_before=self.source.count(record, "tokensBefore"),
            tokens_after=self.source.count(record, "tokensAfter"),
        )


def _result(event: Record) -> ToolResult:
    """What a call returned, and what the client adds to it for the model."""
    result = mapping(event, "result")
    blocks = list(result_blocks(result.get("output")))
    blocks += result_blocks(result.get("note"))
    failed = result.get("isError") is True
    return ToolResult(
        id="",
        call_id=text(event, "toolCallId"),
        blocks=tuple(blocks),
        is_error=failed,
    )


KIMI_CODE = Format(
    name="kimi_code",
    description="Kimi Code's records (`wire.jsonl`)",
    carries=("calls", "thinking", "images", "usage", "times", "model", "compactions", "system"),
    knows=knows_kimi_code,
    sessions=json_lines(KimiCodeBuilder),
    aside=ASIDE,
)
