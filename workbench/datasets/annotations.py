"""What a bundled session holds that a good context should keep, and the messages that prove it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workbench.datasets.toml_records import read_toml

FILE = "annotations.toml"


@dataclass(frozen=True, slots=True)
class AnnotatedProbe:
    """A question that can be answered from the session.

    Attributes:
        answer: occurs word for word, but for capitals, in each message of `evidence`.
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
    probes: tuple[AnnotatedProbe, ...]


@dataclass(frozen=True, slots=True)
class _Sidecar:
    """The file: one table an entry, named in the singular."""

    constraint: tuple[Statement, ...] = ()
    decision: tuple[Statement, ...] = ()
    superseded: tuple[Superseded, ...] = ()
    pending: tuple[Statement, ...] = ()
    probe: tuple[AnnotatedProbe, ...] = ()


def annotated(session: Path) -> Annotations:
    """The annotations that lie beside a bundled session; docs/annotations.md has the format.

    Raises:
        FormatError: there are none, or an entry lacks a field or has one too many.
    """
    known = read_toml(_Sidecar, session.parent / FILE, "annotations file")
    return Annotations(known.constraint, known.decision, known.superseded, known.pending, known.probe)
