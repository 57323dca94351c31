"""What changed from one run to another, as `workbench runs diff` and `workbench view` show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Self, TypeAlias

import pandas as pd

from workbench.base.errors import SettingError
from workbench.evaluation.analysis.difference import changed_entities, changed_values
from workbench.evaluation.analysis.marks import left_out
from workbench.evaluation.analysis.scores import grouped, leading_metric
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.run_notes import LossMark, RunNotes

Pair: TypeAlias = tuple[str, str]
"""A session and a strategy."""


@dataclass(frozen=True)
class ComparableScores:
    """The scores of two runs, but for sessions that are another recording in the earlier one than
    their names say.

    Attributes:
        earlier, later: the tables `scores`.
        mismatched: those sessions.
    """

    earlier: pd.DataFrame
    later: pd.DataFrame
    mismatched: tuple[str, ...]

    @classmethod
    def of(cls, earlier: Results, later: Results) -> Self:
        """The scores of two runs.

        Raises:
            SettingError: they have no session in common.
        """
        sessions = set(later.scores["session"])
        if sessions.isdisjoint(earlier.scores["session"]):
            raise SettingError(
                f"{later.path} and {earlier.path} have no session in common; name runs of the same"
                " sessions"
            )
        mismatched = _mismatched(earlier, later)
        return cls(
            _without(earlier, mismatched),
            _without(later, mismatched),
            tuple(mismatched),
        )


def _mismatched(earlier: Results, later: Results) -> list[str]:
    """The sessions that are another recording in the earlier run."""
    earlier_sizes = _sizes(earlier)
    sizes = _sizes(later)
    mismatched: list[str] = []
    for session, size in sizes.items():
        earlier_size = earlier_sizes.get(session, size)
        if earlier_size != size:
            mismatched.append(session)
    return mismatched


def _sizes(run: Results) -> dict[str, tuple[int, int]]:
    """How many messages and requests each session has that could be read."""
    columns = run.sessions[["session", "messages", "requests"]]
    known_sizes = columns.dropna()
    sizes: dict[str, tuple[int, int]] = {}
    for row in known_sizes.itertuples():
        session = str(row.session)
        sizes[session] = (int(row.messages), int(row.requests))
    return sizes


def _without(run: Results, sessions: Sequence[str]) -> pd.DataFrame:
    """The scores of a run without some sessions."""
    scores = grouped(run)
    is_left_out = scores["session"].isin(sessions)
    return scores[~is_left_out]


@dataclass(frozen=True)
class RunChanges:
    """What changed from one run to another.

    Attributes:
        metric: whose values are compared.
        values: as of `changed_values`.
        entities: as of `changed_entities`, of what both runs replayed, without those that are
            marked in either run.
        scores: of both runs.
    """

    metric: str
    values: pd.DataFrame
    entities: pd.DataFrame
    scores: ComparableScores

    @classmethod
    def of(cls, earlier: Results, later: Results, metric: str = "") -> Self:
        """The changes from one run to another.

        Args:
            earlier: a run.
            later: another one.
            metric: whose values to compare; by default the work where both runs have it, else
                names.

        Raises:
            SettingError: they have no session in common.
        """
        scores = ComparableScores.of(earlier, later)
        if not metric:
            metric = leading_metric(later.scores, earlier.scores, mode="matched")
        at_sizes = (earlier.baseline_at_sizes, later.baseline_at_sizes)
        values = changed_values(
            scores.earlier,
            scores.later,
            metric,
            at_sizes,
        )
        both = _replayed(earlier) & _replayed(later)
        earlier_losses = _losses_of(earlier.losses, both)
        later_losses = _losses_of(later.losses, both)
        entities = changed_entities(earlier_losses, later_losses)
        is_marked = left_out(entities, _marks_of(earlier, later))
        return cls(
            metric=metric,
            values=values,
            entities=entities[~is_marked],
            scores=scores,
        )

    @property
    def regressions(self) -> int:
        """How many values are worse."""
        is_worse = self.values["worse_by"] > 0
        return int(is_worse.sum())

    @property
    def improvements(self) -> int:
        """How many values are better."""
        is_better = self.values["worse_by"] < 0
        return int(is_better.sum())

    @property
    def entity_counts(self) -> dict[str, int]:
        """How many entities are newly lost, worse, better and mended."""
        changes = self.entities["change"]
        counts = changes.value_counts()
        entity_counts: dict[str, int] = {}
        for change in CHANGES:
            entity_counts[change] = int(counts.get(change, 0))
        return entity_counts


def _marks_of(earlier: Results, later: Results) -> Mapping[str, LossMark]:
    """The marks that count in either run; a person's in one stands over a model's in the other."""
    marks: dict[str, str] = {}
    judged: dict[str, LossMark] = {}
    for run in (earlier, later):
        notes = RunNotes.of(run.path)
        marks |= notes.marks
        judged |= notes.judged
    return RunNotes(marks=marks, judged=judged).standing


def _replayed(run: Results) -> Set[Pair]:
    """The sessions and strategies that a run replayed."""
    replays = run.replays
    is_complete = replays["status"] == "ok"
    pairs = _pairs(replays[is_complete])
    return set(pairs)


def _pairs(rows: pd.DataFrame) -> list[Pair]:
    """The session and the strategy of each row."""
    columns = rows[["session", "strategy"]]
    return list(columns.itertuples(index=False, name=None))


def _losses_of(losses: pd.DataFrame, replayed: Set[Pair]) -> pd.DataFrame:
    """The losses of these sessions and strategies."""
    is_replayed: list[bool] = []
    for pair in _pairs(losses):
        is_replayed.append(pair in replayed)
    return losses.loc[is_replayed]


CHANGES = ("lost", "worse", "better", "mended")
"""What may have become of an entity, worst first."""
