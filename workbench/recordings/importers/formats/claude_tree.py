"""The tree of a Claude Code recording: each record is hung where it belongs before all are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from workbench.engine.transcript.log import CompactionEntry
from workbench.engine.transcript.message import AssistantMessage, UserMessage
from workbench.recordings.importers.formats.claude_records import Node


@dataclass(slots=True, eq=False)
class Unit:
    """Records with one place in the tree: an answer's lines and their results, or a compaction and
    its summary.

    Attributes:
        calls: ids of the calls in it.
        newest_entry: id of the newest entry that was written of it.
    """

    parent: Unit | None
    records: list[Node]
    calls: set[str]
    newest_entry: str | None = None

    def takes(self, node: Node) -> bool:
        """Take a record that is a part of this unit; say whether it is."""
        if not self._fits(node):
            return False
        self.records.append(node)
        self.calls |= node.calls.keys()
        return True

    def _fits(self, node: Node) -> bool:
        """Whether a record is a part of this unit."""
        head = self.records[0]
        if isinstance(head.item, CompactionEntry):
            return node.summary and len(self.records) == 1
        if not isinstance(head.item, AssistantMessage):
            return False
        if isinstance(node.item, AssistantMessage):
            return head.message_id == node.message_id
        call_ids = {result.call_id for result in node.results}
        return bool(call_ids) and call_ids <= self.calls


def mend(nodes: Mapping[str, Node]) -> Iterator[str]:
    """Give a record whose parent is not in the file the record before it; yields a sentence for
    each such repair.
    """
    previous: Node | None = None
    for node in nodes.values():
        if node.parent and node.parent not in nodes:
            new_parent = ""
            if previous is not None and not node.side:
                new_parent = previous.uuid
            if previous is not None and not isinstance(node.item, CompactionEntry):
                repair = "attached to the record before" if new_parent else "taken as a start"
                yield f"line {node.line}: the parent {node.parent!r} is not in the file, {repair}"
            node.parent = new_parent
        if not node.side:
            previous = node


def hang_behind_compactions(nodes: Mapping[str, Node]) -> None:
    """Give what came after a compaction, but hangs on a record that it preserved, the end of the
    compaction as parent.

    The client leaves a preserved record where it was, and writes what follows as its child.
    """
    order = list(nodes.values())
    for index, node in enumerate(order):
        if not isinstance(node.item, CompactionEntry):
            continue
        compaction = node.item
        tail = node.preserved[1]
        if compaction.kept is None and tail in nodes:
            compaction = replace(compaction, kept=_preserved(nodes, node))
            node.item = compaction
        preserved = {*(compaction.kept or ()), tail} - {""}
        if not preserved:
            continue
        _hang_late(nodes, node, compaction.kept or ())
        end = node.uuid
        for later in order[index + 1 :]:
            if later.parent in preserved and later.uuid not in preserved:
                later.parent = end
            elif later.parent == end and not later.side and later.message_id == "":
                end = later.uuid


def _hang_late(nodes: Mapping[str, Node], compaction: Node, kept_ids: Sequence[str]) -> None:
    """Hang a record that a compaction preserved, but that stands behind it, on the preserved
    record before it.

    The agent goes on while its summary is written; the client writes what was said meanwhile
    behind the summary, as its child.
    """
    for previous_id, uuid in pairwise(kept_ids):
        node = nodes.get(uuid)
        if node is None or previous_id not in nodes:
            continue
        if node.line > compaction.line and node.parent not in kept_ids:
            node.parent = previous_id


def _preserved(nodes: Mapping[str, Node], compaction: Node) -> tuple[str, ...]:
    """The uuids of the records from the first to the last that a compaction preserved; the last
    alone where they are on no path.
    """
    head, tail = compaction.preserved
    way_back = [node.uuid for node in ancestors(nodes, nodes[tail])]
    if head not in way_back:
        return (tail,)
    way_back = way_back[: way_back.index(head) + 1]
    return tuple(reversed(way_back))


@dataclass(slots=True)
class Children:
    """What hangs on one record, as far as it has been read.

    Attributes:
        newest: the uuid of the newest child, or of a record that follows it.
        answer: the uuid of the newest answer; empty without one.
        moved: the uuid of a hook's record that was put here; empty without one.
        is_client_only: whether the client wrote all of them.
    """

    newest: str = ""
    answer: str = ""
    moved: str = ""
    is_client_only: bool = True


def line_up_beside_hooks(nodes: Mapping[str, Node]) -> None:
    """Put an answer and a hook's record with the same parent in a row, in the order in which they
    were written.

    A hook runs beside the model, so that its record hangs where the answer hangs, and what follows
    hangs on either.
    """
    children: dict[str, Children] = {}
    for node in nodes.values():
        if node.parent in children and not node.side:
            sibling = _beside(node, nodes[node.parent], children[node.parent])
            if sibling:
                node.parent = _end(sibling, children)
            siblings = children[node.parent]
            siblings.newest = node.uuid
            if sibling and node.client:
                siblings.moved = node.uuid
            if isinstance(node.item, AssistantMessage):
                siblings.answer = node.uuid
            if not node.client:
                siblings.is_client_only = False
        children[node.uuid] = Children()


def _beside(node: Node, parent: Node, siblings: Children) -> str:
    """The uuid of the record beside a node that it comes after; empty where it hangs where it
    belongs.
    """
    if siblings.moved:
        return siblings.moved
    if node.client:
        return siblings.answer
    if isinstance(node.item, AssistantMessage):
        is_part = node.message_id == parent.message_id
        return siblings.newest if siblings.is_client_only and not is_part else ""
    if parent.client and isinstance(node.item, UserMessage):
        return siblings.answer
    return ""


def _end(uuid: str, children: Mapping[str, Children]) -> str:
    """The newest record that follows this one; the way there is shortened for the next time."""
    newest = children[uuid].newest
    while newest:
        children[uuid].newest = children[newest].newest or newest
        uuid = newest
        newest = children[uuid].newest
    return uuid


def ancestors(nodes: Mapping[str, Node], node: Node | None) -> Iterator[Node]:
    """The record, its parent, and so on to a start."""
    while node is not None:
        yield node
        node = nodes.get(node.parent)
