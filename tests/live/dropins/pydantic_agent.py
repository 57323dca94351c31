"""An agent of pydantic-ai that asks its person's questions, and goes on where it was killed.

Its history is written to a file at the end of each run, as pydantic-ai's own pages do it.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessagesTypeAdapter
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from workbench.live.dropins.pydantic_ai import CompactionCapability


def read_part(part: int) -> str:
    """Read a part."""
    lines = [f"part {part}, line {n}: nothing of note" for n in range(20)]
    return "\n".join([*lines, f"limit = {part + 7000}"])


def made(
    url: str, folder: str | None, preset: str, window: int | None = 3_000, **given: Any
) -> tuple[Agent[Any, str], CompactionCapability]:
    compaction = CompactionCapability(
        preset, folder=folder, model="extractive", window=window, **given
    )
    client = AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    model = OpenAIChatModel("stub", provider=OpenAIProvider(openai_client=client))
    agent = Agent(
        model, instructions="Read each part.", tools=[read_part], capabilities=[compaction]
    )
    return agent, compaction


async def ask(agent: Agent[Any, str], parts: int, file: Path | None = None) -> list[Any]:
    """The history after so many questions, those that it has already left out."""
    history: list[Any] = []
    if file is not None and file.exists():
        history = ModelMessagesTypeAdapter.validate_json(file.read_bytes())
    asked = sum(part.part_kind == "user-prompt" for message in history for part in message.parts)
    for part in range(asked, parts):
        question = f"What is the limit in part {part}?"
        result = await agent.run(question, message_history=history, conversation_id="chat")
        history = result.all_messages()
        if file is not None:
            new = file.with_suffix(".new")
            new.write_bytes(result.all_messages_json())
            new.replace(file)
    return history


if __name__ == "__main__":
    url, folder, preset, parts = sys.argv[1:]
    agent, _ = made(url, folder, preset, window=2_000)
    asyncio.run(ask(agent, int(parts), Path(folder) / "history.json"))
