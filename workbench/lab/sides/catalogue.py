"""All sides of `workbench lab validate` by name, with what each asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.evaluation.experiment.prepared import Prepared
from workbench.lab.sides.gamers import gamers
from workbench.lab.sides.graded_chats import graded_chats
from workbench.lab.sides.planted import planted
from workbench.lab.sides.real_readers import real_readers
from workbench.lab.sides.side import SideTable
from workbench.lab.sides.wordings import wordings


@dataclass(frozen=True)
class Source:
    """What sides are measured on.

    Attributes:
        sessions: makes the sessions; called by sides that need some.
        folders: of graded answers; none where the user has none.
    """

    sessions: Callable[[], Sequence[Prepared]]
    folders: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Side:
    """One side.

    Attributes:
        question: what it asks.
        measure: its table.
    """

    question: str
    measure: Callable[[Source], SideTable]


SIDES: Mapping[str, Side] = {
    "readers": Side(
        "Do the measures predict what real readers answered?",
        lambda source: real_readers(source.folders),
    ),
    "wordings": Side(
        "Do the measures see the same facts in other words?",
        lambda source: wordings(),
    ),
    "gamers": Side(
        "What do contexts get that were made to please a measure?",
        lambda source: gamers(source.sessions()),
    ),
    "errors": Side(
        "Do the measures find statements that are there and false?",
        lambda source: planted(),
    ),
    "answers": Side(
        "Do the measures follow graded answers that others collected?",
        lambda source: graded_chats(source.folders),
    ),
}
"""In the order in which they are shown."""
