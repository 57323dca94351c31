"""Summaries that were asked for as the agent's own request, with a question behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.engine.compaction.engine import Compaction
from workbench.engine.transcript.message import Message
from workbench.evaluation.replays.sizing import Sizing
from workbench.evaluation.replays.step import RepeatedPrompt


def repeated_prompts(
    compaction: Compaction,
    sizes: Mapping[int, int],
    requested: Sequence[Message],
    sizing: Sizing,
) -> dict[int, RepeatedPrompt]:
    """By the number of a stage, its summary's prompt that repeats the agent's own request.

    Args:
        compaction: what the stages did.
        sizes: by the `id` of each message that is sent, its tokens.
        requested: the messages of the newest request that are still a prefix of what is sent.
        sizing: of the session.
    """
    repeated: dict[int, RepeatedPrompt] = {}
    for number, record in enumerate(compaction.stages):
        if record.conversation:
            repeated[number] = _repeated_prompt(record.conversation, sizes, requested, sizing)
    return repeated


def _repeated_prompt(
    conversation: Sequence[Message],
    sizes: Mapping[int, int],
    requested: Sequence[Message],
    sizing: Sizing,
) -> RepeatedPrompt:
    """The tokens of a conversation, and of what it has in common with the newest request."""
    conversation_sizes: list[int] = []
    for message in conversation:
        size = sizes.get(id(message))
        if size is None:
            size = sizing.count(message)
        conversation_sizes.append(size)
    common_length = 0
    for message, requested_message in zip(conversation, requested, strict=False):
        if message is not requested_message:
            break
        common_length += 1
    return RepeatedPrompt(
        tokens=sizing.overhead + sum(conversation_sizes),
        prefix=sizing.overhead + sum(conversation_sizes[:common_length]),
    )
