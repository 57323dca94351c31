"""How far the fitted reader may be off: its errors on projects that it was not fitted to, and what they do to a score.

The errors of one project hang together: where a project's questions are easy, every strategy is promised too little.
They are therefore drawn project by project.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from workbench.ragged import Floats

TextKind: TypeAlias = Literal["model", "rule", "cut"]
"""Who made a context: a model wrote a summary, a rule wrote one, or messages were only cut."""
RULES = ("extractive", "the strategy's stand-in")
"""Writers of summaries that are no models."""
DRAWS = 4_000
"""Random draws behind an interval."""
OUTSIDE = 2.5
"""Percent of the draws on either side of an interval."""


def text_kind(writer: str) -> TextKind:
    """The kind of context that a writer of summaries makes: a model's name, several with ` + `, or nothing."""
    if not writer:
        return "cut"
    return "rule" if all(name in RULES for name in writer.split(" + ")) else "model"


@dataclass(frozen=True, slots=True)
class Calibration:
    """Promised chances beside real readers' answers: means over so many answers of one kind of context."""

    promised: float
    real: float
    answers: int

    @property
    def bias(self) -> float:
        """How much too high the promise is; below 0 where it is too low."""
        return self.promised - self.real


@dataclass(frozen=True, slots=True)
class ForetoldContext:
    """A context of a strategy as the fitted reader sees it: its mean chance over the questions of its sheet."""

    project: str
    kind: TextKind
    chance: float


@dataclass(frozen=True, slots=True)
class ScoreInterval:
    """A foretold score or lead, and the 95 % interval of what real readers would give."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ReaderErrors:
    """The errors of a fitted reader on projects that were left out of the fit.

    Attributes:
        by_project: for each project its mean error, promised less real, by kind of context.
        context: the standard deviation of one context's error around that of its project and kind.
    """

    by_project: tuple[Mapping[TextKind, float], ...]
    context: float

    def score(self, contexts: Sequence[ForetoldContext], seed: int = 0) -> ScoreInterval:
        """The score of a strategy: the mean over its contexts, each the same weight.

        Args:
            contexts: of one strategy, all of one kind; one and more.
            seed: of the random draws.

        Returns:
            The interval covers which projects happened to be looked at, and the reader's own error.
        """
        chances = _by_project(contexts)
        counts = np.array(list(map(len, chances.values())), dtype=np.float64)
        promises = np.array(list(map(np.mean, chances.values())))
        real = self._drawn(promises, counts, self._errors(contexts[0].kind), self.context / np.sqrt(counts), seed)
        mean = float(np.average(promises, weights=counts))
        low, high = _interval(real)
        return ScoreInterval(mean, max(low, 0.0), min(high, 1.0))

    def lead(
        self, contexts: Sequence[ForetoldContext], others: Sequence[ForetoldContext], seed: int = 0
    ) -> ScoreInterval:
        """How much more one strategy tells than another, as a mean over the projects that both have.

        Args:
            contexts: of the one strategy, all of one kind.
            others: of the other strategy, all of one kind; at least one project has both.
            seed: of the random draws.

        Returns:
            An interval that holds 0 shows no lead. Errors that both kinds of context share cancel out.
        """
        chances, other_chances = _by_project(contexts), _by_project(others)
        leads: list[float] = []
        spread: list[float] = []
        for project in sorted(chances.keys() & other_chances.keys()):
            mine, theirs = chances[project], other_chances[project]
            leads.append(float(np.mean(mine) - np.mean(theirs)))
            spread.append(self.context * math.sqrt(1 / len(mine) + 1 / len(theirs)))
        errors = self._errors(contexts[0].kind, others[0].kind)
        real = self._drawn(np.array(leads), np.ones(len(leads)), errors, np.array(spread), seed)
        low, high = _interval(real)
        return ScoreInterval(float(np.mean(leads)), low, high)

    def lead_bound(self, kind: TextKind, other: TextKind, projects: int, seed: int = 0) -> float:
        """The lead below which 95 % of the leads lie that the reader's error alone makes on so many projects."""
        none = np.zeros(projects)
        spread = np.full(projects, self.context * math.sqrt(2))
        real = self._drawn(none, np.ones(projects), self._errors(kind, other), spread, seed)
        return float(np.percentile(np.abs(real), 100 - 2 * OUTSIDE))

    def _errors(self, kind: TextKind, other: TextKind | None = None) -> Floats:
        """The errors of the projects that have a kind of context; with another kind, how much larger they are."""
        differences = []
        for errors in self.by_project:
            if kind not in errors:
                continue
            if other is None:
                differences.append(errors[kind])
            elif other in errors:
                differences.append(errors[kind] - errors[other])
        return np.array(differences)

    def _drawn(self, promises: Floats, weights: Floats, errors: Floats, spread: Floats, seed: int) -> Floats:
        """(`DRAWS`,) what real readers may give: projects and their errors are drawn with replacement.

        Args:
            promises: of the projects.
            weights: of the projects.
            errors: those that a project may have.
            spread: for each project the standard deviation of what its contexts add to its error.
            seed: of the draws.
        """
        random = np.random.default_rng(seed)
        size = (DRAWS, len(promises))
        projects = random.integers(0, len(promises), size)
        project_errors = errors[random.integers(0, len(errors), size)] + random.normal(size=size) * spread[projects]
        return np.average(promises[projects] - project_errors, axis=1, weights=weights[projects])


@dataclass(frozen=True, slots=True)
class LeftOutCheck:
    """How well answers of projects that were left out of the fit are foretold.

    Attributes:
        auc: how often a right answer has a higher chance than a wrong one.
        order: Spearman correlation of the strategies' means within a recording.
        kinds: the calibration of each kind of context.
        errors: of the projects.
    """

    auc: float
    order: float
    kinds: Mapping[TextKind, Calibration]
    errors: ReaderErrors


def _by_project(contexts: Sequence[ForetoldContext]) -> dict[str, list[float]]:
    """The chances of each project's contexts."""
    chances: dict[str, list[float]] = defaultdict(list)
    for context in contexts:
        chances[context.project].append(context.chance)
    return chances


def _interval(values: Floats) -> tuple[float, float]:
    low, high = np.percentile(values, (OUTSIDE, 100 - OUTSIDE))
    return float(low), float(high)
