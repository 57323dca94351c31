"""Contexts with a message more, with one in another form, or without those that are gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TypeAlias

from workbench.engine.transcript.context import Context, last_user
from workbench.engine.transcript.message import Message, is_real_user
from workbench.live.formats.shape import Covers

SizedMessage: TypeAlias = tuple[Message, int]
"""A message with its tokens."""


def index_of(context: Context, id: str) -> int | None:
    """Where the message with this id stands; None where it does not."""
    for index, message in enumerate(context.messages):
        if message.id == id:
            return index
    return None


def with_pairs(context: Context, pairs: Sequence[SizedMessage]) -> Context:
    """The context with these messages, and their tokens, in the place of its own."""
    messages = tuple(message for message, _ in pairs)
    sizes = tuple(size for _, size in pairs)
    return replace(context, messages=messages, sizes=sizes)


def with_reworded(context: Context, old: Message, new: Message, size: int) -> Context:
    """The context with another message, of so many tokens, in the place of one."""
    index = index_of(context, old.id)
    if index is None:
        return context
    messages = list(context.messages)
    messages[index] = new
    sizes = list(context.sizes)
    sizes[index] = size
    return replace(context, messages=tuple(messages), sizes=tuple(sizes))


def with_exchanged(
    context: Context, dropped: Sequence[Message], replacements: Sequence[SizedMessage]
) -> Context:
    """The context without the messages that are gone, or with those in their places; what a
    stage rewrote stays so.
    """
    exchanges: dict[str, tuple[Message, SizedMessage | None]] = {}
    replacements = replacements[: len(dropped)]
    for original, replacement in zip_longest(dropped, replacements):
        exchanges[original.id] = (original, replacement)
    pairs: list[SizedMessage] = []
    for message, size in zip(context.messages, context.sizes, strict=True):
        if message.id not in exchanges:
            pairs.append((message, size))
            continue
        original, replacement = exchanges[message.id]
        if replacement is None:
            continue
        if message is original:
            pairs.append(replacement)
            continue
        new_message, _ = replacement
        rewritten = rejoined(message, new_message)
        rewritten = replace(rewritten, id=new_message.id)
        pairs.append((rewritten, size))
    return with_pairs(context, pairs)


def rejoined(message: Message, original: Message | None) -> Message:
    """A rewritten message with the very blocks that it has from the original: they know the
    host's parts.
    """
    is_of_its_own = message.role == "summary"
    if original is None or is_of_its_own or original.role != message.role:
        return message
    blocks = []
    for block in message.blocks:
        for original_block in original.blocks:
            if original_block == block:
                block = original_block
                break
        blocks.append(block)
    return replace(message, blocks=tuple(blocks))  # type: ignore[arg-type]  # of the same role


def with_newest_user(context: Context, sized: Sequence[SizedMessage]) -> Context:
    """The context with the newest user message of all that was said, in its place, if it was
    left out.
    """
    messages = [message for message, _ in sized]
    newest = last_user(messages)
    if newest is None:
        return context
    newest_id = messages[newest].id
    if index_of(context, newest_id) is not None:
        return context
    later_ids = {message.id for message in messages[newest:]}
    index = 0
    for message in context.messages:
        if message.id in later_ids:
            break
        index += 1
    context_pairs = zip(context.messages, context.sizes, strict=True)
    pairs = list(context_pairs)
    pairs.insert(index, sized[newest])
    return with_pairs(context, pairs)


def uncovered(context: Context, covers: Covers) -> Context:
    """What is left of a context for a provider that compacted it."""
    pairs: list[SizedMessage] = []
    for message, size in zip(context.messages, context.sizes, strict=True):
        is_uncovered_user = covers == "answers" and is_real_user(message)
        if message.role == "system" or is_uncovered_user:
            pairs.append((message, size))
    uncovered_context = with_pairs(context, pairs)
    return replace(uncovered_context, overhead=0)


def longer(context: Context, messages: Sequence[Message]) -> Context:
    """The context with these messages behind it, whose size does not matter."""
    longer_messages = (*context.messages, *messages)
    no_sizes = (0,) * len(messages)
    return Context(
        messages=longer_messages,
        sizes=(*context.sizes, *no_sizes),
        overhead=context.overhead,
        count=context.count,
    )
