"""Takes secrets, e-mail addresses and the names of home directories out of a session before anybody else sees it.

Each is replaced by a placeholder of about its size: equal ones by equal ones within a session, and none can be worked
out from its placeholder, which counts and never hashes. What an agent said about a secret stays tied to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import TypeAlias

from workbench.transcript.credentials import HINTS, in_context, is_named_secret, kind_of, stands_out
from workbench.transcript.files import FileOps
from workbench.transcript.log import CompactionEntry, Entry, Log, MessageEntry, NoteEntry
from workbench.transcript.message import (
    AnswerBlock,
    AssistantMessage,
    Json,
    Message,
    SaidBlock,
    Summary,
    Text,
    Thinking,
    ToolCall,
)
from workbench.transcript.session import Session

Write: TypeAlias = Callable[[str], str]
"""Writes one text anew."""
Named: TypeAlias = Callable[[str, str], str]
"""Writes a value anew, given the name that it has."""

MARK = "REDACTED-"
"""How the placeholder of a secret begins."""

_DOMAIN = re.compile(r"(?:@|%40)((?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.){1,8}[A-Za-z]{2,24})(?![\w-])")
_LOCAL = re.compile(r"[A-Za-z0-9._%+-]{1,64}$")
_SERVICES = frozenset({"git", "noreply", "no-reply", "hg", "svn"})
"""Names before an @ that are no person's: of clones over ssh, and of machines that sign commits."""
_PICTURE = re.compile(r"\dx\.")
_HOME = re.compile(
    r"((?:(?<![\w.~-])|(?<=\\[nrt]))(?:/(?:var|export|mnt/[a-z]|[a-z]))?/{1,4}(?:home|Users)/{1,4}"
    r"|(?<![A-Za-z0-9])[A-Za-z]:(?:\\{1,8}|/{1,4})Users(?:\\{1,8}|/{1,4})|%2F(?:home|Users)%2F)([^\W_][\w.-]*)"
)
_FOLDED_HOME = re.compile(r"(?<![A-Za-z0-9])-(home|Users)-([A-Za-z0-9][\w-]*)")
_SEAM = re.compile(r"([\s\"']+)")
"""What no secret that is looked for holds inside: a long line is taken apart here, so that time stays linear."""
_LONG_LINE = 2_000
_RUN = re.compile(r"[A-Za-z0-9]{4,}")


@dataclass(frozen=True, slots=True)
class Kept:
    """A secret that was told by its surroundings once, and is to be found where it stands without them."""

    value: str
    placeholder: str


class Redactor:
    """Masks texts of one session. It remembers what it met, so that equal things stay equal.

    Args:
        salt: makes the placeholders of different sessions differ; not secret.
    """

    def __init__(self, salt: str = "") -> None:
        self._salt = salt
        self._secrets: dict[str, str] = {}
        self._numbers: dict[str, int] = {}
        self._people: dict[str, str] = {}
        self._homes: dict[str, str] = {}
        self._strays: dict[str, list[Kept]] = {}  # by their longest run of letters and digits

    def mask(self, text: str) -> str:
        """The text without what shows by itself or by its surroundings."""
        if len(text) < 6:
            return text
        for form in dict.fromkeys([form for hint, form in HINTS if hint in text]):
            text = form.pattern.sub(partial(self._formed, kind=form.kind), text)
        text = self._without_context(text)
        if "@" in text or "%40" in text:
            text = self._without_people(text)
        if "/home/" in text or "Users" in text or "%2Fhome" in text:
            text = _HOME.sub(lambda found: found[1] + self._home(found[2]), text)
        return text

    def mask_again(self, text: str) -> str:
        """The masked text without what was met elsewhere: a password without its name, a home in a folded path."""
        if "-home-" in text or "-Users-" in text:
            text = _FOLDED_HOME.sub(lambda found: f"-{found[1]}-{self._folded(found[2])}", text)
        if not self._strays or self._strays.keys().isdisjoint(_RUN.findall(text)):
            return text
        return "\n".join(map(self._without_strays, text.split("\n")))

    def named(self, name: str, value: str) -> str:
        """A value in an object or in a tool's arguments, masked whole where its name says that it is a secret."""
        if is_named_secret(name, value) and MARK not in value:
            return self._secret(value, kind_of(name))
        return self.mask(value)

    def _formed(self, found: re.Match[str], *, kind: str) -> str:
        whole = found.group()
        if not found.re.groups or found.group(1) is None:
            return self._secret(whole, kind)
        start, stop = found.start(1) - found.start(), found.end(1) - found.start()
        return whole[:start] + self._secret(found.group(1), kind) + whole[stop:]

    def _without_context(self, text: str) -> str:
        parts: list[str] = []
        done = 0
        for place in sorted(in_context(text), key=lambda place: place.start):
            value = text[place.start : place.stop]
            if place.start < done or MARK in value:
                continue
            parts += [text[done : place.start], self._secret(value, place.kind)]
            done = place.stop
        return "".join([*parts, text[done:]]) if parts else text

    def _secret(self, value: str, kind: str) -> str:
        if value not in self._secrets:
            number = self._numbers[kind] = self._numbers.get(kind, 0) + 1
            label = f"{MARK}{kind}-{number}"
            self._secrets[value] = label + self._filler(label, len(value) - len(label) - 1)
            if stands_out(value) and (runs := _RUN.findall(value)):
                self._strays.setdefault(max(runs, key=len), []).append(Kept(value, self._secrets[value]))
        return self._secrets[value]

    def _filler(self, label: str, length: int) -> str:
        """What makes a placeholder as long as what it stands for: to a tokenizer as random, and random for sure."""
        if length < 1:
            return ""
        found = ""
        while len(found) < length:
            found += sha256(f"{self._salt}/{label}/{len(found)}".encode("utf-8", "surrogatepass")).hexdigest()
        return "-" + found[:length]

    def _without_people(self, text: str) -> str:
        parts: list[str] = []
        done = 0
        for found in _DOMAIN.finditer(text):
            local = _LOCAL.search(text, max(done, found.start() - 64), found.start())
            name = local.group().lstrip(".%-") if local else ""
            if not name or name.lower() in _SERVICES or MARK in name or _PICTURE.match(found[1]):
                continue
            mark = found.group()[: -len(found[1])]
            parts += [text[done : found.start() - len(name)], self._person(f"{name}@{found[1]}", mark)]
            done = found.end()
        return "".join([*parts, text[done:]]) if parts else text

    def _person(self, address: str, mark: str) -> str:
        name = self._people.setdefault(address.lower(), f"person{len(self._people) + 1}")
        return f"{name}{mark}example.com"

    def _home(self, name: str) -> str:
        bare = name.rstrip(".-")
        return self._homes.setdefault(bare, f"user{len(self._homes) + 1}") + name[len(bare) :]

    def _folded(self, rest: str) -> str:
        """The rest of a path whose slashes and dots were made hyphens, without the name that it begins with."""
        for known in sorted(self._homes, key=len, reverse=True):
            folded = re.sub(r"[^A-Za-z0-9]", "-", known)
            if rest == folded or rest.startswith(folded + "-"):
                return self._homes[known] + rest[len(folded) :]
        if any(rest == name or rest.startswith(name + "-") for name in self._homes.values()):
            return rest
        name, hyphen, more = rest.partition("-")
        return self._home(name) + hyphen + more

    def _without_strays(self, line: str) -> str:
        if len(line) > _LONG_LINE:
            return "".join(map(self._without_strays_inside, _SEAM.split(line)))
        return self._without_strays_inside(line)

    def _without_strays_inside(self, line: str) -> str:
        for run in dict.fromkeys(_RUN.findall(line)):
            for kept in self._strays.get(run, ()):
                line = line.replace(kept.value, kept.placeholder)
        return line


def redacted(session: Session) -> Session:
    """The session without secrets, e-mail addresses and names of home directories; ids, order and sizes stay.

    What is not told by its form, its name or its surroundings stays: a scanner lowers a risk, it does not end it.

    Args:
        session: any; it is left as it is.
    """
    redactor = Redactor(session.id)
    first = _written(session, redactor.mask, redactor.named)
    return _written(first, redactor.mask_again, lambda _, value: redactor.mask_again(value))


def _written(session: Session, write: Write, named: Named) -> Session:
    origin = session.origin
    known = {name: write(getattr(session, name)) for name in ("cwd", "id", "title", "project")}
    origin = replace(origin, path=write(origin.path), skipped=tuple(map(write, origin.skipped)))
    log = Log(_entry(entry, write, named) for entry in session.log)
    log.leaf = session.log.leaf
    return Session(log=log, origin=origin, model=session.model, window=session.window, **known)


def _entry(entry: Entry, write: Write, named: Named) -> Entry:
    if isinstance(entry, MessageEntry):
        return replace(entry, message=_message(entry.message, write, named))
    if isinstance(entry, CompactionEntry):
        summary = None if entry.summary is None else _summary(entry.summary, write)
        return replace(entry, summary=summary, reason=write(entry.reason))
    return replace(entry, text=write(entry.text)) if isinstance(entry, NoteEntry) else entry


def _message(message: Message, write: Write, named: Named) -> Message:
    if isinstance(message, Summary):
        return _summary(message, write)
    name = write(message.name)
    if isinstance(message, AssistantMessage):
        return replace(message, name=name, blocks=tuple(_block(block, write, named) for block in message.blocks))
    return replace(message, name=name, blocks=tuple(_said(block, write) for block in message.blocks))


def _said(block: SaidBlock, write: Write) -> SaidBlock:
    return replace(block, text=write(block.text)) if isinstance(block, Text) else block


def _summary(summary: Summary, write: Write) -> Summary:
    files = FileOps(tuple(map(write, summary.files.read)), tuple(map(write, summary.files.modified)))
    text, lead, tail = write(summary.text), write(summary.lead), write(summary.tail)
    return replace(summary, text=text, lead=lead, tail=tail, files=files, name=write(summary.name))


def _block(block: AnswerBlock, write: Write, named: Named) -> AnswerBlock:
    if isinstance(block, ToolCall):
        arguments = {key: _value(value, write, named, key) for key, value in block.arguments.items()}
        return replace(block, arguments=arguments)
    if isinstance(block, Thinking):
        text = write(block.text)
        # The provider's seal holds the thought itself, which nobody here can read.
        return block if text == block.text else replace(block, text=text, signature="")
    return _said(block, write)


def _value(value: Json, write: Write, named: Named, name: str = "") -> Json:
    """A decoded JSON value with all its texts written anew, names in inner objects too."""
    if isinstance(value, str):
        return named(name, value)
    if isinstance(value, Mapping):
        return {write(key): _value(item, write, named, key) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_value(item, write, named, name) for item in value]
    return value
