"""Windsurf's Cascade transcripts, `~/.windsurf/transcripts/*.jsonl`: a step a line, under its type's name."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.importers.blocks import Content, as_json, text_block, thought_block
from workbench.importers.session_builder import SessionBuilder
from workbench.importers.source import SourceFile
from workbench.importers.values import mapping, text, timestamp
from workbench.transcript.message import Json, ToolCall, ToolResult
from workbench.transcript.session import Session

RETURNED = frozenset({"content", "output", "exit_code", "results", "total_results", "diff", "error", "summary"})
"""Fields of a step that its tool returned; `code_action` has none."""
CLIENT = frozenset({"original_content", "acknowledgement_type", "user_rejected"})


class WindsurfBuilder(SessionBuilder):
    """Reads steps; what the model said belongs to the call that follows."""

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.said: Content | None = None

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one step."""
        type_ = text(record, "type")
        step = mapping(record, type_)
        self.time = timestamp(record, "timestamp")
        if type_ == "user_input":
            self._close()
            self.say_text("user", text(step, "user_response"))
        elif type_ == "planner_response":
            self._close()
            self.said = Content([*thought_block(text(step, "thinking")), *text_block(text(step, "response"))])
        else:
            self._tool(type_, step, text(record, "status") == "error")

    def _tool(self, name: str, step: Mapping[str, Json], failed: bool) -> None:
        found, self.said = self.said or Content(), None
        call_id = f"call-{len(self.log) + 1}"
        given = {field: value for field, value in step.items() if field not in RETURNED | CLIENT}
        returned = {field: value for field, value in step.items() if field in RETURNED}
        words = text(step, "content", "output") or (as_json(returned) if returned else "")
        found.blocks.append(ToolCall(call_id, name, given))
        found.results.append(ToolResult(id="", call_id=call_id, blocks=tuple(text_block(words)), is_error=failed))
        self.cwd = self.cwd or text(step, "cwd")
        self.say_content("assistant", found)

    def _close(self) -> None:
        if self.said is not None:
            self.say_content("assistant", self.said)
        self.said = None

    def session(self) -> Session:
        """What has been read, with the last answer."""
        self._close()
        return super().session()
