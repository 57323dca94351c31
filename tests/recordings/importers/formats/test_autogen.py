"""The state of a team of AutoGen, which keeps in its manager's thread what each answer used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recordings.importers.files import document

from workbench import AssistantMessage, load


def spoken(source: str, words: str, prompt: int = 0) -> dict[str, Any]:
    """A message of the thread; an answer tells its usage."""
    usage = {"prompt_tokens": prompt, "completion_tokens": 9} if prompt else None
    return {"type": "TextMessage", "source": source, "content": words, "models_usage": usage}


def kept(type_: str, source: str, words: str) -> dict[str, Any]:
    """A message of an agent's context."""
    return {"type": type_, "source": source, "content": words}


def agent(*messages: dict[str, Any]) -> dict[str, Any]:
    """The state of an agent with this context."""
    state = {"type": "AssistantAgentState", "llm_context": {"messages": list(messages)}}
    return {"type": "ChatAgentContainerState", "agent_state": state}


THREAD = [
    spoken("user", "Where is the lamp?"),
    spoken("finder", "In the hall.", prompt=20),
    spoken("critic", "Look again.", prompt=30),
    spoken("finder", "In the hall.", prompt=40),
]
TEAM = {
    "type": "TeamState",
    "agent_states": {
        "manager/t1": {"type": "RoundRobinManagerState", "message_thread": THREAD},
        "finder/t1": agent(
            kept("UserMessage", "user", "Where is the lamp?"),
            kept("AssistantMessage", "finder", "In the hall."),
            kept("UserMessage", "critic", "Look again."),
            kept("AssistantMessage", "finder", "In the hall."),
        ),
        "critic/t1": agent(
            kept("UserMessage", "user", "Where is the lamp?"),
            kept("UserMessage", "finder", "In the hall."),
            kept("AssistantMessage", "critic", "Look again."),
        ),
    },
}


def test_each_answer_of_a_team_is_billed_once_to_the_agent_that_gave_it(tmp_path: Path) -> None:
    sessions = load(document(tmp_path, TEAM, "team.json"))
    assert [session.id for session in sessions] == ["team-finder", "team-critic"]
    prompts: list[list[int]] = []
    for session in sessions:
        answers = [m for m in session.messages if isinstance(m, AssistantMessage)]
        prompts.append([answer.usage.prompt for answer in answers if answer.usage])
    assert prompts == [[20, 40], [30]]
