"""Numbers of persons behind words that say so by their parts: `Schadennummer S-2025-77`, `policy
no. 88-120431`.
"""

import re
from collections.abc import Iterator

from workbench.engine.transcript.spans import Span, character_at, preceding, search_before
from workbench.engine.transcript.words import phrases_of

_NUMBER = re.compile(
    r"(?<![\d.:/+@$#%&_])\d(?:(?:[ ./-]| - )?[\dA-Z]){3,23}(?![\w%(-]|[.:/]\d|\.\w)"
)
"""Digits with some capitals, in groups."""
_LETTERS = re.compile(r"(?<![\w.:/+@$#%&-])(?:(?P<letters>[A-Z]{1,5})[ -]?|[a-z])?\Z")
"""What may stand before the first digit of a number."""
_MOST_LETTERS = 7
_DATE = re.compile(
    r"\d{4}([-/. ])\d\d?\1\d\d?(?:[T ].*)?|\d\d?([-/."
    r" ])\d\d?\2(?:19|20)?\d\d|(?:19|20)\d{6}(?:T?\d{4,6})?"
)
_WORDS = phrases_of("person_numbers.toml")
_LABEL = (
    rf"(?P<label>(?:{'|'.join(map(re.escape, _WORDS['parts']))})[^\W\d_]{{0,20}}"
    rf"|(?<![^\W_])(?:{'|'.join(_WORDS['whole']).replace(' ', '[ ._-]?')})(?![^\W_]))"
)
_LINK = (
    r"(?:[ \t]{0,4}(?:[:：=#]|->|=>|→|is|ist|est|es|è|är|er|lautet|jest)(?:[ ](?:is|it))?)?["
    r" \t]{0,4}[\"'`*]{0,2}"
)
_LABELLED = re.compile(
    rf"{_LABEL}(?:['’]s)?(?:[ ._-]?(?:{'|'.join(_WORDS['numbers'])}))?[.)\]*\"'`]{{0,3}}"
    rf"(?:[ ]\([^()\n]{{1,20}}\)|（[^（）\n]{{1,20}}）)?(?:{_LINK}|[ ]{{0,9}}\r?\n[-=+|"
    r" ]{2,40}\r?\n[ |]{0,3})\Z",
    re.IGNORECASE,
)
"""The words before a number."""
_SPOKEN_OF = re.compile(rf"{_LABEL}[^\d\n:]{{0,30}}(?:[:.]?\n)?[^\d\n]{{0,16}}\Z", re.IGNORECASE)
"""The same with other words between, as it is enough for a number that looks like no other."""
_PECULIAR = re.compile(r"[A-Z]{1,3}\d{6,}|\d{2,4}([ -])\d{2,4}\1\d{2,4}")
_NAME = r"[^\W\d_a-z][^\W\d_]{1,20} [^\W\d_a-z][^\W\d_]{1,20}"
_BEHIND_NAME = re.compile(rf"{_NAME} \(\Z")
_BEFORE_NAME = re.compile(rf" \({_NAME}\)")
_ROW = re.compile(
    r"(?:^|[\s:>])[^\W\d_a-z][^\W\d_]{1,20}(?:([;,\t]) ?|[ -])[^\W\d_a-z][^\W\d_]{1,20}([;,\t])\Z",
    re.MULTILINE,
)
"""Two names in the cells before a number."""
_REACH = 70
"""Characters before a number that are looked at."""
_LEAST_DIGITS = 4
_LEAST_OF_ROW = 8
_ENDS_OF_CELLS = (";", ",", "\t", "\n", " ", "")


def numbers_of_persons(text: str) -> Iterator[Span]:
    """Where such numbers are in a text, half-open."""
    for number in _NUMBER.finditer(text):
        digits = sum(char.isdigit() for char in number.group())
        letters = search_before(_LETTERS, text, number.start(), _MOST_LETTERS)
        if digits < _LEAST_DIGITS or letters is None or _DATE.fullmatch(number.group()):
            continue
        start = number.start() if _is_label(letters) else letters.start()
        if _is_of_person(text, start, number.end(), digits):
            yield start, number.end()


def _is_label(letters: re.Match[str]) -> bool:
    """Whether the letters before the digits are a word of their own: `IRD 98-028-463`."""
    return letters["letters"] is not None and _LABELLED.search(letters["letters"]) is not None


def _is_of_person(text: str, start: int, stop: int, digits: int) -> bool:
    value = text[start:stop]
    text_before = preceding(text, start, _REACH)
    if _LABELLED.search(text_before):
        return digits > _LEAST_DIGITS or (value[0].isupper() and value.isalnum())
    is_long = digits >= _LEAST_OF_ROW
    if is_long and _is_beside_name(text, start, stop):
        return True
    if _PECULIAR.fullmatch(value) or (is_long and not text_before.isascii()):
        return _SPOKEN_OF.search(text_before) is not None
    return False


def _is_beside_name(text: str, start: int, stop: int) -> bool:
    """Whether a number stands in a row with a name, or beside one in brackets."""
    text_before = preceding(text, start, _REACH)
    next_character = character_at(text, stop)
    if next_character in _ENDS_OF_CELLS and _ROW.search(text_before):
        return True
    if next_character == ")" and _BEHIND_NAME.search(text_before):
        return True
    return _BEFORE_NAME.match(text, stop) is not None and not text[start:stop].isdigit()
