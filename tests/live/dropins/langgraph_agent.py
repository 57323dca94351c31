"""An agent of LangGraph's own that asks its person's questions, and goes on where it was killed."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.prebuilt import create_react_agent
from live.dropins.langchain_agent import ask, read_part

from workbench.live.dropins.langgraph import CompactedState, CompactionNode

warnings.filterwarnings("ignore", message="create_react_agent has been moved")


def made(
    url: str, preset: str, saver: Any, window: int | None = 3_000, **given: Any
) -> tuple[Any, CompactionNode]:
    model = ChatOpenAI(model="stub", base_url=url, api_key="none", max_retries=0)
    node = CompactionNode(
        preset, llm=model, tools=[read_part], model="extractive", window=window, **given
    )
    agent = create_react_agent(
        model,
        [read_part],
        prompt="Read each part.",
        pre_model_hook=node,
        state_schema=CompactedState,
        checkpointer=saver,
    )
    return agent, node


if __name__ == "__main__":
    url, file, preset, parts = sys.argv[1:]
    with SqliteSaver.from_conn_string(file) as saver:
        ask(made(url, preset, saver, window=2_000)[0], int(parts))
