"""Removes secrets and personal data from a session, so that it can be shared.

Each is replaced by a placeholder of about its size: equal ones by equal ones within a session, and
none can be worked out from its placeholder, which counts and never hashes. What an agent said about
a secret stays tied to it.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from urllib.parse import quote, unquote

from workbench.engine.transcript.credentials import (
    in_commands,
    in_context,
    in_forms,
    in_tables,
    named_kind,
)
from workbench.engine.transcript.discoveries import (
    SIGNS_OF_ADDRESSES,
    Discovery,
    discovered,
    mail_addresses,
    names_in,
    placeholders,
    without_overlaps,
)
from workbench.engine.transcript.encodings import BASE64, readings, said_in_base64, unescaped
from workbench.engine.transcript.personal import KINDS, personal, personal_in_tables
from workbench.engine.transcript.plain_view import (
    plain_view,
    readable_queries,
    without_line_numbers,
    without_marks,
    without_prefixes,
)
from workbench.engine.transcript.repeated_values import RepeatedValues
from workbench.engine.transcript.rewritten_session import rewritten_session
from workbench.engine.transcript.secret_names import MARK
from workbench.engine.transcript.secret_values import is_unlike_words
from workbench.engine.transcript.session import Session

_HOME = re.compile(
    r"((?:(?<![\w.~-])|(?<=\\[nrt]))(?:/(?:var|export|mnt/[a-z]|Volumes/[^/\n]{1,60}|[a-z]))?/{1,4}(?:home|Users)/{1,4}"
    r"|(?<![A-Za-z0-9])[A-Za-z]:(?:\\{1,8}|/{1,4})Users(?:\\{1,8}|/{1,4})|%2F(?:home|Users)%2F"
    r"|\\{1,4}home\\{1,4})([^\W_][\w.-]*(?: [^\W\d_a-z][\w.-]*(?=[\\/]))?)"
)
_HINTS_OF_HOMES = ("/home/", "Users", "%2Fhome", "\\home")
"""The pattern of a home alone is slow."""
_INNER_HOME = re.compile(r"((?<=[\w.~-])[/\\]{1,4}(?:home|Users)[/\\]{1,4})([^\W_][\w.-]*)")
"""A home within another folder: only what is known to be a user's name is masked there."""
_FOLDED_HOME = re.compile(r"(?<![A-Za-z0-9])-(home|Users)-([A-Za-z0-9][\w-]*)")
_QUOTED = re.compile(
    r"[^\s\"'<>%\\]*+(?:(?:%[0-9A-Fa-f]{2}|\\{1,3}(?:u[0-9A-Fa-f]{4}|/))[^\s\"'<>%\\]*+)+"
)
"""Words with escapes of an address or of JSON in them."""
_HEXDUMP = re.compile(
    r"(?:^[0-9a-fA-F]{7,8}:?[ \t]+(?:[0-9a-fA-F]{2}(?:[0-9a-fA-F]{2})?"
    r" {1,2}){1,16}[^\n]{0,40}\n?)+",
    re.MULTILINE,
)
_HEXDUMP_LINE = re.compile(
    r"^[0-9a-fA-F]{7,8}:?[ \t]+((?:[0-9a-fA-F]{2}(?:[0-9a-fA-F]{2})? {1,2}){1,16})", re.MULTILINE
)


class Redactor:
    """Masks texts of one session. It remembers what it met, so that equal things stay equal.

    Args:
        salt: makes the placeholders of different sessions differ; not secret.
        kinds: what is masked besides secrets: some of `workbench.engine.transcript.personal.KINDS`.
    """

    def __init__(self, salt: str = "", kinds: frozenset[str] = KINDS) -> None:
        self._salt = salt
        self._kinds = kinds
        self._secrets: dict[str, str] = {}
        self._numbers: dict[str, int] = {}
        self._people: dict[str, str] = {}
        self._homes: dict[str, str] = {}
        self._repeated = RepeatedValues()

    def mask(self, text: str) -> str:
        """The text without what its form or its surroundings give away."""
        if len(text) < 6:
            return text
        self._repeated.read(text)
        masked = self._without(text, self._discoveries(text))
        if masked != text:
            text = self._repeated.masked(masked)
        if "home" in self._kinds and any(hint in text for hint in _HINTS_OF_HOMES):
            text = _HOME.sub(self._masked_home, text)
        return self._where_encoded(text, self.mask)

    def _discoveries(self, text: str) -> Iterator[Discovery]:
        """What is to be masked, that of the surest rules before others; some may overlap."""
        view = plain_view(text)
        lines = without_prefixes(view)
        yield from discovered(in_forms(lines.text), lines)
        yield from discovered(in_context(lines.text), lines)
        yield from discovered(in_commands(view.text), view)
        unnumbered = without_line_numbers(without_marks(view))
        records = readable_queries(unnumbered)
        yield from discovered(personal(records.text, self._kinds), records)
        if view is not lines:  # the number at the start of a row may be its first cell
            for rows in (view, unnumbered):
                yield from discovered(in_tables(rows.text), rows)
        if view is not unnumbered:
            yield from discovered(personal_in_tables(view.text, self._kinds), view)
        if "email" in self._kinds:
            yield from discovered(mail_addresses(view.text), view)

    def _without(self, text: str, discoveries: Iterable[Discovery]) -> str:
        parts: list[str] = []
        stop = 0
        for discovery in without_overlaps(discoveries, placeholders(text)):
            parts.append(text[stop : discovery.start])
            parts.append(self._placeholder(discovery))
            stop = discovery.stop
        parts.append(text[stop:])
        return "".join(parts)

    def _placeholder(self, discovery: Discovery) -> str:
        if discovery.kind in SIGNS_OF_ADDRESSES:
            return self._person(discovery.value, discovery.kind)
        return self._secret(discovery.value, discovery.kind)

    def mask_again(self, text: str) -> str:
        """The masked text without what was met elsewhere: a password or a person without a cue,
        a folded path.
        """
        if "home" in self._kinds:
            text = _FOLDED_HOME.sub(self._masked_folded_home, text)
            text = _INNER_HOME.sub(self._masked_inner_home, text)
        masked = self._where_encoded(text, self.mask_again)
        return self._repeated.masked(masked)

    def _masked_home(self, match: re.Match[str]) -> str:
        folder, name = match.groups()
        return folder + self._home(name)

    def _masked_folded_home(self, match: re.Match[str]) -> str:
        folder, path = match.groups()
        return f"-{folder}-{self._folded(path)}"

    def _masked_inner_home(self, match: re.Match[str]) -> str:
        folder, name = match.groups()
        return folder + self._homes.get(name, name)

    @property
    def masked(self) -> frozenset[str]:
        """What is masked wherever it occurs: secrets unlike any word, and e-mail addresses."""
        secrets = filter(is_unlike_words, self._secrets)
        return frozenset([*secrets, *self._people])

    def _where_encoded(self, text: str, mask: Callable[[str], str]) -> str:
        """The text without what is masked once base64 or the escapes in it are undone."""

        def in_hexdump(match: re.Match[str]) -> str:
            return self._in_hexdump(match.group(), mask)

        def in_base64(match: re.Match[str]) -> str:
            return self._in_base64(match.group(), mask)

        def in_escapes(match: re.Match[str]) -> str:
            return _in_escapes(match.group(), mask)

        if "00000" in text:
            text = _HEXDUMP.sub(in_hexdump, text)
        text = BASE64.sub(in_base64, text)
        if "%" in text or "\\" in text:
            text = _QUOTED.sub(in_escapes, text)
        return text

    def _in_base64(self, run: str, mask: Callable[[str], str]) -> str:
        if MARK in run:
            return run
        decoded = said_in_base64(run, strict=True)
        if not decoded or mask(decoded) == decoded:
            return run
        return self._secret(run, "encoded")

    def _in_hexdump(self, dump: str, mask: Callable[[str], str]) -> str:
        columns = "".join(_HEXDUMP_LINE.findall(dump))
        digits = columns.replace(" ", "")
        even_length = len(digits) // 2 * 2
        raw = bytes.fromhex(digits[:even_length])
        message = raw.decode("utf-8", "replace")
        if mask(message) == message:
            return dump
        return _HEXDUMP_LINE.sub(self._hexdump_line, dump)

    def _hexdump_line(self, line: re.Match[str]) -> str:
        """A line of a hex dump with a placeholder for its digits."""
        digits = line[1]
        placeholder = self._secret(digits, "encoded")
        return line.group().replace(digits, placeholder)

    def mask_named(self, name: str, value: str) -> str:
        """A value in an object or in arguments, masked whole where its name announces a secret."""
        if MARK not in value:
            kind = named_kind(name, value)
            if kind:
                return self._secret(value, kind)
        return self.mask(value)

    def _secret(self, value: str, kind: str) -> str:
        if value not in self._secrets:
            number = self._numbers.get(kind, 0) + 1
            self._numbers[kind] = number
            label = f"{MARK}{kind}-{number}"
            missing_length = len(value) - len(label) - 1
            placeholder = label + self._filler(label, missing_length)
            self._secrets[value] = placeholder
            self._repeated.add(value, kind, placeholder)
        return self._secrets[value]

    def _filler(self, label: str, length: int) -> str:
        """What makes a placeholder as long as its secret: as random to a tokenizer, but not made
        from the secret.
        """
        if length < 1:
            return ""
        digits = ""
        for offset in range(0, length, 64):
            seed = f"{self._salt}/{label}/{offset}".encode("utf-8", "surrogatepass")
            digits += sha256(seed).hexdigest()
        return f"-{digits[:length]}"

    def _person(self, address: str, mark: str) -> str:
        plain = address.replace(mark, "@").lower()
        if plain.removesuffix("@example.com") in self._people.values():
            return address
        next_name = f"person{len(self._people) + 1}"
        name = self._people.setdefault(plain, next_name)
        local, _, _ = plain.partition("@")
        for word in names_in(local):
            self._repeated.add(word, "name", name)
        return f"{name}{mark}example.com"

    def _home(self, name: str) -> str:
        bare = name.rstrip(".-")
        if bare in self._homes.values():
            return name
        next_user = f"user{len(self._homes) + 1}"
        user = self._homes.setdefault(bare, next_user)
        self._repeated.add(bare, "login", user)
        return user + name[len(bare) :]

    def _folded(self, folded_path: str) -> str:
        """The rest of a path whose slashes and dots were made hyphens, without the name that it
        begins with.
        """
        path_with_end = f"{folded_path}-"
        for home_name in sorted(self._homes, key=len, reverse=True):
            folded_name = re.sub(r"[^A-Za-z0-9]", "-", home_name)
            if path_with_end.startswith(f"{folded_name}-"):
                path_below = folded_path[len(folded_name) :]
                return self._homes[home_name] + path_below
        for user in self._homes.values():
            if path_with_end.startswith(f"{user}-"):
                return folded_path
        name, hyphen, remainder = folded_path.partition("-")
        return self._home(name) + hyphen + remainder


def _in_escapes(run: str, mask: Callable[[str], str]) -> str:
    unquoted = unquote(run)
    decoded = unescaped(unescaped(unquoted))  # recordings hold JSON inside JSON
    masked = mask(decoded)
    if masked == decoded:
        return run
    if "%" in run:
        return quote(masked, safe="/:?&=#@;,+")
    return json.dumps(masked)[1:-1]


def masker(kinds: frozenset[str] | None) -> Callable[[str], str]:
    """What masks a text that belongs to no session, such as a path; None of kinds leaves it as
    it is.
    """
    if kinds is None:
        return str
    redactor = Redactor(kinds=kinds)

    def mask(text: str) -> str:
        masked = redactor.mask(text)
        return redactor.mask_again(masked)

    return mask


def redacted(session: Session, kinds: frozenset[str] | None = KINDS) -> Session:
    """The session without secrets and personal data; ids, order and sizes stay.

    A secret that neither its form nor its name nor its surroundings give away stays: the risk
    becomes smaller, not 0.

    Args:
        session: any; it is left as it is.
        kinds: what is masked besides secrets: some of `workbench.engine.transcript.personal.KINDS`;
            None masks nothing.
    """
    return redaction(session, kinds)[0]


def redaction(session: Session, kinds: frozenset[str] | None) -> tuple[Session, frozenset[str]]:
    """The session as `redacted` gives it, and what may occur nowhere any more, as `holds_one`
    looks for it.
    """
    if kinds is None:
        return session, frozenset()
    redactor = Redactor(session.id, kinds)

    def mask_again(_: str, text: str) -> str:
        return redactor.mask_again(text)

    masked = rewritten_session(session, redactor.mask_named)
    masked_again = rewritten_session(masked, mask_again)
    return masked_again, redactor.masked


def holds_one(text: str, masked: frozenset[str]) -> bool:
    """Whether a text holds one of these values, as it is or in base64, an address, JSON or HTML."""

    def holds(reading: str) -> bool:
        return any(value in reading for value in masked)

    return bool(masked) and any(map(holds, readings(text)))
