"""Sessions of Meta's Muse Code (1.0): `session.jsonl`, an event a line.

Source: specstoryai/getspecstory, specstory-cli/pkg/providers/musecode, and parsers of three other
public repositories of August 2026 that agree with it. A run goes from a prompt to its end; one that
begins inside another is a sub-agent's. What a request used is told before or after its answer.
"""

from workbench.engine.transcript.message import AnswerBlock, Thinking, Usage
from workbench.recordings.importers.blocks import result_blocks, text_block
from workbench.recordings.importers.format import Format, json_lines
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.tool_calls import tool_call
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import (
    Record,
    as_mapping,
    identifier,
    label,
    mapping,
    objects,
    text,
)

MUSE_USAGE = UsageFields(
    "input_tokens",
    "output_tokens",
    "cached_tokens cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    cache_in_input=True,
)
_OF_CLIENT = frozenset({"task", "approval"})
"""Kinds of records that the model was not sent."""
_QUIET = frozenset({"context_block_diagnostic", "user_prompt_display"})
_THOUGHTS = frozenset({"reasoning_committed", "reasoning_summary_committed"})


class MuseBuilder(SessionBuilder):
    """Reads events; what one response thinks, says and calls is one answer."""

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.run = ""
        self.response = ""
        self.answer = Content()
        self.usage: Usage | None = None
        self.answer_time: float | None = None

    def read(self, record: Record) -> None:
        """Read one event."""
        self.id = self.id or identifier(mapping(record, "stream"), "id")
        self.time = self.source.time(record, "recorded_at")
        payload = mapping(record, "payload")
        kind = label(payload, "kind")
        if kind == "run":
            self._turn_to_run(text(payload, "run_id"))
            self._read_event(mapping(payload, "event"))
        elif kind == "metadata":
            about = mapping(payload, "record")
            self.model = self.model or self.source.name(about, "model_id")
            self.cwd = self.cwd or self.source.name(about, "workspace_root")
        elif kind not in _OF_CLIENT:
            self.source.leave_record(f"record of kind {kind!r:.40}", payload)

    def _turn_to_run(self, run_id: str) -> None:
        """Go on with the run that an event belongs to."""
        self.run = self.run or run_id
        speaker = "" if run_id == self.run else run_id
        if speaker != self.speaker:
            self.close()
            self.turn_to(speaker)

    def _read_event(self, event: Record) -> None:
        kind = label(event, "kind")
        if kind == "started":
            self.close()
            self.say_text("user", text(event, "prompt"))
        elif kind == "inbox_item_queued":
            self.close()
            self._queued(event)
        elif kind in _THOUGHTS:
            self._add(event, [Thinking(text(event, "text"), text(event, "encrypted_content"))])
        elif kind == "assistant_message_committed":
            self._add(event, [*text_block(text(event, "text"))])
        elif kind == "assistant_tool_calls_committed":
            self._add(event, [tool_call(call) for call in objects(event, "tool_calls")])
        elif kind == "model_completed":
            self._completed(event)
        elif kind == "tool_result_batch_committed":
            self.close()
            for result in objects(event, "results"):
                self.say_result(text(result, "tool_call_id"), result_blocks(result.get("text")))
        elif kind == "terminal":
            self._end_run(event)
        elif kind not in _QUIET:
            self.source.leave_record(f"event of kind {kind!r:.40}", event)

    def _queued(self, event: Record) -> None:
        """Read what was typed during a run, or what the client delivers into it."""
        words = text(as_mapping(event.get("payload")), "prompt") or label(event, "body")
        is_typed = text(as_mapping(event.get("source")), "source") == "user_steer"
        if words:
            self.say_text("user", words, synthetic=not is_typed)

    def _add(self, event: Record, blocks: list[AnswerBlock]) -> None:
        """Add to the answer; what another response says begins the next."""
        response = label(event, "response_id")
        if response and self.response and response != self.response:
            self.close()
        self.response = response or self.response
        if self.answer_time is None:
            self.answer_time = self.time
        self.answer.blocks += blocks

    def _completed(self, event: Record) -> None:
        """Read what a request used; a second report is that of the next answer."""
        if self.usage is not None:
            self.close()
        self.model = text(event, "model") or self.model
        self.usage = self.source.usage(MUSE_USAGE, event, "usage")

    def _end_run(self, event: Record) -> None:
        self.close()
        reason = text(event, "reason")
        if reason:
            self.note("terminal", reason)
        if not self.speaker:
            self.run = ""

    def close(self) -> None:
        """Write the answer that came so far."""
        if self.answer.blocks or self.usage is not None:
            self.say_content(
                "assistant",
                self.answer,
                model=self.model,
                usage=self.usage,
                time=self.answer_time,
            )
        self.answer = Content()
        self.usage = None
        self.answer_time = None
        self.response = ""


def knows_muse(head: Head) -> bool:
    """Whether a line is an event of this runtime's session."""
    for record in head.records:
        if label(record, "payload_type").startswith("runtime.session") and "stream" in record:
            return True
    return False


MUSE = Format(
    name="muse",
    description="sessions of Muse Code (`session.jsonl`)",
    carries=("calls", "thinking", "usage", "times", "model"),
    knows=knows_muse,
    sessions=json_lines(MuseBuilder),
    aside="payload.event.status payload.event.message",
)
