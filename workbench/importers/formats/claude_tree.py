"""The tree of a Claude Code recording: records to units, parents first.

A unit is what has one place in the tree: a user record, a compaction, or one API message with the results of its calls.
The client writes an API message as several lines and hangs each parallel result on its own line; in a unit they stand
in a row, so that only a rewind, a resumed copy or a sub-agent makes a branch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from workbench.importers.formats.claude_records import Node
from workbench.transcript.log import CompactionEntry


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
