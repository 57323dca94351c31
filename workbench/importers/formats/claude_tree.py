"""The tree of a Claude Code recording: records to units, parents first.

A unit is what has one place in the tree: a user record, a boundary, or one API message with the results of its calls.
The client writes an API message as several lines and hangs each parallel result on its own line; in a unit they stand
in a row, so that only a rewind, a resumed copy or a sub-agent makes a branch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from workbench.importers.formats.claude_records import Node
from workbench.transcript.message import ToolCall


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
        match node.kind, self.head.kind:
            case "assistant", "assistant" if self.head.message_id == node.message_id:
                self.lines.append(node)
                self.calls |= call_ids(node)
            case "user", "assistant" if answers and answers <= self.calls:
                self.results.append(node)
            case "user", "boundary" if node.summary and self.summary is None:
                self.summary = node
            case _:
                return False
        return True


class Tree:
    """Takes nodes in file order and gives units.

    Attributes:
        repairs: what was not as it should be, one sentence each.
    """

    def __init__(self) -> None:
        self.repairs: list[str] = []
        self.nodes: dict[str, Node] = {}

    def add(self, node: Node) -> None:
        """Take one node; a second one with the same uuid is a copy and is dropped."""
        self.nodes.setdefault(node.uuid, node)

    def mend(self) -> None:
        """Give a record whose parent is not in the file the record before it, and cut circles."""
        before: Node | None = None
        for node in self.nodes.values():
            if node.parent and node.parent not in self.nodes:
                follows = before.uuid if before is not None and not node.side else ""
                if before is not None and node.kind != "boundary":
                    where = "attached to the record before" if follows else "taken as a start"
                    self.repairs.append(f"line {node.line}: the parent {node.parent!r} is not in the file, {where}")
                node.parent = follows
            if not node.side:
                before = node
        done: set[str] = set()
        for node in self.nodes.values():
            way: set[str] = set()
            at: Node | None = node
            while at is not None and at.uuid not in done:
                way.add(at.uuid)
                if at.parent in way:
                    self.repairs.append(f"line {at.line}: the parents of {at.uuid!r} form a circle, cut here")
                    at.parent = ""
                at = self.nodes.get(at.parent)
            done |= way

    def live(self) -> set[str]:
        """The uuids on the chain from the newest record of the main conversation back to its start."""
        newest = (node for node in reversed(self.nodes.values()) if not node.side and node.kind != "through")
        at = next(newest, None)
        found: set[str] = set()
        while at is not None:
            found.add(at.uuid)
            at = self.nodes.get(at.parent)
        return found

    def units(self) -> dict[str, Unit | None]:
        """The unit of each record, by its uuid, parents first; a record that only hands on has its parent's."""
        found: dict[str, Unit | None] = {}
        for node in self._parents_first():
            parent = found[node.parent] if node.parent else None
            if node.kind == "through" or (parent is not None and parent.takes(node)):
                found[node.uuid] = parent
            else:
                found[node.uuid] = Unit(parent, [node], calls=call_ids(node))
        return found

    def _parents_first(self) -> Iterator[Node]:
        """All nodes, file order where that is possible, and no node before its parent."""
        done: set[str] = set()
        for node in self.nodes.values():
            way: list[Node] = []
            at: Node | None = node
            while at is not None and at.uuid not in done:
                way.append(at)
                done.add(at.uuid)
                at = self.nodes.get(at.parent)
            yield from reversed(way)


def call_ids(node: Node) -> set[str]:
    """The ids of the calls that a record makes."""
    return {block.id for block in node.content.blocks if isinstance(block, ToolCall)}
