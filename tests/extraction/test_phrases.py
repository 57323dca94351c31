from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from itertools import islice, product
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.extraction.phrases import PhraseMatcher, words_in
from workbench.importers.importer import load
from workbench.transcript.message import said_text

MODULES = (
    "workbench.metrics.overclaim", "workbench.metrics.work", "workbench.models.extractive_outline",
    "workbench.extraction.statements",
)  # fmt: skip
SIGNS = {
    f"{module.rpartition('.')[2]} {name}": value
    for module in MODULES
    for name, value in vars(import_module(module)).items()
    if isinstance(value, PhraseMatcher)
}


def samples(parsed: object) -> Iterator[str]:
    """A text for each way through a pattern."""
    parts = [list(_of(code, given)) for code, given in parsed]  # type: ignore[attr-defined]
    return ("".join(one) for one in product(*parts))


def _of(code: object, given: object) -> Iterator[str]:
    if code is codes.LITERAL:
        yield chr(given)  # type: ignore[call-overload]
    elif code is codes.BRANCH:
        for branch in given[1]:  # type: ignore[index]
            yield from samples(branch)
    elif code is codes.SUBPATTERN:
        yield from samples(given[3])  # type: ignore[index]
    elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
        least, _, what = given  # type: ignore[misc]
        for one in islice(samples(what), 40):
            yield one * least
            yield one * max(1, least)
    elif code is codes.IN:
        for kind, what in given:  # type: ignore[attr-defined]
            category = {codes.CATEGORY_WORD: "w", codes.CATEGORY_NOT_WORD: "-", codes.CATEGORY_SPACE: " "}
            yield chr(what) if kind is codes.LITERAL else category[what]
    elif code is codes.ANY:
        yield "a"
    else:
        assert code is codes.AT, code
        yield ""


@pytest.mark.parametrize("name", SIGNS)
def test_each_phrase_is_found_as_quickly_as_any(name: str) -> None:
    sign, many = SIGNS[name], 0
    for text in samples(parser.parse(sign.pattern.pattern, re.IGNORECASE)):
        if sign.pattern.search(text):
            many += 1
            assert sign.search(text), text
            loud = f"So, {text.upper()}."
            assert sign.search(loud) == bool(sign.pattern.search(loud)), text
    assert many > 8


RECORDED = Path(__file__).parents[2] / "datasets" / "recorded" / "concession-papers"


def test_all_lines_of_a_recording_read_the_same_at_a_quick_look() -> None:
    for session in load(RECORDED):
        for line in {line for message in session.messages for line in said_text(message).split("\n")}:
            for sign in SIGNS.values():
                assert sign.search(line) == (sign.pattern.search(line) is not None), line


def test_a_word_that_is_missing_from_the_list_would_be_noticed() -> None:
    lame = PhraseMatcher(r"\b(?:maybe|perhaps)\b", "maybe")
    assert lame.pattern.search("perhaps") and not lame.search("perhaps")


@given(lines=st.lists(st.text(alphabet="aDONEdone x[X]-é\x01\x1c_.", max_size=12), max_size=12))
def test_looking_at_many_lines_at_once_finds_what_looking_at_each_finds(lines: list[str]) -> None:
    signs = PhraseMatcher(r"\bdone\b|\[[xX]\]", "done", ("[x]", "[X]"))
    possible = {at for at, line in enumerate(lines) if not line.isascii() or signs.possible(line, words_in(line))}
    assert signs.among(lines) == possible
    assert all(at in possible for at, line in enumerate(lines) if signs.search(line))


def test_where_a_line_holds_a_line_break_every_line_is_looked_at() -> None:
    signs = PhraseMatcher(r"\bdone\b", "done")
    assert signs.among(["a\nb", "done", "c"]) == {0, 1, 2}
    assert signs.among([]) == set()
