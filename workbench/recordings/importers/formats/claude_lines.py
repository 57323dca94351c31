"""Records of other clients that write Claude Code's, but not its tree: iFlow hangs all answers on
the user's record, others hang nothing on nothing. They are read line by line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.engine.transcript.message import AnswerBlock, AssistantMessage, ToolCall
from workbench.recordings.importers.formats.claude_records import Node
from workbench.recordings.importers.formats.claude_tree import ancestors

MOST_LOST = 0.25
"""The share of results whose call is none of their ancestors', above which the parents tell
nothing. It was 0 in 40 sessions of Claude Code, a third in one of iFlow.
"""


def hangs_by_lines(nodes: Mapping[str, Node]) -> bool:
    """Whether the parents of the main conversation tell nothing: no record has one, or results do
    not hang behind their calls.
    """
    main_nodes = [node for node in nodes.values() if not node.side]
    has_parents = any(node.parent for node in main_nodes)
    if not has_parents:
        return len(main_nodes) > 1
    call_ids: set[str] = set()
    results: list[tuple[Node, str]] = []
    for node in main_nodes:
        call_ids |= node.calls.keys()
        results += [(node, result.call_id) for result in node.results]
    lost_count = 0
    answered_count = 0
    for node, call_id in results:
        if call_id not in call_ids:
            continue
        answered_count += 1
        if not _has_ancestor_with(nodes, node, call_id):
            lost_count += 1
    return lost_count > MOST_LOST * answered_count


def _has_ancestor_with(nodes: Mapping[str, Node], node: Node, call_id: str) -> bool:
    """Whether the call stands on the way back from a record."""
    visited_ids: set[str] = set()
    for ancestor in ancestors(nodes, node):
        if call_id in ancestor.calls:
            return True
        if ancestor.uuid in visited_ids:
            return False
        visited_ids.add(ancestor.uuid)
    return False


def line_up(nodes: Mapping[str, Node]) -> None:
    """Hang each record of the main conversation on the one before it in the file.

    A call that an answer says again is read once. An answer that says again a call of the answer
    right before it is a part of that one.
    """
    previous: Node | None = None
    call_ids: set[str] = set()
    for node in nodes.values():
        if node.side:
            continue
        node.parent = ""
        if previous:
            node.parent = previous.uuid
        repeated_ids = node.calls.keys() & call_ids
        call_ids |= node.calls.keys()
        if repeated_ids:
            if previous and previous.message_id:
                node.message_id = previous.message_id
            _drop_calls(node, repeated_ids)
        previous = node


def _drop_calls(node: Node, call_ids: set[str]) -> None:
    """Take these calls out of an answer."""
    if not isinstance(node.item, AssistantMessage):
        return
    blocks: list[AnswerBlock] = []
    for block in node.item.blocks:
        if not isinstance(block, ToolCall) or block.id not in call_ids:
            blocks.append(block)
    node.item = replace(node.item, blocks=tuple(blocks))
