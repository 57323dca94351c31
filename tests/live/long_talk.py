"""A long conversation of an agent with tools, in every format."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache

from live.shapes import blocks, contents, items
from live.talk import Record, answered, asked, back, used

FORMATS: dict[str, Callable[[list[Record]], list[Record]]] = {
    "openai": list, "anthropic": blocks, "responses": items, "gemini": contents,
}  # fmt: skip


@cache
def conversation(turns: int, format: str) -> tuple[list[Record], list[tuple[int, bool]]]:
    """The messages in a format, and how many of them each request sends, with whether a turn
    ended before it.
    """
    rng = random.Random(16)
    chat, requests, found = (
        [{"role": "system", "content": "Work carefully. Never touch secrets.env."}],
        [],
        [],
    )
    for turn in range(turns):
        chat.append(
            asked(
                f"Look at part {turn} and keep its limit at {turn + 1_000}. "
                + "why " * rng.randint(0, 90)
            )
        )
        for step in range(rng.randint(1, 3)):
            requests.append((len(chat), step == 0))
            calls = [f"call_{turn}_{step}_{n}" for n in range(rng.choice((1, 1, 2)))]
            made = used(calls[0], path=f"src/part_{turn}.py", text="x = 1\n" * rng.randint(0, 40))
            made["tool_calls"] += [
                used(id, path=f"src/{id}.py")["tool_calls"][0] for id in calls[1:]
            ]
            chars = [rng.randint(20, 2_500) if rng.random() < 0.95 else 12_000 for _ in calls]
            lines = [f"{id}: a line of output {turn}\n" for id in calls]
            results = [
                back(id, (line * n)[:n]) for id, line, n in zip(calls, lines, chars, strict=True)
            ]
            chat += [made, *results]
        requests.append((len(chat), False))
        chat.append(answered(f"Part {turn} is done; its limit is {turn + 1_000}."))
    for end, begins in requests:
        found.append((len(FORMATS[format](chat[:end])), begins))
    return FORMATS[format](chat), found
