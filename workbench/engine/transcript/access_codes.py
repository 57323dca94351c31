"""Codes that open something: of a telephone, a door, a login, an account whose password is lost."""

import re
from collections.abc import Iterator

from workbench.engine.transcript.signs import matches_with
from workbench.engine.transcript.spans import Span, preceding
from workbench.engine.transcript.words import lowered, phrases_of

_WORDS = phrases_of("access_codes.toml")


def _any(name: str) -> str:
    return "|".join(re.escape(word).replace(r"\ ", "[ ._-]?") for word in _WORDS[name])


_NUMBER = re.compile(
    r"[A-Z0-9](?<![\w.:/+-].)"
    r"(?:(?<=\d)(?:\d{3,9}[A-Z]?|\d\d["
    r" -]\d{3}|\d?(?:-\d{1,2}){2,3})|[A-Z0-9]{2,4}(?:-[A-Z0-9]{3,4}){1,3})#?"
    r"(?![\w-]|[.:,]\d)"
)
_LINK = (
    r"(?:(?:[ ][^\W\d_][\w'’-]{0,12}){0,3}?(?:[ ]?[:=：]|[ ]?[是为は]"
    r"|,?[ ](?:it )?(?:is|says|reads|was|lautet|ist|est|es|è|é|är|er|jest|to):?)["
    r" ]?[\"'`*]{0,2}|[ ])"
)
_LABEL = re.compile(
    rf"(?:(?<![^\W_])|(?<=[\u2e80-\ud7ff]))(?:{_any('codes')})(?:[ _-]?\d)?[\"'`)]{{0,2}}{_LINK}\Z"
)
_PIN_OF_ELEMENT = re.compile(
    r"<(?i:pin|pincode|passcode)>(?P<code>\d{4,10})</|alarm\w{0,20}:[^\n]{0,40}\n(?:[^\n]{0,60}\n){0,3}?"
    r"[ \t]*code: [\"'](?P<alarm>\d{4,10})"
)
_HOMEKIT = re.compile(
    r"(?i:homekit|setup|kopplungs|pairing)[^\n]{0,40}?(?P<code>\d{3}-\d\d-\d{3}|(?<![\w.])\d{11}"
    r"|\d{4}-\d{3}-\d{4})(?![\w-])"
)
_DOOR = re.compile(rf"(?:{_any('doors')})[^\n\d]{{0,60}}[ :]\Z")
_CODE_OF = re.compile(
    r"\b(?:code|kod|código|codice|pin)"
    r" (?:for|to|of|für|zur|zum|pour|de|du|para|per|della|do|voor|till|til)"
    r" [^\n\d.:;]{2,50}? (?:is|ist|lautet|est|es|è|é|är|er|to|jest):?[ ]\Z"
)
"""What a code opens, between its name and the code."""
_STEMS = tuple(_WORDS["stems"])
"""Parts of words of which one stands before every such code."""
_STEMS_OF_LISTS = tuple(_WORDS["stems_of_lists"])
"""The same before several of them."""
_REACH = 90
"""Characters before a code that are looked at."""
_CHOSEN = re.compile(r"\bPIN[ ]?[:=][ ]?[\"'](?P<code>(?=[^\"'\s]*\d)[^\"'\s]{4,40})[\"']")
_CODE_BEFORE = re.compile(
    r"(?:(?<![\w.:/+-])|(?<=\b[A-Z]-))(?P<code>\d{4,8})"
    r" (?:is|ist|est|es|è|é|är|er|to|jest)(?: (?:your|the|ihr|dein|der|votre"
    r"|ton|tu|su|el"
    r"|il|tuo|o|seu|je|uw|din|twój))?(?: [^\W\d_]{2,14}){0,2}"
    r" (?i:[\w-]{0,16}code|kod|código|codice|pin|otp|tan)\b",
    re.IGNORECASE,
)
"""A message that begins with the code."""
_LIST = re.compile(
    rf"(?:{_any('lists')})[^\n\[]{{0,80}}?(?:\n(?P<lines>(?:[^\n]{{0,60}}\n?){{1,20}})"
    r"|\[(?P<items>[^\]]{4,1000})|(?:[:=]|\b(?:are|sind|lauten|sont|son|sono|são)\b)(?P<line>[^\n]{4,200}))"
)
_OF_LIST = re.compile(
    r"\b(?=[a-z-]{0,12}\d|\d)[a-z0-9]{4,8}(?:[- ][a-z0-9]{4,8}){1,3}\b|\b\d{8}\b", re.IGNORECASE
)
_KEY_OF_DISK = re.compile(
    r"[A-Z0-9](?<![\w-].)(?:\d{5}(?:-\d{6}){6,7}|[A-Z0-9]{3}(?:-[A-Z0-9]{4}){5}"
    r"|(?=[A-Z0-9-]*\d)(?=[0-9-]*[A-Z])[A-Z0-9]{4}(?:-[A-Z0-9]{5}){3,5})(?![\w-])"
)
"""As BitLocker, FileVault and the sellers of licences write it."""
_KEY_OF_PRODUCT = re.compile(
    r"(?i:licen[cs]e|lizenz|licence|licencia|serial|serien\w{0,8}|product|produkt\w{0,12}|activation|stream)(?:\b|[^\W\d_]{1,14})"
    r"[^\n:=]{0,40}[:=]?[ ]{0,2}(?<=[ =:])[\"'`]?"
    r"(?P<key>(?=[A-Z-]*\d)(?=[\d-]*[A-Z])[A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){3,7}"
    r"|(?=[a-z-]*\d)(?=[\d-]*[a-z])[a-z0-9]{4}(?:-[a-z0-9]{4}){3,7})"
    r"(?![\w-])"
)
"""Groups of four behind a word for what is sold."""
_SAMPLES = frozenset(
    {"0000", "1111", "1234", "000000", "111111", "123456", "654321", "12345678", "99999999"}
)


def access_codes(text: str) -> Iterator[Span]:
    """Where codes are that open something, half-open."""
    lower = lowered(text)
    if any(stem in lower for stem in _STEMS):
        for match in _CODE_BEFORE.finditer(text):
            yield match.span("code")
        yield from _announced_numbers(text, lower)
    for match in matches_with(_PIN_OF_ELEMENT, text, "<p", "<P", "alarm"):
        yield match.span(match.lastgroup or 0)
    for match in matches_with(_HOMEKIT, text, "omeKit", "airing", "etup"):
        yield match.span("code")
    for match in matches_with(_CHOSEN, text, "PIN"):
        yield match.span("code")
    for match in matches_with(_LIST, lower, *_STEMS_OF_LISTS):
        for code in _OF_LIST.finditer(text, *match.span(match.lastgroup or 0)):
            yield code.span()
    if text.count("-") >= len("---"):
        for match in _KEY_OF_DISK.finditer(text):
            yield match.span()
        for match in _KEY_OF_PRODUCT.finditer(text):
            yield match.span("key")


def _announced_numbers(text: str, lower: str) -> Iterator[Span]:
    """Where numbers are of which the words before them say that they open something."""
    for number in _NUMBER.finditer(text):
        text_before = preceding(lower, number.start(), _REACH)
        if number.group() not in _SAMPLES and _is_announced(text_before):
            yield number.span()


def _is_announced(text_before: str) -> bool:
    """Whether what stands before a number says that it opens something."""
    if not any(stem in text_before for stem in _STEMS):
        return False
    return _LABEL.search(text_before) is not None or _is_of_door(text_before)


def _is_of_door(text_before: str) -> bool:
    """Whether a number is said to open a door, or whatever a code is said to be for."""
    return _DOOR.search(text_before) is not None or _CODE_OF.search(text_before) is not None
