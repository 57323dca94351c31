"""Results of tau2-bench: made-up ones with an agent, a played user, and a tool of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recordings.importers.files import document, only

from workbench import AssistantMessage, load
from workbench.engine.transcript.message import Usage, plain_text

POLICY = "Never sell a lamp without its shade."
CALL = {"id": "c1", "name": "find_lamp", "arguments": {"room": "hall"}, "requestor": "assistant"}
LOOK = {"id": "c2", "name": "look_at_lamp", "arguments": {}, "requestor": "user"}
REPORTED = {
    "usage": {
        "prompt_tokens": 100,
        "completion_tokens": 9,
        "prompt_tokens_details": {"cached_tokens": 60},
    }
}
MESSAGES: list[dict[str, Any]] = [
    {"role": "assistant", "content": "Hi! How can I help you today?", "usage": None},
    {"role": "user", "content": "The lamp in the hall is dark.", "usage": {"prompt_tokens": 5}},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [CALL],
        "usage": {"prompt_tokens": 100, "completion_tokens": 9},
        "raw_data": REPORTED,
    },
    {
        "role": "tool",
        "id": "c1",
        "content": "no such lamp",
        "requestor": "assistant",
        "error": True,
    },
    {"role": "user", "content": None, "tool_calls": [LOOK]},
    {"role": "tool", "id": "c2", "content": "The shade is missing.", "requestor": "user"},
    {"role": "user", "content": "Its shade is missing."},
]
RESULTS: dict[str, Any] = {
    "info": {
        "agent_info": {"llm": "big"},
        "environment_info": {"domain_name": "lamps", "policy": POLICY},
    },
    "tasks": [{"id": "7", "description": {"purpose": "Whether the agent asks for the shade."}}],
    "simulations": [
        {"id": "s1", "task_id": "7", "trial": 0, "messages": MESSAGES},
        {"id": "s2", "task_id": "7", "trial": 1, "messages": MESSAGES[:2]},
    ],
}


def test_each_simulation_of_tau2_is_a_session_with_the_policy_of_its_domain(
    tmp_path: Path,
) -> None:
    first, second = load(document(tmp_path, RESULTS, "lamps.json"))
    assert (first.id, second.id) == ("lamps-task7-trial0", "lamps-task7-trial1")
    assert (first.origin.format, first.model, first.title) == ("tau_bench", "big", "lamps")
    assert plain_text(first.messages[0]) == POLICY


def test_what_the_played_user_does_with_its_own_tools_is_not_sent_to_the_agent(
    tmp_path: Path,
) -> None:
    one = {**RESULTS, "simulations": RESULTS["simulations"][:1]}
    session = only(document(tmp_path, one))
    roles = [message.role for message in session.messages]
    assert roles == ["system", "assistant", "user", "assistant", "tool", "user"]
    notes = [entry.text for entry in session.log if entry.type == "note"]
    assert notes == ["look_at_lamp", "The shade is missing."]


def test_a_request_of_tau2_has_the_cache_that_its_provider_reported(tmp_path: Path) -> None:
    one = {**RESULTS, "simulations": RESULTS["simulations"][:1]}
    session = only(document(tmp_path, one))
    answers = [m for m in session.messages if isinstance(m, AssistantMessage)]
    assert [answer.usage for answer in answers] == [None, Usage(40, 60, 0, 9)]
    (result,) = [message for message in session.messages if message.role == "tool"]
    assert result.call_id == "c1" and result.is_error


def test_what_tau2_says_of_a_task_is_named_as_the_clients(tmp_path: Path) -> None:
    session = load(document(tmp_path, RESULTS))[0]
    (unread,) = session.origin.unread
    assert (unread.field, unread.client_only) == ("tasks.description.purpose", True)
