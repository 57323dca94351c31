import pytest

from workbench.base.markup import environment


def shown(text: str) -> str:
    """The text where a template shows it between tags and in an attribute."""
    return (
        environment()
        .from_string('<b title="{{ text | clip }}">{{ text | clip }}</b>')
        .render(text=text)
    )


def marked(text: str, what: str) -> str:
    macro = '{% from "macros.html" import marked %}{{ marked(text, what) }}'
    return environment().from_string(macro).render(text=text, what=what)


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</td></table>", "&lt;"]
)
def test_markup_in_a_recording_stays_text(text: str) -> None:
    assert shown(text).count("<") == 2
    assert "<" not in marked(text, "nothing of the kind")


def test_quotes_cannot_leave_an_attribute() -> None:
    assert shown('" onmouseover="alert(1)').count('"') == 2 and "'" not in shown("' onclick='x")


@pytest.mark.parametrize(
    "text", ["\x1b[31mred", "\x00", "\u202eevil\u202c", "half \ud800 character", "\u2066\u2069"]
)
def test_unseen_characters_are_made_visible(text: str) -> None:
    assert all(char.isprintable() for char in shown(text))
    shown(text).encode("utf-8")


def test_a_line_of_a_megabyte_is_its_start_and_its_size() -> None:
    found = shown("x" * 1_000_000)
    assert len(found) < 1_000 and "1,000,000 characters" in found


def test_a_short_text_is_whole() -> None:
    assert shown("short") == '<b title="short">short</b>'


def test_the_marked_words_are_seen_even_far_into_a_line() -> None:
    found = marked("a" * 5_000 + " src/<b>.py " + "z" * 5_000, "src/<b>.py")
    assert "<mark>src/&lt;b&gt;.py</mark>" in found and len(found) < 700


def test_every_occurrence_is_marked() -> None:
    assert marked("x1 and x1", "x1").count("<mark>") == 2
