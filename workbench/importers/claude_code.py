"""Claude Code's session files: JSON lines that form a tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from workbench.importers.claude_records import Node, node
from workbench.importers.claude_tree import Tree
from workbench.importers.fields import label, words
from workbench.importers.growth import first, main_model, project
from workbench.importers.heads import seen
from workbench.importers.source import Carries, Source
from workbench.transcript.message import Json
from workbench.transcript.session import Session

SIDE = frozenset(
    {
        "summary", "file-history-snapshot", "queue-operation", "custom-title", "ai-title", "last-prompt", "mode",
        "pr-link", "agent-name", "tag", "agent-setting", "permission-mode", "saved-hook-context",
    }
)  # fmt: skip
TYPES = SIDE | {"user", "assistant", "system", "attachment", "progress"}


class ClaudeCode:
    """The files under `~/.claude/projects`, versions 1.0.98 to 2.1.219."""

    name: ClassVar[str] = "claude_code"
    description: ClassVar[str] = "Claude Code session files (JSON lines)"
    carries: ClassVar[tuple[Carries, ...]] = (
        "tree", "calls", "thinking", "images", "usage", "times", "model", "compactions",
    )  # fmt: skip

    def knows(self, head: str) -> bool:
        """Whether a line has the client's own fields."""
        if any(label(record, "type") in TYPES and _ours(record) for record in seen(head).records):
            return True
        start = seen(head)
        return not start.is_list and {"uuid", "parentUuid", "isSidechain"} <= start.keys

    def sessions(self, source: Source) -> Iterator[Session]:
        """The one session of a file."""
        tree, known = Tree(), _Known()
        for line, record in source.records():
            with source.at(line):
                known.hear(record)
                made = node(line, record)
                if made is None:
                    if label(record, "type") not in SIDE:
                        source.unknown[f"record of type {str(record.get('type'))!r}"] += 1
                    continue
                source.unknown.update(made.content.unknown)
                made.content.unknown.clear()
                known.place(made)
                tree.add(made)
        log = tree.log()
        source.skipped += tree.repairs
        yield Session(
            id=known.session or source.stem,
            log=log,
            model=main_model(log),
            title=known.title(),
            cwd=known.cwd,
            project=project(known.cwd, source.folder),
        )


class _Known:
    """What single records say about the whole session."""

    def __init__(self) -> None:
        self.session = self.cwd = self.custom = ""
        self.titles: dict[str, str] = {}
        self.uuids: set[str] = set()

    def hear(self, record: Mapping[str, Json]) -> None:
        """Take the fields that stand on every record, and the titles."""
        self.session = self.session or words(record, "sessionId")
        self.cwd = self.cwd or words(record, "cwd")
        self.custom = words(record, "customTitle") or words(record, "aiTitle") or self.custom
        if record.get("type") == "summary":
            self.titles[words(record, "leafUuid")] = words(record, "summary")

    def place(self, made: Node) -> None:
        """Remember that this record is in the file: a title may be that of another session."""
        self.uuids.add(made.uuid)

    def title(self) -> str:
        """What a person named it, or the client's title of a branch of this very session."""
        return self.custom or first(title for leaf, title in self.titles.items() if leaf in self.uuids)


def _ours(record: Mapping[str, Json]) -> bool:
    if label(record, "type") in SIDE:
        return bool({"leafUuid", "sessionId", "messageId", "snapshot"} & set(record))
    return "uuid" in record and bool({"parentUuid", "sessionId", "isSidechain"} & set(record))
