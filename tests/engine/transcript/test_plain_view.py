"""A secret is found behind what programs put around a text, and all around it stays."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.transcript.redaction import Redactor

SECRET = "correct-horse"
PLACEHOLDER = re.compile(r"REDACTED-password-1\S*")


def masked(text: str) -> str:
    return Redactor().mask(text)


@pytest.mark.parametrize(
    "text",
    [
        r"{\"password\": \"correct-horse\"}",
        r"a\npassword=correct-horse",
        "&quot;password&quot;: &quot;correct-horse&quot;",
        "\x1b[32mpassword\x1b[0m=\x1b[1mcorrect-horse\x1b[0m",
        '+ \x1b[1mpassword\x1b[0m: \\"correct-horse\\"\n',
    ],
)
def test_escapes_and_colours_hide_no_secret_and_stay(text: str) -> None:
    assert masked(text) == text.replace(SECRET, "REDACTED-password-1")


@pytest.mark.parametrize(
    "line",
    [
        "+value",
        "- value",
        "# value",
        "// value",
        "> value",
        "  12→value",
        "12\tvalue",
        "a/b.py:3:value",
        "│ value",
    ],
)
def test_what_a_program_put_before_a_line_hides_no_secret_and_stays(line: str) -> None:
    key = "BEGIN OPENSSH PRIVATE KEY"
    block = [f"-----{key}-----", "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU", "-----END" + key[5:] + "-----"]
    text = "\n".join(line.replace("value", row) for row in block)
    assert block[1] not in masked(text)
    told = line.replace("value", "password: correct-horse")
    assert masked(told) == told.replace(SECRET, "REDACTED-password-1")


@given(st.text(alphabet='ab \n"#+-\x1b[3m&lt;:1\n→', max_size=60))
def test_whatever_stands_around_a_secret_stays_in_its_place(around: str) -> None:
    text = f"{around}\n password: {SECRET} \n{around}"
    assert PLACEHOLDER.sub(SECRET, masked(text)) == text
