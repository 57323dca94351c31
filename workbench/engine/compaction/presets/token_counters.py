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
from typing import Any

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
    calls = sum(
        quarter(call.name) + quarter(compact_json(call.arguments)) + 10
        for call in calls_of(message)
    )
    return quarter(plain_text(message)) + 10 + calls + image_tokens(message)


def operator_tokens(message: Message) -> int:
    """Operator-Use: words, thoughts and calls; a picture that a person sent is 4,800 characters."""
    chars = 0
    for block in message.blocks:
        if block.type == "tool_call":
            chars += len(block.name) + len(block.arguments_json())
        elif block.type == "image":
            chars += 4_800 if message.role != "tool" else 0
        else:
            chars += len(block.text)
    return max(1, chars // 4)


def ddx_tokens(message: Message) -> int:
    """DDx agent: role, words, names and arguments of calls, the id of the call that a result
    answers, pictures.
    """
    parts = [role_of(message), plain_text(message)]
    for call in calls_of(message):
        parts += [call.name, compact_json(call.arguments)]
    if message.role == "tool":
        parts.append(message.call_id)
    return sum(map(quarter_up, parts)) + image_tokens(message)


def athena_tokens(message: Message) -> int:
    """ExAthena: the first rule that fits of: a result, calls without words, words, anything
    else.
    """
    if message.role == "tool":
        return 16 + quarter(plain_text(message))
    calls = calls_of(message)
    if any(block.type == "text" for block in message.blocks):
        return 8 + quarter(plain_text(message))
    return sum(64 + quarter(compact_json(call.arguments)) for call in calls) if calls else 16


def athena_tokens_0_5(message: Message) -> int:
    """ExAthena v0.5: the same, but a result is 16 whatever its size."""
    return 16 if message.role == "tool" else athena_tokens(message)


def docker_tokens(message: Message) -> int:
    """docker-agent v1.53: words, thoughts, names and arguments of calls, and 5 for the message."""
    words = sum(len(block.text) for block in message.blocks if block.type == "text")
    return (words + unsaid_chars(message)) // 4 + 5


def unsaid_chars(message: Message) -> int:
    """Characters of a message's thoughts and calls, which only a model has."""
    thoughts = sum(len(block.text) for block in message.blocks if block.type == "thinking")
    return thoughts + sum(
        len(call.name) + len(compact_json(call.arguments)) for call in calls_of(message)
    )


def docker_tokens_g2(message: Message) -> int:
    """One message in later versions: what a provider reported for it, else characters by 3.5,
    before any scale.

    An attachment counts 1,500. A later text that says the same as the first is counted once, the
    first time it comes.
    """
    exact = exact_tokens(message)
    if exact is not None:
        return exact
    texts = [block.text for block in message.blocks if block.type == "text"]
    if texts and texts[0] in texts[1:]:
        texts.pop(texts.index(texts[0], 1))
    attachments = sum(block.type == "image" for block in message.blocks)
    return (
        int((sum(map(len, texts)) + unsaid_chars(message)) / 3.5) + PER_ATTACHMENT * attachments + 5
    )


def exact_tokens(message: Message) -> int | None:
    """The answer's reported output and five, without hidden reasoning, which is not sent again;
    None if unknown.
    """
    usage = message.usage if message.role == "assistant" else None
    if usage is None or not usage.output:
        return None
    thought = any(block.type == "thinking" and block.text for block in message.blocks)
    visible_tokens = usage.output - (0 if thought else usage.reasoning)
    return visible_tokens + 5 if visible_tokens > 0 else None


def calibration(messages: Sequence[Message]) -> float:
    """How the estimate must be scaled for these messages to explain the prompts that their provider
    reported.

    Between two answers of one model the reported prompt grew by the first answer and by what came
    in between; what of the latter no report covers is held against its estimate.
    """
    reports = [
        (i, message, message.usage)
        for i, message in enumerate(messages)
        if message.role == "assistant" and message.usage is not None and message.usage.prompt > 0
    ]
    actual = mass = 0
    for (i, answer, usage), (j, next_answer, next_usage) in pairwise(reports):
        if answer.model and next_answer.model and answer.model != next_answer.model:
            continue
        between = [
            (docker_tokens_g2(message), exact_tokens(message)) for message in messages[i + 1 : j]
        ]
        reported_tokens = sum(size for size, exact in between if exact is not None)
        estimated = sum(size for size, exact in between if exact is None)
        grown = (
            next_usage.prompt
            - usage.prompt
            - max(usage.output - usage.reasoning, 0)
            - reported_tokens
        )
        if grown > 0 and estimated > 0:
            actual, mass = actual + grown, mass + estimated
    return min(max(actual / mass, SCALES[0]), SCALES[1]) if mass >= LEAST_MASS else 1.0
