from __future__ import annotations

import json
from pathlib import Path

import pytest
from recordings.importers.files import only

from workbench import AssistantMessage, FormatError
from workbench.engine.transcript.message import Json

MAX_DEPTH = 200
OUTER_LEVELS = 5
"""The list of messages, a message, its content, a call and its arguments."""
TOO_DEEP = MAX_DEPTH - OUTER_LEVELS + 1


def decode(folder: Path, text: str) -> Json:
    """The argument of a call that stands in a file with this text."""
    path = folder / "chat.json"
    call = f'{{"type": "tool_use", "id": "c", "name": "n", "input": {{"value": {text}}}}}'
    answer = f'{{"role": "assistant", "content": [{call}]}}'
    path.write_text(f'[{{"role": "user", "content": "go"}}, {answer}]', encoding="utf-8")
    message = only(path, format="anthropic_messages").messages[1]
    assert isinstance(message, AssistantMessage)
    return message.calls[0].arguments["value"]


def test_plain_json_is_decoded(tmp_path: Path) -> None:
    assert decode(tmp_path, '{"a": [1, 2.5, null, true, "x"]}') == {"a": [1, 2.5, None, True, "x"]}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1', "not JSON"),
        ("", "not JSON"),
        ("[" * 100_000, "nested deeper"),
        ("[" * TOO_DEEP + "]" * TOO_DEEP, "nested deeper"),
        ("1e400", "1e400 is not a number that a float can hold"),
        ("-Infinity", "-Infinity is not a number"),
        ("1" * 5_000, "too many digits"),
        ('"a\nb"', "not JSON"),
    ],
)
def test_what_cannot_be_kept_is_named(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(FormatError, match=why):
        decode(tmp_path, text)


def test_the_line_of_the_damage_is_told(tmp_path: Path) -> None:
    with pytest.raises(FormatError) as caught:
        decode(tmp_path, '{\n"a": 1,\n"b" 2}')
    assert caught.value.line == 3


def test_depth_up_to_the_limit_is_read(tmp_path: Path) -> None:
    depth = MAX_DEPTH - OUTER_LEVELS
    text = "[" * depth + "]" * depth
    assert json.dumps(decode(tmp_path, text)) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"\ud83d\ude00"', "\U0001f600"),
        (r'"\ud83d"', "\ufffd"),
        (r'"\ude00\ud83d"', "\ufffd\ufffd"),
        (r'"\\ud83d"', "\\ud83d"),
        (r'"\\\ud83d"', "\\\ufffd"),
        (r'"\uD83D\uDE00 \udead"', "\U0001f600 \ufffd"),
    ],
)
def test_half_surrogate_pairs_are_replaced_and_whole_ones_kept(
    tmp_path: Path, text: str, value: str
) -> None:
    assert decode(tmp_path, text) == value
