"""An agent of LangChain's that asks its person's questions one after another, and goes on where
it was killed.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from workbench.live.dropins.langchain import CompactionMiddleware

CONFIG: Any = {"configurable": {"thread_id": "chat"}, "recursion_limit": 1_000}


def read_part(part: int) -> str:
    """Read a part."""
    lines = [f"part {part}, line {n}: nothing of note" for n in range(20)]
    return "\n".join([*lines, f"limit = {part + 7000}"])


def made(
    url: str, preset: str, saver: Any, window: int = 3_000, **given: Any
) -> tuple[Any, CompactionMiddleware]:
    compaction = CompactionMiddleware(preset, model="extractive", window=window, **given)
    model = ChatOpenAI(model="stub", base_url=url, api_key="none", max_retries=0)
    agent = create_agent(
        model,
        [read_part],
        system_prompt="Read each part.",
        middleware=[compaction],
        checkpointer=saver,
    )
    return agent, compaction


def asked(part: int) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": f"What is the limit in part {part}?"}]}


def ask(agent: Any, parts: int) -> list[Any]:
    """The conversation after so many questions, those that it has already left out."""
    state = agent.get_state(CONFIG)
    if state.next:
        agent.invoke(None, CONFIG, durability="sync")
    done = sum(message.type == "human" for message in state.values.get("messages", ()))
    for part in range(done, parts):
        agent.invoke(asked(part), CONFIG, durability="sync")
    return list(agent.get_state(CONFIG).values["messages"])


async def ask_awaiting(agent: Any, parts: int) -> None:
    state = await agent.aget_state(CONFIG)
    if state.next:
        await agent.ainvoke(None, CONFIG, durability="sync")
    done = sum(message.type == "human" for message in state.values.get("messages", ()))
    for part in range(done, parts):
        await agent.ainvoke(asked(part), CONFIG, durability="sync")


async def awaiting(url: str, file: str, preset: str, parts: int) -> None:
    async with AsyncSqliteSaver.from_conn_string(file) as saver:
        await ask_awaiting(made(url, preset, saver, window=2_000)[0], parts)


if __name__ == "__main__":
    url, file, preset, how, parts = sys.argv[1:]
    if how == "async":
        asyncio.run(awaiting(url, file, preset, int(parts)))
    else:
        with SqliteSaver.from_conn_string(file) as saver:
            ask(made(url, preset, saver, window=2_000)[0], int(parts))
