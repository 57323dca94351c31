"""What stands in one line with a person: names beside a number, and numbers, dates and towns beside
a name.

A line that certainly holds a person's data is a record of this person: what else is in it needs no
cue of its own.
"""

import re
from collections.abc import Iterable, Iterator

from workbench.engine.transcript.credentials import Place
from workbench.engine.transcript.listed_people import given_names_between, people_between
from workbench.engine.transcript.people import is_person
from workbench.engine.transcript.secret_names import MARK
from workbench.engine.transcript.spans import Span, character_at, line_start

_REACH = 100
"""Characters of a line on either side that are looked at."""
_NUMBERS = frozenset({"bank", "birth", "card", "iban", "id", "phone", "place", "ssn"})
"""Kinds of data beside which words with capitals are the name of a person."""
CERTAIN_KINDS = _NUMBERS | {"name"}
"""Kinds of data that no text holds but of a person."""
_YEAR = r"(?:19[2-9]\d|20(?:0\d|1[0-8]))"
"""Of births, but not of most logs and releases."""
_BIRTH = re.compile(
    rf"(?<![\w./-])(?:\d{{1,2}}(?P<sign>[./-])\d{{1,2}}(?P=sign){_YEAR}|{_YEAR}-\d\d-\d\d"
    rf"|\d{{1,2}}\.? [^\W\d_]{{3,9}} {_YEAR})"
    r"(?![\w/-]|[T ]\d\d:|\.\d)"
)
_NUMBER = re.compile(
    r"(?:(?<![^\s:;,|(\"'=#])|(?<=[^\W\d_][.]))(?P<letters>[A-Z]{1,5}[ .-]?)?\d(?:[ ./-]?\d"
    r"|[./-]?[A-Z](?![a-z])){4,24}"
    r"(?=[\s;:,|)\"'.?!]|\Z)(?![.:]\d)"
)
_NO_NUMBER = re.compile(
    r"[\d ]{1,7}[.,]\d\d|\d{1,3}\.\d+|\d{4}[-./]\d\d?[-./]\d\d?.*|\d\d?[-./]\d\d?[-./]\d{2,4}.*"
    r"|\d{1,3}(?:\.\d{1,3}){2,3}|\d{4}[ /-]\d{4}"
)
"""A sum, a date, a version, a pair of years."""
_TOWN = re.compile(
    r"(?<![\w.-])\d{4,5} [^\W\d_a-z][^\W\d_]{2,20}(?:"
    r" [^\W\d_a-z][^\W\d_]{2,20})?(?=[\s;,|)\"'.]|\Z)"
)
_HOUSE = re.compile(
    r"(?:(?<=[;,|\"']|\t)|(?<=[;,|] ))(?:[^\W\d_a-z][\w.'’-]{1,20}"
    r" ){1,4}\d{1,3}[a-z]?(?=[;,|\"'\t]|\Z)"
)
_STREET = re.compile(
    r"(?<![\w.,/-])\d{1,4}[a-zA-Z]? (?:[A-Z][\w'’-]{1,20}"
    r" ){1,3}(?i:street|st|avenue|ave|road|rd|lane|ln|drive|dr|court"
    r"|ct|close|way|place|pl|row|walk|mews|grove|gardens|hill|circle|trail|rise|view|green|bend|quay|wharf|terrace|crescent)"
    r"\b(?:, [A-Z][a-z]{2,20})?"
)
_TOWN_OF = re.compile(r"\b(?:aus|nach|from|near) (?P<value>[^\W\d_a-z][^\W\d_]{3,20})(?=[,.;)]|$)")
"""Where a person is from."""
_INITIALS = re.compile(
    r"(?<![\w.@/-])(?:[A-ZА-Я]\.["
    r" -]?){1,3}[^\W\d_a-z][^\W\d_]{2,20}(?:-[^\W\d_a-z][^\W\d_]+)?(?![\w(@/])"
)
_IN_BRACKETS = re.compile(
    r"(?<=\()[^\W\d_a-z][^\W\d_]{2,20}(?:"
    r" [^\W\d_a-z][^\W\d_]{2,20})?(?=\))|(?<=\()[가-힣]{2,4}(?=\))"
)
_OF_ROLE = re.compile(
    r"\b(?i:holder|insured|kunde|kundin|customer|client|klant|cliente|klient|bei|für|for|t\.n\.v\.|z\.hd\.|attn|driver|owner"
    r"|halter|fahrer|patient|pt|miete|mieter|tenant|élève|épouse|née|geb\.|aka|called|reviewer|supervised|von|de|met)"
    r"[:.]? (?P<value>[^\W\d_a-z][^\W\d_]{3,20})(?=[\s,.;:)]|\Z)"
)
"""A surname behind what its bearer is, or behind a word that often stands before people."""
_AGE = re.compile(
    r"(?<![\w.,-])\d{1,3}(?:[ -]years?[ -]old|[ -]?y/o|[ -]?yo\b|[ ]?(?:Jahre?(?:"
    r" alt)?|ans|años|anos|anni"
    r"|jaar|lat|let|år|éves"
    r"|vuotta|yaşında|лет|год|года|років|歳|岁|세))(?![\w-])"
)
"""How old someone is, in some languages."""
_HANDLE = re.compile(r"(?<![\w.@/])@[a-z][\w.-]{2,30}\w(?![\w(/])")
_NAME_ABOVE = re.compile(
    r"^[ \t>*]*(?P<name>[^\W\d_a-z][^\W\d_]+(?:[ -][^\W\d_a-z][^\W\d_]+){1,3}"
    r"|[一-龥々]{1,4}[ \u3000][一-龥々ぁ-ん]{1,4}|[가-힣]{2,4})[ \t,*]*\r?\n\Z",
    re.MULTILINE,
)
"""Alone in the line above an address or a number."""
_OF_LINE = (
    (_BIRTH, "birth"),
    (_TOWN, "place"),
    (_HOUSE, "place"),
    (_STREET, "place"),
    (_HANDLE, "login"),
    (_AGE, "birth"),
)
"""What has a form of its own, and its kind."""
_OF_PERSON = ((_INITIALS, "name"), (_IN_BRACKETS, "name"), (_OF_ROLE, "name"), (_TOWN_OF, "place"))
"""What words of a person's name look like too, and its kind."""
_LEAST_DIGITS = 5


def beside(text: str, places: Iterable[Place]) -> Iterator[Place]:
    """What else of a person is in the lines of these places; some may overlap."""
    lines: set[Span] = set()
    for place in places:
        if place.kind not in CERTAIN_KINDS or MARK in text[place.start : place.stop]:
            continue
        line = _line_around(text, place)
        if place.kind in _NUMBERS:
            for start, stop in people_between(text, *line):
                yield Place(start, stop, "name")
            above = _NAME_ABOVE.search(text, max(0, line[0] - _REACH), line[0])
            if above and is_person(above["name"]):
                yield Place(*above.span("name"), "name")
        lines.add(line)
    for line in lines:
        yield from _data_of_person(text, *line)


def _line_around(text: str, place: Place) -> Span:
    start = max(line_start(text, place.start), place.start - _REACH)
    stop = text.find("\n", place.stop)
    return start, min(len(text) if stop < 0 else stop, place.stop + _REACH)


def _data_of_person(text: str, start: int, stop: int) -> Iterator[Place]:
    """Given names, dates of birth, towns, houses and numbers of persons in a part of a line."""
    for name_start, name_stop in given_names_between(text, start, stop):
        yield Place(name_start, name_stop, "name")
    for pattern, kind in _OF_LINE:
        for match in pattern.finditer(text, start, stop):
            if _ends_here(text, match, stop):
                yield Place(*match.span(), kind)
    for pattern, kind in _OF_PERSON:
        for match in pattern.finditer(text, start, stop):
            group = match.lastgroup or 0
            if is_person(match[group]) and _ends_here(text, match, stop):
                yield Place(*match.span(group), kind)
    for match in _NUMBER.finditer(text, start, stop):
        if _is_number(match.group()) and _ends_here(text, match, stop):
            yield Place(*match.span(), "id")


def _is_number(text: str) -> bool:
    """Whether it has as many digits as the number of a person, and is no date or sum."""
    digits = sum(map(str.isdigit, text))
    letters = sum(map(str.isalpha, text))
    least_digits = _LEAST_DIGITS - 1 if letters > 1 else _LEAST_DIGITS
    return digits >= least_digits and _NO_NUMBER.fullmatch(text) is None


def _ends_here(text: str, match: re.Match[str], stop: int) -> bool:
    """Whether a match does not end only because no more of the line was looked at."""
    return match.end() < stop or character_at(text, stop) in ("", "\n")
