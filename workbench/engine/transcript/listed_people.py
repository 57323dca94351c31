"""Names of people by lists of given names and surnames, and names beside what only a person has.

tests/benchmarks/name_lists.py says where the lists are from.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from workbench.engine.transcript.people import CAPITAL, PARTICLE, WORD, is_name_word, is_person
from workbench.engine.transcript.spans import Span, search_before
from workbench.engine.transcript.words import phrases_of


def _listed(file: str) -> frozenset[str]:
    names: set[str] = set()
    text = Path(__file__).with_name(file).read_text("utf-8")
    for line in text.splitlines():
        if not line.startswith("#"):
            names.update(line.split(" "))
    return frozenset(names)


GIVEN_NAMES = _listed("given_names.txt")
"""Frequent ones: each stands for a person also where an unknown word is beside it."""
_RARE_GIVEN_NAMES = _listed("rare_given_names.txt")
_SURNAMES = _listed("surnames.txt")
_NAME_LIKE = re.compile(
    rf"{CAPITAL}(?<![\w.@/\\$-].)(?:(?<=[A-Z])\.(?=[ A-Z-])(?:[ -]?[A-Z]\.){{0,2}} ?(?:{PARTICLE}"
    rf" )?{CAPITAL})?"
    rf"[^\W\d_]*(?:['’-][^\W\d_]+)*(?:,? (?:{PARTICLE} )?{WORD}){{0,3}}(?![\w(@/-])"
)
"""Words with capitals, initials before them, a comma between the first two at most."""
_PART = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*\.?")
_PHRASES = phrases_of("people.toml")
_TOLD = frozenset(_PHRASES["told"])
_DOINGS = frozenset(_PHRASES["doings"])
"""Before a given name alone, it is a person to whom something is said or done."""
_ORDER = re.compile(
    rf"\b(?:{'|'.join(_PHRASES['orders'])}) (?P<name>[^\W\d_A-Z]{{4,15}})(?:"
    r" (?:or|and|oder|und|ou|et|o|y|e|of|en)"
    r" (?P<other>[^\W\d_A-Z]{4,15}))?(?![\w.(/-])"
)
"""A name in small letters, as in a chat: `ask torben or jule`."""
_BEGINS_SENTENCE = re.compile(r"(?:^|[.!?:,>*-]) ?\Z", re.MULTILINE)
_NEXT_WORD = re.compile(r" ([^\W\d_A-Z]+)\b")
_BEFORE = re.compile(r"([^\W\d_]+|w/)[,:]? \Z")
_ENDINGS = _PHRASES["surname_endings"]
_ENDING = re.compile(rf"...(?:{'|'.join(_ENDINGS)})\Z")
_PATRONYMIC = re.compile(r"..(?:ович|евич|овн|евн|ічн|йович|ьович)(?:а|у|ем|ом|ы|е|і|ой)?\Z")
_REACH = 60
"""Characters before a name that are looked at."""
_IN_JAPANESE = re.compile(r"(?<![一-龥々])[一-龥々]{1,4}[ \u3000][一-龥々ぁ-ん]{1,4}(?![一-龥々])")
_CELL = r"[^\W\d_a-z][^\W\d_]{1,20}(?:[ -][^\W\d_a-z][^\W\d_]{1,20})?"
_CELLS = re.compile(
    rf"(?<![^\s:>;,'\"(])(?P<earlier>{_CELL})(?P<sign>['\"]?[;,\t]"
    rf" ?['\"]?)(?P<later>{_CELL})(?=(?P=sign)|['\"]?\))"
)
"""Two cells of a row with a name each."""


def listed_people(text: str) -> Iterator[Span]:
    """Where a listed name stands beside another name, or alone where something is said to a
    person, or of one.
    """
    for candidate in _NAME_LIKE.finditer(text):
        parts = list(_PART.finditer(text, *candidate.span()))
        for run in _runs_of_names(parts):
            start = run[0].start()
            stop = run[-1].end()
            words = [part.group() for part in run]
            if _is_person_here(text, start, stop, words):
                yield start, stop
    for order in _ORDER.finditer(text):
        for group in ("name", "other"):
            word = order[group]
            if word and is_given_name(word.title()):
                yield order.span(group)


def _is_person_here(text: str, start: int, stop: int, words: list[str]) -> bool:
    if _is_full_name(words, has_comma="," in text[start:stop]):
        return True
    if not _is_given(words[0]) and not _has_initials(words):
        return False
    if _is_addressed(text, start):
        return True
    return len(words) == 1 and _says_what_it_does(text, start, stop)


def _runs_of_names(parts: list[re.Match[str]]) -> Iterator[list[re.Match[str]]]:
    """The words beside each other that may be of a person."""
    run: list[re.Match[str]] = []
    for part in parts:
        word = part.group()
        if word[0].islower() or is_name_word(word.rstrip(".")):
            run.append(part)
            continue
        if run:
            yield run
        run = []
    if run:
        yield run


def _is_full_name(words: list[str], *, has_comma: bool) -> bool:
    """Whether words are a name: with a given name, or with a surname last and no comma."""
    if len(words) < 2:
        return False
    if any(map(_is_given, words)):
        return True
    if _has_initials(words) and not words[-1].isascii():
        return True
    if not _RARE_GIVEN_NAMES.isdisjoint(words):
        return True
    if any(map(_has_given_part, words)):
        return True
    if has_comma:
        return False
    return words[-1] in _SURNAMES or _has_ending(words)


def _has_given_part(word: str) -> bool:
    """Whether a part of a word with a hyphen is a given name: `Frida-Marie`."""
    return "-" in word and any(map(is_given_name, word.split("-")))


def _has_ending(words: list[str]) -> bool:
    """Whether a word ends as surnames of a language do and as few other words with a capital do."""
    if any(map(_ENDING.search, words[1:])):
        return True
    return any(map(_PATRONYMIC.search, words))


def is_listed(word: str) -> bool:
    """Whether a word, in capitals or not, is a given name or a surname of the lists."""
    name = word.title()
    return name in GIVEN_NAMES or name in _RARE_GIVEN_NAMES or name in _SURNAMES


def _is_given(word: str) -> bool:
    if word in GIVEN_NAMES:
        return True
    return len(word) > 3 and word.isupper() and word.title() in GIVEN_NAMES


def _has_initials(words: list[str]) -> bool:
    earliest = words[0]
    begins_with_initial = len(earliest) == 2 and earliest.endswith(".")
    ends_with_name = len(words[-1].rstrip(".")) > 2
    return len(words) > 1 and begins_with_initial and ends_with_name


def _says_what_it_does(text: str, start: int, stop: int) -> bool:
    """Whether a sentence begins with a name and says what this person does: `Mandy hat Urlaub`."""
    next_word = _NEXT_WORD.match(text, stop)
    if next_word is None or next_word[1] not in _DOINGS:
        return False
    return search_before(_BEGINS_SENTENCE, text, start, 2) is not None


def is_given_name(word: str) -> bool:
    """Whether a word is a given name, frequent or rare."""
    return word in GIVEN_NAMES or word in _RARE_GIVEN_NAMES


def _is_addressed(text: str, start: int) -> bool:
    word_before = search_before(_BEFORE, text, start, _REACH)
    return word_before is not None and word_before[1] in _TOLD


def given_names_between(text: str, start: int, stop: int) -> Iterator[Span]:
    """Where a given name stands alone in a part of a line that speaks of people, half-open."""
    for candidate in _NAME_LIKE.finditer(text, start, stop):
        name = candidate.group()
        if is_given_name(name) and is_person(name):
            yield candidate.span()


def people_between(text: str, start: int, stop: int) -> Iterator[Span]:
    """Where names of people may stand in a part of a line with a number that only a person has,
    half-open.
    """
    for candidate in _NAME_LIKE.finditer(text, start, stop):
        name = candidate.group()
        is_of_several = " " in name or "." in name
        may_be_name = is_of_several or _is_given(name) or is_given_name(name)
        if not may_be_name or not is_person(name):
            continue
        yield candidate.span()
        if ", " in name:  # what is behind the comma may be a street
            start_of_name = candidate.start()
            yield start_of_name, start_of_name + name.index(",")
    if not text.isascii():
        for match in _IN_JAPANESE.finditer(text, start, stop):
            yield match.span()
    for cells in _CELLS.finditer(text, start, stop):
        for group in ("earlier", "later"):
            if is_person(cells[group]):
                yield cells.span(group)
