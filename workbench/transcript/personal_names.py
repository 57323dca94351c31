"""Personal data behind a telling name: a date of birth, a passport, an account, a person's name, an address.

`personal.toml` lists the names and what their values look like.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class NamedValue(NamedTuple):
    """A value behind a telling name: where it is (half-open), and its kind."""

    start: int
    stop: int
    kind: str


class Label(NamedTuple):
    """A telling name."""

    text: str
    pattern: re.Pattern[str]
    kind: str
    value: re.Pattern[str]


_NUMBER = r"(?:[ _-]?(?i:numbers?|num|nos?|nr|id|code|card|nummer|#|№|n°))?"
_LINK = re.compile(
    r"[.)\"'`*\]]{0,3}(?:[ \t.]{0,30}(?:[:=#：]{1,2}|=>)|[ \t]{1,3}(?:is|was|on)(?=[ \t])|"
    r"(?=[ \t]))[ \t]{0,8}[\"'`*]{0,2}"
)
_FIRM_LINK = re.compile(r"[.)\"'`*\]]{0,3}[ \t.]{0,30}(?:(?:[:=#：]{1,2}|=>)[ \t]{0,8}[\"'`*]{0,2}|(?=[ ]\")[ ]\")")
"""With a sign between name and value: most names are also words of sentences."""
_LOOSE_KINDS = frozenset({"id", "birth", "device", "bank", "phone", "iban", "ssn"})


def _labels() -> Iterator[Label]:
    lists = tomllib.loads(Path(__file__).with_name("personal.toml").read_text("utf-8"))
    for group in lists["named"]:
        value = re.compile(group["value"])
        for name in group["names"]:
            words = [re.escape(word) for word in name.split(" ")]
            pattern = re.compile(r"[ _-]?".join(words) + _NUMBER + r"(?![^\W\d_])", re.IGNORECASE)
            yield Label(name, pattern, group["kind"], value)


_LABELS = tuple(_labels())
_BY_WORD: dict[str, list[Label]] = {}
for _label in _LABELS:
    _BY_WORD.setdefault(re.split(r"[ .']", _label.text)[0], []).append(_label)
_FOREIGN = frozenset(word for word in _BY_WORD if not word.isascii())
_STEM = re.compile(r"(?<=.{3})(?:nummer|number)$")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

NAMED_KINDS = frozenset(label.kind for label in _LABELS)
"""The kinds of personal data that a name gives away."""


def named_values(text: str, kinds: frozenset[str]) -> Iterator[NamedValue]:
    """The personal data of these kinds behind telling names, in no order; some may overlap."""
    lower = text.lower()
    if len(lower) != len(text):  # a few letters of other alphabets become two
        lower = "".join(char.lower() if char.isascii() else char for char in text)
    words = {word.lower() for word in set(_WORD.findall(text))}
    words = (words | {_STEM.sub("", word) for word in words}) & _BY_WORD.keys()
    for word in words if text.isascii() else words | _FOREIGN:
        start = lower.find(word)
        while start >= 0:
            for label in _BY_WORD[word]:
                if label.kind in kinds and (value := _value(text, start, label)):
                    yield value
            start = lower.find(word, start + len(word))


def _value(text: str, start: int, label: Label) -> NamedValue | None:
    name = label.pattern.match(text, start)
    if name is None or not _begins_word(text, start):
        return None
    if _is_word_too(label) and not (text[start : start + 2].isupper() or text[start - 1 : start] in ('"', "'", "_")):
        return None
    link = (_LINK if label.kind in _LOOSE_KINDS else _FIRM_LINK).match(text, name.end())
    value = link and label.value.match(text, link.end())
    return NamedValue(*value.span(), label.kind) if value else None


def _is_word_too(label: Label) -> bool:
    """Whether the name is also a part of sentences in small letters: `tin`, `sin`, `pan`."""
    return len(label.text) <= 4 and label.text.isascii() and label.kind in ("id", "bank")


def _begins_word(text: str, start: int) -> bool:
    """Whether a word begins here, also as a part of a name such as `patientDateOfBirth`."""
    before = text[start - 1 : start]
    return not before.isalpha() or (before.islower() and text[start].isupper()) or not before.isascii()
