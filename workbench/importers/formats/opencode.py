"""Sessions that `opencode export` wrote, versions 1.3 to 1.14: one JSON document of messages and their parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.errors import FormatError
from workbench.importers.blocks import Content, add_part, text_block, tool_call
from workbench.importers.images import linked
from workbench.importers.session_builder import SessionBuilder
from workbench.importers.source import SourceFile
from workbench.importers.usage import UsageFields
from workbench.importers.values import mapping, objects, text, timestamp
from workbench.transcript.log import ClearingEntry
from workbench.transcript.message import Json, SaidBlock, ToolCall, ToolResult
from workbench.transcript.session import Session

SILENT = frozenset({"step-start", "step-finish", "patch", "snapshot", "agent", "retry"})
USAGE = UsageFields("input", "output", "cache/read", "cache/write", "reasoning")


class OpenCodeBuilder(SessionBuilder):
    """Reads messages of parts; a compaction is asked for in one and answered in the next."""

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.asked: Mapping[str, Json] | None = None
        self.cleared: list[tuple[float, str]] = []

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one message."""
        info, found, typed = mapping(record, "info"), Content(), False
        self.time, role = timestamp(mapping(info, "time"), "created"), text(info, "role")
        for part in objects(record, "parts"):
            self._part(found, part)
            typed = typed or (part.get("type") == "text" and part.get("synthetic") is not True)
        message_id, model, usage = text(info, "id"), text(info, "modelID"), USAGE.read(mapping(info, "tokens"))
        if role == "user" and (found.blocks or self.asked is None):
            self.say_content("user", found, id=message_id, synthetic=bool(found.blocks) and not typed)
        elif role == "assistant" and info.get("summary") is True:
            asked, self.asked = self.asked or {}, None
            self.compaction(
                found.words,
                id=message_id,
                model=model,
                first_kept=text(asked, "tail_start_id") or None,
                tokens_before=usage.prompt if usage is not None else None,
                reason="auto" if asked.get("auto") is True else "manual",
            )
        elif role == "assistant":
            stop = text(info, "finish") or ("error" if info.get("error") else "")
            self.say_content("assistant", found, id=message_id, model=model, usage=usage, stop=stop)
        elif role != "user":
            raise FormatError(f"unknown role {role!r}; known roles are assistant and user", field="info.role")

    def _part(self, found: Content, part: Mapping[str, Json]) -> None:
        match text(part, "type"):
            case "file":
                found.blocks += _file(part)
            case "tool":
                state = mapping(part, "state")
                call = tool_call({**part, "input": state.get("input")})
                found.blocks.append(call)
                if text(state, "status") in ("completed", "error"):
                    found.results.append(self._result(state, call))
            case "compaction":
                self.asked = part
            case type_ if type_ not in SILENT:
                add_part(found, part)

    def _result(self, state: Mapping[str, Json], call: ToolCall) -> ToolResult:
        times, failed = mapping(state, "time"), text(state, "status") == "error"
        blocks: list[SaidBlock] = [*text_block(text(state, "error" if failed else "output"))]
        for attached in objects(state, "attachments"):
            blocks += _file(attached)
        cleared, result_id = timestamp(times, "compacted"), f"{call.id}-result"
        if cleared is not None:
            self.cleared.append((cleared, call.id))
        fields: dict[str, Any] = {"name": call.name, "is_error": failed, "time": timestamp(times, "end")}
        return ToolResult(id=result_id, call_id=call.id, blocks=tuple(blocks), **fields)

    def begin(self, document: Mapping[str, Json]) -> None:
        """Read the session's id, its title and its folder."""
        self.id, self.title, self.cwd = (text(document, f"info/{name}") for name in ("id", "title", "directory"))

    def session(self) -> Session:
        """What has been read, with a clearing at its end for results that were pruned while the session ran."""
        self.time = None
        if self.asked is not None:
            self.note("unanswered_compaction")
        if self.cleared:
            calls = tuple(call for _, call in sorted(self.cleared))
            self.add(ClearingEntry(id="", parent=None, call_ids=calls, time=max(self.cleared)[0]))
        return super().session()


def _file(part: Mapping[str, Json]) -> list[SaidBlock]:
    """A picture as a placeholder; the text of other files is in a text part beside it."""
    pictured = text(part, "mime").startswith(("image/", "application/pdf"))
    return [linked(text(part, "url"))] if pictured else []
