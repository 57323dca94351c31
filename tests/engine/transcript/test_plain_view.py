"""A view reads without what programs put around a text, and each of its places leads back to the
text.
"""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.transcript.plain_view import plain_view, without_prefixes


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (r"{\"a\": \"b\"}", '{"a": "b"}'),
        (r"a\nb", "a\nb"),
        ("&quot;a&quot;", '"a"'),
        ("\x1b[32mgreen\x1b[0m", "green"),
    ],
)
def test_a_view_is_without_escapes_and_colours(text: str, plain: str) -> None:
    assert plain_view(text).text == plain


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
def test_a_line_is_without_what_a_program_put_before_it(line: str) -> None:
    assert without_prefixes(plain_view(line)).text == "value"


def test_a_place_of_a_view_leads_back_to_the_text() -> None:
    text = '+ \x1b[1mname\x1b[0m: \\"secret\\"\n'
    view = without_prefixes(plain_view(text))
    start = view.text.index("secret")
    assert slice(*view.original(start, start + 6)) == slice(
        text.index("secret"), text.index("secret") + 6
    )


@given(st.text(alphabet='ab \\n"#+-\x1b[3m&lt;:1\n→', max_size=60))
def test_each_character_of_a_view_has_its_place_in_order(text: str) -> None:
    view = without_prefixes(plain_view(text))
    places = [view.original(index, index + 1) for index in range(len(view.text))]
    assert all(0 <= start < stop <= len(text) for start, stop in places)
    assert all(before[1] <= behind[0] for before, behind in pairwise(places))
