"""Messages that waited in Claude Code's queue while the model worked.

A client that writes attachments writes one when it hands such a message over. Older ones, 2.1.5 to
2.1.36 among them, write only that the message left the queue; the next request had it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.engine.transcript.log import CompactionEntry
from workbench.engine.transcript.message import AssistantMessage, UserMessage, plain_text
from workbench.recordings.importers.blocks import text_block
from workbench.recordings.importers.formats.claude_records import Node, is_client_text
from workbench.recordings.importers.values import Record, label

_COMMAND = "/"
"""How a command begins, which the client runs itself."""


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """A message that left the queue, and the line that says so."""

    text: str
    line: int
    time: float | None


@dataclass(slots=True)
class MessageQueue:
    """What waits in the queue, and what the client handed over without a record of its own.

    Attributes:
        waiting: texts, the oldest first.
        handed_over: those that left the queue on the way to the model.
        has_attachments: whether the client writes what it hands over.
    """

    waiting: list[str] = field(default_factory=list)
    handed_over: list[QueuedMessage] = field(default_factory=list)
    has_attachments: bool = False

    def read(self, record: Record, line: int, time: float | None) -> None:
        """Follow one operation on the queue."""
        words = record.get("content")
        operation = label(record, "operation")
        if operation == "enqueue" and isinstance(words, str):
            self.waiting.append(words)
        elif operation == "popAll" and words in self.waiting:
            self.waiting.remove(words)
        elif operation == "remove" and self.waiting:
            text = self.waiting.pop(0)
            message = QueuedMessage(text, line, time)
            if not text.startswith(_COMMAND):
                self.handed_over.append(message)

    def see(self, node: Node) -> None:
        """Take a message out of the queue that stands in the file as a user's."""
        if self.waiting and isinstance(node.item, UserMessage):
            words = plain_text(node.item)
            if words in self.waiting:
                self.waiting.remove(words)

    def with_handed_over(self, nodes: Mapping[str, Node]) -> dict[str, Node]:
        """All records, with a user's message for each that was handed over without one: before
        the next answer, or before a compaction that comes first.
        """
        if self.has_attachments:
            return dict(nodes)
        completed: dict[str, Node] = {}
        messages = list(self.handed_over)
        answer_id = ""
        for node in nodes.values():
            is_next = _ends_request(node, answer_id)
            while is_next and messages and messages[0].line < node.line:
                message = _node(messages.pop(0), node.parent)
                completed[message.uuid] = message
                node.parent = message.uuid
            if node.message_id and not node.side:
                answer_id = node.message_id
            completed[node.uuid] = node
        return completed


def _ends_request(node: Node, answer_id: str) -> bool:
    """Whether a record begins another answer than this, or a compaction."""
    if node.side:
        return False
    if isinstance(node.item, AssistantMessage):
        return node.message_id != answer_id
    return isinstance(node.item, CompactionEntry)


def _node(message: QueuedMessage, parent: str) -> Node:
    """The record that the client did not write."""
    uuid = f"queued-{message.line}"
    blocks = text_block(message.text)
    user_message = UserMessage(
        id=uuid,
        blocks=tuple(blocks),
        synthetic=is_client_text(message.text),
    )
    return Node(
        line=message.line,
        uuid=uuid,
        parent=parent,
        side=False,
        time=message.time,
        item=user_message,
    )
