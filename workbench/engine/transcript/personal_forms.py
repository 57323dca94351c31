"""Personal data in records, links and lines whose form says what stands where: a passport's foot,
an invitation.

`personal_forms.toml` lists the forms.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from workbench.engine.transcript.credentials import Place
from workbench.engine.transcript.people import is_person
from workbench.engine.transcript.signs import matches_with
from workbench.engine.transcript.words import words_of


class Form(NamedTuple):
    """A form of personal data: each group of its pattern is a value.

    Attributes:
        hints: what a text must hold one of.
        person: whether a value must look like the name of a person.
        handle: whether a value must look like the name of an account that a person has alone.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    person: bool
    handle: bool


def _forms() -> Iterator[Form]:
    path = Path(__file__).with_name("personal_forms.toml")
    lists = tomllib.loads(path.read_text("utf-8"))
    for form in lists["form"]:
        yield Form(
            kind=form["kind"],
            hints=tuple(form["hints"]),
            pattern=re.compile(form["pattern"], re.MULTILINE),
            person=form.get("person", False),
            handle=form.get("handle", False),
        )


FORMS = tuple(_forms())
_NO_HANDLE = words_of("accounts") | words_of("no_login") | words_of("no_handle")
_LEAST_LETTERS = 2
"""A group that is shorter is a sign between values."""


def in_forms(text: str, kinds: frozenset[str]) -> Iterator[Place]:
    """The values of these kinds in such forms."""
    for form in FORMS:
        if form.kind not in kinds:
            continue
        for match in matches_with(form.pattern, text, *form.hints):
            yield from _values(match, form)


def _values(match: re.Match[str], form: Form) -> Iterator[Place]:
    for number, value in enumerate(match.groups(), start=1):
        if value is None or len(value) < _LEAST_LETTERS:
            continue
        if form.person and not is_person(value.replace("\\", "")):
            continue
        if form.handle and not _is_handle(value):
            continue
        yield Place(*match.span(number), form.kind)


def _is_handle(value: str) -> bool:
    """Whether a value may be the name of an account that a person has alone."""
    words = re.split(r"[._-]", value.lower().lstrip("@$"))
    return _NO_HANDLE.isdisjoint(words)
