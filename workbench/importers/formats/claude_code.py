"""Claude Code's session files under `~/.claude/projects`, versions 1.0.98 to 2.1.219: JSON lines that form a tree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from workbench.importers.formats.claude_records import Node, node
from workbench.importers.formats.claude_tree import Unit, ancestors, mend, units
from workbench.importers.session_builder import SessionBuilder
from workbench.importers.source import Source
from workbench.importers.values import label, text
from workbench.transcript.log import CompactionEntry, Entry, NoteEntry
from workbench.transcript.message import AssistantMessage, Json, Message, Summary, UserMessage, plain_text
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
        self.nodes: dict[str, Node] = {}
        self.titles: dict[str, str] = {}
        self.entries_of: dict[str, list[str]] = defaultdict(list)
        self.live: set[str] = set()

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one line; a second one with the same uuid is a copy."""
        self.id = self.id or text(record, "sessionId")
        self.cwd = self.cwd or text(record, "cwd")
        self.title = text(record, "customTitle", "aiTitle") or self.title
        if record.get("type") == "summary":
            self.titles[text(record, "leafUuid")] = text(record, "summary")
        made = node(self.line, record)
        if made is not None:
            self.source.unknown.update(made.content.unknown)
            self.nodes.setdefault(made.uuid, made)
        elif label(record, "type") not in SIDE:
            self.source.unknown[f"record of type {str(record.get('type'))!r}"] += 1

    def session(self) -> Session:
        """The whole tree. Its title is what a person named it, or the client's for a branch of this very session."""
        self.source.skipped += mend(self.nodes)
        main = [one for one in reversed(self.nodes.values()) if not one.side and one.kind != "through"]
        self.live = {one.uuid for one in ancestors(self.nodes, next(iter(main), None))}
        for one in self.nodes.values():
            self.names.update(one.calls)
        unit_of = units(self.nodes)
        for unit in dict.fromkeys(unit for unit in unit_of.values() if unit is not None):
            self._write(unit)
        newest = next((unit_of[one.uuid] for one in main if not isinstance(one.entry, NoteEntry)), None)
        self.log.leaf = newest.last if newest is not None else self.log.leaf
        titles = (title for leaf, title in self.titles.items() if leaf in self.nodes)
        self.title = self.title or next(filter(None, titles), "")
        return super().session()

    def _write(self, unit: Unit) -> None:
        """Write the unit's entries, each after the one before."""
        unit.last = unit.parent.last if unit.parent is not None else None
        head = unit.head
        if head.kind == "assistant":
            self._answer(unit)
        elif head.entry is not None:
            self._place(unit, head, self._compaction(unit, head.entry))
        else:
            self._user(unit, head)

    def _answer(self, unit: Unit) -> None:
        first, newest_first = unit.head, unit.lines[::-1]
        answer = AssistantMessage(
            id=first.uuid,
            blocks=tuple(block for line in unit.lines for block in line.content.blocks),
            name="client" if first.synthetic else "",
            model=first.model,
            usage=next((line.usage for line in newest_first if line.usage), None),
            stop=next((line.stop for line in newest_first if line.stop), ""),
        )
        answer_id = self._place(unit, first, answer)
        for line in unit.lines[1:]:
            self.entries_of[line.uuid] = self.entries_of[first.uuid]
        chosen, copies = self._one_each(unit.results)
        for line in unit.lines:
            self._results(unit, line)
        for one in chosen:
            self._user(unit, one)
        end = unit.last
        for one in copies:
            unit.last = answer_id
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
        wanted = set(best.values())
        return [one for one in results if one in wanted], [one for one in results if one not in wanted]

    def _user(self, unit: Unit, one: Node) -> None:
        self._results(unit, one)
        if one.content.said or not one.content.results:
            self._place(unit, one, UserMessage(id=one.uuid, blocks=one.content.said, synthetic=one.synthetic))

    def _results(self, unit: Unit, one: Node) -> None:
        for result in one.content.results:
            self._place(unit, one, replace(result, id=one.uuid))

    def _compaction(self, unit: Unit, entry: Entry) -> Entry:
        """A compaction with its summary, and the entries of the records that it kept; any other entry as it is."""
        if not isinstance(entry, CompactionEntry):
            return entry
        kept = [entry_id for uuid in unit.head.preserved for entry_id in self.entries_of.get(uuid, [uuid])]
        summary = None
        if unit.summary is not None:
            words = plain_text(UserMessage(id="", blocks=unit.summary.content.said))
            summary = Summary(id=unit.summary.uuid, text=words, time=unit.summary.time)
        return replace(entry, summary=summary, kept=tuple(dict.fromkeys(kept)) if unit.head.preserved else None)

    def _place(self, unit: Unit, one: Node, what: Message | Entry) -> str:
        """Write a message or an entry of this record after the unit's newest entry, and return its id."""
        self.log.leaf, self.time = unit.last, one.time
        unit.last = self.say(what) if isinstance(what, Message) else self.add(what)
        self.entries_of[one.uuid].append(unit.last)
        return unit.last


def is_record(record: Mapping[str, Json]) -> bool:
    """Whether a line has the client's own fields."""
    if label(record, "type") in SIDE:
        return bool({"leafUuid", "sessionId", "messageId", "snapshot"} & set(record))
    ours = label(record, "type") in TYPES and "uuid" in record
    return ours and bool({"parentUuid", "sessionId", "isSidechain"} & set(record))
