"""What a bundled session holds that a good context should keep, and the messages that prove it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workbench.importers.records import read_toml

FILE = "annotations.toml"


@dataclass(frozen=True, slots=True)
class AnnotatedProbe:
    """A question that the session answers.

    Attributes:
        answer: occurs word for word, but for capitals, in each message of `evidence`.
        evidence: ids of messages, in order; one of them is enough.
    """

    question: str
    answer: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """A constraint, a decision, or work that is pending at the end of the session, with the ids of its messages."""

    text: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Superseded:
    """A value that changed: from its second evidence on only the new one holds.

    Attributes:
        about: what has the value.
        old_evidence: ids of messages that state the old value; `new_evidence` likewise.
    """

    about: str
    old: str
    new: str
    old_evidence: tuple[str, ...]
    new_evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Annotations:
    """All annotations of one session."""

    constraints: tuple[Statement, ...] = ()
    decisions: tuple[Statement, ...] = ()
    superseded: tuple[Superseded, ...] = ()
    pending: tuple[Statement, ...] = ()
    probes: tuple[AnnotatedProbe, ...] = ()


def annotated(session: Path) -> Annotations:
    """The annotations in the folder of a bundled session; docs/annotations.md has the format.

    Raises:
        FormatError: there are none, or an entry lacks a field or has an unknown one.
    """
    return read_toml(Annotations, session.parent / FILE, "annotations file")
