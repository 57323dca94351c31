"""Tool calls in plain text: how they are offered, written and read, and what a model is told of
a wrong one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workbench import AnswerAwaited, Completion, ModelError, SummaryRequest, find_model
from workbench.engine.models.text_tools import TextToolModel
from workbench.engine.models.written_calls import call_text

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": about,
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string", "description": "the file"}},
            },
        },
    }
    for name, about in (("read", "Read a file."), ("list", "List a folder."))
]
CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "You work on a project."},
    {"role": "user", "content": "Look at a.py."},
    {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [
            {
                "id": "call_0000",
                "type": "function",
                "function": {"name": "read", "arguments": '{"path": "a.py"}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "call_0000", "content": "x = 1"},
]
GOOD = call_text("read", '{"path": "a.py"}')


class Saying:
    """A model that says one text after another."""

    name = "saying"

    def __init__(self, *texts: str) -> None:
        self.texts, self.requests = list(texts), list[SummaryRequest]()

    def complete(self, request: SummaryRequest, /) -> Completion:
        self.requests.append(request)
        return Completion(text=self.texts.pop(0), model=self.name, input_tokens=10, usd=None)


def request(tools: list[Any] = TOOLS) -> SummaryRequest:
    return SummaryRequest(
        purpose="question",
        system="",
        write=lambda _: json.dumps(CHAT),
        chat=tuple(CHAT),
        tools=tuple(tools),
    )


def answer_of(text: str) -> Completion:
    """What is read of the text that a model writes."""
    return TextToolModel(Saying(text)).complete(request())


def test_a_conversation_is_written_with_its_calls_its_tools_and_the_way_to_answer(
    tmp_path: Path,
) -> None:
    with pytest.raises(AnswerAwaited):
        find_model(f"folder:{tmp_path}").complete(request())
    _, _, written = (tmp_path / "00001.request.txt").read_text().partition("\n---\n")
    assert (
        written.removesuffix("\n")
        == "[system]\nYou work on a project.\n\n[user]\nLook at a.py.\n\n[assistant]\nI"
        ' look.\n(call_0000)\n```tool\n{"tool": "read", "arguments": {"path":'
        ' "a.py"}}\n```\n\n[result of call_0000]\nx = 1\n\n[tools that you may call]\n-'
        " read(path: the file): Read a file.\n- list(path: the file): List a folder.\n\n[how to"
        " answer]\nWrite what you say as plain text. To call a tool, write a block for each"
        ' call, which holds one JSON object and nothing else:\n\n```tool\n{"tool": "read",'
        ' "arguments": {"path": "..."}}\n```\n\nArguments are texts or numbers. You get the'
        " results in the next message. An answer without a block ends your turn."
    )


def test_an_answer_without_a_block_is_words() -> None:
    answer = answer_of("Done.\n```python\nx = 1\n```\n")
    assert (answer.text, answer.calls) == ("Done.\n```python\nx = 1\n```", ())


def test_calls_are_read_in_their_order_and_the_rest_is_words() -> None:
    pretty = '```tool\n{\n "tool": "list",\n "arguments": {"path": "```\\n"}\n}\n```'
    answer = answer_of(f"I look.\n{GOOD}\nAnd then:\n{pretty}")
    assert answer.text == "I look.\nAnd then:"
    assert answer.calls == (("read", '{"path": "a.py"}'), ("list", json.dumps({"path": "```\n"})))


@pytest.mark.parametrize(
    ("block", "why"),
    [
        ("```tool\n{tool: read}\n```", "is no JSON"),
        ('```tool\n{"tool": "read"}\n```', '"tool" and "arguments" alone'),
        (
            '```tool\n{"tool": "read", "arguments": {}, "id": 1}\n```',
            '"tool" and "arguments" alone',
        ),
        (
            '```tool\n{"tool": "rm", "arguments": {}}\n```',
            "there is no tool 'rm'; there are read, list",
        ),
        (
            '```tool\n{"tool": "read", "arguments": ["a.py"]}\n```',
            "must be an object whose values are texts",
        ),
        (
            '```tool\n{"tool": "read", "arguments": {"path": ["a.py"]}}\n```',
            "must be an object whose values are texts",
        ),
        (
            '```tool\n{"tool": "read", "arguments": {"path": "a.py"}}',
            "does not end with a line ```",
        ),
        (
            '```tool {"tool": "read", "arguments": {"path": "a.py"}} ```',
            "does not end with a line ```",
        ),
        ('```tool\n["read"]\n```', "must be an object"),
    ],
)
def test_a_call_that_cannot_be_read_is_named_with_what_would_be(block: str, why: str) -> None:
    model = Saying(f"I look.\n{block}\n", GOOD)
    TextToolModel(model).complete(request())
    told = model.requests[1].chat[-1]["content"]
    assert told.startswith("Your last answer was not carried out: ") and why in told


def test_a_model_is_told_why_its_call_cannot_be_read_and_answers_again() -> None:
    model = Saying('```tool\n{"tool": "rm", "arguments": {}}\n```', GOOD)
    answer = TextToolModel(model).complete(request())
    assert answer.calls == (("read", '{"path": "a.py"}'),)
    assert answer.input_tokens == 20 and answer.usd is None, "both answers count"
    shown = model.requests[1].chat[-2:]
    assert "rm" in shown[0]["content"]
    assert (
        shown[1]["content"]
        == "Your last answer was not carried out: there is no tool 'rm'; there are read, list."
        " Answer again."
    )
    assert model.requests[0].prompt != model.requests[1].prompt, "the second one is another request"


def test_a_model_that_never_writes_a_call_that_can_be_read_is_given_up() -> None:
    model = Saying(*["```tool\nread a.py\n```"] * 3)
    with pytest.raises(
        ModelError, match=r"3 times in a row: the block read a\.py is no JSON"
    ) as caught:
        TextToolModel(model).complete(request())
    assert not caught.value.outage, "it is the model's own doing"


def test_a_request_without_tools_is_answered_as_it_is() -> None:
    assert TextToolModel(Saying(GOOD)).complete(request([])).text == GOOD
