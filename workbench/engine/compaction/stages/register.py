"""Keeps a register in front of what stays."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

from workbench.engine.compaction.plan import Budget, Plan, Replace, behind_prompt
from workbench.engine.compaction.register_lines import entries, is_register, written
from workbench.engine.transcript.context import Context, protected
from workbench.engine.transcript.message import Text, plain_text

GONE = "[result taken out to make room for the register]"


@dataclass(frozen=True, slots=True)
class Register:
    """Keeps a small block behind the system prompt with what must not be lost, word for word and
    pinned.

    It holds the user's requests and rules, the items of the plan that are done and open, reversed
    decisions, files as they stand, running sub-agents and background work, and skills. An earlier
    register is updated. The newest lines of each section stay. The oldest tool results, and then
    the oldest steps, make room for it, so that no context grows.

    Attributes:
        tokens: of the block, at most.
        share: of the room under the target that it takes, at most; with less than `least` tokens
            none is written.
    """

    tokens: int = 1_200
    share: float = 0.15
    least: int = 60
    name: ClassVar[str] = "register"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The register as it is now, and what makes room for it; None where it is the same, or
        no room is left.
        """
        messages = context.messages
        old = [i for i, message in enumerate(messages) if is_register(message)]
        room = max(min(budget.target, context.tokens) - context.overhead, 0)
        max_tokens = min(self.tokens, int(self.share * room))
        block = None if max_tokens < self.least else written(entries(messages), max_tokens, context)
        if block is None or (len(old) == 1 and plain_text(messages[old[0]]) == plain_text(block)):
            return None
        size = context.count(block)
        needed = size - sum(context.sizes[i] for i in old)
        freed = _freed(context, needed, set(old))
        if freed is None:
            return None
        index = (
            old[0]
            if old
            else behind_prompt(
                messages, [i for i in range(len(messages)) if messages[i].role != "system"]
            )
        )
        edits = [*freed, *(Replace(i, i + 1) for i in old if i != index)]
        edits.append(Replace(index, index + 1 if old else index, (block,), size))
        return Plan(tuple(sorted(edits, key=lambda edit: (edit.start, edit.stop))))


def _freed(context: Context, needed: int, but: set[int]) -> list[Replace] | None:
    """The edits that take at least so many tokens out: the oldest results become markers, then
    the oldest steps go.
    """
    missing_tokens, edits = needed, list[Replace]()
    messages, kept_indices = context.messages, protected(context.messages) | but
    marked: dict[int, int] = {}
    for i in _results(context, kept_indices):
        if missing_tokens <= 0:
            break
        message = messages[i]
        short = replace(message, blocks=(Text(GONE),)) if message.role == "tool" else message
        size = context.count(short)
        if size < context.sizes[i]:
            edits.append(Replace(i, i + 1, (short,), size))
            missing_tokens -= context.sizes[i] - size
            marked[i] = size
    if missing_tokens <= 0:
        return edits
    removed_indices: set[int] = set()
    flags = context.cut_points
    bounds = [i for i in range(len(messages) + 1) if flags[i]]
    for start, stop in pairwise(bounds):
        step = range(start, stop)
        if missing_tokens <= 0:
            break
        if any(i in kept_indices or messages[i].role in ("system", "summary") for i in step):
            continue
        removed_indices.update(step)
        missing_tokens -= sum(marked.get(i, context.sizes[i]) for i in step)
    if missing_tokens > 0:
        return None
    return [
        *(edit for edit in edits if edit.start not in removed_indices),
        *(Replace(i, i + 1) for i in sorted(removed_indices)),
    ]


def _results(context: Context, kept_indices: set[int]) -> Iterator[int]:
    return (
        i
        for i, message in enumerate(context.messages)
        if message.role == "tool" and i not in kept_indices
    )
