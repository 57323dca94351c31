"""Calls that stand in the text of an answer are calls, and what they returned are results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from recordings.importers.files import document, only

from workbench import AssistantMessage, Session, Text, ToolCall, advise, bundled, load
from workbench.engine.transcript.message import Json, ToolResult, plain_text
from workbench.lab.advice.advice_spec import AdviceSpec

FUNCTION = "I look first.\n\n<function=view>\n<parameter=path>lamp.py</parameter>\n</function>"
TAGGED = "I look first.\n<read_file>\n<path>\nlamp.py\n</path>\n</read_file>"
DETAILS = "<environment_details>\n# Open tabs\n</environment_details>"
FILE = "VOLTS = 11 and LIMIT = 12"


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


@dataclass(frozen=True)
class Told:
    """The texts of an answer, and the names and arguments of its calls."""

    texts: list[str]
    calls: list[tuple[str, dict[str, Json]]]


def told(session: Session) -> Told:
    """The first answer of a session."""
    answer = next(m for m in session.messages if isinstance(m, AssistantMessage))
    texts = [block.text for block in answer.blocks if isinstance(block, Text)]
    return Told(texts, [(call.name, dict(call.arguments)) for call in answer.calls])


@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        (FUNCTION, ["I look first."]),
        (f"{FUNCTION}\nNow I wait.", ["I look first.", "Now I wait."]),
        (FUNCTION.removesuffix("</function>"), ["I look first."]),
    ],
)
def test_a_function_with_parameters_is_a_call_with_arguments(
    tmp_path: Path, answer: str, texts: list[str]
) -> None:
    session = only(document(tmp_path, swe_agent(answer)))
    assert told(session) == Told(texts, [("view", {"path": "lamp.py"})])


@pytest.mark.parametrize("words", ["Nothing is called here.", f"{FUNCTION}\n{FUNCTION}"])
def test_no_function_and_several_are_read_as_text(tmp_path: Path, words: str) -> None:
    read = told(only(document(tmp_path, swe_agent(words))))
    assert read.texts == [words]
    assert read.calls != [("view", {"path": "lamp.py"})], "no argument is read of the text"


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


def test_a_tag_with_tags_inside_is_a_call_with_arguments(tmp_path: Path) -> None:
    session = only(document(tmp_path, cline(f"{HEADER}\n{FILE}")))
    assert told(session) == Told(["I look first."], [("read_file", {"path": "lamp.py"})])


def test_two_tags_of_tools_are_read_as_text(tmp_path: Path) -> None:
    task = cline(f"{HEADER}\n{FILE}")
    two_tags = f"{TAGGED}\n{TAGGED}"
    task[1]["content"] = [{"type": "text", "text": two_tags}]
    assert told(only(document(tmp_path, task))) == Told([two_tags], [])


def test_each_text_that_names_a_tool_of_cline_is_the_result_of_its_call(tmp_path: Path) -> None:
    calls = [
        {"type": "tool_use", "id": "c1", "name": "read_file", "input": {"path": "lamp.py"}},
        {"type": "tool_use", "id": "c2", "name": "list_files", "input": {"path": "."}},
        {"type": "tool_use", "id": "c3", "name": "read_file", "input": {"path": "volts.py"}},
    ]
    returned = (
        f"{HEADER}\n{FILE}",
        "[read_file for 'volts.py'] Result:\nVOLTS = 12",
        "[list_files for '.'] Result:",
        "lamp.py volts.py",
    )
    task = cline(*returned)
    task[1]["content"] = calls
    session = only(document(tmp_path, task))
    results = [message for message in session.messages if isinstance(message, ToolResult)]
    assert [(result.call_id, plain_text(result)) for result in results] == [
        ("c1", returned[0]),
        ("c3", returned[1]),
        ("c2", f"{returned[2]}\n{returned[3]}"),
    ]
    assert session.origin.skipped == ()


def test_what_a_user_says_after_a_tag_of_cline_is_no_result(tmp_path: Path) -> None:
    session = only(document(tmp_path, cline("No, look at the other lamp.")))
    assert [message.role for message in session.messages][:3] == ["user", "assistant", "user"]


def react(*actions: str) -> list[dict[str, Any]]:
    """A chat of a ReAct agent with an answer for each of these actions."""
    messages = [{"role": "user", "content": "Question: why does it flicker?"}]
    for action in actions:
        messages += [
            {"role": "assistant", "content": f"Thought: I look first.\n{action}"},
            {"role": "user", "content": f"Observation: {FILE}"},
        ]
    return [*messages, {"role": "assistant", "content": "Final Answer: it gets 11 volts."}]


@pytest.mark.parametrize(
    ("written", "arguments"),
    [('{"path": "lamp.py"}', {"path": "lamp.py"}), ("lamp.py\n", {"input": "lamp.py"})],
)
def test_an_action_in_the_text_of_a_react_agent_is_a_call(
    tmp_path: Path, written: str, arguments: dict[str, str]
) -> None:
    action = f"Action: view\nAction Input: {written}"
    session = only(document(tmp_path, react(action, action)))
    roles = [message.role for message in session.messages]
    assert roles == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    made, result = session.messages[3:5]
    assert isinstance(made, AssistantMessage) and isinstance(result, ToolResult)
    assert plain_text(made) == "Thought: I look first."
    assert (made.calls[0].name, made.calls[0].arguments) == ("view", arguments)
    assert (result.call_id, plain_text(result)) == (made.calls[0].id, f"Observation: {FILE}")


def test_an_observation_without_an_action_is_the_user_s_word(tmp_path: Path) -> None:
    session = only(document(tmp_path, react("I would call a tool.")))
    assert [message.role for message in session.messages][:3] == ["user", "assistant", "user"]


def test_two_actions_in_one_answer_stay_text(tmp_path: Path) -> None:
    action = "Action: view\nAction Input: lamp.py\nObservation: made up\n"
    session = only(document(tmp_path, react(action + action)))
    message = session.messages[1]
    assert isinstance(message, AssistantMessage) and message.calls == ()


def turns(session: Session, *, in_text: bool) -> Iterator[dict[str, Any]]:
    """A history of SWE-agent with the calls of a session as text, or as calls of the API: an
    answer has one call, and what it returned follows.
    """
    results = {m.call_id: m for m in session.messages if isinstance(m, ToolResult)}
    for message in session.messages:
        words = plain_text(message).strip()
        if not isinstance(message, AssistantMessage):
            if not isinstance(message, ToolResult):
                yield {"role": message.role, "content": words}
            continue
        calls = [call for call in message.calls if call.id in results]
        if not calls:
            yield {"role": "assistant", "content": words, "action": ""}
        for call in calls:
            yield called_turn(words, call, in_text=in_text)
            result = {"role": "user", "content": plain_text(results[call.id])}
            yield result if in_text else {**result, "role": "tool", "tool_call_ids": [call.id]}
            words = ""


def called_turn(words: str, call: ToolCall, *, in_text: bool) -> dict[str, Any]:
    """An answer with a call, whose arguments are texts."""
    arguments = {name: str(value) for name, value in call.arguments.items()}
    if not in_text:
        function = {"name": call.name, "arguments": json.dumps(arguments)}
        tool_calls = [{"id": call.id, "function": function}]
        return {"role": "assistant", "content": words, "tool_calls": tool_calls}
    parameters = ""
    for name, value in arguments.items():
        parameters += f"<parameter={name}>\n{value}\n</parameter>\n"
    text = f"{words}\n\n<function={call.name}>\n{parameters}</function>"
    return {"role": "assistant", "content": text, "action": f"{call.name} ..."}


@pytest.fixture(scope="module")
def both_forms(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Bundled sessions as trajectories: a folder in text form, and one in tool form."""
    folder = tmp_path_factory.mktemp("forms")
    sessions = bundled()[:3]
    paths = []
    for in_text in (True, False):
        path = folder / ("text" if in_text else "tools")
        path.mkdir()
        for session in sessions:
            history = [*turns(session, in_text=in_text)]
            trajectory = {"environment": session.project, "trajectory": [], "history": history}
            document(path, trajectory, f"{session.id}.json")
        paths.append(path)
    return paths[0], paths[1]


def said(session: Session) -> list[tuple[Any, ...]]:
    """Who said, called and got what, without ids."""
    lines: list[tuple[Any, ...]] = []
    for message in session.messages:
        calls = message.calls if isinstance(message, AssistantMessage) else ()
        called = [(call.name, call.arguments) for call in calls]
        lines.append((message.role, plain_text(message).strip(), called))
    return lines


def test_a_recording_in_text_form_is_the_same_as_in_tool_form(
    both_forms: tuple[Path, Path],
) -> None:
    in_text, with_tools = map(load, map(str, both_forms))
    assert [said(session) for session in in_text] == [said(session) for session in with_tools]
    assert sum(len(call) for session in in_text for *_, call in said(session)) > 30


@pytest.mark.parametrize("simulate", [True, False])
def test_both_forms_get_the_same_recommendation(
    both_forms: tuple[Path, Path], tmp_path: Path, simulate: bool
) -> None:
    grid = tmp_path / "grid.toml"
    grid.write_text('strategies = ["truncate", "summarize", "pipeline"]\nwindows = [16000]\n')
    advices = []
    for path in both_forms:
        spec = AdviceSpec(
            space=grid,
            default="truncate",
            out=tmp_path / path.name,
            quiet=True,
            simulate=simulate,
        )
        advices.append(advise([str(path)], spec=spec))
    in_text, with_tools = advices
    assert in_text.advised == with_tools.advised
    assert list(in_text.table["candidate"]) == list(with_tools.table["candidate"])
    # the ids of the calls differ between the forms, which moves the score of a rule's summary a hair,
    # and in a simulation where a later compaction falls
    points = list(with_tools.table["points"])
    largest_gap = 1 if simulate else 0.1
    assert list(in_text.table["points"]) == pytest.approx(points, abs=largest_gap)
