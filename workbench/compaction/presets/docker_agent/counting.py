"""How docker-agent estimates: characters and an overhead a message; later also by what providers reported."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise

from workbench.transcript.message import AssistantMessage, Image, Message, Text, Thinking, ToolCall

PER_MESSAGE = 5
CHARS_PER_TOKEN = 4
CHARS_PER_TOKEN_G2 = 3.5
PER_ATTACHMENT = 1_500
LEAST_MASS = 512
SCALES = (0.75, 2.0)


def docker_tokens(message: Message) -> int:
    """One message in v1.53: words, thoughts, names and arguments of calls, by four, and five. Pictures are nothing."""
    blocks = message.blocks
    if len(blocks) == 1 and isinstance(blocks[0], Text):
        return len(blocks[0].text) // CHARS_PER_TOKEN + PER_MESSAGE
    chars = sum(len(block.text) for block in blocks if isinstance(block, Text)) + _other_chars(message)
    return chars // CHARS_PER_TOKEN + PER_MESSAGE


def docker_tokens_g2(message: Message) -> int:
    """One message in later versions: what a provider reported for it, else an estimate that is not scaled."""
    exact = exact_tokens(message)
    return heuristic_tokens(message) if exact is None else exact


def exact_tokens(message: Message) -> int | None:
    """The answer's reported output and five, without hidden reasoning, which is not sent again; None if unknown."""
    usage = message.usage if isinstance(message, AssistantMessage) else None
    if usage is None or not usage.output:
        return None
    thought = any(isinstance(block, Thinking) and block.text for block in message.blocks)
    shown = usage.output - (0 if thought else usage.reasoning)
    return shown + PER_MESSAGE if shown > 0 else None


def heuristic_tokens(message: Message, scale: float = 1.0) -> int:
    """Characters by 3.5, 1,500 for each attachment, and five, times a scale, rounded down.

    A later text that says the same as the first is counted once, the first time it comes.
    """
    texts = [block.text for block in message.blocks if isinstance(block, Text)]
    if texts and texts[0] in texts[1:]:
        texts.pop(texts.index(texts[0], 1))
    attachments = sum(isinstance(block, Image) for block in message.blocks)
    chars = sum(map(len, texts)) + _other_chars(message)
    return int((int(chars / CHARS_PER_TOKEN_G2) + PER_ATTACHMENT * attachments + PER_MESSAGE) * scale)


def calibration(messages: Sequence[Message], counted: Sequence[int] | None = None) -> float:
    """How the estimate must be scaled for these messages to explain the prompts that their provider reported.

    Between two answers of one model the reported prompt grew by the first answer and by what came in between; what of
    the latter no report covers is held against its estimate.

    Args:
        messages: n, oldest first.
        counted: n sizes by `docker_tokens_g2`, where they are known.
    """
    actual = mass = 0
    anchors = list(_anchors(messages))
    if not anchors:
        return 1.0
    counted = tuple(map(docker_tokens_g2, messages)) if counted is None else counted
    for (i, one), (j, other) in pairwise(anchors):
        if one.model and other.model and one.model != other.model:
            continue
        assert one.usage is not None and other.usage is not None
        between = range(i + 1, j)
        known = sum(counted[k] for k in between if exact_tokens(messages[k]) is not None)
        estimated = sum(counted[k] for k in between if exact_tokens(messages[k]) is None)
        grown = other.usage.prompt - one.usage.prompt - max(one.usage.output - one.usage.reasoning, 0) - known
        if grown > 0 and estimated > 0:
            actual, mass = actual + grown, mass + estimated
    return min(max(actual / mass, SCALES[0]), SCALES[1]) if mass >= LEAST_MASS else 1.0


def calibrated(messages: Sequence[Message], counted: Sequence[int] | None = None) -> tuple[int, ...]:
    """The size of each, with the scale that fits them.

    Args:
        messages: n, oldest first.
        counted: n sizes by `docker_tokens_g2`, where they are known.
    """
    counted = tuple(map(docker_tokens_g2, messages)) if counted is None else counted
    scale = calibration(messages, counted)
    if scale == 1.0:
        return tuple(counted)
    return tuple(
        int(size * scale) if exact_tokens(message) is None else size
        for message, size in zip(messages, counted, strict=True)
    )


def _anchors(messages: Sequence[Message]) -> Iterator[tuple[int, AssistantMessage]]:
    for i, message in enumerate(messages):
        if isinstance(message, AssistantMessage) and message.usage is not None and message.usage.prompt > 0:
            yield i, message


def _other_chars(message: Message) -> int:
    chars = 0
    for block in message.blocks:
        if isinstance(block, Thinking):
            chars += len(block.text)
        elif isinstance(block, ToolCall):
            chars += len(block.name) + len(json.dumps(block.arguments, ensure_ascii=False, separators=(",", ":")))
    return chars
