"""How the restated systems estimate tokens: by bytes or characters, and an overhead for each
message and call.

| system | unit | rounded | overhead | not counted |
|---|---|---|---|---|
| Opal | 4 bytes | down, each part | 10 a message, 10 a call | thoughts |
| Operator-Use | 4 characters | down, at least 1 | none | pictures in results |
| DDx agent | 4 bytes | up, each part | the role's name | thoughts |
| ExAthena | 4 bytes | down | 8 a text, 16 a result, 64 a call | thoughts, pictures; calls beside words |
| docker-agent v1.53 | 4 characters | down | 5 a message | pictures |
| docker-agent later | 3.5 characters | down | 5 a message | what a provider reported is taken as it is |
"""

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from workbench.engine.compaction.clip import byte_length
from workbench.engine.transcript.message import Message, ToolCall, image_tokens, plain_text

PER_ATTACHMENT = 1_500
LEAST_MASS = 512
SCALES = (0.75, 2.0)
compact_json: Callable[[Any], str] = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":")
).encode
"""A value as JSON without blanks."""


def calls_of(message: Message) -> tuple[ToolCall, ...]:
    """The tool calls of a message; none unless a model wrote it."""
    return message.calls if message.role == "assistant" else ()


def role_of(message: Message) -> str:
    """The role under which a message is sent."""
    return message.said_by if message.role == "summary" else message.role


def quarter(text: str | None) -> int:
    """A quarter of the bytes, rounded down; 0 for nothing."""
    return byte_length(text) // 4 if text else 0


def quarter_up(text: str) -> int:
    """A quarter of the bytes, rounded up."""
    return -(-byte_length(text) // 4)


def opal_tokens(message: Message) -> int:
    """Opal: words, calls, pictures, and 10 for the message and for each call."""
    tokens = quarter(plain_text(message)) + 10 + image_tokens(message)
    for call in calls_of(message):
        tokens += quarter(call.name) + 10
        tokens += quarter(compact_json(call.arguments))
    return tokens


def operator_tokens(message: Message) -> int:
    """Operator-Use: words, thoughts and calls; a picture that a person sent is 4,800 characters."""
    chars = 0
    for block in message.blocks:
        if block.type == "tool_call":
            chars += len(block.name) + len(block.arguments_json())
        elif block.type != "image":
            chars += len(block.text)
        elif message.role != "tool":
            chars += 4_800
    return max(1, chars // 4)


def ddx_tokens(message: Message) -> int:
    """DDx agent: role, words, names and arguments of calls, the id of the call that a result
    answers, pictures.
    """
    tokens = quarter_up(role_of(message)) + quarter_up(plain_text(message))
    for call in calls_of(message):
        tokens += quarter_up(call.name) + quarter_up(compact_json(call.arguments))
    if message.role == "tool":
        tokens += quarter_up(message.call_id)
    return tokens + image_tokens(message)


def athena_tokens(message: Message) -> int:
    """ExAthena: the first rule that fits of: a result, calls without words, words, anything
    else.
    """
    if message.role == "tool":
        return 16 + quarter(plain_text(message))
    if any(block.type == "text" for block in message.blocks):
        return 8 + quarter(plain_text(message))
    tokens = 0
    for call in calls_of(message):
        tokens += 64 + quarter(compact_json(call.arguments))
    return tokens or 16


def athena_tokens_0_5(message: Message) -> int:
    """ExAthena v0.5: the same, but a result is 16 whatever its size."""
    return 16 if message.role == "tool" else athena_tokens(message)


def docker_tokens(message: Message) -> int:
    """docker-agent v1.53: words, thoughts, names and arguments of calls, and 5 for the message."""
    chars = unsaid_chars(message)
    for block in message.blocks:
        if block.type == "text":
            chars += len(block.text)
    return chars // 4 + 5


def unsaid_chars(message: Message) -> int:
    """Characters of a message's thoughts and calls, which only a model has."""
    chars = 0
    for block in message.blocks:
        if block.type == "thinking":
            chars += len(block.text)
    for call in calls_of(message):
        chars += len(call.name) + len(compact_json(call.arguments))
    return chars


def docker_tokens_g2(message: Message) -> int:
    """One message in later versions: what a provider reported for it, else characters by 3.5,
    before any scale.

    An attachment counts 1,500. A later text that says the same as the first is counted once, the
    first time it comes.
    """
    exact = exact_tokens(message)
    if exact is not None:
        return exact
    texts: list[str] = []
    attachments = 0
    for block in message.blocks:
        if block.type == "text":
            texts.append(block.text)
        elif block.type == "image":
            attachments += 1
    if texts and texts[0] in texts[1:]:
        texts.pop(texts.index(texts[0], 1))
    chars = sum(map(len, texts)) + unsaid_chars(message)
    return int(chars / 3.5) + PER_ATTACHMENT * attachments + 5


def exact_tokens(message: Message) -> int | None:
    """The reported output and five, without hidden reasoning; None if unknown."""
    usage = message.usage if message.role == "assistant" else None
    if usage is None or not usage.output:
        return None
    visible_tokens = usage.output
    if not any(block.type == "thinking" and block.text for block in message.blocks):
        visible_tokens -= usage.reasoning
    return visible_tokens + 5 if visible_tokens > 0 else None


def calibration(messages: Sequence[Message]) -> float:
    """How the estimate must be scaled for these messages to explain the prompts that their provider
    reported.

    Between two answers of one model the reported prompt grew by the first answer and by what came
    in between; what of the latter no report covers is held against its estimate.
    """
    reported_growth = estimated_growth = 0
    for start, stop in pairwise(_reported(messages)):
        growth = _growth(messages, start, stop)
        if growth is not None:
            reported_growth += growth.reported
            estimated_growth += growth.estimated
    if estimated_growth < LEAST_MASS:
        return 1.0
    least_scale, most_scale = SCALES
    return min(max(reported_growth / estimated_growth, least_scale), most_scale)


class Growth(NamedTuple):
    """Tokens by which a prompt grew, but for those that are known exactly.

    Attributes:
        reported: by the provider.
        estimated: by characters.
    """

    reported: int
    estimated: int


def _reported(messages: Sequence[Message]) -> list[int]:
    """The indices of the answers whose provider reported the size of the prompt."""
    indices: list[int] = []
    for i, message in enumerate(messages):
        usage = message.usage if message.role == "assistant" else None
        if usage is not None and usage.prompt > 0:
            indices.append(i)
    return indices


def _growth(
    messages: Sequence[Message],
    start: int,
    stop: int,
) -> Growth | None:
    """What came between two answers that were reported; None where they cannot be compared, or
    no such growth is left to explain.
    """
    answer = messages[start]
    next_answer = messages[stop]
    assert answer.role == "assistant" and next_answer.role == "assistant"
    assert answer.usage is not None and next_answer.usage is not None
    if answer.model and next_answer.model and answer.model != next_answer.model:
        return None
    usage = answer.usage
    reported = next_answer.usage.prompt - usage.prompt
    reported -= max(usage.output - usage.reasoning, 0)
    estimated = 0
    for message in messages[start + 1 : stop]:
        exact = exact_tokens(message)
        if exact is None:
            estimated += docker_tokens_g2(message)
        else:
            reported -= exact
    if reported <= 0 or estimated <= 0:
        return None
    return Growth(reported, estimated)
