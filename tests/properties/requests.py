"""Every preset in a compactor at work on random conversations of a host, each request kept."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from preset_names import BUILTIN_PRESETS
from properties.chats import CHATS, Record, as_anthropic, chat

from workbench import Compactor, find_model
from workbench.engine.transcript.message import Json
from workbench.live.events import CompactionEnded, CompactionStarted, LastResort

PRESETS = tuple(BUILTIN_PRESETS)
TOOLS = [{"name": "read", "description": "x" * 2_400}]
BESIDE = 600
"""Tokens of the tools, so that the messages have as little room as in a smaller window."""
WINDOWS = (400 + BESIDE, 1_000 + BESIDE, 3_000 + BESIDE)


@dataclass(frozen=True)
class Sent:
    """One request: how much of the host's list was heard, what was sent, and the compactions by
    then.
    """

    heard: int
    request: list[Json]
    compactions: int


@dataclass(frozen=True)
class Lived:
    """A whole conversation through a compactor.

    Attributes:
        messages: the host's list, and `frozen` what it was before.
        sent: the request before each answer, and the last one.
    """

    preset: str
    messages: list[Record]
    frozen: list[Record] = field(repr=False)
    live: Compactor
    sent: tuple[Sent, ...]

    @property
    def last(self) -> list[Json]:
        return self.sent[-1].request


def ended(live: Compactor) -> list[CompactionEnded]:
    return [event for event in live.events if isinstance(event, CompactionEnded)]


def begun(live: Compactor) -> int:
    return sum(isinstance(event, CompactionStarted) for event in live.events)


def go(preset: str, messages: list[Record], window: int, **options: Any) -> Lived:
    """The conversation message by message, as an agent's loop hands it over."""
    frozen, live, sent = (
        copy.deepcopy(messages),
        Compactor(preset, model=find_model("extractive"), window=window, **options),
        [],
    )

    def request(heard: int) -> None:
        shown = live.before_request(messages[:heard], tools=TOOLS)
        cut = sum(isinstance(event, LastResort) for event in live.events)
        sent.append(Sent(heard, shown, len(ended(live)) + cut))

    for end, message in enumerate(messages):
        if message["role"] == "assistant":
            request(end)
        elif end and messages[end - 1]["role"] == "assistant":
            live.after_turn(messages[:end])
    if live.preset.host.manual_in_turn or messages[-1]["role"] == "assistant":
        live.compact(messages=messages)
    request(len(messages))
    return Lived(preset, messages, frozen, live, tuple(sent))


@cache
def openai(preset: str) -> tuple[Lived, ...]:
    """Random conversations in OpenAI's chat shape."""
    generator = ((random.Random(seed), WINDOWS[seed % len(WINDOWS)]) for seed in range(CHATS))
    return tuple(go(preset, chat(rng), window) for rng, window in generator)


@cache
def anthropic(preset: str) -> tuple[Lived, ...]:
    """The same in Anthropic's."""
    generator = ((random.Random(seed), WINDOWS[seed % len(WINDOWS)]) for seed in range(CHATS))
    return tuple(go(preset, as_anthropic(chat(rng)), window) for rng, window in generator)


def parts(messages: list[Json]) -> list[Mapping[str, Json]]:
    """All parts of all messages whose content is a list."""
    return [
        part for m in messages for part in (m["content"] if isinstance(m["content"], list) else ())
    ]


Validator = Callable[[Any], list[str]]
