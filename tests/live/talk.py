"""Small conversations of an agent in the two message formats."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from workbench import Preset, preset
from workbench.engine.compaction.stages import Summarize

Record = dict[str, Any]


def asked(text: str) -> Record:
    return {"role": "user", "content": text}


def answered(text: str) -> Record:
    return {"role": "assistant", "content": text}


def used(call: str, name: str = "read", **arguments: Any) -> Record:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call, "type": "function", "function": function}],
    }


def back(call: str, text: str) -> Record:
    return {"role": "tool", "tool_call_id": call, "content": text}


def openai(turns: int, *, steps: int = 2, words: int = 60) -> list[Record]:
    """A system prompt, and `turns` turns of a question, `steps` calls with results, and an
    answer.
    """
    messages: list[Record] = [
        {"role": "system", "content": "Work carefully. Never touch secrets.env."}
    ]
    for turn in range(turns):
        messages.append(asked(f"Look at part {turn} and keep its limit at {turn + 1000}."))
        for step in range(steps):
            call = f"call_{turn}_{step}"
            messages.append(used(call, path=f"src/part_{turn}/file_{step}.py"))
            messages.append(back(call, " ".join(f"word_{turn}_{step}_{i}" for i in range(words))))
        messages.append(answered(f"Part {turn} is done; its limit is {turn + 1000}."))
    return messages


def anthropic(turns: int, *, calls: int = 2, words: int = 60) -> list[Record]:
    """`turns` turns whose calls are made in parallel, after a sealed thought, with all results
    in one message.
    """
    messages: list[Record] = []
    for turn in range(turns):
        question = {
            "type": "text",
            "text": f"Look at part {turn} and keep its limit at {turn + 1000}.",
        }
        messages.append({"role": "user", "content": [question]})
        thought = {
            "type": "thinking",
            "thinking": f"Part {turn} needs a look.",
            "signature": f"seal-{turn}",
        }
        uses = [
            {
                "type": "tool_use",
                "id": f"toolu_{turn}_{n}",
                "name": "read",
                "input": {"path": f"src/{turn}/{n}.py"},
            }
            for n in range(calls)
        ]
        messages.append({"role": "assistant", "content": [thought, *uses]})
        results: list[Record] = [
            {
                "type": "tool_result",
                "tool_use_id": f"toolu_{turn}_{n}",
                "content": [
                    {"type": "text", "text": " ".join(f"word_{turn}_{n}_{i}" for i in range(words))}
                ],
            }
            for n in range(calls)
        ]
        results[-1]["cache_control"] = {"type": "ephemeral"}
        messages.append({"role": "user", "content": results})
        messages.append(answered(f"Part {turn} is done; its limit is {turn + 1000}."))
    return messages


def alone(work: Coroutine[None, None, None]) -> None:
    """Run something asynchronous in a thread of its own: a browser's tests leave a running loop
    in this one.
    """
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, work).result()


def without_fallback(name: str) -> Preset:
    """The preset with summaries that nothing replaces where the model fails."""
    named = preset(name)
    stages = [
        replace(stage, stand_ins=replace(stage.stand_ins, fallback=None))
        if isinstance(stage, Summarize)
        else stage
        for stage in named.strategy.stages
    ]
    return replace(named, strategy=replace(named.strategy, stages=tuple(stages)))
