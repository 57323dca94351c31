"""What real hosts do to the list that they pass with each request, beside adding to it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable

from live.talk import Record

Habit = Callable[[list[Record], int], list[Record]]
"""The list that is passed with the n-th request, from the host's own conversation."""
MARK = {"cache_control": {"type": "ephemeral"}}


def as_parts(message: Record) -> Record:
    """The same message with its text as a part."""
    content = message.get("content")
    return (
        {**message, "content": [{"type": "text", "text": content}]}
        if isinstance(content, str)
        else message
    )


def marked(message: Record) -> Record:
    """The message with a cache marker on its last part."""
    message = copy.deepcopy(as_parts(message))
    if message.get("content"):
        message["content"][-1] = {**message["content"][-1], **MARK}
    return message


def unmarked(message: Record) -> Record:
    """The message without the markers of its parts."""
    if not isinstance(message.get("content"), list):
        return message
    parts = [
        {key: value for key, value in part.items() if key not in MARK}
        for part in message["content"]
    ]
    return {**message, "content": parts}


def moving_marker(messages: list[Record], turn: int) -> list[Record]:
    return [*map(unmarked, messages[:-2]), *map(marked, messages[-2:])]


def moving_marker_in_place(messages: list[Record], turn: int) -> list[Record]:
    for message in messages[:-2]:
        message.update(unmarked(message))
    for message in messages[-2:]:
        message.update(marked(message))
    return messages


def reminder(turn: int) -> str:
    return (
        f"<reminder>Step {turn} of 60. {'Half of the work is done. ' * (turn % 3)}Keep to the"
        " plan.</reminder>"
    )


def reminder_in_last(messages: list[Record], turn: int) -> list[Record]:
    last = as_parts(messages[-1])
    return [
        *messages[:-1],
        {**last, "content": [*last["content"], {"type": "text", "text": reminder(turn)}]},
    ]


def reminder_in_text(messages: list[Record], turn: int) -> list[Record]:
    last = messages[-1]
    if isinstance(last["content"], list):
        return reminder_in_last(messages, turn)
    return [*messages[:-1], {**last, "content": last["content"] + "\n\n" + reminder(turn)}]


def same_reminder_in_text(messages: list[Record], turn: int) -> list[Record]:
    return reminder_in_text(messages, 7)


def reminder_behind(messages: list[Record], turn: int) -> list[Record]:
    return [*messages, {"role": "user", "content": reminder(turn)}]


def same_reminder_behind(messages: list[Record], turn: int) -> list[Record]:
    return reminder_behind(messages, 7)


def reminder_and_marker(messages: list[Record], turn: int) -> list[Record]:
    return moving_marker(reminder_in_last(messages, turn), turn)


def other_keys(messages: list[Record], turn: int) -> list[Record]:
    return [dict(reversed(json.loads(json.dumps(message)).items())) for message in messages]


def other_shape(messages: list[Record], turn: int) -> list[Record]:
    return [
        as_parts(copy.deepcopy(one)) if (at + turn) % 2 else copy.deepcopy(one)
        for at, one in enumerate(messages)
    ]


def as_it_is(messages: list[Record], turn: int) -> list[Record]:
    return messages


HABITS: tuple[Habit, ...] = (
    moving_marker, moving_marker_in_place, reminder_in_last, reminder_in_text, same_reminder_in_text, reminder_behind,
    same_reminder_behind, reminder_and_marker, other_keys, other_shape,
)  # fmt: skip
