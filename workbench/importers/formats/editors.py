"""Agents inside editors and shells whose files are messages in Anthropic's shape: Cursor, Amp and Factory Droid.

Cursor writes `agent-transcripts/*.jsonl` under `~/.cursor/projects`, with calls and without their results. Amp keeps a
thread as one document under `~/.local/share/amp/threads`. Droid appends events to `~/.factory/sessions/*/*.jsonl`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import dropwhile, islice

from workbench.importers.chat import ROLES, ChatBuilder
from workbench.importers.source import SourceFile
from workbench.importers.usage import UsageFields
from workbench.importers.values import identifier, items, label, mapping, objects, optional_count, text
from workbench.transcript.message import Json, Usage

AMP_USAGE = UsageFields("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
DROID_NOTES = frozenset({"todo_state", "agent_turn_outcome", "session_end"})


class CursorBuilder(ChatBuilder):
    """Reads lines of a role and a message."""

    def read(self, record: Mapping[str, Json], *, synthetic: bool = False) -> None:
        """Read one line."""
        super().read({**mapping(record, "message"), "role": text(record, "role")}, synthetic=synthetic)


class AmpBuilder(ChatBuilder):
    """Reads a thread's messages; what a tool run returned is a field of its own."""

    def begin(self, document: Mapping[str, Json]) -> None:
        """Read the thread's id, its title and the first folder that was open."""
        self.id, self.title = identifier(document, "id"), text(document, "title")
        folders = objects(mapping(document, "env/initial"), "trees")
        self.cwd = text(folders[0], "uri").removeprefix("file://") if folders else ""

    def read(self, record: Mapping[str, Json], *, synthetic: bool = False) -> None:
        """Read one message; those of the client itself are notes."""
        role, figures = text(record, "role"), mapping(record, "usage")
        self.window = optional_count(figures, "maxInputTokens") or self.window
        parts = [_amp_part(part) if isinstance(part, dict) else part for part in items(record, "content")]
        if role not in ROLES:
            self.note(role, "\n".join(label(part, "text") for part in parts if isinstance(part, dict)))
            return
        time = figures.get("timestamp") or mapping(record, "meta").get("sentAt")
        shaped = {"role": role, "content": parts, "timestamp": time, "usage": figures, "model": figures.get("model")}
        super().read({**shaped, "stop_reason": text(record, "state/stopReason")}, synthetic=synthetic)

    def usage(self, record: Mapping[str, Json]) -> Usage | None:
        """The figures of an answer; the input is what was not cached."""
        return AMP_USAGE.read(mapping(record, "usage"))


class DroidBuilder(ChatBuilder):
    """Reads a session's start, its messages and its compactions, behind which the next messages hang on old ones."""

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.newer: dict[str | None, str] = {}

    def read(self, record: Mapping[str, Json], *, synthetic: bool = False) -> None:
        """Read one event."""
        match text(record, "type"):
            case "session_start":
                self.id, self.cwd = identifier(record, "id"), text(record, "cwd")
                self.title = text(record, "title", "sessionTitle")
            case "message":
                parent = text(record, "parentId")
                self.log.leaf = self.newer.get(parent, parent) if parent in self.log else self.log.leaf
                about = {"id": record.get("id"), "timestamp": record.get("timestamp")}
                super().read({**mapping(record, "message"), **about}, synthetic=synthetic)
            case "compaction_state":
                self._compaction(record)
            case type_ if type_ not in DROID_NOTES:
                self.source.unknown[f"event of type {type_!r}"] += 1

    def _compaction(self, record: Mapping[str, Json]) -> None:
        """Read a summary; the message that it names is the last that it replaces."""
        anchor = record.get("anchorMessage")
        last = text(anchor, "id") if isinstance(anchor, dict) else anchor
        after = islice(dropwhile(lambda entry: entry.id != last, self.log.path()), 1, None)
        first_kept = next((entry.id for entry in after), None)
        before, summary = self.log.leaf, text(record, "summaryText") or None
        self.newer[before] = self.compaction(summary, id=identifier(record, "id"), first_kept=first_kept)


def _amp_part(part: Mapping[str, Json]) -> Mapping[str, Json]:
    """A part as Anthropic would name its fields."""
    if part.get("type") != "tool_result" or "run" not in part:
        return part
    run = mapping(part, "run")
    result = run.get("result") if run.get("result") is not None else run.get("error")
    failed = text(run, "status") in ("error", "cancelled", "rejected-by-user")
    return {"type": "tool_result", "tool_use_id": part.get("toolUseID"), "content": result, "is_error": failed}
