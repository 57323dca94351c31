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

import numpy as np

from workbench.base.ragged import Floats
from workbench.evaluation.metrics.work_exam.error_draws import (
    DRAWS,
    OUTSIDE,
    PossibleErrors,
    differences_of,
    draw_scores,
    errors_of,
    interval,
    projects_with,
)
from workbench.evaluation.metrics.work_exam.text_kind import TextKind, Writing


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
        of_projects = errors_of(self.by_project, kind, rule_share)
        of_askers = [errors_of(asker, kind, rule_share) for asker in self.by_asker]
        spread = self.context / np.sqrt(counts)
        errors = PossibleErrors(of_projects, of_askers, spread)
        real = draw_scores(promises, counts, errors, seed)
        mean = float(np.average(promises, weights=counts))
        low, high = interval(real)
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
        real = draw_scores(np.array(leads), equal_weights, errors, seed)
        low, high = interval(real)
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
        real = draw_scores(no_leads, equal_weights, errors, seed)
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
            complete = projects_with(complete, writing.kind)
        if not complete:
            return None
        size = (DRAWS, projects)
        project_numbers = random.integers(0, len(complete), size)
        spread = self.context / math.sqrt(projects)
        of_askers: dict[TextKind, Floats] = {}
        levels: list[Floats] = []
        for writing in writings:
            kind = writing.kind
            of_projects = errors_of(complete, kind, writing.rule_share)
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
    ) -> PossibleErrors:
        """How much larger the errors of the one kind are than those of the other."""
        kinds = (kind, other_kind)
        shares = (rule_share, other_rule_share)
        of_askers = [differences_of(asker, kinds, shares) for asker in self.by_asker]
        return PossibleErrors(
            of_projects=differences_of(self.by_project, kinds, shares),
            of_askers=of_askers,
            spread=spread,
        )


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
