"""Numbers of persons that their form and their check digits give away."""

from __future__ import annotations

import pytest

from workbench.engine.transcript.redaction import Redactor


def masked(text: str) -> str:
    return Redactor(kinds=frozenset({"id"})).mask(text)


@pytest.mark.parametrize("number", ["X1234508Y", "X-1234516-Z", "Y1234521X", "Z1234503Y"])
def test_a_foreigner_in_spain_may_have_any_check_letter(number: str) -> None:
    assert masked(f"NIE: {number}, as on the card") == "NIE: REDACTED-id-1, as on the card"


@pytest.mark.parametrize("number", ["X1234508Z", "12345678A", "110.101.302-21"])
def test_a_number_whose_check_digits_are_wrong_is_no_persons(number: str) -> None:
    assert masked(f"order {number} was sent") == f"order {number} was sent"


@pytest.mark.parametrize(
    "number",
    [
        "529.982.247-25",
        "11.222.333/0001-81",
        "11010519491231002X",
        "131052-308T",
        "S1234567D",
        "12345678Z",
        "12.345.678-5",
        "A123456789",
    ],
)
def test_the_numbers_of_a_country_are_found_with_right_check_digits(number: str) -> None:
    text = masked(f"the card {number} lies here")
    assert text.startswith("the card REDACTED-id-1") and text.endswith(" lies here")
    assert number not in text
