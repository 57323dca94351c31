"""Addresses of many countries are masked; numbers and words that look like them stay."""

import pytest

from workbench.engine.transcript.redaction import Redactor


@pytest.mark.parametrize(
    "address",
    [
        "1847 Larkspur Hollow Rd",
        "12 Table View, Boise, ID 83702",
        "Lindenkampweg 48",
        "Kastanjelaan 118",
        "14 bis rue des Tanneurs",
        "Calle del Almendro 27",
        "Rua das Acácias, 482",
        "Postfach 4182",
        "P.O. Box 4182",
        "東京都港区芝公園4丁目2",
    ],
)
def test_an_address_is_masked(address: str) -> None:
    assert address not in Redactor().mask(f"send it to {address} today")


def test_the_lines_below_a_label_are_masked() -> None:
    masked = Redactor().mask(
        "Correspondence address:\nRookwood Cottage\n22 Tannery Lane\nLudlow\nSY8 3KD\n\nThanks"
    )
    assert not any(line in masked for line in ("Rookwood", "Tannery", "Ludlow", "SY8"))
    assert masked.endswith("\n\nThanks")


def test_a_pair_of_coordinates_is_masked_where_it_is_a_place() -> None:
    assert "47.603918" not in Redactor().mask("the car is at 47.603918, -122.184726 now")
    assert "0.603918" in Redactor().mask("weights 0.603918, 0.184726 of two")


@pytest.mark.parametrize(
    "text",
    [
        "3 Table View columns are wide",
        "tokens are exchanged via RFC 8693 STS",
        "in 2 Test Cases",
        "Address:\nReset()\nfoo(1)",
        "see Str. literal",
    ],
)
def test_what_only_looks_like_an_address_stays(text: str) -> None:
    assert Redactor().mask(text) == text
