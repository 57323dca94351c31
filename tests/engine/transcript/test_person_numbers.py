"""Numbers of persons behind words that say so by their parts, and what only looks like them."""

import pytest

from workbench.engine.transcript.redaction import Redactor


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Your claim: Schadennummer K-2024-5518293, in Bearbeitung", "2024-5518293"),
        ("library card 2 1146 00317 5582", "1146 00317 5582"),
        ("my passport, the new one, is C81244907", "C81244907"),
        ("select tax_no from people;\ntaxpayer no\n-----------\n771402938", "771402938"),
        ("Ode Quillmoor (44-810-3372) called twice", "44-810-3372"),
        ("people.csv:7:Renshaw;Tamsyn;551720948;yes", "551720948"),
        ("student u8840127 is absent", "u8840127"),
    ],
)
def test_a_number_behind_words_of_a_person_is_masked(text: str, value: str) -> None:
    assert value not in Redactor().mask(text)


@pytest.mark.parametrize(
    "text",
    [
        "The C compiler identification is GNU 11.4.0",
        "patient since 2019-04-17, 12:30:44",
        "Chunk ID: 452364",
        "pid: 99999 exited",
        "took 1732650000123 ns for 4096 rows",
        "licence MIT, version 10.4.12",
    ],
)
def test_other_numbers_stay(text: str) -> None:
    assert Redactor().mask(text) == text
