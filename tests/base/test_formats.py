"""Numbers and words as a page shows them."""

from __future__ import annotations

from html import unescape

import pytest

from workbench.base.formats import capitalized
from workbench.base.markup import environment


def shown(template: str, value: object) -> str:
    """What a page shows of a value, where its template has this."""
    return unescape(environment().from_string(template).render(value=value))


@pytest.mark.parametrize(
    ("format", "value", "told"),
    [
        ("percent", 0.444, "44 %"),
        ("percent", 0, "0 %"),
        ("percent", 1, "100 %"),
        ("percent", 0.004, "0.4 %"),
        ("percent", -0.001, "-0.1 %"),
        ("percent", 0.0002, "< 0.1 %"),
        ("percent", None, "–"),
        ("percent", float("nan"), "–"),
        ("amount", 563, "563"),
        ("amount", 5_184, "5,180"),
        ("amount", 51_849, "51,800"),
        ("amount", 1_234_567, "1.23 million"),
        ("amount", None, "–"),
        ("count", 3.0, "3"),
        ("count", 2.666, "2.7"),
        ("decimal", 0.8888, "0.89"),
        ("decimal", -0.001, "0.00"),
        ("dollars", 1_234.5, "$1,234"),
        ("dollars", 12.345, "$12.35"),
        ("dollars", 0.0421, "$0.042"),
        ("dollars", 0.0, "$0.00"),
        ("dollars", 0.0001, "< $0.001"),
        ("dollars", -0.13, "−$0.13"),
        ("dollars", -12.0, "−$12.00"),
        ("dollars", None, "–"),
        ("dollars", float("nan"), "–"),
    ],
)
def test_a_number_has_no_more_digits_than_mean_something(
    format: str, value: float | None, told: str
) -> None:
    assert shown(f"{{{{ value | {format} }}}}", value) == told


@pytest.mark.parametrize(
    ("template", "value", "told"),
    [
        ("{{ value | joined }}", ["a"], "a"),
        ("{{ value | joined }}", ["a", "b", "c"], "a, b and c"),
        ("{{ some(value, 'session') }}", 1, "1 session"),
        ("{{ some(value, 'session') }}", 2, "2 sessions"),
    ],
)
def test_words_are_put_together_as_people_do(template: str, value: object, told: str) -> None:
    assert shown(template, value) == told


def test_a_sentence_begins_with_a_large_letter_and_keeps_the_letters_of_names() -> None:
    assert capitalized("stage 'MyStage' broke a rule") == "Stage 'MyStage' broke a rule"
    assert capitalized("") == ""
