"""Calls that stand in the text of an answer are calls, and what they returned are results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recordings.importers.files import document, only

from workbench.engine.transcript.message import AssistantMessage, ToolResult, plain_text
from workbench.recordings.importers.text_calls import function_call_parts, tagged_call_parts

FUNCTION = "I look first.\n\n<function=view>\n<parameter=path>lamp.py</parameter>\n</function>"
TAGGED = "I look first.\n<read_file>\n<path>\nlamp.py\n</path>\n</read_file>"
SAID = {"type": "text", "text": "I look first."}
DETAILS = "<environment_details>\n# Open tabs\n</environment_details>"
FILE = "VOLTS = 11 and LIMIT = 12"


def called(name: str) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": {"path": "lamp.py"}}


def test_a_function_with_parameters_is_a_call_with_arguments() -> None:
    assert function_call_parts(FUNCTION) == [SAID, called("view")]
    after = {"type": "text", "text": "Now I wait."}
    assert function_call_parts(f"{FUNCTION}\nNow I wait.") == [SAID, called("view"), after]
    assert function_call_parts(FUNCTION.removesuffix("</function>")) == [SAID, called("view")]


def test_a_tag_with_tags_inside_is_a_call_with_arguments() -> None:
    assert tagged_call_parts(TAGGED) == [SAID, called("read_file")]


@pytest.mark.parametrize("words", ["Nothing is called here.", f"{FUNCTION}\n{FUNCTION}"])
def test_no_call_and_several_calls_are_read_as_text(words: str) -> None:
    assert function_call_parts(words) is None


def test_two_tags_of_tools_are_read_as_text() -> None:
    assert tagged_call_parts(f"{TAGGED}\n{TAGGED}") is None


def swe_agent(answer: str) -> dict[str, Any]:
    """A trajectory of one answer and what its command printed."""
    history = [
        {"role": "user", "content": "Why does the lamp flicker?"},
        {"role": "assistant", "content": answer, "action": "view lamp.py"},
        {"role": "user", "content": f"OBSERVATION:\n{FILE}"},
    ]
    return {"environment": "hall", "trajectory": [], "info": {}, "history": history}


def test_a_function_in_the_text_of_swe_agent_is_a_call(tmp_path: Path) -> None:
    session = only(document(tmp_path, swe_agent(FUNCTION)))
    _, made, result = session.messages
    assert isinstance(made, AssistantMessage) and isinstance(result, ToolResult)
    assert plain_text(made) == "I look first."
    assert (made.calls[0].name, made.calls[0].arguments) == ("view", {"path": "lamp.py"})
    assert (result.call_id, plain_text(result)) == (made.calls[0].id, f"OBSERVATION:\n{FILE}")
    assert session.origin.skipped == () and session.origin.text_read == 1.0


def cline(*returned: str) -> list[dict[str, Any]]:
    """A task of Cline without tools of the API: an answer, and what its tool returned."""
    texts = [{"type": "text", "text": text} for text in (*returned, DETAILS)]
    return [
        {"role": "user", "content": f"<task>\nWhy does it flicker?\n</task>\n{DETAILS}"},
        {"role": "assistant", "content": [{"type": "text", "text": TAGGED}]},
        {"role": "user", "content": texts},
        {"role": "assistant", "content": [{"type": "text", "text": "It gets 11 volts."}]},
    ]


HEADER = "[read_file for 'lamp.py'] Result:"


@pytest.mark.parametrize("returned", [(HEADER, FILE), (f"{HEADER}\n{FILE}",)])
def test_a_tag_in_the_text_of_cline_is_a_call_and_the_environment_the_clients(
    tmp_path: Path, returned: tuple[str, ...]
) -> None:
    session = only(document(tmp_path, cline(*returned)))
    assert session.origin.format == "roo_task"
    roles = [message.role for message in session.messages]
    assert roles == ["user", "assistant", "tool", "user", "assistant"]
    _, made, result, environment, _ = session.messages
    assert isinstance(made, AssistantMessage) and made.calls[0].name == "read_file"
    assert plain_text(result) == f"{HEADER}\n{FILE}"
    assert plain_text(environment) == DETAILS and environment.role == "user"
    assert environment.synthetic


def test_what_a_user_says_after_a_tag_of_cline_is_no_result(tmp_path: Path) -> None:
    session = only(document(tmp_path, cline("No, look at the other lamp.")))
    assert [message.role for message in session.messages][:3] == ["user", "assistant", "user"]
