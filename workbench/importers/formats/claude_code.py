"""Claude Code's session files under `~/.claude/projects`, versions 1.0.98 to 2.1.219: JSON lines that form a tree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from workbench.importers.formats.claude_records import Node, node
from workbench.importers.formats.claude_tree import Tree, Unit
from workbench.importers.session_builder import SessionBuilder
from workbench.importers.source import Source
from workbench.importers.values import label, text
from workbench.transcript.log import CompactionEntry
from workbench.transcript.message import AssistantMessage, Json, Summary, ToolCall, UserMessage, plain_text
from workbench.transcript.session import Session

SIDE = frozenset(
    {
        "summary", "file-history-snapshot", "queue-operation", "custom-title", "ai-title", "last-prompt", "mode",
        "pr-link", "agent-name", "tag", "agent-setting", "permission-mode", "saved-hook-context",
    }
)  # fmt: skip
TYPES = frozenset({"user", "assistant", "system", "attachment", "progress"})


class ClaudeCodeBuilder(SessionBuilder):
    """Reads records into a tree, and writes it unit by unit to a log whose leaf is the live end."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.tree = Tree()
        self.titles: dict[str, str] = {}
        self.entries_of: dict[str, list[str]] = defaultdict(list)
        self.live: set[str] = set()

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one line."""
        self.id = self.id or text(record, "sessionId")
        self.cwd = self.cwd or text(record, "cwd")
        self.title = text(record, "customTitle", "aiTitle") or self.title
        if record.get("type") == "summary":
            self.titles[text(record, "leafUuid")] = text(record, "summary")
        made = node(self.line, record)
        if made is not None:
            self.source.unknown.update(made.content.unknown)
            self.tree.add(made)
        elif label(record, "type") not in SIDE:
            self.source.unknown[f"record of type {str(record.get('type'))!r}"] += 1

    def session(self) -> Session:
        """The whole tree. Its title is what a person named it, or the client's for a branch of this very session."""
        nodes = self.tree.nodes
        self.tree.mend()
        self.source.skipped += self.tree.repairs
        self.live = self.tree.live()
        calls = (block for one in nodes.values() for block in one.content.blocks if isinstance(block, ToolCall))
        self.names = {call.id: call.name for call in calls}
        units = self.tree.units()
        for unit in dict.fromkeys(unit for unit in units.values() if unit is not None):
            self._write(unit)
        main = (one for one in reversed(nodes.values()) if not one.side and one.kind not in ("through", "note"))
        newest = next(main, None)
        live = units[newest.uuid] if newest is not None else None
        self.log.leaf = live.last if live is not None else self.log.leaf
        titles = (title for leaf, title in self.titles.items() if leaf in nodes)
        self.title = self.title or next(filter(None, titles), "")
        return super().session()

    def _write(self, unit: Unit) -> None:
        """Write the unit's entries, each after the one before."""
        unit.last = unit.parent.last if unit.parent is not None else None
        head = unit.head
        if head.kind == "assistant":
            self._answer(unit)
        elif head.entry is not None:
            entry = self._compaction(unit, head.entry) if isinstance(head.entry, CompactionEntry) else head.entry
            self.log.leaf = unit.last
            self._placed(unit, head, self.add(entry))
        else:
            self._user(unit, head)

    def _answer(self, unit: Unit) -> None:
        first, newest_first = unit.head, unit.lines[::-1]
        self.log.leaf, self.time = unit.last, first.time
        answer = self.say(
            AssistantMessage(
                id=first.uuid,
                blocks=tuple(block for line in unit.lines for block in line.content.blocks),
                name="client" if first.synthetic else "",
                model=first.model,
                usage=next((line.usage for line in newest_first if line.usage), None),
                stop=next((line.stop for line in newest_first if line.stop), ""),
            )
        )
        self._placed(unit, first, answer)
        for line in unit.lines[1:]:
            self.entries_of[line.uuid] = self.entries_of[first.uuid]
        chosen, copies = self._one_each(unit.results)
        for line in unit.lines:
            self._results(unit, line)
        for one in chosen:
            self._user(unit, one)
        end = unit.last
        for one in copies:
            unit.last = answer
            self._user(unit, one)
        unit.last = end

    def _one_each(self, results: Sequence[Node]) -> tuple[list[Node], list[Node]]:
        """One record a call, that of the live conversation if several answer the same; and the others."""
        best: dict[str, Node] = {}
        for one in results:
            for result in one.content.results:
                known = best.get(result.call_id)
                if known is None or (one.uuid in self.live and known.uuid not in self.live):
                    best[result.call_id] = one
        wanted = {one.uuid for one in best.values()}
        return [one for one in results if one.uuid in wanted], [one for one in results if one.uuid not in wanted]

    def _user(self, unit: Unit, one: Node) -> None:
        self._results(unit, one)
        said = one.content.said
        if said or not one.content.results:
            self.log.leaf, self.time = unit.last, one.time
            self._placed(unit, one, self.say(UserMessage(id=one.uuid, blocks=said, synthetic=one.synthetic)))

    def _results(self, unit: Unit, one: Node) -> None:
        for found in one.content.results:
            self.log.leaf, self.time = unit.last, one.time
            self._placed(unit, one, self.say(replace(found, id=one.uuid)))

    def _compaction(self, unit: Unit, entry: CompactionEntry) -> CompactionEntry:
        """The boundary with its summary, and the entries of the records that it kept."""
        kept = [entry_id for uuid in unit.head.preserved for entry_id in self.entries_of.get(uuid, [uuid])]
        summary = None
        if unit.summary is not None:
            words = plain_text(UserMessage(id="", blocks=unit.summary.content.said))
            summary = Summary(id=unit.summary.uuid, text=words, time=unit.summary.time)
        return replace(entry, summary=summary, kept=tuple(dict.fromkeys(kept)) if unit.head.preserved else None)

    def _placed(self, unit: Unit, one: Node, entry_id: str) -> None:
        unit.last = entry_id
        self.entries_of[one.uuid].append(entry_id)


def is_record(record: Mapping[str, Json]) -> bool:
    """Whether a line has the client's own fields."""
    if label(record, "type") in SIDE:
        return bool({"leafUuid", "sessionId", "messageId", "snapshot"} & set(record))
    ours = label(record, "type") in TYPES and "uuid" in record
    return ours and bool({"parentUuid", "sessionId", "isSidechain"} & set(record))
