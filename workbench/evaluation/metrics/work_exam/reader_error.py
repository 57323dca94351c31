"""How far the fitted reader may be off: its errors on projects that it was not fitted to, and what
they do to a score.

The errors of one project hang together: where a project's questions are easy, every strategy is
promised too little. They are therefore drawn project by project. So do the errors of all questions
that somebody wrote: more projects do not make them smaller.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from workbench.base.ragged import Floats

TextKind: TypeAlias = Literal["model", "rule", "mixed", "cut"]
"""Who made contexts: a model wrote their summaries, a rule did, each wrote some, or messages
were only cut.
"""
RULES = ("extractive", "the strategy's stand-in")
"""Writers of summaries that are no models."""
DRAWS = 4_000
"""Random draws behind an interval."""
OUTSIDE = 2.5
"""Percent of the draws on either side of an interval."""


def text_kind(writer: str) -> TextKind:
    """The kind of context that a writer of summaries makes: a model's name, several with ` + `,
    or nothing.
    """
    if not writer:
        return "cut"
    are_rules = {name in RULES for name in writer.split(" + ")}
    if len(are_rules) == 2:
        return "mixed"
    if are_rules == {True}:
        return "rule"
    return "model"


def parts_of(kind: TextKind) -> tuple[TextKind, ...]:
    """The kinds that a kind is made of: mixed contexts are a model's and a rule's."""
    if kind == "mixed":
        return ("model", "rule")
    return (kind,)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Promised chances beside real readers' answers: means over so many answers of one kind of
    context.
    """

    promised: float
    real: float
    answers: int

    @property
    def bias(self) -> float:
        """How much too high the promise is; below 0 where it is too low."""
        return self.promised - self.real


@dataclass(frozen=True, slots=True)
class PredictedContext:
    """A context of a strategy as the fitted reader sees it.

    Attributes:
        project: of its session.
        kind: who made the strategy's contexts.
        chance: its mean over the questions of its sheet.
        rule_share: the share of the strategy's summaries that a rule wrote, where the kind is
            mixed.
    """

    project: str
    kind: TextKind
    chance: float
    rule_share: float = 0.0


@dataclass(frozen=True, slots=True)
class Writing:
    """Who wrote a strategy's contexts.

    Attributes:
        kind: a model, a rule, each some, or nobody.
        rule_share: the share of its summaries that a rule wrote, where the kind is mixed.
    """

    kind: TextKind
    rule_share: float = 0.0


@dataclass(frozen=True, slots=True)
class ScoreInterval:
    """A predicted score or lead, and the 95 % interval of what real readers would give."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ReaderErrors:
    """The errors of a fitted reader on projects that were left out of the fit.

    Attributes:
        by_project: for each project its mean error, promised less real, by kind of context.
        context: the standard deviation of one context's error around that of its project and kind.
        by_asker: for each who asked other questions than those of the fit the errors of the
            projects asked about.
    """

    by_project: tuple[Mapping[TextKind, float], ...]
    context: float
    by_asker: tuple[tuple[Mapping[TextKind, float], ...], ...] = ()

    def score(self, contexts: Sequence[PredictedContext], seed: int = 0) -> ScoreInterval:
        """The score of a strategy: the mean over its contexts, each the same weight.

        Args:
            contexts: of one strategy, all of one kind; one and more.
            seed: of the random draws.

        Returns:
            The interval covers which projects happened to be looked at, who asked, and the reader's
            own error.
        """
        context_counts: list[int] = []
        mean_chances: list[float] = []
        for chances in _by_project(contexts).values():
            mean_chance = float(np.mean(chances))
            context_counts.append(len(chances))
            mean_chances.append(mean_chance)
        counts = np.array(context_counts, dtype=np.float64)
        promises = np.array(mean_chances)
        kind = contexts[0].kind
        rule_share = contexts[0].rule_share
        of_projects = _errors_of(self.by_project, kind, rule_share)
        of_askers = [_errors_of(asker, kind, rule_share) for asker in self.by_asker]
        spread = self.context / np.sqrt(counts)
        errors = _Errors(of_projects, of_askers, spread)
        real = _drawn(promises, counts, errors, seed)
        mean = float(np.average(promises, weights=counts))
        low, high = _interval(real)
        return ScoreInterval(
            mean=mean,
            low=max(low, 0.0),
            high=min(high, 1.0),
        )

    def lead(
        self,
        contexts: Sequence[PredictedContext],
        other_contexts: Sequence[PredictedContext],
        seed: int = 0,
    ) -> ScoreInterval:
        """How much more one strategy tells than another, as a mean over the projects that both
        have.

        Args:
            contexts: of the one strategy, all of one kind.
            other_contexts: of the other strategy, all of one kind; at least one project has both.
            seed: of the random draws.

        Returns:
            An interval that holds 0 shows no lead. Errors that both kinds of context share cancel
            out.
        """
        chances = _by_project(contexts)
        other_chances = _by_project(other_contexts)
        leads: list[float] = []
        spread: list[float] = []
        shared_projects = chances.keys() & other_chances.keys()
        for project in sorted(shared_projects):
            mine = chances[project]
            theirs = other_chances[project]
            lead = np.mean(mine) - np.mean(theirs)
            leads.append(float(lead))
            inverse_counts = 1 / len(mine) + 1 / len(theirs)
            spread.append(self.context * math.sqrt(inverse_counts))
        context = contexts[0]
        other_context = other_contexts[0]
        errors = self._of_difference(
            context.kind,
            other_context.kind,
            context.rule_share,
            other_context.rule_share,
            np.array(spread),
        )
        equal_weights = np.ones(len(leads))
        real = _drawn(np.array(leads), equal_weights, errors, seed)
        low, high = _interval(real)
        mean = float(np.mean(leads))
        return ScoreInterval(mean, low, high)

    def lead_bound(
        self,
        kind: TextKind,
        other_kind: TextKind,
        projects: int,
        seed: int = 0,
        *,
        rule_share: float = 0.0,
        other_rule_share: float = 0.0,
    ) -> float:
        """The lead below which 95 % of the leads lie that the reader's error alone makes on so many
        projects.

        Args:
            kind: of the contexts of one strategy.
            other_kind: of those of the other strategy.
            projects: how many have both.
            seed: of the random draws.
            rule_share: the share of the first strategy's summaries that a rule wrote, where its
                kind is mixed.
            other_rule_share: the same of the other strategy.
        """
        no_leads = np.zeros(projects)
        spread_of_difference = self.context * math.sqrt(2)
        errors = self._of_difference(
            kind,
            other_kind,
            rule_share,
            other_rule_share,
            np.full(projects, spread_of_difference),
        )
        equal_weights = np.ones(projects)
        real = _drawn(no_leads, equal_weights, errors, seed)
        sizes = np.abs(real)
        bound = np.percentile(sizes, 100 - 2 * OUTSIDE)
        return float(bound)

    def levels(
        self, writings: Sequence[Writing], projects: int, random: np.random.Generator
    ) -> list[Floats] | None:
        """(`DRAWS`,) for each strategy what the reader may promise too much, on so many projects.

        Projects are drawn for all strategies together, so that errors which their kinds share
        cancel out; so does what an asker adds to all kinds.

        Args:
            writings: of the strategies, one and more.
            projects: that their means are over.
            random: the source of the draws.

        Returns:
            None where no project of the fit has all these kinds.
        """
        complete = list(self.by_project)
        for writing in writings:
            complete = _with_kind(complete, writing.kind)
        if not complete:
            return None
        size = (DRAWS, projects)
        project_numbers = random.integers(0, len(complete), size)
        spread = self.context / math.sqrt(projects)
        of_askers: dict[TextKind, Floats] = {}
        levels: list[Floats] = []
        for writing in writings:
            kind = writing.kind
            of_projects = _errors_of(complete, kind, writing.rule_share)
            if kind not in of_askers:
                asker_spread = self._asker_spread_beside(writings[0], writing)
                asker_draws = random.normal(size=DRAWS)
                of_askers[kind] = asker_draws * asker_spread
            drawn_errors = of_projects[project_numbers]
            context_draws = random.normal(size=DRAWS)
            level = drawn_errors.mean(axis=1)
            level += of_askers[kind]
            level += context_draws * spread
            levels.append(level)
        return levels

    def _asker_spread_beside(self, reference: Writing, writing: Writing) -> float:
        """How far an asker moves one kind of context beside another; 0 for the same kind."""
        if writing.kind == reference.kind:
            return 0.0
        errors = self._of_difference(
            writing.kind,
            reference.kind,
            writing.rule_share,
            reference.rule_share,
            np.zeros(1),
        )
        return errors.asker_spread

    def _of_difference(
        self,
        kind: TextKind,
        other_kind: TextKind,
        rule_share: float,
        other_rule_share: float,
        spread: Floats,
    ) -> _Errors:
        """How much larger the errors of the one kind are than those of the other."""
        kinds = (kind, other_kind)
        shares = (rule_share, other_rule_share)
        of_askers = [_differences(asker, kinds, shares) for asker in self.by_asker]
        return _Errors(
            of_projects=_differences(self.by_project, kinds, shares),
            of_askers=of_askers,
            spread=spread,
        )


@dataclass(frozen=True, slots=True)
class _Errors:
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


def _drawn(promises: Floats, weights: Floats, errors: _Errors, seed: int) -> Floats:
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


@dataclass(frozen=True, slots=True)
class LeftOutCheck:
    """How well answers of projects that were left out of the fit are predicted.

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


def _by_project(contexts: Sequence[PredictedContext]) -> dict[str, list[float]]:
    """The chances of each project's contexts."""
    chances: dict[str, list[float]] = defaultdict(list)
    for context in contexts:
        chances[context.project].append(context.chance)
    return chances


def _with_kind(
    parts: Sequence[Mapping[TextKind, float]], kind: TextKind
) -> list[Mapping[TextKind, float]]:
    """The projects that have a kind of context."""
    complete: list[Mapping[TextKind, float]] = []
    for errors in parts:
        if _has(errors, kind):
            complete.append(errors)
    return complete


def _errors_of(
    parts: Sequence[Mapping[TextKind, float]], kind: TextKind, rule_share: float
) -> Floats:
    """The errors of the projects that have a kind of context."""
    errors_of_kind: list[float] = []
    for errors in _with_kind(parts, kind):
        error = _error_of(errors, kind, rule_share)
        errors_of_kind.append(error)
    return np.array(errors_of_kind)


def _differences(
    parts: Sequence[Mapping[TextKind, float]],
    kinds: tuple[TextKind, TextKind],
    rule_shares: tuple[float, float],
) -> Floats:
    """How much larger the errors of the one kind are, in the projects that have both."""
    kind, other_kind = kinds
    rule_share, other_rule_share = rule_shares
    differences = []
    for errors in parts:
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


def _interval(values: Floats) -> tuple[float, float]:
    bounds = (OUTSIDE, 100 - OUTSIDE)
    low, high = np.percentile(values, bounds)
    return float(low), float(high)
