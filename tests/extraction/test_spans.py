from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.extraction import spans as module
from workbench.extraction.entities import TOKEN
from workbench.extraction.extractor import tokens
from workbench.extraction.spans import Spans
from workbench.extraction.words import pieces_of, without_colours

LINE = st.text(alphabet="ab1 →\t", max_size=12)
TEXTS = st.lists(st.lists(LINE, max_size=8).map("\n".join), max_size=12)


def numbered(spans: Spans, text: str) -> list[int]:
    """The numbers of a text's pieces, each piece once."""
    return spans.numbers(list(dict.fromkeys(pieces_of(text))), text)


@given(TEXTS)
def test_texts_are_numbered_in_the_order_in_which_they_are_met(texts: list[str]) -> None:
    spans, known = Spans(), dict[str, int]()
    for text in texts:
        pieces = list(dict.fromkeys(pieces_of(text)))
        wanted = [known.setdefault(piece, len(known)) for piece in pieces]
        assert spans.numbers(pieces, text) == wanted
    assert spans.texts(0) == list(known)
    assert [spans[number] for number in range(len(spans))] == list(known)
    assert spans.fresh == list(known)
    assert spans.texts(1) == list(known)[1:]


@given(TEXTS)
def test_texts_whose_hashes_are_alike_keep_their_own_numbers(texts: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BITS", 1)
        test_texts_are_numbered_in_the_order_in_which_they_are_met.hypothesis.inner_test(texts)


def test_many_texts_are_found_again() -> None:
    spans = Spans()
    texts = ["\n".join(f"line {i} of {j}" for i in range(50)) for j in range(100)]
    first = [numbered(spans, text) for text in texts]
    assert [numbered(spans, text) for text in texts] == first
    assert len(spans) == 5_000


def test_a_piece_that_stands_nowhere_as_it_is_is_kept_whole() -> None:
    spans = Spans()
    text = f"before\nvalue {'A1b2' * 60} behind it\nafter"
    numbered(spans, text)
    assert spans.texts(0) == ["before", "value   behind it", "after"]


def test_all_texts_can_be_had_again_after_more_have_come() -> None:
    spans = Spans()
    numbered(spans, "one\ntwo")
    assert spans.texts(0) == ["one", "two"]
    numbered(spans, "two\nthree")
    assert spans.texts(0) == ["one", "two", "three"]


PROSE = st.lists(
    st.text(alphabet="aZ09_.@~/%#-(),, 1234567,000é٣?\x01\x02\t", max_size=30).map(without_colours), max_size=6
)


@given(PROSE)
def test_a_text_is_cut_into_the_tokens_that_a_search_finds(lines: list[str]) -> None:
    text = "\n".join(lines).replace("\x01", " ").replace("\x02", " ") + "\n"
    wanted = ["\x01" if token == "\n" else token for token in TOKEN.findall(text)]
    assert [token for token in tokens("\n".join(lines) + "\n") if token != "("] == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1,234.5,678 x", ["1,234", ".5,678", "x"]),
        ("f(1,234(2", ["f(", "1,234", "2"]),
        ("1,234,56,789", ["1,234", "56,789"]),
        ("1,2345", ["1", "2345"]),
        ("g((h", ["g(", "h"]),
        ("1,٣٤٥ a", ["1,٣٤٥", "a"]),
    ],
)
def test_thousands_and_calls_stay_whole(text: str, wanted: list[str]) -> None:
    assert [token for token in tokens(text + "\n") if token not in ("(", "\x01")] == wanted
    assert TOKEN.findall(text) == wanted
