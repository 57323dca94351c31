"""Sessions that OpenCode exported: one JSON document of messages and their parts."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.errors import FormatError
from workbench.importers.blocks import arguments, text_block
from workbench.importers.format import DocumentImporter
from workbench.importers.head import Head
from workbench.importers.images import linked
from workbench.importers.session_builder import SessionBuilder
from workbench.importers.source import Source
from workbench.importers.usage import UsageFields
from workbench.importers.values import identifier, mapping, objects, text, timestamp
from workbench.transcript.log import ClearingEntry
from workbench.transcript.message import AnswerBlock, Json, SaidBlock, Text, Thinking, ToolCall, ToolResult
from workbench.transcript.session import Session

SILENT = frozenset({"step-start", "step-finish", "patch", "snapshot", "agent", "retry"})
USAGE = UsageFields(
    input=("input",), output=("output",), cache_read=("cache/read",), cache_write=("cache/write",),
    reasoning=("reasoning",),
)  # fmt: skip


class OpenCodeBuilder(SessionBuilder):
    """Reads messages of parts; a compaction is asked for in one and answered in the next."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.info: Mapping[str, Json] = {}
        self.asked: Mapping[str, Json] | None = None
        self.cleared: list[tuple[float, str]] = []

    def begin(self, document: Mapping[str, Json]) -> None:
        """Read what is known of the session."""
        with self.source.at():
            self.info = mapping(document, "info")

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one message."""
        info, parts = mapping(record, "info"), objects(record, "parts")
        self.time, role = timestamp(mapping(info, "time"), "created"), text(info, "role")
        if role == "user":
            self._user(info, parts)
        elif role == "assistant" and info.get("summary") is True:
            self._summary(info, parts)
        elif role == "assistant":
            self._answer(info, parts)
        else:
            raise FormatError(f"unknown role {role!r}; known roles are assistant and user", field="info.role")

    def _user(self, info: Mapping[str, Json], parts: list[dict[str, Json]]) -> None:
        blocks: list[SaidBlock] = []
        typed = False
        for part in parts:
            match text(part, "type"):
                case "compaction":
                    self.asked = part
                case "text":
                    blocks.append(Text(text(part, "text")))
                    typed = typed or part.get("synthetic") is not True
                case "file":
                    blocks += _file(part)
                case type_:
                    self._unknown(type_)
        if blocks or self.asked is None:
            self.user(blocks, id=text(info, "id"), synthetic=bool(blocks) and not typed)

    def _unknown(self, type_: str) -> None:
        if type_ not in SILENT:
            self.source.unknown[f"part of type {type_!r}"] += 1

    def _answer(self, info: Mapping[str, Json], parts: list[dict[str, Json]]) -> None:
        blocks: list[AnswerBlock] = []
        results: list[ToolResult] = []
        for part in parts:
            match text(part, "type"):
                case "text":
                    blocks.append(Text(text(part, "text")))
                case "reasoning":
                    blocks.append(Thinking(text(part, "text")))
                case "tool":
                    call = ToolCall(
                        identifier(part, "callID", "id"),
                        text(part, "tool"),
                        arguments(mapping(part, "state").get("input")),
                    )
                    blocks.append(call)
                    results += self._result(mapping(part, "state"), call)
                case type_:
                    self._unknown(type_)
        self.assistant(
            blocks,
            id=text(info, "id"),
            model=text(info, "modelID"),
            usage=USAGE.read(mapping(info, "tokens")),
            stop=text(info, "finish") or ("error" if info.get("error") else ""),
        )
        for result in results:
            self.say(result)

    def _result(self, state: Mapping[str, Json], call: ToolCall) -> list[ToolResult]:
        times, status = mapping(state, "time"), text(state, "status")
        if status not in ("completed", "error"):
            return []
        blocks: list[SaidBlock] = [*text_block(text(state, "output" if status == "completed" else "error"))]
        for attached in objects(state, "attachments"):
            blocks += _file(attached)
        cleared = timestamp(times, "compacted")
        if cleared is not None:
            self.cleared.append((cleared, call.id))
        return [
            ToolResult(
                id=f"{call.id}-result",
                call_id=call.id,
                blocks=tuple(blocks),
                name=call.name,
                is_error=status == "error",
                time=timestamp(times, "end"),
            )
        ]

    def _summary(self, info: Mapping[str, Json], parts: list[dict[str, Json]]) -> None:
        asked, self.asked = self.asked or {}, None
        usage = USAGE.read(mapping(info, "tokens"))
        self.compaction(
            "\n".join(text(part, "text") for part in parts if text(part, "type") == "text"),
            id=text(info, "id"),
            model=text(info, "modelID"),
            first_kept=text(asked, "tail_start_id") or None,
            tokens_before=usage.prompt if usage is not None else None,
            reason="auto" if asked.get("auto") is True else "manual",
        )

    def describe(self, document: Mapping[str, Json]) -> None:
        """Read the session's id, its title and its folder."""
        try:
            self.id, self.title, self.cwd = (text(self.info, name) for name in ("id", "title", "directory"))
        except FormatError as error:
            raise FormatError(error.why, field=f"info.{error.field}") from None

    def session(self) -> Session:
        """What has been read, with a clearing at its end for results that were pruned while the session ran."""
        self.time = None
        if self.asked is not None:
            self.note("unanswered_compaction")
        if self.cleared:
            calls = tuple(call for _, call in sorted(self.cleared))
            self.add(ClearingEntry(id="", parent=None, call_ids=calls, time=max(self.cleared)[0]))
        return super().session()


class OpenCode(DocumentImporter):
    """What `opencode export` writes, versions 1.3 to 1.14."""

    name = "opencode"
    description = "OpenCode exports (JSON)"
    carries = ("calls", "thinking", "images", "usage", "times", "model", "compactions")
    records, builder = "messages", OpenCodeBuilder

    def knows(self, head: Head) -> bool:
        """Whether it begins with the description of a session and has messages of parts."""
        return head.is_object_with("info") and '"ses_' in head.text and "traces" not in head.keys


def _file(part: Mapping[str, Json]) -> list[SaidBlock]:
    """A picture as a placeholder; the text of other files is in a text part beside it."""
    pictured = text(part, "mime").startswith(("image/", "application/pdf"))
    return [linked(text(part, "url"))] if pictured else []
