"""Two threads that pass two conversations to one compactor."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from live.talk import Record, openai

from workbench import Compactor, find_model

TURNS = 30
NAMES = ("north", "south")
"""Each text of a conversation has its name in it."""


@dataclass(slots=True)
class Mixture:
    """What became of the requests of both threads.

    Attributes:
        requests: how many were handed out.
        wrong: how many of them had text of the other conversation, or none of their own.
    """

    requests: int = 0
    wrong: int = 0


def mixture(preset: str, window: int = 3_000) -> Mixture:
    """What a compactor hands out to two agents that run at the same time; what escapes from one is
    raised.
    """
    live = Compactor(preset, model=find_model("extractive"), window=window)

    def run_agent(name: str, other_name: str) -> Mixture:
        handed_out = Mixture()
        talk = _named(openai(TURNS), name)
        for end in range(2, len(talk)):
            sent = str(live.before_request(talk[:end]))
            handed_out.requests += 1
            handed_out.wrong += other_name in sent or name not in sent
        return handed_out

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(run_agent, NAMES, reversed(NAMES))
    return Mixture(first.requests + second.requests, first.wrong + second.wrong)


def _named(talk: list[Record], name: str) -> list[Record]:
    """The conversation with a name in each of its texts."""
    named: list[Record] = []
    for message in talk:
        content = message["content"]
        named.append(message if content is None else {**message, "content": f"{name} {content}"})
    return named
