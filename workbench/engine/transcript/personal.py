"""Finds personal data: what its form gives away, what stands behind a telling name, and what
stands beside a person.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import NamedTuple

from workbench.engine.transcript.account_names import accounts, logins
from workbench.engine.transcript.credentials import Place
from workbench.engine.transcript.identity_numbers import identity_numbers
from workbench.engine.transcript.listed_people import listed_people
from workbench.engine.transcript.machines import devices, ips
from workbench.engine.transcript.people import people
from workbench.engine.transcript.person_lines import CERTAIN_KINDS, beside
from workbench.engine.transcript.person_numbers import numbers_of_persons
from workbench.engine.transcript.personal_forms import in_forms
from workbench.engine.transcript.personal_kinds import KINDS as KINDS
from workbench.engine.transcript.personal_names import NamedValue, named_values, values_in_columns
from workbench.engine.transcript.personal_numbers import cards, ibans, phones, ssns, wallets
from workbench.engine.transcript.postal_addresses import places
from workbench.engine.transcript.signs import matches_with

_SIGNED = re.compile(
    r"(?:^["
    r" \t]*(?:Author|Committer|Commit|[A-Z][a-z]+(?:-[a-z]+)*-[Bb]y|From|To|Cc|Reply-To)|[\"']author[\"'])"
    r"[ \t]*:[ \t]*[\"']?"
    r"(?P<name>[^\W\d_][\w.,'’ -]{1,60}?)[ \t]+<(?P<mail>[^<>\s]{3,100})>",
    re.MULTILINE,
)
_FOREIGN_SENDER = re.compile(r"(?P<name>[一-龥々]{2,4}|[가-힣]{2,4}) ?<[\w.+-]{1,64}@")
_MACHINE = re.compile(
    r"bot\b|\[bot\]|noreply|no-reply|actions|^(?:claude|copilot|codex|cursor|gemini|github|gitlab"
    r"|dependabot|renovate)\b",
    re.IGNORECASE,
)
_GECOS = re.compile(
    r"^[a-z_][\w-]{0,31}:[x*!]?:[1-9]\d{3,5}:\d{1,6}:(?P<name>[^\W\d_][^:,\n]{2,60})[^:\n]{0,60}:",
    re.MULTILINE,
)
_HINTS_OF_WORDS = (
    " dot ",
    " DOT ",
    "[at",
    "(at",
    "{at",
    "[dot",
    "(dot",
    "[AT",
    "(AT",
    "[@]",
    "(@)",
)
_IN_WORDS = re.compile(
    r"(?<![\w.@])[A-Za-z0-9][\w.+-]{0,63}(?: ?[\[({](?:at|AT|@)[\])}] ?| (?:at|AT)"
    r" )[A-Za-z0-9][\w-]{0,62}"
    r"(?:(?: ?[\[({](?:dot|DOT|punkt|punto|point|ponto|kropka|\.)[\])}] ?| (?:dot|DOT|punkt) |\.)"
    r"[A-Za-z0-9-]{2,62}){1,4}(?![\w@])"
)
_PATIENT = re.compile(r"(?:^|[ >])PID\|(?P<fields>[^\r\n]{8,1000})", re.MULTILINE)
"""The segment of HL7 that says who a patient is."""
_FIELDS_OF_PATIENT = {
    2: "id",
    3: "id",
    4: "id",
    5: "name",
    6: "name",
    7: "birth",
    9: "name",
    11: "place",
    13: "phone",
    14: "phone",
    18: "bank",
    19: "ssn",
    20: "id",
}
_PART_OF_FIELD = re.compile(r"[^|^~&\\]{2,200}")
_MAIL_HEADER = re.compile(
    r"(?:\b(?:From|To|Cc|Bcc|Reply-To|Sender))[ \t]{0,3}:["
    r" \t]{0,3}[\"'<]{0,2}([\w.+-]{2,64}@[\w-]{2,63})(?![\w.@-])"
)
_FOREIGN_MAIL = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}(?![\w-])"
)
_CARD_OF_PERSON = re.compile(
    r"^(?:FN|N)(?:;[^:\n]{0,60})?:(?P<name>[^\s;][^\r\n]{2,80})", re.MULTILINE
)


def _patients(text: str) -> Iterator[Place]:
    """What HL7 says of a patient, field by field."""
    for segment in matches_with(_PATIENT, text, "PID|"):
        start = segment.start("fields")
        for number, field in enumerate(segment["fields"].split("|"), start=1):
            stop = start + len(field)
            if number in _FIELDS_OF_PATIENT:
                for part in _PART_OF_FIELD.finditer(text, start, stop):
                    yield Place(*part.span(), _FIELDS_OF_PATIENT[number])
            start = stop + 1


def _names(text: str) -> Iterator[Place]:
    """Who wrote a commit or a mail, and whose account it is."""
    for match in matches_with(_SIGNED, text, "<"):
        if not _MACHINE.search(match["name"]) and not _MACHINE.search(match["mail"]):
            yield Place(*match.span("name"), "name")
    for match in matches_with(_CARD_OF_PERSON, text, "BEGIN:VCARD", "\nADR", "\nTEL"):
        yield Place(*match.span("name"), "name")
    if not text.isascii():
        for match in matches_with(_FOREIGN_SENDER, text, "@"):
            yield Place(*match.span("name"), "name")
    for match in matches_with(_GECOS, text, "x:"):
        yield Place(*match.span("name"), "name")


def _mails_in_words(text: str) -> Iterator[Place]:
    for match in matches_with(_IN_WORDS, text, *_HINTS_OF_WORDS):
        if re.search(r"\b(?:dot|DOT)\b|[\[({](?:at|AT|@|dot|DOT)", match.group()):
            yield Place(*match.span(), "email")
    for match in matches_with(_MAIL_HEADER, text, "@"):
        yield Place(*match.span(1), "email")
    if not text.isascii():
        for match in matches_with(_FOREIGN_MAIL, text, "@"):
            if not match.group().isascii():
                yield Place(*match.span(), "email")


def _people(text: str) -> Iterator[Place]:
    for start, stop in people(text):
        yield Place(start, stop, "name")
    for start, stop in listed_people(text):
        yield Place(start, stop, "name")


def _places(text: str) -> Iterator[Place]:
    for start, stop in places(text):
        yield Place(start, stop, "place")


def _identities(text: str) -> Iterator[Place]:
    for start, stop in identity_numbers(text):
        yield Place(start, stop, "id")
    for start, stop in numbers_of_persons(text):
        yield Place(start, stop, "id")


class Finder(NamedTuple):
    """What finds one kind of personal data, and what a text must hold for it."""

    kind: str
    hint: str
    find: Callable[[str], Iterator[Place]]


FINDERS = (
    Finder("login", "@", logins),
    Finder("iban", "", ibans),
    Finder("card", "", cards),
    Finder("ssn", "-", ssns),
    Finder("phone", "", phones),
    Finder("ip", "", ips),
    Finder("device", "", devices),
    Finder("bank", "", wallets),
    Finder("id", "", _identities),
    Finder("name", "", _names),
    Finder("login", "", accounts),
    Finder("email", " ", _mails_in_words),
    Finder("place", "", _places),
    Finder("name", "", _people),
)
"""In the order in which they are masked."""
_NEAR = 300
"""Characters between a name that says little and other personal data that makes it clear."""
_MAIL = re.compile(r"[\w.+-]@[\w-]{1,63}\.\w")


def personal(text: str, kinds: frozenset[str] = KINDS) -> Iterator[Place]:
    """The personal data of these kinds in a text, but for e-mail addresses and home directories;
    some may overlap.
    """
    weak = []
    places = list(_found_by_form(text, kinds))
    for value in named_values(text, kinds):
        if value.weak:
            weak.append(value)
        else:
            places.append(Place(value.start, value.stop, value.kind))
    yield from places
    starts = sorted(place.start for place in places)
    certain_starts = sorted(place.start for place in places if place.kind in CERTAIN_KINDS)
    for value in weak:
        if _is_near(text, value, certain_starts if value.single else starts):
            yield Place(value.start, value.stop, value.kind)
    for place in beside(text, places):
        if place.kind in kinds:
            yield place


def personal_in_tables(text: str, kinds: frozenset[str]) -> Iterator[Place]:
    """The personal data of these kinds in columns whose title alone is enough to tell it."""
    for value in values_in_columns(text, kinds):
        if not value.weak:
            yield Place(value.start, value.stop, value.kind)


def _found_by_form(text: str, kinds: frozenset[str]) -> Iterator[Place]:
    """What its form alone gives away."""
    yield from in_forms(text, kinds)
    for finder in FINDERS:
        if finder.kind in kinds and finder.hint in text:
            yield from finder.find(text)
    for place in _patients(text):
        if place.kind in kinds:
            yield place


def _is_near(text: str, value: NamedValue, starts: list[int]) -> bool:
    """Whether other personal data stands near a value."""
    position = bisect_left(starts, value.start - _NEAR)
    if position < len(starts) and starts[position] < value.stop + _NEAR:
        return True
    return _MAIL.search(text, max(0, value.start - _NEAR), value.stop + _NEAR) is not None
