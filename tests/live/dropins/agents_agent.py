"""An agent of the OpenAI Agents SDK that asks its person's questions, and goes on where it was
killed.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from agents import (
    Agent,
    OpenAIResponsesModel,
    Runner,
    SQLiteSession,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

from workbench.live.dropins.openai_agents import AgentsCompactor

set_tracing_disabled(True)


@function_tool
def read_part(part: int) -> str:
    """Read a part."""
    lines = [f"part {part}, line {n}: nothing of note" for n in range(20)]
    return "\n".join([*lines, f"limit = {part + 7000}"])


def made(
    url: str, file: str, preset: str, window: int = 3_000, **given: Any
) -> tuple[Agent[Any], AgentsCompactor]:
    compactor = AgentsCompactor(
        lambda id: SQLiteSession(id, file),
        "chat",
        preset,
        model="extractive",
        window=window,
        **given,
    )
    model = OpenAIResponsesModel("stub", AsyncOpenAI(base_url=url, api_key="none", max_retries=0))
    return (
        Agent(
            "reader",
            instructions="Read each part.",
            model=model,
            tools=[read_part, *compactor.tools],
        ),
        compactor,
    )


async def ask(agent: Agent[Any], compactor: AgentsCompactor, parts: int) -> list[Any]:
    """The conversation after so many questions, those that it has already left out."""
    items: list[Any] = await compactor.session.get_items()
    if items and items[-1].get("role") != "assistant":
        await Runner.run(agent, [], **compactor.arguments())
    done = sum(item.get("role") == "user" for item in items)
    for part in range(done, parts):
        await Runner.run(agent, f"What is the limit in part {part}?", **compactor.arguments())
    kept: list[Any] = await compactor.session.get_items()
    return kept


if __name__ == "__main__":
    url, file, preset, parts = sys.argv[1:]
    asyncio.run(ask(*made(url, file, preset, window=2_000), int(parts)))
