"""What LangChain's middleware and LangGraph's node are both held to: an agent whose state is a
graph's.
"""

from __future__ import annotations

from typing import Any

from engine.models.provider import Provider
from live.dropins.langchain_agent import CONFIG, ask
from live.dropins.ordeal import TURNS, question
from live.dropins.server import size


def keeps_every_message_and_stays_within_the_window(agent: Any, provider: Provider) -> None:
    messages = ask(agent, 20)
    assert len(messages) == 80 and messages[-1].content == "The limit is 7019."
    assert max(map(size, provider.requests)) <= 3_000


def changes_only_the_small_field_in_most_steps(agent: Any) -> None:
    ask(agent, 20)
    wholes: list[str] = []
    sizes: list[int] = []
    for step in agent.get_state_history(CONFIG):
        if "compactor" in step.values:
            wholes.append(str(step.values["compactor_whole"]))
            sizes.append(len(str(step.values["compactor"])))
    assert len(set(wholes)) < 0.5 * len(wholes)
    assert max(sizes) < len(max(wholes, key=len))


def holds_every_question_once(agent: Any) -> None:
    messages = agent.get_state(CONFIG).values["messages"]
    questions = [message.content for message in messages if message.type == "human"]
    assert questions == [question(number) for number in range(TURNS)]
