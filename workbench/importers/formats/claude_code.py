"""Claude Code's session files under `~/.claude/projects`, versions 1.0.98 to 2.1.219: JSON lines that form a tree.

A unit is what has one place in the tree: a user record, a compaction, or one API message with the results of its calls.
The client writes an API message as several lines and hangs each parallel result on its own line; in a unit they are in
a row, so that only a rewind, a resumed copy or a sub-agent makes a branch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from workbench.importers.formats.claude_records import Node, read_node
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


@dataclass(slots=True, eq=False)
class Unit:
    """Records with one place in the tree.

    Attributes:
        last: id of the newest entry that was written of it.
    """

    parent: Unit | None
    lines: list[Node]
    results: list[Node] = field(default_factory=list)
    calls: set[str] = field(default_factory=set)
    summary: Node | None = None
    last: str | None = None

    @property
    def head(self) -> Node:
        """The first record."""
        return self.lines[0]

    def takes(self, node: Node) -> bool:
        """Take a record that is a part of this unit; say whether it is."""
        answers = {result.call_id for result in node.content.results}
        if self.head.kind == node.kind == "assistant" and self.head.message_id == node.message_id:
            self.lines.append(node)
            self.calls |= node.calls.keys()
        elif self.head.kind == "assistant" and node.kind == "user" and answers and answers <= self.calls:
            self.results.append(node)
        elif isinstance(self.head.entry, CompactionEntry) and node.summary and self.summary is None:
            self.summary = node
        else:
            return False
        return True


def mend(nodes: Mapping[str, Node]) -> Iterator[str]:
    """Give a record whose parent is not in the file the record before it; yields a sentence for each such repair."""
    before: Node | None = None
    for node in nodes.values():
        if node.parent and node.parent not in nodes:
            follows = before.uuid if before is not None and not node.side else ""
            if before is not None and not isinstance(node.entry, CompactionEntry):
                where = "attached to the record before" if follows else "taken as a start"
                yield f"line {node.line}: the parent {node.parent!r} is not in the file, {where}"
            node.parent = follows
        if not node.side:
            before = node
    done: set[str] = set()
    for node in nodes.values():
        way: set[str] = set()
        for at in ancestors(nodes, node):
            if at.uuid in done:
                break
            way.add(at.uuid)
            if at.parent in way:
                yield f"line {at.line}: the parents of {at.uuid!r} form a circle, cut here"
                at.parent = ""
        done |= way


def ancestors(nodes: Mapping[str, Node], node: Node | None) -> Iterator[Node]:
    """The record, its parent, and so on to a start."""
    while node is not None:
        yield node
        node = nodes.get(node.parent)


def units(nodes: Mapping[str, Node]) -> dict[str, Unit | None]:
    """The unit of each record, by its uuid, parents first; a record that only connects has its parent's."""
    found: dict[str, Unit | None] = {}
    for node in nodes.values():
        way: list[Node] = []
        for at in ancestors(nodes, node):
            if at.uuid in found:
                break
            way.append(at)
        for one in reversed(way):
            parent = found[one.parent] if one.parent else None
            if one.kind == "through" or (parent is not None and parent.takes(one)):
                found[one.uuid] = parent
            else:
                found[one.uuid] = Unit(parent, [one], calls=set(one.calls))
    return found


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
        made = read_node(self.line, record)
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
