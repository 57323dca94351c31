"""Postal addresses and places on the map: streets in many languages, lines below a label,
coordinates.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from workbench.engine.transcript.signs import matches_with
from workbench.engine.transcript.spans import Span, search_before
from workbench.engine.transcript.words import phrases_of

_LISTS = phrases_of("addresses.toml")


def _any(name: str) -> str:
    """A pattern of the entries of a list."""
    return "(?:" + "|".join(re.escape(word) for word in _LISTS[name]) + ")"


_CAPITAL = r"[^\W\d_a-z][\w'’.-]{1,20}"
_CITY = (
    rf"{_CAPITAL}(?:[ -](?:(?:am|an der|bei|im|in|le|la|les|de|del|sur|sous|en|upon|on|the)"
    rf" )?{_CAPITAL}){{0,2}}"
)
_POSTCODE = (
    r"(?:(?:[A-Z]{1,2}-)?\d{4,6}(?: [A-Z]{2}(?= ))?|\d{5}-\d{3}|\d{2}-\d{3}|\d{3}"
    rf" \d\d)[ ]{_CITY}"
    rf"|{_CITY},? (?:{_any('states')}|{_any('provinces')}),?"
    r" (?:\d{5}(?:-\d{4})?|\d{4}|[A-Z]\d[A-Z] ?\d[A-Z]\d)"
    rf"|(?:{_CITY},? )?[A-Z]{{1,2}}\d[A-Z\d]? \d[ABD-HJLNP-UW-Z]{{2}}|{_CITY}(?: - [A-Z]{{2}})?,?"
    r" \d{5}-?\d{3}"
)
"""A town with its postcode."""
_END = rf"(?:,? (?:{_POSTCODE}))?(?!\w)"
_NUMBERED = (
    r"[0-9](?<![\w.,/-].)\d{0,4}[A-Za-z]?(?:[-/]\d{1,4})? (?:[NSEW]\.? )?(?:[A-Z][\w'’.-]{1,20}"
    r" ){1,3}"
)
_UNIT = r"(?:,? (?:Apt|Apartment|Suite|Ste|Unit|Flat|#)\.? ?\w{1,6})?"
_OF_FRANCE = r"(?: (?:de la|de l'|du|des|de|d'|la|le|les|l'))?"
_OF_SPAIN = r"(?:(?:del|de la|de los|de|da|das|do|dos|della|dei|di|de las) )?"
_FLOOR = r"(?:, (?:\d{1,2}º ?\w{0,3}|apto\.? \d{1,5}|кв\.? ?\d{1,4}|m\. \d{1,4}))?"


class Street(NamedTuple):
    """How streets are written, and what a text must hold one of for that."""

    hints: tuple[str, ...]
    pattern: re.Pattern[str]


_STREETS = (
    Street(
        (" ",),
        re.compile(
            rf"{_NUMBERED}(?:{_any('english')}\b\.?{_UNIT}(?:,? (?:{_POSTCODE}))?"
            rf"|{_any('english_before_town')}\b\.?{_UNIT},? (?:{_POSTCODE}))"
        ),
    ),
    Street(
        tuple(f"{word} " for word in _LISTS["compound"]),
        re.compile(
            rf"[A-ZÄÖÜ](?<!\w.)[\wäöüß-]{{2,40}}(?<=[a-zäöüß]){_any('compound')}"
            rf" \d{{1,4}}[a-z]?(?:[-/ ]?\d{{1,3}})?{_END}"
        ),
    ),
    Street(
        tuple(f"{word} " for word in _LISTS["german"]),
        re.compile(
            rf"(?<![\w-]){_any('german')} {_CAPITAL}(?: {_CAPITAL})? \d{{1,4}}[a-z]?,"
            rf" (?:{_POSTCODE})(?!\w)"
        ),
    ),
    Street(
        tuple(f" {word}" for word in _LISTS["behind_number"]),
        re.compile(
            rf"[0-9](?<![\w-].)\d{{0,3}}(?: bis| ter)?,? {_any('behind_number')}{_OF_FRANCE} ?"
            rf"{_CAPITAL}(?:[ -](?:(?:de|du|des|la|le|les) )?{_CAPITAL}){{0,3}}(?:,?"
            rf" (?:{_POSTCODE}))?"
        ),
    ),
    Street(
        _LISTS["before_name"],
        re.compile(
            rf"(?<![\w-]){_any('before_name')} ?{_OF_SPAIN}{_CAPITAL}(?:"
            rf" {_OF_SPAIN}{_CAPITAL}){{0,3}},?"
            r" (?:n[º°.]? ?|nr\.? ?|д\. ?|No\.?"
            rf" ?)?\d{{1,5}}[a-zA-Z]?(?:[/-]\d{{1,4}})?{_FLOOR}{_END}"
        ),
    ),
    Street(_LISTS["boxes"], re.compile(rf"(?<!\w){_any('boxes')} \d{{1,6}}{_END}")),
    Street(
        ("市", "県", "都", "府", "区", "镇"),
        re.compile(
            r"[一-龥]{2,4}[省市区][一-龥]{1,8}[市区县镇路街道][一-龥\d-]{0,20}\d{1,5}[号室]?(?:[一-龥]?\d{1,5}[室号])?"
            r"|[一-龥]{2,3}[都道府県][一-龥ぁ-んァ-ヶー]{1,10}[市区町村][一-龥ぁ-んァ-ヶー]{0,10}\d{1,3}"
            r"(?:丁目|番|-)[\d番地号-]{0,10}"
        ),
    ),
    Street(
        ("시 ", "도 "),
        re.compile(
            r"[가-힣]{2,7}(?:시|도) [가-힣]{1,6}(?:시|구|군)(?:"
            r" [가-힣\d]{1,10}(?:구|동|읍|면|로|길)){1,2}"
            r" \d{1,4}(?:-\d{1,3})?"
        ),
    ),
)


class AddressEnd(NamedTuple):
    """An address that its end gives away, and what may stand before that."""

    end: re.Pattern[str]
    beginning: re.Pattern[str]


_ADDRESS_ENDS = (
    AddressEnd(  # Osterweg 4, 25813 Husum
        re.compile(
            r"[0-9](?<![\w.,/-].)\d{0,3}[a-zA-Z]?(?: ?[/m]\.? ?\d{1,4})?(?:,"
            r" ?|;|\r?\n)(?!(?:19|20)\d\d )"
            rf"(?:\d{{4,5}}(?: [A-Z]{{2}})?|\d{{2}}-\d{{3}}|\d{{3}} \d\d) {_CITY}(?!\w)"
        ),
        re.compile(
            rf"(?<![\w-])(?:(?:via|rue|calle|os\.|pl\.|al\.|ul\.) )?(?:{_CAPITAL} ){{1,4}}\Z"
        ),
    ),
    AddressEnd(  # The Mill, Ashford, Co. Kerry, V92 X4T1
        re.compile(
            r"[A-Z](?<!\w.)(?:\d[\dW] ?[A-Z0-9]{4}|[A-Z]?\d[A-Z\d]? \d[ABD-HJLNP-UW-Z]{2})(?!\w)"
        ),
        re.compile(rf"(?:{_CAPITAL}(?: {_CAPITAL}){{0,3}}, ){{1,4}}\Z"),
    ),
    AddressEnd(  # #12, 3rd Cross, Hill Town, Pune 411001
        re.compile(r"[1-9](?<![\w.].)\d{5}(?![\w.-])"),
        re.compile(
            r"(?:#|H\.? ?No\.? ?|Flat |Plot |Door No\.? ?)\d[\w/.-]{0,20}"
            rf"(?:, [\w.'’/ -]{{2,40}}){{1,6}}, {_CAPITAL}[ -]{{1,3}}\Z"
        ),
    ),
)
_LONGEST_BEFORE = 120
_TOWN_OF_STATES = re.compile(rf"{_CITY},? {_any('states')} \d{{5}}(?:-\d{{4}})?(?![\w.-])")
_BLOCK = re.compile(
    rf"^[ \t>*]{{0,8}}(?:[^\W\d_][\w'’-]{{0,20}}[ -]){{0,2}}(?i:{_any('labels')})(?i:"
    r" \w{1,12}){0,2}"
    r"[ ]?[:：]?[*]{0,2}[ \t]{0,4}\r?\n"
    r"(?P<lines>(?:[ \t>|*]{0,10}[^\W_][^\n:={}<>();\\\"]{2,60}\r?(?:\n|\Z)){2,6})",
    re.MULTILINE,
)
_LINE = re.compile(
    r"^[ \t>|*]{0,10}(?:(?i:attn|c/o|z\.? ?hd\.?|att)[.:]? )?(?P<line>\S[^\n\r]*)", re.MULTILINE
)
_PAIR = re.compile(
    r"(?P<pair>[-0-9](?<![\w.,-].)(?<!, .)\d{0,2}\.\d{4,15}°?(?: ?[NS])?, ?-?\d{1,3}\.\d{4,15}°?(?:"
    r" ?[EW])?)"
    r"(?![\w.]|, ?-?\d)"
)
_NEAR_A_PLACE = re.compile(rf"\b{_any('on_the_map')}\b", re.IGNORECASE)
_DEGREES = re.compile(r"\d{1,3}(?:°| deg) ?\d{1,2}['′] ?\d{1,2}(?:\.\d{1,6})?[\"″] ?[NSEW]")
_DECIMAL_DEGREES = re.compile(r"-?\d{1,3}\.\d{3,10} ?° ?[NS],? ?-?\d{1,3}\.\d{3,10} ?° ?[EWO]")
_MAP = re.compile(
    r"(?:#map=\d{1,2}/|[/?&](?:ll|q|center|daddr|saddr|mlat|mlon)=|/@|\bgeo:)"
    r"(-?\d{1,3}\.\d{3,15}(?:[/,]-?\d{1,3}\.\d{1,15})?)"
)
_POINT = re.compile(
    r"\bPOINT ?\((-?\d{1,3}\.\d{4,15} -?\d{1,3}\.\d{4,15})\)"
    r"|\"coordinates\": ?\[ ?(-?\d{1,3}\.\d{4,15}, ?-?\d{1,3}\.\d{4,15})"
)
_ADDRESS_OF_CARD = re.compile(
    r"^ADR(?:;[^:\n]{0,60})?:;{0,2}(?P<street>[^\s;][^\r\n;]{3,100})", re.MULTILINE
)
_LEAST_LINES = 2


def places(text: str) -> Iterator[Span]:
    """Where addresses and coordinates are in a text, half-open."""
    for street in _STREETS:
        for match in matches_with(street.pattern, text, *street.hints):
            yield match.span()
    for address in _ADDRESS_ENDS:
        for match in address.end.finditer(text):
            first_part = search_before(address.beginning, text, match.start(), _LONGEST_BEFORE)
            if first_part:
                yield first_part.start(), match.end()
    for match in _TOWN_OF_STATES.finditer(text):
        yield match.span()
    if "\n" in text:
        yield from _blocks(text)
    for match in matches_with(_ADDRESS_OF_CARD, text, "ADR"):
        yield match.span("street")
    yield from _coordinates(text)


def _blocks(text: str) -> Iterator[Span]:
    """The lines of an address below a label."""
    for block in _BLOCK.finditer(text):
        matches = list(_LINE.finditer(text, *block.span("lines")))
        lines = [match["line"] for match in matches]
        if len(lines) < _LEAST_LINES or not any(map(str.isdigit, "".join(lines))):
            continue
        if all(map(_is_line, lines)):
            for match in matches:
                yield match.span("line")


def _is_line(line: str) -> bool:
    """Whether a line is short and no sentence, as those of an address are."""
    return len(line.split()) <= 8 and not line[0].islower() and line[-1] not in ".!?"


def _coordinates(text: str) -> Iterator[Span]:
    if "°" in text or " deg " in text:
        for pattern in (_DEGREES, _DECIMAL_DEGREES):
            for match in pattern.finditer(text):
                yield match.span()
    for match in matches_with(_MAP, text, "=", "/@", "geo:"):
        yield match.span(1)
    for match in matches_with(_POINT, text, "POINT", "oordinates"):
        yield match.span(match.lastindex or 0)
    for match in _PAIR.finditer(text):
        line_start = max(text.rfind("\n", 0, match.start()), match.start() - 100, 0)
        line = text[line_start : match.start()]
        following_text = text[match.end() : match.end() + 40].partition("\n")[0]
        if _NEAR_A_PLACE.search(line) or _NEAR_A_PLACE.search(following_text):
            yield match.span("pair")
