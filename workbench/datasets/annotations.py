"""What a bundled session holds that a good context should keep, and the messages that prove it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from workbench.errors import FormatError

FILE = "annotations.toml"

Part = TypeVar("Part", "Probe", "Statement", "Superseded")


@dataclass(frozen=True, slots=True)
class Probe:
    """A question that can be answered from the session.

    Attributes:
        answer: stands word for word, but for capitals, in each message of `evidence`.
        evidence: ids of messages, in order; one of them is enough.
    """

    question: str
    answer: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """A constraint, a decision, or work that is pending at the end of the session, and where it was said."""

    text: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Superseded:
    """A value that changed: from its second evidence on only the new one holds.

    Attributes:
        about: what has the value.
        old_evidence: ids of messages that say the old value; `new_evidence` likewise.
    """

    about: str
    old: str
    new: str
    old_evidence: tuple[str, ...]
    new_evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Annotations:
    """Everything that is annotated in one session."""

    constraints: tuple[Statement, ...]
    decisions: tuple[Statement, ...]
    superseded: tuple[Superseded, ...]
    pending: tuple[Statement, ...]
    probes: tuple[Probe, ...]


def annotated(session: Path) -> Annotations:
    """The annotations that lie beside a bundled session; the format stands in docs/annotations.md.

    Raises:
        FormatError: there are none, or an entry lacks a field or has one too many.
    """
    file = session.parent / FILE
    try:
        known = tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        raise FormatError("there are no annotations beside this session", where=str(session)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise FormatError(f"the annotations are no TOML: {problem}", where=str(file)) from None
    return Annotations(
        _parts(known, "constraint", Statement, file),
        _parts(known, "decision", Statement, file),
        _parts(known, "superseded", Superseded, file),
        _parts(known, "pending", Statement, file),
        _parts(known, "probe", Probe, file),
    )


def _parts(known: dict[str, Any], name: str, kind: type[Part], file: Path) -> tuple[Part, ...]:
    found = []
    names = {field.name for field in fields(kind)}
    for number, entry in enumerate(known.get(name, ()), 1):
        for wrong in sorted(names ^ entry.keys()):
            why = "is missing" if wrong in names else "is not known"
            raise FormatError(f"{name} {number}: {why}", where=str(file), field=wrong)
        values: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in entry.items()}
        found.append(kind(**values))
    return tuple(found)
