"""The tree of a Claude Code recording: lines to units, units to a log whose leaf is the live end.

A unit is what has one place in the tree: a user record, a boundary, or one API message with the results of its calls.
The client writes an API message as several lines and hangs each parallel result on its own line; in a unit they stand
in a row, so that only a rewind, a resumed copy or a sub-agent makes a branch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from workbench.importers.claude_records import Node, boundary_ids, cleared_ids, tokens
from workbench.importers.fields import words
from workbench.transcript.log import ClearingEntry, CompactionEntry, Entry, Log, MessageEntry, NoteEntry
from workbench.transcript.message import (
    AssistantMessage,
    Summary,
    SystemMessage,
    Text,
    ToolCall,
    ToolResult,
    UserMessage,
    plain_text,
)


@dataclass(slots=True, eq=False)
class Unit:
    """Records with one place in the tree."""

    parent: Unit | None
    lines: list[Node]
    results: list[Node] = field(default_factory=list)
    extra: list[Node] = field(default_factory=list)
    summary: Node | None = None
    children: list[Unit] = field(default_factory=list)
    last: str | None = None

    @property
    def head(self) -> Node:
        """The first record."""
        return self.lines[0]

    def calls(self) -> set[str]:
        """The ids of the calls that were made here."""
        return {block.id for line in self.lines for block in line.content.blocks if isinstance(block, ToolCall)}


class Tree:
    """Takes nodes in file order and gives the log.

    Attributes:
        repairs: what was not as it should be, one sentence each.
    """

    def __init__(self) -> None:
        self.repairs: list[str] = []
        self._nodes: dict[str, Node] = {}
        self._order: list[Node] = []

    def add(self, node: Node) -> None:
        """Take one node; a second one with the same uuid is a copy and is dropped."""
        if node.uuid not in self._nodes:
            self._nodes[node.uuid] = node
            self._order.append(node)

    def log(self) -> Log:
        """The whole tree as a log; its leaf is the newest record of the main conversation."""
        self._mend()
        units, unit_of = self._units()
        names = {
            block.id: block.name for node in self._order for block in node.content.blocks if isinstance(block, ToolCall)
        }
        log = _Emitted(names, self._live())
        for unit in units:  # each stands behind its parent
            log.emit(unit)
        ends = (node for node in reversed(self._order) if not node.side and node.kind not in ("through", "note"))
        live = unit_of[newest.uuid] if (newest := next(ends, None)) is not None else None
        log.log.leaf = live.last if live is not None else log.log.leaf
        return log.log

    def _mend(self) -> None:
        """Give a record whose parent is not in the file the record before it, and cut circles."""
        before: Node | None = None
        for node in self._order:
            if node.parent and node.parent not in self._nodes:
                follows = before.uuid if before is not None and not node.side else ""
                if before is not None and node.kind != "boundary":
                    where = "taken to follow the record before" if follows else "taken as a start"
                    self.repairs.append(f"line {node.line}: the parent {node.parent!r} is not in the file, {where}")
                node.parent = follows
            if not node.side:
                before = node
        done: set[str] = set()
        for node in self._order:
            way: set[str] = set()
            at: Node | None = node
            while at is not None and at.uuid not in done:
                way.add(at.uuid)
                if at.parent in way:
                    self.repairs.append(f"line {at.line}: the parents of {at.uuid!r} run in a circle, cut here")
                    at.parent = ""
                at = self._nodes.get(at.parent)
            done |= way

    def _live(self) -> set[str]:
        """The uuids on the chain from the newest record of the main conversation back to its start."""
        at = next((node for node in reversed(self._order) if not node.side and node.kind != "through"), None)
        live: set[str] = set()
        while at is not None:
            live.add(at.uuid)
            at = self._nodes.get(at.parent)
        return live

    def _units(self) -> tuple[list[Unit], dict[str, Unit | None]]:
        units: list[Unit] = []
        unit_of: dict[str, Unit | None] = {}
        calls: dict[int, set[str]] = {}
        for node in _nodes_parents_first(self._order, self._nodes):
            parent = unit_of[node.parent] if node.parent else None
            unit_of[node.uuid] = joined = _joins(node, parent, calls)
            if joined is not None or node.kind == "through":
                unit_of[node.uuid] = joined if joined is not None else parent
                continue
            unit = Unit(parent, [node])
            units.append(unit)
            unit_of[node.uuid] = unit
            if node.kind == "assistant":
                calls[id(unit)] = unit.calls()
        return units, unit_of


def _joins(node: Node, parent: Unit | None, calls: dict[int, set[str]]) -> Unit | None:
    """The unit above that this record is a part of, if it is."""
    if parent is None:
        return None
    head = parent.head
    if node.kind == "assistant" and head.kind == "assistant" and head.message_id == node.message_id:
        parent.lines.append(node)
        calls[id(parent)] |= {block.id for block in node.content.blocks if isinstance(block, ToolCall)}
        return parent
    answers = {result.call_id for result in node.content.results}
    if node.kind == "user" and answers and head.kind == "assistant" and answers <= calls[id(parent)]:
        parent.results.append(node)
        return parent
    if node.kind == "user" and node.summary and head.kind == "boundary" and parent.summary is None:
        parent.summary = node
        return parent
    return None


class _Emitted:
    """A log that is filled unit by unit, parents first."""

    def __init__(self, names: dict[str, str], live: set[str]) -> None:
        self.log = Log()
        self.names, self.live = names, live
        self.entries_of: dict[str, list[str]] = {}
        self.copies: dict[str, int] = {}

    def emit(self, unit: Unit) -> None:
        """Write the unit's entries, each after the one before."""
        unit.last = unit.parent.last if unit.parent is not None else None
        head = unit.head
        if head.kind == "assistant":
            self._answer(unit)
        elif head.kind == "boundary":
            self._append(unit, head, self._compaction(unit))
        elif head.kind == "clearing":
            meta = head.meta
            entry = ClearingEntry(
                id=head.uuid,
                parent=None,
                call_ids=cleared_ids(meta),
                tokens_before=tokens(meta, "preTokens"),
                tokens_saved=tokens(meta, "tokensSaved"),
                reason=words(meta, "trigger"),
                time=head.time,
            )
            self._append(unit, head, entry)
        elif head.kind == "note":
            text = "\n".join(block.text for block in head.content.blocks if isinstance(block, Text))
            self._append(unit, head, NoteEntry(id=head.uuid, parent=None, kind=head.label, text=text, time=head.time))
        else:
            self._user(unit, head)

    def _answer(self, unit: Unit) -> None:
        first, newest = unit.head, unit.lines[-1]
        blocks = tuple(block for line in unit.lines for block in line.content.blocks)
        message = AssistantMessage(
            id=first.uuid,
            blocks=blocks,
            name="client" if first.synthetic else "",
            model=first.model,
            usage=newest.usage or next((line.usage for line in reversed(unit.lines) if line.usage), None),
            stop=next((line.stop for line in reversed(unit.lines) if line.stop), ""),
            time=first.time,
        )
        self._append(unit, first, _said(message))
        for line in unit.lines[1:]:
            self.entries_of[line.uuid] = self.entries_of[first.uuid]
        answer = unit.last
        chosen, copies = self._one_each(unit.results)
        for line in unit.lines:
            self._results(unit, line)
        for node in chosen:
            self._user(unit, node)
        end = unit.last
        for node in copies:
            unit.last = answer
            self._user(unit, node)
        unit.last = end

    def _one_each(self, results: Sequence[Node]) -> tuple[list[Node], list[Node]]:
        """One record a call, that of the live conversation if several answer the same; and the others."""
        best: dict[str, Node] = {}
        for node in results:
            for result in node.content.results:
                known = best.get(result.call_id)
                if known is None or (node.uuid in self.live and known.uuid not in self.live):
                    best[result.call_id] = node
        wanted = {node.uuid for node in best.values()}
        return [n for n in results if n.uuid in wanted], [n for n in results if n.uuid not in wanted]

    def _user(self, unit: Unit, node: Node) -> None:
        self._results(unit, node)
        said = node.content.said
        if said or not node.content.results:
            message = UserMessage(id=node.uuid, blocks=said, synthetic=node.synthetic, time=node.time)
            self._append(unit, node, _said(message))

    def _results(self, unit: Unit, node: Node) -> None:
        for result in node.content.results:
            message = ToolResult(
                id=node.uuid,
                call_id=result.call_id,
                blocks=result.blocks,
                name=self.names.get(result.call_id, ""),
                is_error=result.is_error,
                time=node.time,
            )
            self._append(unit, node, _said(message))

    def _compaction(self, unit: Unit) -> CompactionEntry:
        head, meta = unit.head, unit.head.meta
        ids = boundary_ids(meta)
        kept = None
        if ids is not None:
            kept = tuple(dict.fromkeys(entry for uuid in ids for entry in self.entries_of.get(uuid, [uuid])))
        summary = None
        if unit.summary is not None:
            text = plain_text(UserMessage(id="", blocks=unit.summary.content.said))
            summary = Summary(id=unit.summary.uuid, text=text, time=unit.summary.time)
        return CompactionEntry(
            id=head.uuid,
            parent=None,
            summary=summary,
            kept=kept,
            tokens_before=tokens(meta, "preTokens"),
            tokens_after=tokens(meta, "postTokens"),
            reason=words(meta, "trigger"),
            time=head.time,
        )

    def _append(self, unit: Unit, node: Node, entry: Entry) -> None:
        entry_id = entry.id
        while entry_id in self.log:
            n = self.copies[entry.id] = self.copies.get(entry.id, 1) + 1
            entry_id = f"{entry.id}~{n}"
        placed = replace(entry, id=entry_id, parent=unit.last)
        if isinstance(placed, MessageEntry) and placed.message.id != entry_id:
            placed = replace(placed, message=replace(placed.message, id=entry_id))
        self.log.append(placed)
        self.entries_of.setdefault(node.uuid, []).append(entry_id)
        unit.last = entry_id


def _said(message: AssistantMessage | UserMessage | ToolResult | SystemMessage) -> MessageEntry:
    return MessageEntry(id=message.id, parent=None, message=message)


def _nodes_parents_first(order: Sequence[Node], nodes: dict[str, Node]) -> Iterator[Node]:
    """All nodes, file order where that is possible, and no node before its parent."""
    done: set[str] = set()
    for node in order:
        way: list[Node] = []
        at: Node | None = node
        while at is not None and at.uuid not in done:
            way.append(at)
            done.add(at.uuid)
            at = nodes.get(at.parent)
        yield from reversed(way)
