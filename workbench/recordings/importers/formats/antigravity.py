"""Transcripts of Google's Antigravity: below `~/.gemini/antigravity*/brain/ID`, the file
`.system_generated/logs/transcript_full.jsonl`, or `transcript.jsonl` with long texts cut short.

A step a line, not always in order. The results of an answer's calls are the steps behind it. A
checkpoint with number 0 is written at the start of every session; a later one stands in the place
of what was before.

Source: transcripts of the editor and of its command line in public repositories, of June to
September 2026.
"""

import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from workbench.base.formats import some
from workbench.engine.transcript.message import ToolCall
from workbench.recordings.importers.blocks import content, thought_block
from workbench.recordings.importers.format import Format, json_lines
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.json_text import decode_or
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    identifier,
    label,
    mapping,
    objects,
    optional_count,
    text,
    texts,
)

USAGE = UsageFields(
    "input_tokens", "output_tokens", "cached_content_token_count", cache_in_input=True
)
LOGS = (".system_generated", "logs")
"""The folder of a transcript, below the one that has the session's id for its name."""
FIRST_CHECKPOINT = "{{ CHECKPOINT 0 }}"
CUT_SHORT = "long texts are cut short here; transcript_full.jsonl beside this file has them whole"
_CHOSEN_MODEL = re.compile(r"`Model Selection` from .{1,80}? to (.{1,80}?)\.(?:\s|$)")


def knows_antigravity(head: Head) -> bool:
    """Whether the first lines are numbered steps with a type in capitals."""
    records = head.records[:3]
    return bool(records) and all(map(_is_step, records))


def _is_step(record: Record) -> bool:
    return {"step_index", "source", "status"} <= set(record) and label(record, "type").isupper()


@dataclass(frozen=True, slots=True)
class _Step:
    """A step, and the line on which it is written."""

    line: int
    record: Record


class AntigravityBuilder(SessionBuilder):
    """Reads steps in their order; of a step that was written while it ran, the later line counts."""

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.steps: dict[int, list[_Step]] = {}
        self.open_calls: list[str] = []
        self.result_count = 0
        folders = PurePath(source.where).parts[:-1]
        if len(folders) > len(LOGS) and folders[-2:] == LOGS:
            self.id = folders[-3]

    def read(self, record: Record) -> None:
        """Take one step, which is read once all are there."""
        number = optional_count(record, "step_index")
        if number is None:
            number = len(self.steps)
        steps = self.steps.setdefault(number, [])
        if steps and label(steps[-1].record, "status") == "RUNNING":
            steps.pop()
        elif steps and steps[-1].record != record:
            self.source.skipped.append(
                f"line {self.line}: the step_index {number} is that of line {steps[-1].line}, which"
                " says something else; both are kept"
            )
        elif steps:
            return
        steps.append(_Step(self.line, record))

    def close(self) -> None:
        """Read all steps."""
        for number in sorted(self.steps):
            for step in self.steps[number]:
                with self.source.at(step.line):
                    self._step(number, step.record)
        self.steps = {}
        self._end_results()

    def _step(self, number: int, record: Record) -> None:
        """Read one step: what the user said, an answer, a checkpoint, or a result."""
        self.time = self.source.time(record, "created_at")
        if texts(record, "truncated_fields"):
            self.source.leave_out(CUT_SHORT)
        kind = text(record, "type")
        step_id = f"step-{number}"
        parts = content(record)
        if kind == "PLANNER_RESPONSE":
            self._answer(step_id, record, parts)
        elif kind == "CHECKPOINT":
            self._checkpoint(parts.words)
        elif kind == "ERROR_MESSAGE":
            self.note("error", parts.words, id=step_id)
        elif kind == "USER_INPUT":
            self._choose_model(parts.words)
            is_client = label(record, "source") != "USER_EXPLICIT"
            self.say_content(
                "user",
                parts,
                id=step_id,
                synthetic=is_client,
            )
        elif label(record, "source") == "MODEL" and self.open_calls:
            self.source.leave_unknown(parts.unknown)
            failed = label(record, "status") == "ERROR"
            self.result_count += 1
            self.say_result(
                self.open_calls.pop(0),
                parts.said,
                id=step_id,
                failed=failed,
            )
        elif parts.blocks or parts.unknown:
            if label(record, "source") == "MODEL":
                self.source.note("a result of no call; read as words of the client", field="source")
            self.say_content("user", parts, id=step_id, synthetic=True)

    def _end_results(self) -> None:
        """Say where an answer's calls have too few results: their order is all that tells whose
        they are.
        """
        if self.open_calls and self.result_count:
            count = self.result_count + len(self.open_calls)
            self.source.note(
                f"{count} calls before it have {some(self.result_count, 'result')}; which is whose"
                " is a guess",
                field="tool_calls",
            )
        self.open_calls = []
        self.result_count = 0

    def _answer(self, step_id: str, record: Record, parts: Content) -> None:
        calls: list[ToolCall] = []
        for number, call in enumerate(objects(record, "tool_calls"), 1):
            calls.append(_call(f"{step_id}-call-{number}", call))
        thoughts = thought_block(text(record, "thinking"))
        parts.blocks = [*thoughts, *parts.blocks, *calls]
        if not parts.blocks and not parts.unknown:
            return
        self._end_results()
        self.open_calls = [call.id for call in calls]
        fields: dict[str, Any] = {
            "model": self.model,
            "usage": self.source.usage(USAGE, record, "usage"),
        }
        self.say_content("assistant", parts, id=step_id, **fields)

    def _checkpoint(self, words: str) -> None:
        """A summary of what went; the one at the start of a session is a note."""
        if words.lstrip().startswith(FIRST_CHECKPOINT):
            self.note("checkpoint", words)
        else:
            self._end_results()
            self.compaction(words, kept=self.system_ids)

    def _choose_model(self, words: str) -> None:
        """Take in that the user chose another model, as the client words it."""
        for choice in _CHOSEN_MODEL.finditer(words):
            self.model = choice[1]


def _call(call_id: str, record: Record) -> ToolCall:
    """A call, whose arguments are JSON texts each."""
    arguments: JsonObject = {}
    for name, value in mapping(record, "args").items():
        arguments[name] = decode_or(value, value)
    own_id = identifier(record, "id")
    return ToolCall(own_id or call_id, text(record, "name"), arguments)


ANTIGRAVITY = Format(
    name="antigravity",
    description="Antigravity transcripts (`transcript_full.jsonl`)",
    carries=("calls", "thinking", "usage", "times", "model", "compactions"),
    knows=knows_antigravity,
    sessions=json_lines(AntigravityBuilder),
)
