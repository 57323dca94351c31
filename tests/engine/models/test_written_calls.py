"""Tool calls in plain text: how they are offered, written and read, and what a model is told of
a wrong one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from workbench import (
    AnswerAwaited,
    Completion,
    ModelError,
    ModelSettings,
    SummaryRequest,
    find_model,
)
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


@dataclass(frozen=True, slots=True)
class Answerer:
    """Answers the requests in a folder with one text after another."""

    folder: Path

    def answer(self, *texts: str, asked: SummaryRequest) -> Completion:
        """What a run reads of the texts."""
        settings = ModelSettings(cache=self.folder / "cache", use_cache=False, run="r")
        model = settings.model(f"folder:{self.folder}")
        for number, text in enumerate(texts, 1):
            with pytest.raises(AnswerAwaited):
                model.complete(asked)
            (self.folder / f"{number:05}.answer.txt").write_text(text, "utf-8")
        return model.complete(asked)

    @property
    def requests(self) -> list[str]:
        """What was asked, in order."""
        files = sorted(self.folder.glob("*.request.txt"))
        return [file.read_text("utf-8").partition("\n---\n")[2] for file in files]


@pytest.fixture
def answerer(tmp_path: Path) -> Answerer:
    return Answerer(tmp_path)


def request(tools: list[Any] = TOOLS) -> SummaryRequest:
    return SummaryRequest(
        purpose="question",
        system="",
        write=lambda _: json.dumps(CHAT),
        chat=tuple(CHAT),
        tools=tuple(tools),
    )


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


def test_an_answer_without_a_block_is_words(answerer: Answerer) -> None:
    answer = answerer.answer("Done.\n```python\nx = 1\n```\n", asked=request())
    assert (answer.text, answer.calls) == ("Done.\n```python\nx = 1\n```", ())


def test_calls_are_read_in_their_order_and_the_rest_is_words(answerer: Answerer) -> None:
    pretty = '```tool\n{\n "tool": "list",\n "arguments": {"path": "```\\n"}\n}\n```'
    answer = answerer.answer(f"I look.\n{GOOD}\nAnd then:\n{pretty}", asked=request())
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
def test_a_call_that_cannot_be_read_is_named_with_what_would_be(
    answerer: Answerer, block: str, why: str
) -> None:
    answerer.answer(f"I look.\n{block}\n", GOOD, asked=request())
    told = answerer.requests[1].rpartition("[user]\n")[2]
    assert told.startswith("Your last answer was not carried out: ") and why in told


def test_a_model_is_told_why_its_call_cannot_be_read_and_answers_again(
    answerer: Answerer,
) -> None:
    wrong = '```tool\n{"tool": "rm", "arguments": {}}\n```'
    answer = answerer.answer(wrong, GOOD, asked=request())
    assert answer.calls == (("read", '{"path": "a.py"}'),)
    first, second = answerer.requests
    assert wrong in second.removeprefix(first.partition("[tools")[0])
    assert (
        "[user]\nYour last answer was not carried out: there is no tool 'rm'; there are read, list."
        " Answer again.\n" in second
    )


def test_both_answers_to_a_request_are_paid(tmp_path: Path) -> None:
    wrong, right = Answerer(tmp_path / "wrong"), Answerer(tmp_path / "right")
    once = right.answer(GOOD, asked=request())
    twice = wrong.answer('```tool\n{"tool": "rm", "arguments": {}}\n```', GOOD, asked=request())
    assert twice.input_tokens > 2 * once.input_tokens > 0, "the second one has the first answer too"
    assert twice.output_tokens > once.output_tokens and twice.usd is None


def test_a_model_that_never_writes_a_call_that_can_be_read_is_given_up(answerer: Answerer) -> None:
    never = ["```tool\nread a.py\n```"] * 3
    with pytest.raises(
        ModelError, match=r"3 times in a row: the block read a\.py is no JSON"
    ) as caught:
        answerer.answer(*never, asked=request())
    assert not caught.value.outage, "it is the model's own doing"


def test_a_request_without_tools_is_answered_as_it_is(answerer: Answerer) -> None:
    assert answerer.answer(GOOD, asked=request([])).text == GOOD
