from __future__ import annotations

import json

import pytest

from workbench import FormatError
from workbench.recordings.importers.json_text import decode

MAX_DEPTH = 200


def test_plain_json_is_decoded() -> None:
    assert decode('{"a": [1, 2.5, null, true, "x"]}') == {"a": [1, 2.5, None, True, "x"]}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1', "not JSON"),
        ("", "not JSON"),
        ("[" * 100_000, "nested deeper"),
        ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "nested deeper"),
        ("1e400", "1e400 is not a number that a float can hold"),
        ("-Infinity", "-Infinity is not a number"),
        ("1" * 5_000, "too many digits"),
        ('"a\nb"', "not JSON"),
    ],
)
def test_what_cannot_be_kept_is_named(text: str, why: str) -> None:
    with pytest.raises(FormatError, match=why):
        decode(text)


def test_the_line_of_the_damage_is_told() -> None:
    with pytest.raises(FormatError) as caught:
        decode('{\n"a": 1,\n"b" 2}')
    assert caught.value.line == 3


def test_depth_up_to_the_limit_is_read() -> None:
    text = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert json.dumps(decode(text)) == text


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
def test_half_surrogate_pairs_are_replaced_and_whole_ones_kept(text: str, value: str) -> None:
    assert decode(text) == value
