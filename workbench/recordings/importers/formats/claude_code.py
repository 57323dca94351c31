"""Claude Code's session files under `~/.claude/projects`, versions 1.0.98 to 2.1.219: JSON lines
that form a tree.

A unit is what has one place in the tree: a user record, a compaction, or one API message with the
results of its calls. The client writes an API message as several lines and hangs each parallel
result on its own line; in a unit they are in a row, so that only a rewind, a resumed copy or a
sub-agent makes a branch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from copy import copy
from dataclasses import replace

from workbench.engine.transcript.log import CompactionEntry, Entry, NoteEntry
from workbench.engine.transcript.message import (
    AnswerBlock,
    AssistantMessage,
    Message,
    Summary,
    Usage,
    UserMessage,
    plain_text,
)
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.format import Format, json_lines
from workbench.recordings.importers.formats.claude_lines import hangs_by_lines, line_up
from workbench.recordings.importers.formats.claude_queue import MessageQueue
from workbench.recordings.importers.formats.claude_records import (
    Node,
    is_without_tree,
    read_node,
)
from workbench.recordings.importers.formats.claude_tree import (
    Unit,
    ancestors,
    hang_behind_compactions,
    line_up_beside_hooks,
    mend,
)
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.values import Record, as_mapping, label, mapping, text

SIDE = frozenset(
    {
        "summary",
        "file-history-snapshot",
        "queue-operation",
        "custom-title",
        "ai-title",
        "last-prompt",
        "mode",
        "pr-link",
        "agent-name",
        "tag",
        "agent-setting",
        "permission-mode",
        "saved-hook-context",
    }
)
TYPES = frozenset({"user", "assistant", "system", "attachment", "progress"})


class ClaudeCodeBuilder(SessionBuilder):
    """Reads records into a tree, and writes it unit by unit to a log whose leaf is the live end."""

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.nodes: dict[str, Node] = {}
        self.nodes_without_id: list[Node] = []
        self.unit_of: dict[str, Unit | None] = {}
        self.titles: dict[str, str] = {}
        self.entries_of: dict[str, list[str]] = defaultdict(list)
        self.live: set[str] = set()
        self.agent_leaves: dict[str, str] = {}
        self.renamed: dict[str, str] = {}
        self.doubles: dict[str, int] = {}
        self.queue = MessageQueue()

    def read(self, record: Record) -> None:
        """Read one line; a second one with the same uuid and the same words is a copy."""
        self.id = self.id or self.source.name(record, "sessionId")
        self.cwd = self.cwd or self.source.name(record, "cwd")
        self.title = self.source.name(record, "customTitle", "aiTitle") or self.title
        if record.get("type") == "summary":
            leaf = self.source.name(record, "leafUuid")
            self.titles[leaf] = self.source.name(record, "summary")
        match record.get("type"):
            case "progress":
                self._progress(mapping(record, "data"))
            case "queue-operation":
                self.queue.read(record, self.line, self.source.time(record, "timestamp"))
            case "attachment":
                self.queue.has_attachments = True
        node = read_node(self.line, record, self.source)
        if node is not None and is_without_tree(record):
            self.nodes_without_id.append(node)
        elif node is not None:
            self.queue.see(node)
            self._take(node)
        elif label(record, "type") not in SIDE:
            self.source.unknown[f"record of type {str(record.get('type'))!r}"] += 1

    def _progress(self, data: Record) -> None:
        """Read a message of a sub-agent, which newer clients show as progress of the call that
        began it.
        """
        message = mapping(data, "message")
        agent = text(data, "agentId")
        is_agent = text(data, "type") == "agent_progress"
        if is_agent and text(message, "type") in ("user", "assistant"):
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
            self.source.skipped.append(
                f"line {node.line}: the uuid {node.uuid!r} is that of line {earlier.line}, which"
                " says something else; both are kept"
            )
            number = self.doubles.get(node.uuid, 1) + 1
            self.doubles[node.uuid] = number
            uuid = f"{node.uuid}~{number}"
            self.renamed[node.uuid] = uuid
            node.rename(uuid)
        self.nodes[uuid] = node
        return True

    def _take_those_without_id(self) -> None:
        """Take the messages without an id for the whole, or name them where others have one: their
        place between those is unknown.
        """
        if not self.nodes:
            self.nodes = {node.uuid: copy(node) for node in self.nodes_without_id}
        elif self.nodes_without_id:
            kind = "message without `uuid`, between others that have one"
            self.source.unknown[kind] = len(self.nodes_without_id)

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
        self._take_those_without_id()
        if hangs_by_lines(self.nodes):
            line_up(self.nodes)
            self.source.leave_out(
                "the parents of its records make no tree, so they are read line by line"
            )
        hang_behind_compactions(self.nodes)
        self.source.skipped += mend(self.nodes)
        line_up_beside_hooks(self.nodes)
        self.nodes = self.queue.with_handed_over(self.nodes)
        if self.queue.waiting:
            count = len(self.queue.waiting)
            self.source.leave_out(f"{count} × message that stayed in the client's queue, left out")
        for node in self.nodes.values():
            self.names.update(node.calls)
            self._find_units(node)
        main = self._main_records()
        newest = main[0] if main else None
        self.live = {node.uuid for node in ancestors(self.nodes, newest)}
        for unit in dict.fromkeys(self.unit_of.values()):
            if unit is not None:
                self._write(unit)
        self.log.leaf = self._leaf(main)
        self.title = self.title or self._client_title()
        return super().session()

    def _main_records(self) -> list[Node]:
        """The records of the main conversation that hold something, the newest first."""
        records: list[Node] = []
        for node in reversed(self.nodes.values()):
            if not node.side and not node.is_through:
                records.append(node)
        return records

    def _leaf(self, main: Sequence[Node]) -> str | None:
        """The id of the entry that is the live end."""
        for node in main:
            if not isinstance(node.item, NoteEntry):
                unit = self.unit_of[node.uuid]
                return self.log.leaf if unit is None else unit.newest_entry
        return self.log.leaf

    def _client_title(self) -> str:
        """The title that the client gave to a branch of this very session; empty without one."""
        for leaf, title in self.titles.items():
            if title and leaf in self.nodes:
                return title
        return ""

    def _find_units(self, node: Node) -> None:
        """Find the units of a record and of its ancestors, theirs first; a record that only
        connects has its parent's.

        Where parents form a circle, it is cut.
        """
        new_nodes: dict[str, Node] = {}
        for ancestor in ancestors(self.nodes, node):
            if ancestor.uuid in self.unit_of:
                break
            new_nodes[ancestor.uuid] = ancestor
            if ancestor.parent in new_nodes:
                self.source.skipped.append(
                    f"line {ancestor.line}: the parents of {ancestor.uuid!r} form a circle,"
                    " cut here"
                )
                ancestor.parent = ""
        for ancestor in reversed(new_nodes.values()):
            self.unit_of[ancestor.uuid] = self._unit(ancestor)

    def _unit(self, node: Node) -> Unit | None:
        """The unit of a record whose parent has its unit already: the parent's or a new one."""
        parent = self.unit_of.get(node.parent)
        if node.is_through or (parent is not None and parent.takes(node)):
            return parent
        if node.summary and node.uuid:
            self.source.skipped.append(
                f"line {node.line}: a summary without its compaction, read as words"
            )
        return Unit(parent, [node], set(node.calls))

    def _write(self, unit: Unit) -> None:
        """Write the unit's entries, each after the one before."""
        unit.newest_entry = None if unit.parent is None else unit.parent.newest_entry
        head = unit.records[0]
        if isinstance(head.item, AssistantMessage):
            self._answer(unit)
            return
        if isinstance(head.item, CompactionEntry):
            head.item = self._compaction(head.item, unit.records[1:])
        self._record(unit, head)

    def _answer(self, unit: Unit) -> None:
        """Write an answer and its results: one record a call, the live conversation's; copies
        are branches.
        """
        head = unit.records[0]
        lines: list[Node] = []
        results: list[Node] = []
        messages: list[AssistantMessage] = []
        for node in unit.records:
            if isinstance(node.item, AssistantMessage):
                lines.append(node)
                messages.append(node.item)
            else:
                results.append(node)
        answer_id = self._place(unit, head, _joined(messages))
        for line in lines:
            self.entries_of[line.uuid] = self.entries_of[head.uuid]
            self._results(unit, line)
        main_results = self._main_results(results)
        for node in results:
            if node in main_results:
                self._record(unit, node)
        end = unit.newest_entry
        for node in results:
            if node not in main_results:
                unit.newest_entry = answer_id
                self._record(unit, node)
        unit.newest_entry = end

    def _main_results(self, results: Sequence[Node]) -> set[Node]:
        """One record for each call that has results: the live conversation's, or else the first."""
        record_of: dict[str, Node] = {}
        for node in sorted(results, key=lambda node: node.uuid not in self.live):
            for result in node.results:
                record_of.setdefault(result.call_id, node)
        return set(record_of.values())

    def _record(self, unit: Unit, node: Node) -> None:
        self._results(unit, node)
        if node.item is not None:
            self._place(unit, node, node.item)

    def _results(self, unit: Unit, node: Node) -> None:
        for result in node.results:
            self._place(unit, node, result)

    def _compaction(self, entry: CompactionEntry, summaries: Sequence[Node]) -> CompactionEntry:
        """The compaction with its summary, and with the entries of the records that it kept."""
        for node in summaries:
            if isinstance(node.item, UserMessage):
                summary = Summary(id=node.uuid, text=plain_text(node.item), time=node.time)
                entry = replace(entry, summary=summary)
        if entry.kept is None:
            return entry
        entry_ids: list[str] = []
        for uuid in entry.kept:
            entry_ids += self.entries_of.get(uuid, [uuid])
        return replace(entry, kept=tuple(dict.fromkeys(entry_ids)))

    def _place(self, unit: Unit, node: Node, item: Message | Entry) -> str:
        """Write a message or an entry of this record after the unit's newest entry, and return
        its id.
        """
        self.log.leaf = unit.newest_entry
        self.time = node.time
        self.is_copied = bool(node.forked_from)
        self.forked_from = self.forked_from or node.forked_from
        entry_id = self.say(item) if isinstance(item, Message) else self.add(item)
        if node.side and unit.newest_entry is None:
            self.agents.append(entry_id)
        unit.newest_entry = entry_id
        self.entries_of[node.uuid].append(entry_id)
        return entry_id


def _joined(lines: Sequence[AssistantMessage]) -> AssistantMessage:
    """The answer that the client wrote as several lines, with the newest usage and stop."""
    blocks: list[AnswerBlock] = []
    usage: Usage | None = None
    stop = ""
    for line in lines:
        blocks += line.blocks
        usage = line.usage or usage
        stop = line.stop or stop
    return replace(
        lines[0],
        blocks=tuple(blocks),
        usage=usage,
        stop=stop,
    )


def is_record(record: Record) -> bool:
    """Whether a line has the client's own fields."""
    fields = set(record)
    type_ = label(record, "type")
    if type_ in SIDE:
        return bool({"leafUuid", "sessionId", "messageId", "snapshot"} & fields)
    if is_without_tree(record):
        return True
    if type_ not in TYPES or "uuid" not in fields:
        return False
    if not {"parentUuid", "sessionId", "isSidechain"} & fields:
        return False
    if type_ in ("user", "assistant"):
        return "content" in as_mapping(record.get("message"))
    return "isSidechain" in fields or "attachment" in fields


def knows_claude_code(head: Head) -> bool:
    """Whether a line has the client's own fields."""
    if any(is_record(record) for record in head.records):
        return True
    return head.is_object_with("uuid", "parentUuid", "isSidechain")


CLAUDE_CODE = Format(
    name="claude_code",
    description="Claude Code session files (JSON lines)",
    carries=("tree", "calls", "thinking", "images", "usage", "times", "model", "compactions"),
    knows=knows_claude_code,
    sessions=json_lines(ClaudeCodeBuilder),
    aside="content toolUseResult lastPrompt summary aiTitle customTitle hookInfos attachment.command "
    "attachment.stdout data.command message.content.content.resultDisplay",
)
