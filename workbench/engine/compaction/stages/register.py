"""Keeps a register in front of what stays."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from workbench.engine.compaction.plan import Budget, Plan, Replace, behind_prompt, in_order
from workbench.engine.compaction.register_lines import entries, is_register, written
from workbench.engine.transcript.context import Context, protected
from workbench.engine.transcript.context_lookup import tokens_of
from workbench.engine.transcript.message import Message, Text, plain_text

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
        target = min(budget.target, context.tokens)
        room = max(target - context.overhead, 0)
        max_tokens = min(self.tokens, int(self.share * room))
        if max_tokens < self.least:
            return None
        block = written(entries(messages), max_tokens, context)
        if block is None:
            return None
        if [plain_text(messages[i]) for i in old] == [plain_text(block)]:
            return None
        size = context.count(block)
        growth = size - tokens_of(context, old)
        edits = _freed(context, growth, set(old))
        if edits is None:
            return None
        if old:
            edits.append(Replace.message_at(old[0], block, size))
            edits += [Replace.removal(i) for i in old[1:]]
        else:
            index = _behind_system(messages)
            edits.append(Replace(index, index, (block,), size))
        return Plan(in_order(edits))


def _behind_system(messages: Sequence[Message]) -> int:
    """The index behind the system prompt, as if all else were to go."""
    other_indices: list[int] = []
    for i, message in enumerate(messages):
        if message.role != "system":
            other_indices.append(i)
    return behind_prompt(messages, other_indices)


def _freed(
    context: Context,
    needed: int,
    but: set[int],
) -> list[Replace] | None:
    """The edits that free so many tokens: the oldest results first, then whole steps."""
    kept_indices = protected(context.messages) | but
    markers = _markers(context, needed, kept_indices)
    sizes = list(context.sizes)
    for marker in markers:
        sizes[marker.start] = marker.size or 0
    missing_tokens = needed - (sum(context.sizes) - sum(sizes))
    removed_indices: set[int] = set()
    for step in _steps(context):
        if missing_tokens <= 0:
            break
        if _may_be_removed(context, step, kept_indices):
            removed_indices.update(step)
            missing_tokens -= sum(sizes[step.start : step.stop])
    if missing_tokens > 0:
        return None
    edits = [marker for marker in markers if marker.start not in removed_indices]
    edits += [Replace.removal(i) for i in sorted(removed_indices)]
    return edits


def _markers(
    context: Context,
    needed: int,
    kept_indices: set[int],
) -> list[Replace]:
    """Markers in the place of the oldest results, until so many tokens are gained."""
    markers: list[Replace] = []
    missing_tokens = needed
    for i, message in enumerate(context.messages):
        if missing_tokens <= 0:
            break
        if message.role != "tool" or i in kept_indices:
            continue
        short = replace(message, blocks=(Text(GONE),))
        size = context.count(short)
        if size < context.sizes[i]:
            markers.append(Replace.message_at(i, short, size))
            missing_tokens -= context.sizes[i] - size
    return markers


def _steps(context: Context) -> Iterator[range]:
    """The indices of the messages between two cuts, for all neighbouring places of a cut."""
    flags = context.cut_points
    start = 0
    for stop in range(1, len(flags)):
        if flags[stop]:
            yield range(start, stop)
            start = stop


def _may_be_removed(
    context: Context,
    step: range,
    kept_indices: set[int],
) -> bool:
    """Whether none of these messages must stay."""
    roles = {context.messages[i].role for i in step}
    return kept_indices.isdisjoint(step) and roles.isdisjoint(("system", "summary"))
