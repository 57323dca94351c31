"""Errors of a fitted reader, drawn at random from those of the projects that it was checked on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.base.ragged import Floats
from workbench.evaluation.metrics.work_exam.text_kind import TextKind, parts_of

DRAWS = 4_000
"""Random draws behind an interval."""
OUTSIDE = 2.5
"""Percent of the draws on either side of an interval."""


@dataclass(frozen=True, slots=True)
class PossibleErrors:
    """What the reader may be off by.

    Attributes:
        of_projects: errors that a project may have.
        of_askers: for each other asker the errors of the projects asked about; none where a kind is
            missing.
        spread: for each project the standard deviation of what its contexts add to its error.
    """

    of_projects: Floats
    of_askers: Sequence[Floats]
    spread: Floats

    @property
    def asker_spread(self) -> float:
        """The standard deviation of what an asker adds to the errors of all projects; 0 without
        other askers.

        It is what the askers' means lie apart beyond what so few projects do by chance. Of few
        askers nobody knows to which side the next one will be off, so that their distances are
        squared.
        """
        usual = self.of_projects.mean()
        variance = self.of_projects.var()
        beyond_chance: list[float] = []
        project_count = len(self.of_projects)
        for errors in self.of_askers:
            if not len(errors):
                continue
            distance = errors.mean() - usual
            inverse_counts = 1 / len(errors) + 1 / project_count
            by_chance = variance * inverse_counts
            beyond_chance.append(distance**2 - by_chance)
        if not beyond_chance:
            return 0.0
        asker_variance = float(np.mean(beyond_chance))
        return math.sqrt(max(asker_variance, 0.0))


def draw_scores(promises: Floats, weights: Floats, errors: PossibleErrors, seed: int) -> Floats:
    """(`DRAWS`,) what real readers may give: projects and their errors are drawn with replacement.

    What an asker adds is drawn once for all projects.

    Args:
        promises: of the projects.
        weights: of the projects.
        errors: of the reader.
        seed: of the draws.
    """
    random = np.random.default_rng(seed)
    project_count = len(promises)
    size = (DRAWS, project_count)
    projects = random.integers(0, project_count, size)
    error_count = len(errors.of_projects)
    error_numbers = random.integers(0, error_count, size)
    of_projects = errors.of_projects[error_numbers]
    context_draws = random.normal(size=size)
    of_contexts = context_draws * errors.spread[projects]
    asker_draws = random.normal(size=DRAWS)
    of_asker = asker_draws * errors.asker_spread
    project_errors = of_projects + of_contexts
    real = promises[projects] - project_errors
    means = np.average(real, axis=1, weights=weights[projects])
    return means - of_asker


def projects_with(
    projects: Sequence[Mapping[TextKind, float]], kind: TextKind
) -> list[Mapping[TextKind, float]]:
    """The projects that have a kind of context."""
    complete: list[Mapping[TextKind, float]] = []
    for errors in projects:
        if _has(errors, kind):
            complete.append(errors)
    return complete


def errors_of(
    projects: Sequence[Mapping[TextKind, float]], kind: TextKind, rule_share: float
) -> Floats:
    """The errors of the projects that have a kind of context."""
    errors_of_kind: list[float] = []
    for errors in projects_with(projects, kind):
        error = _error_of(errors, kind, rule_share)
        errors_of_kind.append(error)
    return np.array(errors_of_kind)


def differences_of(
    projects: Sequence[Mapping[TextKind, float]],
    kinds: tuple[TextKind, TextKind],
    rule_shares: tuple[float, float],
) -> Floats:
    """How much larger the errors of the one kind are, in the projects that have both."""
    kind, other_kind = kinds
    rule_share, other_rule_share = rule_shares
    differences = []
    for errors in projects:
        if not _has(errors, kind) or not _has(errors, other_kind):
            continue
        mine = _error_of(errors, kind, rule_share)
        theirs = _error_of(errors, other_kind, other_rule_share)
        differences.append(mine - theirs)
    return np.array(differences)


def _has(errors: Mapping[TextKind, float], kind: TextKind) -> bool:
    return set(parts_of(kind)) <= errors.keys()


def _error_of(errors: Mapping[TextKind, float], kind: TextKind, rule_share: float) -> float:
    """The error of a project for a kind of context; where both wrote, that of each by its share."""
    if kind != "mixed":
        return errors[kind]
    model_share = 1 - rule_share
    of_model = model_share * errors["model"]
    of_rule = rule_share * errors["rule"]
    return of_model + of_rule


def interval(values: Floats) -> tuple[float, float]:
    """The ends of the 95 % interval of some draws."""
    bounds = (OUTSIDE, 100 - OUTSIDE)
    low, high = np.percentile(values, bounds)
    return float(low), float(high)
