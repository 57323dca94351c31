"""What was masked once is masked everywhere in its session, but no ordinary word is."""

import pytest

from builders import said
from workbench import Session
from workbench.engine.transcript.message import said_texts
from workbench.engine.transcript.redaction import redacted


def cleaned(*texts: str) -> str:
    messages = [said(text, f"u{number}") for number, text in enumerate(texts)]
    return "\n".join(
        text for message in redacted(Session.of(messages)).messages for text in said_texts(message)
    )


@pytest.mark.parametrize(
    ("cue", "elsewhere", "value"),
    [
        ("My name is Ottilie Brandhuber.", "so Ottilie Brandhuber wins", "Ottilie Brandhuber"),
        ("My name is Ottilie Brandhuber.", "and Brandhuber said no", "Brandhuber"),
        ("Author: Jorun Tveit <jt@corp.no>", "pinged Jorun about it", "Jorun"),
        ("mail to torgeir.aasen@corp.no", "Torgeir asks", "Torgeir"),
        ("phone: 0176 3388 1204", "dial 0176 3388 1204 then", "0176 3388 1204"),
        ("username: 'mia_lohmann'", "the entity person.mia_lohmann is home", "mia_lohmann"),
        ("/home/h.brunckhorst/x.py", "ask h.brunckhorst today", "h.brunckhorst"),
        ("passport number: C01X00T47", "see C01X00T47 in the scan", "C01X00T47"),
    ],
)
def test_a_value_without_a_cue_is_masked_where_a_cue_stands_elsewhere(
    cue: str, elsewhere: str, value: str
) -> None:
    assert value not in cleaned(cue, elsewhere)
    assert value not in cleaned(elsewhere, cue)


@pytest.mark.parametrize(
    ("cue", "elsewhere"),
    [
        ("My name is Rosalind Baker.", "the baker was late. Bakery and Baker2 too"),
        ("/home/worker1/x.py", "the word worker10 and coworker1"),
        ("My name is Anna Ott.", "Ottawa and Annals"),
        ("date of birth: 1990-01-02", "released on 1990-01-02"),
        ("mail to build.bot@corp.com", "Build the Bot"),
    ],
)
def test_an_ordinary_word_stays(cue: str, elsewhere: str) -> None:
    assert cleaned(cue, elsewhere).endswith(elsewhere)


def test_a_name_that_the_session_writes_as_a_word_is_masked_with_its_cue_only() -> None:
    text = cleaned("My name is Rosalind Baker.", "ask the baker", "Baker street")
    assert "Rosalind Baker" not in text and text.endswith("Baker street")


def test_the_parts_of_a_name_get_the_placeholder_of_the_name() -> None:
    first, second = cleaned("My name is Ottilie Brandhuber.", "Ottilie left").split("\n")
    assert first.removeprefix("My name is ").rstrip(".") == second.removesuffix(" left")
