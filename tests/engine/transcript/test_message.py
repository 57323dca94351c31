import random
from collections import OrderedDict
from typing import Any

import pytest
from properties.conversations import messages

from workbench import AssistantMessage, Text, ToolCall
from workbench.engine.transcript.message import (
    Image,
    ToolResult,
    chars_per_token,
    counted_text,
    image_tokens,
    plain_text,
    said_text,
    said_texts,
)


@pytest.mark.parametrize(
    "arguments",
    [{}, {"path": "a.py"}, {"é\n": 'a "b" \\ \x00\ud800 日本', "b": ""}, {"n": 1, "text": "x"},
     {"deep": {"a": ["b", None]}}, {1: "a"}, OrderedDict(a="b")],
)  # fmt: skip
def test_arguments_are_counted_as_json(arguments: dict[Any, Any]) -> None:
    call = ToolCall("c", "edit", arguments)
    message = AssistantMessage(id="a", blocks=(call,))
    assert counted_text(message) == "edit\n" + call.arguments_json()


def test_plain_text_joins_all_text_blocks_and_nothing_else() -> None:
    assert plain_text(ToolResult(id="r", call_id="c", blocks=(Text("x"),))) == "x"
    assert plain_text(ToolResult(id="r", call_id="c", blocks=(Image(),))) == ""
    assert (
        plain_text(ToolResult(id="r", call_id="c", blocks=(Text("x"), Image(), Text("y"))))
        == "x\ny"
    )


def test_a_quarter_of_the_characters_is_counted_and_the_tokens_of_pictures() -> None:
    for seed in range(200):
        for message in messages(random.Random(seed)):
            assert (
                chars_per_token(message)
                == -(-len(counted_text(message)) // 4) + image_tokens(message) + 4
            )


def test_the_whole_text_of_a_message_is_its_texts_joined() -> None:
    for seed in range(100):
        for message in messages(random.Random(seed)):
            assert said_text(message) == "\n".join(said_texts(message))
