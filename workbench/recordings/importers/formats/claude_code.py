"""Claude Code's session files under `~/.claude/projects`, versions 1.0.98 to 2.1.219: JSON lines
that form a tree.

A unit is what has one place in the tree: a user record, a compaction, or one API message with the
results of its calls. The client writes an API message as several lines and hangs each parallel
result on its own line; in a unit they are in a row, so that only a rewind, a resumed copy or a
sub-agent makes a branch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace

from workbench.engine.transcript.log import CompactionEntry, Entry, NoteEntry
from workbench.engine.transcript.message import (
    AssistantMessage,
    Json,
    Message,
    Summary,
    UserMessage,
    plain_text,
)
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.formats.claude_records import Node, read_node
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.values import as_mapping, label, mapping, text

SIDE = frozenset(
    {
        "summary", "file-history-snapshot", "queue-operation", "custom-title", "ai-title", "last-prompt", "mode",
        "pr-link", "agent-name", "tag", "agent-setting", "permission-mode", "saved-hook-context",
    }
)  # fmt: skip
TYPES = frozenset({"user", "assistant", "system", "attachment", "progress"})


@dataclass(slots=True, eq=False)
class Unit:
    """Records with one place in the tree: an answer's lines and their results, or a compaction and
    its summary.

    Attributes:
        calls: ids of the calls in it.
        last: id of the newest entry that was written of it.
    """

    parent: Unit | None
    records: list[Node]
    calls: set[str]
    last: str | None = None

    def takes(self, node: Node) -> bool:
        """Take a record that is a part of this unit; say whether it is."""
        head = self.records[0]
        if not isinstance(head.what, AssistantMessage):
            fits = (
                isinstance(head.what, CompactionEntry) and node.summary and len(self.records) == 1
            )
        elif isinstance(node.what, AssistantMessage):
            fits = head.message_id == node.message_id
        else:
            answered_calls = {result.call_id for result in node.results}
            fits = bool(answered_calls) and answered_calls <= self.calls
        if fits:
            self.records.append(node)
            self.calls |= node.calls.keys()
        return fits


def mend(nodes: Mapping[str, Node]) -> Iterator[str]:
    """Give a record whose parent is not in the file the record before it; yields a sentence for
    each such repair.
    """
    previous: Node | None = None
    for node in nodes.values():
        if node.parent and node.parent not in nodes:
            follows = previous.uuid if previous is not None and not node.side else ""
            if previous is not None and not isinstance(node.what, CompactionEntry):
                where = "attached to the record before" if follows else "taken as a start"
                yield f"line {node.line}: the parent {node.parent!r} is not in the file, {where}"
            node.parent = follows
        if not node.side:
            previous = node


def hang_behind_compactions(nodes: Mapping[str, Node]) -> None:
    """Give what came after a compaction, but hangs on a record that it preserved, the end of the
    compaction as parent.

    The client leaves a preserved record where it was, and writes what follows as its child.
    """
    order = list(nodes.values())
    for index, compaction in enumerate(order):
        if not isinstance(compaction.what, CompactionEntry):
            continue
        head, tail = compaction.preserved
        if compaction.what.kept is None and tail in nodes:
            back = [ancestor.uuid for ancestor in ancestors(nodes, nodes[tail])]
            kept_uuids = tuple(reversed(back[: back.index(head) + 1])) if head in back else (tail,)
            compaction.what = replace(compaction.what, kept=kept_uuids)
        preserved, end = {*(compaction.what.kept or ()), tail} - {""}, compaction.uuid
        for later in order[index + 1 :] if preserved else ():
            if later.parent in preserved and later.uuid not in preserved:
                later.parent = end
            elif later.parent == end and not later.side and later.message_id == "":
                end = later.uuid


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
            node.parent = _end(sibling, children) if sibling else node.parent
            siblings = children[node.parent]
            siblings.newest = node.uuid
            siblings.moved = node.uuid if sibling and node.client else siblings.moved
            siblings.answer = (
                node.uuid if isinstance(node.what, AssistantMessage) else siblings.answer
            )
            siblings.is_client_only = siblings.is_client_only and node.client
        children[node.uuid] = Children()


def _beside(node: Node, parent: Node, siblings: Children) -> str:
    """The uuid of the record beside a node that it comes after; empty where it hangs where it
    belongs.
    """
    if siblings.moved:
        return siblings.moved
    if node.client:
        return siblings.answer
    if isinstance(node.what, AssistantMessage):
        is_part = node.message_id == parent.message_id
        return siblings.newest if siblings.is_client_only and not is_part else ""
    return siblings.answer if parent.client and isinstance(node.what, UserMessage) else ""


def _end(uuid: str, children: Mapping[str, Children]) -> str:
    """The newest record that follows this one; the way there is shortened for the next time."""
    while newest := children[uuid].newest:
        children[uuid].newest = children[newest].newest or newest
        uuid = newest
    return uuid


def ancestors(nodes: Mapping[str, Node], node: Node | None) -> Iterator[Node]:
    """The record, its parent, and so on to a start."""
    while node is not None:
        yield node
        node = nodes.get(node.parent)


class ClaudeCodeBuilder(SessionBuilder):
    """Reads records into a tree, and writes it unit by unit to a log whose leaf is the live end."""

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.nodes: dict[str, Node] = {}
        self.unit_of: dict[str, Unit | None] = {}
        self.titles: dict[str, str] = {}
        self.entries_of: dict[str, list[str]] = defaultdict(list)
        self.live: set[str] = set()
        self.agent_leaves: dict[str, str] = {}
        self.renamed: dict[str, str] = {}
        self.doubles: dict[str, int] = {}

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one line; a second one with the same uuid and the same words is a copy."""
        self.id = self.id or self.source.name(record, "sessionId")
        self.cwd = self.cwd or self.source.name(record, "cwd")
        self.title = self.source.name(record, "customTitle", "aiTitle") or self.title
        if record.get("type") == "summary":
            self.titles[self.source.name(record, "leafUuid")] = self.source.name(record, "summary")
        self._progress(mapping(record, "data")) if record.get("type") == "progress" else None
        node = read_node(self.line, record, self.source)
        if node is not None:
            self._take(node)
        elif label(record, "type") not in SIDE:
            self.source.unknown[f"record of type {str(record.get('type'))!r}"] += 1

    def _progress(self, data: Mapping[str, Json]) -> None:
        """Read a message of a sub-agent, which newer clients show as progress of the call that
        began it.
        """
        message, agent = mapping(data, "message"), text(data, "agentId")
        if text(data, "type") == "agent_progress" and text(message, "type") in (
            "user",
            "assistant",
        ):
            record = {**message, "parentUuid": self.agent_leaves.get(agent), "isSidechain": True}
            node = read_node(self.line, record, self.source)
            if node is None:
                self.source.unknown["message of a sub-agent without an id"] += 1
            elif self._take(node):
                self.agent_leaves[agent] = node.uuid
        elif message:
            self.source.unknown[f"message in progress of type {text(data, 'type')!r}"] += 1

    def _take(self, node: Node) -> bool:
        """Take a record into the tree, unless it is a copy; one that says something else gets
        another id.
        """
        node.parent = self.renamed.get(node.parent, node.parent)
        uuid = self.renamed.get(node.uuid, node.uuid)
        earlier = self.nodes.get(uuid)
        if earlier is not None:
            if earlier.says == node.says:
                return False
            number = self.doubles[node.uuid] = self.doubles.get(node.uuid, 1) + 1
            reason = (
                f"the uuid {node.uuid!r} is that of line {earlier.line}, which says something else;"
                " both are kept"
            )
            self.source.skipped.append(f"line {node.line}: {reason}")
            uuid = self.renamed[node.uuid] = f"{node.uuid}~{number}"
            node.rename(uuid)
        self.nodes[uuid] = node
        return True

    def so_far(self) -> Session:
        """As in the base class; its nodes are copied, since the end of a reading mends them."""
        nodes = self.nodes
        try:
            self.nodes = {uuid: copy(node) for uuid, node in nodes.items()}
            return super().so_far()
        finally:
            self.nodes = nodes

    def session(self) -> Session:
        """The whole tree. Its title is what a person named it, or the client's for a branch of
        this very session.
        """
        hang_behind_compactions(self.nodes)
        self.source.skipped += mend(self.nodes)
        line_up_beside_hooks(self.nodes)
        for node in self.nodes.values():
            self.names.update(node.calls)
            self._find_units(node)
        main = [one for one in reversed(self.nodes.values()) if not one.side and not one.is_through]
        self.live = {one.uuid for one in ancestors(self.nodes, next(iter(main), None))}
        for unit in dict.fromkeys(unit for unit in self.unit_of.values() if unit is not None):
            self._write(unit)
        newest = next(
            (self.unit_of[one.uuid] for one in main if not isinstance(one.what, NoteEntry)), None
        )
        self.log.leaf = newest.last if newest is not None else self.log.leaf
        titles = (title for leaf, title in self.titles.items() if leaf in self.nodes)
        self.title = self.title or next(filter(None, titles), "")
        return super().session()

    def _find_units(self, node: Node) -> None:
        """Find the units of a record and of its ancestors, theirs first; a record that only
        connects has its parent's.

        Where parents form a circle, it is cut.
        """
        way: dict[str, Node] = {}
        for ancestor in ancestors(self.nodes, node):
            if ancestor.uuid in self.unit_of:
                break
            way[ancestor.uuid] = ancestor
            if ancestor.parent in way:
                reason = f"line {ancestor.line}: the parents of {ancestor.uuid!r} form a circle, cut here"
                self.source.skipped.append(reason)
                ancestor.parent = ""
        for ancestor in reversed(way.values()):
            parent = self.unit_of.get(ancestor.parent)
            if not ancestor.is_through and (parent is None or not parent.takes(ancestor)):
                if ancestor.summary and ancestor.uuid:
                    self.source.skipped.append(
                        f"line {ancestor.line}: a summary without its compaction, read as words"
                    )
                parent = Unit(parent, [ancestor], set(ancestor.calls))
            self.unit_of[ancestor.uuid] = parent

    def _write(self, unit: Unit) -> None:
        """Write the unit's entries, each after the one before."""
        unit.last = unit.parent.last if unit.parent is not None else None
        head = unit.records[0]
        if isinstance(head.what, AssistantMessage):
            self._answer(unit)
            return
        if isinstance(head.what, CompactionEntry):
            head.what = self._compaction(head.what, unit.records[1:])
        self._record(unit, head)

    def _answer(self, unit: Unit) -> None:
        """Write an answer and its results: one record a call, the live conversation's; copies
        are branches.
        """
        lines = {
            node: node.what for node in unit.records if isinstance(node.what, AssistantMessage)
        }
        results = [node for node in unit.records if node not in lines]
        head, messages = unit.records[0], list(lines.values())
        answer = replace(
            messages[0],
            blocks=tuple(block for message in messages for block in message.blocks),
            usage=next((message.usage for message in reversed(messages) if message.usage), None),
            stop=next((message.stop for message in reversed(messages) if message.stop), ""),
        )
        answer_id = self._place(unit, head, answer)
        for line in lines:
            self.entries_of[line.uuid] = self.entries_of[head.uuid]
            self._results(unit, line)
        main_nodes: dict[str, Node] = {}
        for node in sorted(results, key=lambda node: node.uuid not in self.live):
            for result in node.results:
                main_nodes.setdefault(result.call_id, node)
        wanted = set(main_nodes.values())
        for node in results:
            if node in wanted:
                self._record(unit, node)
        end = unit.last
        for node in results:
            if node not in wanted:
                unit.last = answer_id
                self._record(unit, node)
        unit.last = end

    def _record(self, unit: Unit, node: Node) -> None:
        self._results(unit, node)
        if node.what is not None:
            self._place(unit, node, node.what)

    def _results(self, unit: Unit, node: Node) -> None:
        for result in node.results:
            self._place(unit, node, result)

    def _compaction(self, entry: CompactionEntry, summaries: Sequence[Node]) -> CompactionEntry:
        """The compaction with its summary, and with the entries of the records that it kept."""
        for node in summaries:
            if isinstance(node.what, UserMessage):
                entry = replace(
                    entry, summary=Summary(id=node.uuid, text=plain_text(node.what), time=node.time)
                )
        if entry.kept is None:
            return entry
        kept_ids = [
            entry_id for uuid in entry.kept for entry_id in self.entries_of.get(uuid, [uuid])
        ]
        return replace(entry, kept=tuple(dict.fromkeys(kept_ids)))

    def _place(self, unit: Unit, node: Node, what: Message | Entry) -> str:
        """Write a message or an entry of this record after the unit's newest entry, and return
        its id.
        """
        self.log.leaf, self.time = unit.last, node.time
        begins = node.side and unit.last is None
        unit.last = self.say(what) if isinstance(what, Message) else self.add(what)
        self.agents += [unit.last] if begins else []
        self.entries_of[node.uuid].append(unit.last)
        return unit.last


def is_record(record: Mapping[str, Json]) -> bool:
    """Whether a line has the client's own fields."""
    type_ = label(record, "type")
    if type_ in SIDE:
        return bool({"leafUuid", "sessionId", "messageId", "snapshot"} & set(record))
    if (
        type_ not in TYPES
        or "uuid" not in record
        or not {"parentUuid", "sessionId", "isSidechain"} & set(record)
    ):
        return False
    if type_ in ("user", "assistant"):
        return "content" in as_mapping(record.get("message"))
    return "isSidechain" in record or "attachment" in record
