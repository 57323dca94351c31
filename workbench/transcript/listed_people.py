"""Names of people by lists of given names and surnames, and names beside what only a person has.

tests/benchmarks/name_lists.py says where the lists are from.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from workbench.transcript.people import CAPITAL, PARTICLE, WORD, is_name_word, is_person
from workbench.transcript.words import phrases_of


def _listed(file: str) -> frozenset[str]:
    lines = Path(__file__).with_name(file).read_text("utf-8").splitlines()
    return frozenset(name for line in lines if not line.startswith("#") for name in line.split(" "))


GIVEN_NAMES = _listed("given_names.txt")
"""Frequent ones: each stands for a person also where an unknown word is beside it."""
_RARE_GIVEN_NAMES = _listed("rare_given_names.txt")
_SURNAMES = _listed("surnames.txt")
_NAME_LIKE = re.compile(
    rf"{CAPITAL}(?<![\w.@/\\$-].)(?:(?<=[A-Z])\.(?=[ A-Z-])(?:[ -]?[A-Z]\.){{0,2}} ?(?:{PARTICLE} )?{CAPITAL})?"
    rf"[^\W\d_]*(?:['’-][^\W\d_]+)*(?:,? (?:{PARTICLE} )?{WORD}){{0,3}}(?![\w(@/-])"
)
"""Words with capitals, initials before them, a comma between the first two at most."""
_PART = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*\.?")
_TOLD = frozenset(phrases_of("people.toml")["told"])
"""Before a given name alone, it is a person to whom something is said or done."""
_BEFORE = re.compile(r"([^\W\d_]+)[,:]? \Z")
_REACH = 60
"""Characters before a name that are looked at."""
_IN_JAPANESE = re.compile(r"(?<![一-龥々])[一-龥々]{1,4}[ \u3000][一-龥々ぁ-ん]{1,4}(?![一-龥々])")
_CELL = r"[^\W\d_a-z][^\W\d_]{1,20}(?:[ -][^\W\d_a-z][^\W\d_]{1,20})?"
_CELLS = re.compile(
    rf"(?<![^\s:>;,'\"(])(?P<earlier>{_CELL})(?P<sign>['\"]?[;,\t] ?['\"]?)(?P<later>{_CELL})(?=(?P=sign)|['\"]?\))"
)
"""Two cells of a row with a name each."""


def listed_people(text: str) -> Iterator[tuple[int, int]]:
    """Where a listed name stands beside another name, or alone where something is said to a person."""
    for candidate in _NAME_LIKE.finditer(text):
        parts = list(_PART.finditer(text, *candidate.span()))
        for run in _runs_of_names(parts):
            words = [part.group() for part in run]
            has_comma = "," in text[run[0].start() : run[-1].end()]
            is_told_of = _is_given(words[0]) or _has_initials(words)
            if _is_full_name(words, has_comma=has_comma) or (is_told_of and _is_told_to(text, run[0].start())):
                yield run[0].start(), run[-1].end()


def _runs_of_names(parts: list[re.Match[str]]) -> Iterator[list[re.Match[str]]]:
    """The words beside each other that may be of a person."""
    run: list[re.Match[str]] = []
    for part in parts:
        if part.group()[0].islower() or is_name_word(part.group().rstrip(".")):
            run.append(part)
            continue
        if run:
            yield run
        run = []
    if run:
        yield run


def _is_full_name(words: list[str], *, has_comma: bool) -> bool:
    """Whether several words are a name: with a given name, or without a comma and with a surname at their end."""
    if len(words) < 2:
        return False
    if any(map(_is_given, words)):
        return True
    if _has_initials(words) and not words[-1].isascii():
        return True
    return any(word in _RARE_GIVEN_NAMES for word in words) or (words[-1] in _SURNAMES and not has_comma)


def is_listed(word: str) -> bool:
    """Whether a word, in capitals or not, is a given name or a surname that is no word of a language."""
    name = word.title()
    return name in GIVEN_NAMES or name in _RARE_GIVEN_NAMES or name in _SURNAMES


def _is_given(word: str) -> bool:
    return word in GIVEN_NAMES or (len(word) > 3 and word.isupper() and word.title() in GIVEN_NAMES)


def _has_initials(words: list[str]) -> bool:
    return len(words) > 1 and len(words[0]) == 2 and words[0].endswith(".") and not words[-1].endswith(".")


def _is_told_to(text: str, start: int) -> bool:
    before = _BEFORE.search(text, max(0, start - _REACH), start)
    return before is not None and before[1] in _TOLD


def people_between(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Where names of people may stand in a part of a line with a number that only a person has, half-open."""
    for candidate in _NAME_LIKE.finditer(text, start, stop):
        name = candidate.group()
        if (" " in name or "." in name or _is_given(name)) and is_person(name):
            yield candidate.span()
            if ", " in name:  # what is behind the comma may be a street
                yield candidate.start(), candidate.start() + name.index(",")
    for match in _IN_JAPANESE.finditer(text, start, stop) if not text.isascii() else ():
        yield match.span()
    for cells in _CELLS.finditer(text, start, stop):
        for name in ("earlier", "later"):
            if is_person(cells[name]):
                yield cells.span(name)
