"""Personal data behind a telling name: a date of birth, a passport, an account, a person's name, an
address.

`personal.toml` lists the names and what their values look like.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from workbench.engine.transcript.listed_people import GIVEN_NAMES
from workbench.engine.transcript.people import FULL_NAME, NAME, is_person
from workbench.engine.transcript.spans import character_at, character_before
from workbench.engine.transcript.tables import columns
from workbench.engine.transcript.words import lowered, words_of


class NamedValue(NamedTuple):
    """A value behind a telling name: where it is (half-open), its kind, and whether its name says
    little.

    Attributes:
        single: whether it is one word that may be of a person, or of anything else.
    """

    start: int
    stop: int
    kind: str
    weak: bool = False
    single: bool = False


class Label(NamedTuple):
    """A telling name, as `personal.toml` lists it."""

    text: str
    kind: str
    value: re.Pattern[str]
    clear: bool
    weak: bool

    @property
    def pattern(self) -> re.Pattern[str]:
        """The name as it is written, with a number behind it and its words joined in any way."""
        return _written(self.text)


_NUMBER = (
    r"(?:["
    r" ._-]?(?i:numbers?|num|numero|número|numéro|nos?|nr|id|ids|code|card|nummer|numer|číslo|#|№|n°|nº|n(?=\.)"
    r"|号码|号|番号|\d(?=[\"'\])]{0,2}[ ]?[:=|\n])))?(?:[ ._-]?(?i:number|no|nr|id|#))?"
)
_STOP = r"(?:(?![^\W\d_])|(?<=[^\x00-\u2fff]))"
"""No letter behind a name, but in scripts without spaces."""
_CLOSE = r"[.)\"'`*\]]{0,3}(?:[ ]?\([^()\n]{1,30}\))?"
_OPEN = r"[ \t]{0,8}(?:\[[ ]?)?[\"'`*]{0,2}"
_IS = (
    r"(?:is|was|on|as|are|ist|lautet|war|est|était|es|era|è|é|är|er|on|jest|to|wynosi|esta|číslo|je|van|of|at|in|to"
    r"|number|nummer|no|nr|n)"
)
_VALUE_OF = (
    r"(?:[ ][\w:-]{1,20}=\"[^<>\n]{0,60}\">|</\w{1,10}>\s{0,20}<\w{1,10}[^<>\n]{0,80}>"
    r"|[\"']{0,2}[ ,;]{1,3}(?:value|val|input|got)[ ]?[=:][ ]?[\"']?"
    r"|[\"']{1,2}[ ]?,\s{0,20}[\"']?value[\"']?[ ]?:[ ]?[\"']"
    r"|[\"']{0,2}[ ]?:[ ]?\{\s{0,20}[\"']?(?:number|no|id|value)[\"']?[ ]?:[ ]?[\"'])"
)
"""Between a name and its value in an object, a row of a page or a line of a log with parts for
both.
"""
_LINK = re.compile(
    rf"{_CLOSE}(?:{_VALUE_OF}|(?:[ \t.]{{0,30}}(?:=>|->|[:=#：]{{1,2}}|[|>](?![=>]))|["
    rf" \t]{{1,3}}{_IS}(?=[ \t.])\.?"
    r"|[(](?=[\"'])|[ ]?[.]{3,40}(?=[ ])|(?=[ \t])|[是为はが：])(?:[ \t]{0,3}\r?\n["
    rf" \t]{{0,8}})?{_OPEN})"
)
_FIRM_LINK = re.compile(
    rf"{_CLOSE}(?:{_VALUE_OF}|[ \t.]{{0,30}}(?:=>|[:=#：]{{1,2}}|[|>](?![=>])){_OPEN}|["
    rf" ]\"|[是为は]{_OPEN})"
)
"""With a sign between name and value: most names are also words of sentences."""
_NEXT_WORD = re.compile(r"[ ,:;'\"(=«-]{0,3}[^\W\d_]{0,16}[ ,:;'\"(=«-]{1,3}")
"""A word between a name and a value that looks like no other."""
_WORDS_BETWEEN = 8
_NEXT_LINE = re.compile(r"[\"'`*)]{0,2}[ \t]{0,3}[:：]?[*]{0,2}[ \t]{0,3}\r?\n[ \t>*|]{0,8}")
_REST_OF_LINE = re.compile(r"[ \t\r*|]{0,4}(?:\n|\Z)")
_SMALL_NAME = re.compile(
    r"[^\W\d_A-Z][^\W\d_]{2,20}(?:[ -][^\W\d_]{2,20})?(?=(?P<and>&)|[\s\"'#]|$)"
)
_LOOSE_KINDS = frozenset({"id", "birth", "device", "bank", "phone", "iban", "ssn"})
_LOGIN = (
    r"(?=[^\s\"'`,;<>|]{3,40}(?:[\s\"'`,;<>|]|$))(?!\d+\b)[A-Za-z][A-Za-z0-9]*(?:[._-][A-Za-z0-9]+){0,4}"
    r"(?![\w.@$({/\\:])"
)
_LONGEST_SHORT_FORM = 3
_SHAPES = {"{person}": NAME, "{full}": FULL_NAME, "{login}": _LOGIN}
"""What a value looks like that many names have."""
_ACCOUNTS = words_of("accounts") | words_of("no_login")


def _labels() -> Iterator[Label]:
    path = Path(__file__).with_name("personal.toml")
    lists = tomllib.loads(path.read_text("utf-8"))
    for group in lists["named"]:
        shape = group["value"]
        value = re.compile(_SHAPES.get(shape, shape))
        clear = group.get("clear", False)
        weak = group.get("weak", False)
        for name in group["names"]:
            yield Label(name, group["kind"], value, clear, weak)


@cache
def _written(name: str) -> re.Pattern[str]:
    """A telling name as it is written; made when a text has its first word, since there are
    thousands of names.
    """
    words = [re.escape(word) for word in name.split(" ")]
    return re.compile(r"[ _-]?".join(words) + _NUMBER + _STOP, re.IGNORECASE)


_LABELS = tuple(_labels())
_BY_WORD: dict[str, list[Label]] = {}
for _label in _LABELS:
    _word = re.split(r"[ .'/\d-]", _label.text)[0]
    if len(_word) <= 1:
        _word = _label.text[:3]
    _labels_of_word = _BY_WORD.setdefault(_word, [])
    _labels_of_word.append(_label)
_FOREIGN = frozenset(word for word in _BY_WORD if not word.isascii())
_ABBREVIATIONS = frozenset(word for word in _BY_WORD if word.isascii() and not word.isalpha())
"""What labels begin with that are no words: `s/n`, `d.o.b.`."""
_STEM = re.compile(r"(?<=.{3})(?:nummer|number)$")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_LETTERS = re.compile(r"[A-Za-z]+")
"""One word or several without a sign between: `IdNr`."""

NAMED_KINDS = frozenset(label.kind for label in _LABELS)
"""The kinds of personal data that a name gives away."""


def named_values(text: str, kinds: frozenset[str]) -> Iterator[NamedValue]:
    """The personal data of these kinds behind telling names, in no order; some may overlap."""
    lower = lowered(text)
    for word in _words_of_labels(text):
        start = lower.find(word)
        while start >= 0:
            if _begins_word(text, start):
                yield from _values_at(text, start, _BY_WORD[word], kinds)
            start = lower.find(word, start + len(word))
    yield from values_in_columns(text, kinds)


def _values_at(
    text: str, start: int, labels: Sequence[Label], kinds: frozenset[str]
) -> Iterator[NamedValue]:
    """The personal data behind those of the labels that stand here."""
    for label in labels:
        if label.kind not in kinds:
            continue
        value = _value(text, start, label)
        if value:
            yield value


def _words_of_labels(text: str) -> set[str]:
    """The words of a text that a label may begin with."""
    distinct_words = {*_WORD.findall(text), *_LETTERS.findall(text)}
    words = {word.lower() for word in distinct_words}
    stems = {_STEM.sub("", word) for word in words}
    label_words = (words | stems) & _BY_WORD.keys() | _ABBREVIATIONS
    if text.isascii():
        return label_words
    return label_words | _FOREIGN


def _value(text: str, start: int, label: Label) -> NamedValue | None:
    name = label.pattern.match(text, start)
    if name is None:
        return None
    if label.weak and character_before(text, start) in ("_", "-", "."):
        return None
    is_loose = label.kind in _LOOSE_KINDS and not _is_spoken(text, start, label)
    pattern = _FIRM_LINK
    if is_loose:
        pattern = _LINK
    link = pattern.match(text, name.end())
    value = None
    if link:
        value = label.value.match(text, link.end())
        if value and label.kind == "login" and not _stands_for_itself(text, name, link, value):
            return None
    if value is None and label.clear:
        value = _behind_words(text, name.end(), label)
    if value is None:
        value = _below(text, name, label) or _in_form(text, name, label)
    if value is None or not _is_of(label, value.group()):
        return None
    value_start, stop = value.span()
    is_single = _is_single(label, value.group())
    return NamedValue(value_start, stop, label.kind, label.weak, is_single)


def _is_spoken(text: str, start: int, label: Label) -> bool:
    """Whether the name is also a part of sentences in small letters, and stands in none of a
    program's signs.
    """
    if not _is_word_too(label) or text[start : start + 2].isupper():
        return False
    return character_before(text, start) not in ('"', "'", "_")


def _stands_for_itself(
    text: str, name: re.Match[str], link: re.Match[str], value: re.Match[str]
) -> bool:
    """Whether a word behind a name is no variable of a program: quoted, set without spaces, or
    alone in its line.
    """
    signs = link.group()
    if signs[-1] in "\"'`":
        return "|" not in signs
    if signs == "=":
        next_character = character_at(text, value.end())
        return next_character not in (",", ")", ";")
    begins_line = character_before(text, name.start()) in ("", "\n")
    if not begins_line or signs != ": " or "." in value.group():
        return False
    return _REST_OF_LINE.match(text, value.end()) is not None


def _below(text: str, name: re.Match[str], label: Label) -> re.Match[str] | None:
    """A value alone in the line below its name, which says clearly what it is, ends with a colon
    or is alone too.
    """
    line = _NEXT_LINE.match(text, name.end())
    if line is None:
        return None
    is_alone = character_before(text, name.start()) in ("", "\n")
    has_colon = ":" in line.group()
    if not label.clear and not is_alone and not has_colon:
        return None
    value = label.value.match(text, line.end())
    if value and _REST_OF_LINE.match(text, value.end()):
        return value
    return None


def _in_form(text: str, name: re.Match[str], label: Label) -> re.Match[str] | None:
    """A name of a person in small letters, as people type it into a form:
    `&lastName=quillmoor&`.
    """
    if label.kind != "name" or label.weak or not text.startswith("=", name.end()):
        return None
    value = _SMALL_NAME.match(text, name.end() + 1)
    if value is None:
        return None
    if value["and"] or character_before(text, name.start()) in ("?", "&"):
        return value
    return None


def _behind_words(text: str, start: int, label: Label) -> re.Match[str] | None:
    """A value behind a few words that follow its name."""
    for _ in range(_WORDS_BETWEEN):
        gap = _NEXT_WORD.match(text, start)
        if gap is None:
            return None
        start = gap.end()
        value = label.value.match(text, start)
        if value:
            return value
    return None


def _is_of(label: Label, value: str) -> bool:
    """Whether a value of this look may be what its label says."""
    if label.kind == "name":
        is_short_form = value.isupper() and len(value) <= _LONGEST_SHORT_FORM
        return not is_short_form and is_person(value)
    if label.kind == "login":
        return _is_login(value)
    return True


def _is_single(label: Label, value: str) -> bool:
    if label.kind != "name" or " " in value:
        return False
    return value not in GIVEN_NAMES and value.isascii()


def _is_login(value: str) -> bool:
    lower = value.lower()
    parts = re.split(r"[._-]", lower)
    is_account = lower in _ACCOUNTS or not _ACCOUNTS.isdisjoint(parts)
    return len(value) >= 4 and not is_account


def values_in_columns(text: str, kinds: frozenset[str]) -> Iterator[NamedValue]:
    """The personal data in columns with a telling title."""
    for column in columns(text, _is_telling):
        for label in _labels_of(column.title):
            if label.kind not in kinds:
                continue
            is_certain = column.certain or label.kind in _LOOSE_KINDS
            for cell in column.cells:
                match = label.value.fullmatch(text, *cell)
                if match is None:
                    continue
                value = match.group()
                may_be_name = is_certain or " " in value
                if may_be_name and _is_of(label, value):
                    is_single = _is_single(label, value)
                    yield NamedValue(*cell, label.kind, label.weak, is_single)


def _is_telling(title: str) -> bool:
    return bool(_labels_of(title))


@lru_cache(maxsize=10_000)
def _labels_of(title: str) -> tuple[Label, ...]:
    """The labels that a title ends with."""
    lower = title.lower()
    if len(lower) != len(title):
        return ()
    parts = _WORD.findall(title) + _LETTERS.findall(title)
    words = set(map(str.lower, parts))
    labels: list[Label] = []
    for word in words | _FOREIGN | _ABBREVIATIONS:
        if word not in lower or word not in _BY_WORD:
            continue
        for match in re.finditer(re.escape(word), lower):
            start = match.start()
            if not _begins_word(title, start):
                continue
            for label in _BY_WORD[word]:
                if label.pattern.fullmatch(title, start):
                    labels.append(label)
    return tuple(labels)


def _is_word_too(label: Label) -> bool:
    """Whether the name is also a part of sentences in small letters: `tin`, `sin`, `pan`."""
    is_short = len(label.text) <= 4 and label.text.isascii()
    return is_short and label.kind in ("id", "bank") and not label.clear


def _begins_word(text: str, start: int) -> bool:
    """Whether a word begins here, also as a part of a name such as `patientDateOfBirth`."""
    previous_character = character_before(text, start)
    if not previous_character.isalpha() or not previous_character.isascii():
        return True
    return previous_character.islower() and text[start].isupper()
