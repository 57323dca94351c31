"""Finds secrets: forms of well-known tokens, listed in `secrets.toml`, and values behind a telling
name.

A form needs no context. A secret without a form, such as a password, is recognised by the name
before it, by how random it looks, or by its place in an address, a header or a command.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.engine.transcript.access_codes import access_codes
from workbench.engine.transcript.drawn_tokens import drawn_tokens
from workbench.engine.transcript.encodings import BASE64, said_in_base64
from workbench.engine.transcript.private_keys import private_keys
from workbench.engine.transcript.secret_lines import secrets_of_lines
from workbench.engine.transcript.secret_names import Strength, name_strength
from workbench.engine.transcript.secret_pairs import named_values
from workbench.engine.transcript.secret_sentences import printed_secrets
from workbench.engine.transcript.secret_tables import table_values
from workbench.engine.transcript.secret_values import (
    is_default_password,
    is_no_value,
    is_own_name,
    is_password_like,
    is_placeholder,
    is_random,
    is_sample,
    is_secret,
    is_strong_password,
)
from workbench.engine.transcript.signs import matches_with


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
    hints: frozenset[str]
    pattern: re.Pattern[str]
    run: int


_START = r"(?<![A-Za-z0-9_])"
"""Nothing before a secret that could belong to it: each run of letters is tried once, and time
stays linear.
"""

_LISTS = tomllib.loads(Path(__file__).with_name("secrets.toml").read_text("utf-8"))
FORMS = tuple(
    Form(
        form["kind"],
        frozenset(form["hints"]),
        re.compile(f"{_START}(?:{form['pattern']})"),
        form.get("run", 0),
    )
    for form in _LISTS["forms"]
)

_LONG_RUN = re.compile(r"[A-Za-z0-9]{20,}")
"""Letters and digits without a sign between, as most drawn secrets have them and most texts do
not.
"""
_HEADER = re.compile(
    r"(?:(?:bearer|basic)[ \t]{1,3}|authorization[\"']?[ \t]?[:=][ \t]?[\"']?(?:[a-z]{3,10}(?:["
    r" \t]{1,3}|=))?)"
    r"([A-Za-z0-9._~+/=:%|-]{8,4000})",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"://(?P<user>[^\s:/@\"'<>]{0,64}(?:@[\w.-]{1,60})?):(?P<password>[^\s/@\"'<>]{3,4000})@(?P<host>\[?[\w.-]{0,60})"
)
_ADDRESS_OF_KEY = re.compile(r"://([\w-]{20,200})@(?!o\d{1,12}\.ingest\.)")
"""But for the public key of a project at Sentry, which pages show."""
_LOCAL = re.compile(r"localhost|127\.0\.0\.1|0\.0\.0\.0|(?:[\w.-]*\.)?example\.(?:com|org|net)")
_QUERY = re.compile(
    r"[?&#;][\w.-]{0,30}?(?:key|token|sig|signature|code|auth|appid|app_id|sid|session|ticket|secret"
    r"|credential|assertion"
    r"|verifier|nonce|pass|pwd)=([\w%.~+/=-]{10,4000})",
    re.IGNORECASE,
)
_COOKIES = re.compile(
    r"(?:\bcookie[\"']?[ \t]?[:=][ \t]?|\bcookie[\"'], ?[\"'value:= ]{0,12}|(?:[ \t]-b"
    r"|--cookie)[ =])[\"']?([^\n\"']{6,4000})",
    re.IGNORECASE,
)
_COOKIE = re.compile(r"[\w.%-]{1,80}=([^;,\s\"']{8,4000})")
_COOKIE_FILE = re.compile(
    r"\t(?:TRUE|FALSE)\t[^\t\n]{1,200}\t(?:TRUE|FALSE)\t\d{1,12}\t[^\t\n]{1,200}\t(\S{8,4000})"
)
_LOGIN_CALL = re.compile(
    r"(?i:\b|_|set)(?i:auth|httpbasicauth|httpdigestauth|basicauth|basic_auth|login|authenticate|networkcredential"
    r"|usernamepasswordcredentials|usernamepasswordcredential|passwordauthentication"
    r"|credentials?)[\"']?[ ]?(?:=>|[=:])?[ ]?"
    r"[A-Za-z.]{0,40}[(\[](?:[brfu@]?[\"'][^\"'\n]{0,200}[\"'],\s{0,20}){1,3}(?:\w{1,20}[(])?[brfu@]?[\"']"
    r"([^\"'\n]{4,200})[\"']\s{0,20}[)\]]"
)
_HINTS_OF_HEADERS = ("earer", "asic", "BEARER", "uthorization", "AUTHORIZATION", "auth")
_ENCODED_LOGIN = re.compile(
    r"[\"']?_?auth[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"']?([A-Za-z0-9+/]{8,2000}={0,2})(?![\w+/=])"
)
_KUBERNETES_SECRET = re.compile(r"kind[\"']?:[ \t]{0,3}[\"']?Secret\b")
_DATA = re.compile(
    r"^([ \t]*)[\"']?(?:data|stringData)[\"']?:[ \t]*\{?[ \t\r]*\n((?:\1[ \t]+[^\n]*\n?)+)",
    re.MULTILINE,
)
_ITEM = re.compile(
    r"^[ \t]+[\"']?[\w.-]+[\"']?:[ \t]*[\"']?([^\s\"',{}|>][^\s\"',]{3,20000})[\"']?,?[ \t\r]*$",
    re.MULTILINE,
)
_DATA_OF_JSON = re.compile(r"[\"'](?:data|stringData)[\"']:[ \t]{0,3}\{([^{}]{4,20000})\}")
_ITEM_OF_JSON = re.compile(r":[ \t]{0,3}\"([^\"\s]{4,20000})\"")
_LEAST_OF_QUERY, _LEAST_OF_COOKIE, _LEAST_OF_HEADER = 16, 16, 8


@dataclass(frozen=True, slots=True)
class Command:
    """A command, or a line of a file, that takes a password without a telling name;
    `secrets.toml` lists them.
    """

    hints: frozenset[str]
    pattern: re.Pattern[str]
    is_like: Callable[[str], bool]


def _any_word(_: str) -> bool:
    return True


def _is_announced_password(value: str) -> bool:
    return is_password_like(value, is_announced=True)


def _commands() -> Iterator[Command]:
    for command in _LISTS["commands"]:
        pattern = re.compile(command["pattern"], re.MULTILINE)
        is_like: Callable[[str], bool] = is_random if command.get("random") else _any_word
        if command.get("strong"):
            is_like = is_strong_password
        if command.get("announced"):
            is_like = _is_announced_password
        yield Command(frozenset(command["hints"]), pattern, is_like)


COMMANDS = tuple(_commands())


def _by_hint(entries: Sequence[Form | Command]) -> dict[str, list[int]]:
    """The numbers of the entries that each hint stands for."""
    numbers: dict[str, list[int]] = {}
    for number, entry in enumerate(entries):
        for hint in entry.hints:
            numbers_of_hint = numbers.setdefault(hint, [])
            numbers_of_hint.append(number)
    return numbers


_FORMS_BY_HINT = _by_hint(FORMS)
_COMMANDS_BY_HINT = _by_hint(COMMANDS)


def _hinted(text: str, by_hint: dict[str, list[int]]) -> list[int]:
    """The numbers of the entries of which a text holds a hint, ascending."""
    numbers: set[int] = set()
    for hint, entries in by_hint.items():
        if hint in text:
            numbers.update(entries)
    return sorted(numbers)


def in_forms(text: str) -> Iterator[Place]:
    """The secrets that their form gives away, in no order."""
    for start, stop in private_keys(text):
        yield Place(start, stop, "private-key")
    longest_run = max(map(len, _LONG_RUN.findall(text)), default=0)
    for number in _hinted(text, _FORMS_BY_HINT):
        form = FORMS[number]
        if form.run > longest_run:
            continue
        for match in form.pattern.finditer(text):
            if not is_sample(match.group()):
                yield Place(*match.span(match.lastindex or 0), form.kind)


def in_context(text: str) -> Iterator[Place]:
    """The secrets that only their surroundings give away, in no order; some may overlap."""
    for value, strength in named_values(text):
        yield Place(value.start, value.stop, _kind(strength))
    yield from in_tables(text)
    for start, stop, strength in printed_secrets(text):
        yield Place(start, stop, _kind(strength))
    yield from _in_headers(text)
    yield from _in_addresses(text)
    yield from _in_cookies(text)
    yield from _in_kubernetes(text)
    for start, stop in (*drawn_tokens(text), *secrets_of_lines(text)):
        yield Place(start, stop, "token")
    for start, stop in access_codes(text):
        yield Place(start, stop, "secret")


def in_tables(text: str) -> Iterator[Place]:
    """The secrets in columns with a telling title, in no order."""
    for cell, strength in table_values(text):
        yield Place(cell.start, cell.stop, _kind(strength))


def _in_headers(text: str) -> Iterator[Place]:
    for match in matches_with(_HEADER, text, *_HINTS_OF_HEADERS):
        if is_random(match[1], _LEAST_OF_HEADER) or is_login(match[1]):
            yield Place(*match.span(1), "token")
    for match in matches_with(_ENCODED_LOGIN, text, *_HINTS_OF_HEADERS):
        if is_login(match[1]):
            yield Place(*match.span(1), "password")


def is_login(value: str) -> bool:
    """Whether it is base64 of a name and a password."""
    if not BASE64.fullmatch(value) or len(value.rstrip("=")) % 4 == 1:
        return False
    decoded = said_in_base64(value, strict=True)
    name, _, password = decoded.partition(":")
    if not name or not password:
        return False
    return name.isprintable() and " " not in name


def _in_addresses(text: str) -> Iterator[Place]:
    for match in matches_with(_ADDRESS, text, "://"):
        is_value = not is_no_value(match["password"], is_literal=True)
        if is_value and not _is_of_an_example(match):
            yield Place(*match.span("password"), "password")
    for match in matches_with(_ADDRESS_OF_KEY, text, "://"):
        if is_random(match[1]):
            yield Place(*match.span(1), "token")
    for match in matches_with(_QUERY, text, "="):
        if is_random(match[1], _LEAST_OF_QUERY) and not is_no_value(match[1]):
            yield Place(*match.span(1), "token")


def _is_of_an_example(address: re.Match[str]) -> bool:
    """Whether an address is one of a document: `USER:PASSWORD@HOST`, `user:password@localhost`."""
    password = address["password"]
    if password.isupper() and is_own_name(password):
        return True
    is_usual = password == address["user"] or is_default_password(password)
    return is_usual and _LOCAL.fullmatch(address["host"]) is not None


def _in_cookies(text: str) -> Iterator[Place]:
    for header in matches_with(_COOKIES, text, "ookie", " -b", "COOKIE"):
        for match in _COOKIE.finditer(text, *header.span(1)):
            if is_random(match[1], _LEAST_OF_COOKIE):
                yield Place(*match.span(1), "cookie")
    for match in matches_with(_COOKIE_FILE, text, "\tTRUE\t", "\tFALSE\t"):
        yield Place(*match.span(1), "cookie")


def in_commands(text: str) -> Iterator[Place]:
    """Passwords in a place of their own in a command, a call or a file, in no order."""
    for number in _hinted(text, _COMMANDS_BY_HINT):
        command = COMMANDS[number]
        for match in command.pattern.finditer(text):
            if is_placeholder(match[1]) or is_default_password(match[1]):
                continue
            if command.is_like(match[1]):
                yield Place(*match.span(1), "password")
    for match in _LOGIN_CALL.finditer(text):
        password = match[1]
        if " " in password or is_own_name(password):
            continue
        if not is_no_value(password, is_literal=True):
            yield Place(*match.span(1), "password")


def _in_kubernetes(text: str) -> Iterator[Place]:
    """Every value of a Kubernetes Secret."""
    if "Secret" not in text or not _KUBERNETES_SECRET.search(text):
        return
    for block, items, item in ((_DATA, 2, _ITEM), (_DATA_OF_JSON, 1, _ITEM_OF_JSON)):
        for data in block.finditer(text):
            for match in item.finditer(text, *data.span(items)):
                if not is_no_value(match[1]):
                    yield Place(*match.span(1), "secret")


def named_kind(name: str, value: str) -> str:
    """The kind of secret that a value under this name is, in an object or a tool's arguments;
    empty if it is none.
    """
    strength = name_strength(name)
    if strength is None or len(value) < 4 or any(map(str.isspace, value)):
        return ""
    if is_secret(value, strength, quoted=True, sure=True):
        return _kind(strength)
    return ""


def _kind(strength: Strength) -> str:
    if strength is Strength.PASSWORD:
        return "password"
    return "secret"
