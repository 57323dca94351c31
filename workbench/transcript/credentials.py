"""Finds secrets: forms of well-known tokens, listed in `secrets.toml`, and values behind a telling name.

A form needs no context. A secret without a form, such as a password, is recognised by the name before it, by how random
it looks, or by its place in an address or a header.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import log2
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Place:
    """Where a secret is in a text (half-open), and of which kind it is."""

    start: int
    stop: int
    kind: str


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """How one kind of secret is written; `secrets.toml` says what the fields mean."""

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]

    def find(self, text: str) -> Iterator[Place]:
        """The secrets of this form in a text."""
        for found in self.pattern.finditer(text) if any(map(text.__contains__, self.hints)) else ():
            yield Place(*found.span(found.lastindex or 0), self.kind)


_START = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))"
"""Nothing before a secret that could belong to it: each run of letters is tried once, and time stays linear.

What looks like a letter may be the end of an escape, since recordings hold JSON inside JSON.
"""

FORMS = tuple(
    Form(form["kind"], tuple(form["hints"]), re.compile(f"{_START}(?:{form['pattern']})"))
    for form in tomllib.loads(Path(__file__).with_name("secrets.toml").read_text("utf-8"))["forms"]
)

_WORDS = ("password", "passwd", "passphrase", "passcode", "pwd", "secret", "token", "credential", "credentials", "key")
"""How a telling name ends; a key tells only with one of the words of `_KEY` before it."""
_KEY = re.compile(
    r"(?:api|access|account|auth|client|encryption|license|master|private|secret|service|shared|signing|storage)[_-]?$"
)
_IS_PASSWORD = re.compile(r"pass|pwd", re.IGNORECASE)
_BARE = r"[A-Za-z0-9_.~+/=!@#%^&*?$-]"
_VALUE = re.compile(
    r"(?i:[_-](?:base|value|dev|test|prod|staging))?[\"'\]\\*]{0,4}"
    r"(?:[ \t]{0,3}(?:=>|:=|={1,3}|:)|>|[ \t]is(?=[ \t]))[*]{0,2}[ \t]{0,3}"
    rf"(?:\\{{0,3}}([\"'`])([^\"'`\\\s<>{{}}]{{4,400}})(?=\\{{0,3}}\1)|({_BARE}{{6,400}})(?![\w(\[{{]))"
)
_OPTION = re.compile(rf"[ \t]{{1,3}}([\"']?)({_BARE}{{6,400}})(?![\w(\[{{])")
_FLAG = re.compile(r"--(?:[a-z]+-){0,3}$")
_HEADER = re.compile(r"(?:bearer|basic)[ \t]{1,3}([A-Za-z0-9._~+/=-]{16,4000})", re.IGNORECASE)
_ADDRESS = re.compile(r"://[^\s:/@\"'<>]{0,64}:([^\s/@\"'<>]{3,200})@")
_CURL_USER = re.compile(r"(?:-u|--user)[ =]{1,3}[\"']?[\w.@-]{1,64}:([^\s\"']{4,200})")
_NO_VALUE = re.compile(
    r"\$|%[({A-Za-z_]|[*.x_-]+$|redacted|your|my[_-]|example|changeme|placeholder|dummy|(?:true|false|null|none|nil"
    r"|undefined|string|number|boolean|str|int|optional|required|process|environ|env|os|self|this|config|settings"
    r"|options|request|req|user|data|args|params)(?:$|[^A-Za-z0-9])",
    re.IGNORECASE,
)
_FOLDER = re.compile(r"~?/|[A-Za-z]:[\\/]|\.\.?/")
_MEMBER = re.compile(r"[A-Za-z_]\w*(?:\??\.[A-Za-z_]\w*)+")
_RANDOM, _LONG = 3.5, 16
"""Bits a character and characters from which on a value behind a name such as `token` counts as one: as gitleaks."""


def in_context(text: str) -> Iterator[Place]:
    """The secrets that only their surroundings give away, in no order; some may overlap."""
    yield from _named(text)
    if "earer" in text or "asic" in text or "BEARER" in text:
        for found in _HEADER.finditer(text):
            if _is_random(found.group(1)):
                yield Place(*found.span(1), "token")
    for pattern, hint in ((_ADDRESS, "://"), (_CURL_USER, "curl")):
        for found in pattern.finditer(text) if hint in text else ():
            if not _NO_VALUE.match(found.group(1)):
                yield Place(*found.span(1), "password")


def _named(text: str) -> Iterator[Place]:
    """The values behind telling names. The names are searched for as plain text, which is far faster than a pattern."""
    lower = text.lower()
    if len(lower) != len(text):  # a few letters of other alphabets become two
        lower = "".join(char.lower() if char.isascii() else char for char in text)
    for word in _WORDS:
        stop = 0
        while (start := lower.find(word, stop)) >= 0:
            stop = start + len(word)
            if found := _after(text, start, stop):
                group = found.lastindex or 0
                if _tells(word, lower[max(0, start - 12) : start]) and _is_value(word, found[group], group == 2):
                    yield Place(*found.span(group), _kind(word))


def named_kind(name: str, value: str) -> str:
    """The kind of secret that a value under this name is, in an object or a tool's arguments; empty if it is none."""
    lower = name.lower()
    word = next((word for word in _WORDS if lower.endswith(word)), "")
    if not word or len(value) < 4 or any(char.isspace() for char in value):
        return ""
    return _kind(word) if _tells(word, lower[: -len(word)]) and _is_value(word, value, quoted=True) else ""


def _tells(word: str, before: str) -> bool:
    return word != "key" or _KEY.search(before) is not None


def _after(text: str, start: int, stop: int) -> re.Match[str] | None:
    """The value behind the name that ends with `text[start:stop]`: group 2 in quotation marks, group 3 bare."""
    found = _VALUE.match(text, stop)
    if found is None and text[stop : stop + 1] in (" ", "\t") and _FLAG.search(text, max(0, start - 40), start):
        return _OPTION.match(text, stop)
    return found


def _kind(word: str) -> str:
    return "password" if _IS_PASSWORD.search(word) else "secret"


def is_unlike_words(value: str) -> bool:
    """Whether a value is unlike any word, so that it is the same secret wherever it appears."""
    return len(value) >= 8 and any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def _is_value(name: str, value: str, quoted: bool) -> bool:
    if _NO_VALUE.match(value) or _MEMBER.fullmatch(value):
        return False
    if not _IS_PASSWORD.search(name):
        return _is_random(value)
    if _FOLDER.match(value):  # `pwd` is a folder as well
        return False
    if quoted:
        return value.lower() not in _WORDS
    return is_unlike_words(value) and "/" not in value


def _is_random(value: str) -> bool:
    n = len(value)
    bits = -sum(count / n * log2(count / n) for count in Counter(value).values())
    return n >= _LONG and is_unlike_words(value) and bits >= _RANDOM
