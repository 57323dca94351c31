"""Finds secrets: forms of well-known tokens, listed in `secrets.toml`, and values behind a telling name.

A form needs no context. A secret without a form, such as a password, is recognised by the name before it, by how random
it looks, or by its place in an address, a header or a command.
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

_WORDS = (
    "password", "passwd", "passphrase", "passcode", "pwd", "pass", "secret", "token", "credential", "credentials",
    "_auth", "key",
)  # fmt: skip
"""How a telling name ends; a key tells only with one of the words of `_KEY` before it, `pass` at a seam of the name."""
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
_HEADER = re.compile(
    r"(?:(?:bearer|basic)[ \t]{1,3}|authorization[\"']?[ \t]?[:=][ \t]?[\"']?(?:[a-z]{3,10}[ \t]{1,3})?)"
    r"([A-Za-z0-9._~+/=-]{16,4000})",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"://[^\s:/@\"'<>]{0,64}:([^\s/@\"'<>]{3,200})@")
_COMMANDS = (
    ("curl", re.compile(r"(?:-u|--user)[ =]{1,3}[\"']?[\w.@-]{1,64}:([^\s\"']{4,200})")),
    ("mysql", re.compile(r"\bmysql(?:dump|admin|import)?\b[^\n|;&]{0,200}?[ \t]-p[\"']?([^\s\"']{4,200})")),
    ("sshpass", re.compile(r"\bsshpass[ \t]+-p[ \t]*[\"']?([^\s\"']{4,200})")),
    ("redis-cli", re.compile(r"\bredis-cli\b[^\n|;&]{0,200}?[ \t]-a[ \t]+[\"']?([^\s\"']{4,200})")),
    (
        "login",
        re.compile(
            r"\b(?:docker|podman|helm|az)\b[^\n|;&]{0,40}\blogin\b[^\n|;&]{0,200}?[ \t]-p[ \t=]+[\"']?([^\s\"']{4,200})"
        ),
    ),
    ("login", re.compile(r"\blogin[ \t\n]+\S{1,64}[ \t\n]+password[ \t\n]+(\S{4,200})")),  # in a .netrc
)  # fmt: skip
"""By a word of theirs, commands that take a password without a telling name."""
_NO_VALUE = re.compile(
    r"\$|%[({A-Za-z_]|[*.x_-]+$|redacted|your|my[_-]|example|changeme|placeholder|dummy|(?:true|false|null|none|nil"
    r"|undefined|string|number|boolean|str|int|optional|required|process|environ|env|os|self|this|config|settings"
    r"|options|request|req|user|data|args|params)(?:$|[^A-Za-z0-9])",
    re.IGNORECASE,
)
_TYPE = re.compile(r"[a-z]*(?:[A-Z][a-z]{2,})+|\w*_\w*")
"""In a value in YAML's place: a name of a program, as after `password: PasswordField`."""
_OWN_NAME = re.compile(r"pass|pwd|secret|token|cred|key|hash|input|value|field|form", re.IGNORECASE)
"""In a bare value without digits: a variable or an option."""
_FOLDER = re.compile(r"~?/|[A-Za-z]:[\\/]|\.\.?/")
_MEMBER = re.compile(r"[A-Za-z_]\w*(?:\??\.[A-Za-z_]\w*)+")
_RANDOM, _LONG = 3.5, 16
"""Bits a character and characters from which on a value behind a name such as `token` counts as one: as gitleaks."""
_LINE = 300
"""Characters before a name that are looked at, so that time stays linear."""
_HEX, _RANDOM_HEX = re.compile(r"[0-9a-f-]+|[0-9A-F-]+"), 2.5
"""Sixteen digits have fewer bits: the mean of 32 random ones is 3.6."""


def in_context(text: str) -> Iterator[Place]:
    """The secrets that only their surroundings give away, in no order; some may overlap."""
    yield from _named(text)
    if any(hint in text for hint in ("earer", "asic", "BEARER", "uthorization", "AUTHORIZATION")):
        for found in _HEADER.finditer(text):
            if _is_random(found.group(1)):
                yield Place(*found.span(1), "token")
    for hint, pattern in (("://", _ADDRESS), *_COMMANDS):
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
                quoted, sure = group == 2, group == 2 or _is_setting(text, start, found)
                if _tells(word, text[max(0, start - 12) : stop]) and _is_value(word, found[group], quoted, sure):
                    yield Place(*found.span(group), _kind(word))


def named_kind(name: str, value: str) -> str:
    """The kind of secret that a value under this name is, in an object or a tool's arguments; empty if it is none."""
    lower = name.lower()
    word = next((word for word in _WORDS if lower.endswith(word)), "")
    if not word or len(value) < 4 or any(char.isspace() for char in value):
        return ""
    return _kind(word) if _tells(word, name) and _is_value(word, value, quoted=True) else ""


def _tells(word: str, name: str) -> bool:
    """Whether the name, which ends with that word, is one that a secret has."""
    before = name[: -len(word)]
    if word == "key":
        return _KEY.search(before.lower()) is not None
    return word != "pass" or before[-1:] in ("_", "-") or (before[-1:].islower() and name[-4] == "P")


def _is_setting(text: str, start: int, found: re.Match[str]) -> bool:
    """Whether a bare value is set as in a shell, a connection string or YAML, where words stand for themselves.

    In a program a bare word is a variable: `login(password=given)`, `password = given`.
    """
    value, stop = found[found.lastindex or 0], found.end()
    between = text[found.start() : found.start(found.lastindex or 0)]
    near = max(0, start - _LINE)
    line = text[max(near, text.rfind("\n", near, start) + 1) : start]
    before, behind = re.sub(r"[\w.-]*$", "", line), text[stop : stop + 1]
    if between == "=":
        return "(" not in line and before[-1:] not in (",", ".") and behind not in (",", ")", ".")
    if between.strip(" \t") == ":":
        return not before.strip(" \t-") and behind in ("", "\n", "\r") and not _TYPE.fullmatch(value)
    return False


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


def _is_value(name: str, value: str, quoted: bool, sure: bool = True) -> bool:
    """Whether a value under such a name is a secret; `sure` where a word in its place stands for itself."""
    if _NO_VALUE.match(value) or _MEMBER.fullmatch(value):
        return False
    if not _IS_PASSWORD.search(name):
        return _is_random(value)
    if _FOLDER.match(value):  # `pwd` is a folder as well
        return False
    if quoted:
        return value.lower() not in _WORDS
    if is_unlike_words(value):
        return sure or "/" not in value
    return sure and not _OWN_NAME.search(value) and not value.isdigit()


def _is_random(value: str) -> bool:
    n = len(value)
    bits = -sum(count / n * log2(count / n) for count in Counter(value).values())
    return n >= _LONG and is_unlike_words(value) and bits >= (_RANDOM_HEX if _HEX.fullmatch(value) else _RANDOM)
