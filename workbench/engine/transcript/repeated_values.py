"""Values that were masked once, found again where nothing says what they are: a password, a name, a
login, an account.

A value counts where it is unlike any ordinary word: it has letters and digits, six digits, or
several words. A single name of a person counts where the session writes it in no other way.
"""

import re

from workbench.engine.transcript.people import is_person
from workbench.engine.transcript.secret_values import is_unlike_words

_RUN = re.compile(r"[^\W_]{3,}")
_MARKS = ("", *",;:!?).")
"""What may stand behind a word of a sentence or a program, which is no part of a path, an
address or a login.
"""
_PART_OF_NAME = re.compile(r"[^\W\d_a-z][^\W\d_]{3,}(?:['’-][^\W\d_]+)*")
_PECULIAR_LOGIN = re.compile(r"[A-Za-z]+[._][A-Za-z]{3,}|(?=[\w.-]{5,})[A-Za-z]{3,}[._-]?\d{1,6}")
_LEAST_DIGITS, _LEAST_OF_NAME = 6, 5
_OF_DIGITS = frozenset({"bank", "card", "device", "iban", "id", "phone", "ssn"})
_OF_WORDS = frozenset({"name", "place"})
_DATE = re.compile(r"\d{1,4}[-./ ]\d{1,2}[-./ ]\d{1,4}")


class RepeatedValues:
    """The placeholders of values, by the longest run of letters and digits in them."""

    def __init__(self) -> None:
        self._patterns: dict[str, dict[str, str]] = {}
        self._placeholders: dict[str, str] = {}
        self._small_words: set[str] = set()

    def read(self, text: str) -> None:
        """Notes the words in small letters of a text that is to be masked: a name that is a word
        too is left.
        """
        small_words = filter(str.islower, text.split())
        self._small_words.update(small_words)

    def add(self, value: str, kind: str, placeholder: str) -> None:
        """Notes a value that was masked, if it is unlike ordinary words."""
        if is_personal_and_peculiar(value, kind):
            self._add(value, placeholder, _alone(value))
        elif is_unlike_words(value):
            self._add(value, placeholder, re.escape(value))
        if kind != "name":
            return
        for part in _PART_OF_NAME.findall(value):
            if is_person(part):
                self._add(part, placeholder, _alone(part))

    def _add(self, value: str, placeholder: str, pattern: str) -> None:
        runs = _RUN.findall(value)
        is_added = value in self._placeholders
        if not runs or is_added:
            return
        self._placeholders[value] = placeholder
        longest_run = max(runs, key=len)
        patterns = self._patterns.setdefault(longest_run, {})
        patterns[value] = pattern

    def masked(self, text: str) -> str:
        """The text with the placeholders of all values in it."""
        if not self._patterns:
            return text
        patterns: dict[str, str] = {}
        runs = set(_RUN.findall(text))
        for run in self._patterns.keys() & runs:
            patterns.update(self._patterns[run])
        values: list[str] = []
        for value in patterns:
            if not self._is_word(value.lower()):
                values.append(value)
        if not values:
            return text
        values.sort()
        values.sort(key=len, reverse=True)
        alternatives = "|".join(patterns[value] for value in values)
        any_value = re.compile(alternatives)
        return any_value.sub(self._placeholder, text)

    def _placeholder(self, match: re.Match[str]) -> str:
        return self._placeholders[match.group()]

    def _is_word(self, small: str) -> bool:
        """Whether the session writes this in small letters, as an ordinary word."""
        if not small.isalpha():
            return False
        return any(f"{small}{mark}" in self._small_words for mark in _MARKS)


def _alone(value: str) -> str:
    """A pattern of a value that is no part of a longer word or number."""
    return rf"(?<![^\W_]){re.escape(value)}(?![^\W_])"


def is_personal_and_peculiar(value: str, kind: str) -> bool:
    """Whether personal data is the same wherever it stands: longer than an ordinary word."""
    digits = sum(map(str.isdigit, value))
    if kind in _OF_DIGITS:
        return digits >= _LEAST_DIGITS and not _DATE.fullmatch(value)
    if kind in _OF_WORDS:
        is_of_words = " " in value and len(value) >= _LEAST_OF_NAME
        is_telling = kind == "name" or digits > 0
        return is_of_words and is_telling
    if kind != "login":
        return False
    return _PECULIAR_LOGIN.fullmatch(value) is not None
