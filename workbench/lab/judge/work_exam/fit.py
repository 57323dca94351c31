"""Fits a reader to the answers that real models gave, and says how well it predicts answers of
other projects.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import rankdata, spearmanr

from workbench.base.errors import SettingError
from workbench.base.ragged import Floats
from workbench.evaluation.metrics.work_exam.fitted_reader import WorkReader
from workbench.evaluation.metrics.work_exam.question_sheet import FEATURES
from workbench.evaluation.metrics.work_exam.reader_error import (
    Calibration,
    LeftOutCheck,
    ReaderErrors,
)
from workbench.evaluation.metrics.work_exam.text_kind import (
    TextKind,
    text_kind,
)
from workbench.lab.judge.work_exam.scores import CONTEXT

PENALTY = 0.003
"""Of the squared weights of standardised features."""
FEWEST_PROJECTS = 3
TENTHS = 10
REFERENCES = ("none", "null", "oracle", "soup", "index", "salad")
"""Contexts that are no strategies: they are fitted to, and left out where strategies are
ordered.
"""


@dataclass(frozen=True, slots=True)
class Tenth:
    """Answers of about one promised chance: what was promised, what came, as means; and how many
    there are.
    """

    promised: float
    real: float
    answers: int


@dataclass(frozen=True, slots=True)
class FitReport:
    """How a fitted reader does on projects that were left out of the fit, each in its turn.

    Attributes:
        auc: how often an answer that is right (above .5) has a higher chance than one that is
            wrong.
        order: Spearman correlation of the strategies' means with the real readers', a mean over
            boundaries.
        by_context: a row a share, strategy, writer and length of chain: `promised`, `real` (means),
            `answers`.
        errors: of the projects, for contexts of strategies.
        tenths: calibration, from the lowest promised chances to the highest.
    """

    answers: int
    contexts: int
    sessions: int
    projects: int
    auc: float
    order: float
    by_context: pd.DataFrame
    errors: ReaderErrors
    tenths: tuple[Tenth, ...]

    @property
    def largest_error(self) -> float:
        """The largest distance of a tenth's promise from what came."""
        errors: list[float] = []
        for tenth in self.tenths:
            errors.append(abs(tenth.promised - tenth.real))
        return max(errors)

    @property
    def left_out(self) -> LeftOutCheck:
        """What a reader keeps of this: strategies by who made their contexts, all sizes
        together.
        """
        kinds: dict[TextKind, Calibration] = {}
        strategies = _without_references(self.by_context)
        kind_of_row = strategies["writer"].map(text_kind)
        for kind, rows in strategies.groupby(kind_of_row):
            kinds[kind] = _calibration(rows)
        return LeftOutCheck(self.auc, self.order, kinds, self.errors)


def _without_references(table: pd.DataFrame) -> pd.DataFrame:
    is_reference = table["strategy"].isin(REFERENCES)
    return table[~is_reference]


def _calibration(contexts: pd.DataFrame) -> Calibration:
    """What was promised and what came in contexts, each with the weight of its answers."""
    answers = contexts["answers"]
    answer_count = answers.sum()
    promised = contexts["promised"] * answers
    real = contexts["real"] * answers
    return Calibration(
        promised=float(promised.sum() / answer_count),
        real=float(real.sum() / answer_count),
        answers=int(answer_count),
    )


def fit(
    table: pd.DataFrame,
    fitted_on: Mapping[str, Any],
    left_out: LeftOutCheck | None = None,
) -> WorkReader:
    """A reader whose chances come nearest to the answers.

    Args:
        table: of `read_answers`.
        fitted_on: what the reader says of its answers.
        left_out: what it says of answers that it was not fitted to.
    """
    values = table[list(FEATURES)].to_numpy(dtype=np.float64)
    scores = table["score"].to_numpy(dtype=np.float64)
    weights, bias = logistic(values, scores)
    weight_of = dict(zip(FEATURES, weights.tolist(), strict=True))
    return WorkReader(weight_of, bias, fitted_on, left_out)


@dataclass(frozen=True, slots=True, eq=False)
class Regression:
    """What a fit minimises: the mean loss of all answers, and a penalty for large weights.

    Attributes:
        features: (answers, features), standardised.
        scores: (answers,) between 0 and 1.
    """

    features: Floats
    scores: Floats

    def loss_and_slope(self, parameters: Floats) -> tuple[float, Floats]:
        """Of the weights and the bias, in this order."""
        weights = parameters[:-1]
        bias = parameters[-1]
        margin = self.features @ weights + bias
        squares = np.square(weights)
        penalty = PENALTY * squares.sum()
        losses = np.logaddexp(0, margin) - self.scores * margin
        loss = losses.mean() + penalty
        too_high = expit(margin) - self.scores
        slope_of_losses = too_high @ self.features / len(self.scores)
        slope_of_penalty = 2 * PENALTY * weights
        weights_slope = slope_of_losses + slope_of_penalty
        return float(loss), np.append(weights_slope, too_high.mean())

    def minimum(self) -> Floats:
        """The weights and the bias of the least loss."""
        _, feature_count = self.features.shape
        start = np.zeros(feature_count + 1)
        result = minimize(self.loss_and_slope, start, jac=True, method="L-BFGS-B")
        parameters: Floats = result.x
        return parameters


def logistic(values: Floats, scores: Floats) -> tuple[Floats, float]:
    """The weights of some features, and the bias, whose chances come nearest to the scores of
    answers.

    Args:
        values: (answers, features).
        scores: (answers,) between 0 and 1.
    """
    means = values.mean(axis=0)
    widths = np.maximum(values.std(axis=0), 1e-6)
    standard = (values - means) / widths
    parameters = Regression(standard, scores).minimum()
    weights = parameters[:-1] / widths
    bias = parameters[-1] - weights @ means
    return weights, float(bias)


def chances(reader: WorkReader, table: pd.DataFrame) -> Floats:
    """(answers,) what a reader promises for each answer of a table."""
    features = table[list(FEATURES)].to_numpy(dtype=np.float64)
    return np.array([reader.probability(row) for row in features.tolist()])


def left_out_chances(table: pd.DataFrame) -> Floats:
    """(answers,) what is promised for each answer by a reader that was fitted to all other
    projects.

    Raises:
        SettingError: there are too few projects.
    """
    projects = table["project"].unique().tolist()
    if len(projects) < FEWEST_PROJECTS:
        raise SettingError(
            f"the answers are of {len(projects)} projects; {FEWEST_PROJECTS} and more are needed,"
            " since each is left out of the fit in its turn"
        )
    promised = np.zeros(len(table))
    for project in projects:
        is_left_out = (table["project"] == project).to_numpy()
        reader = fit(table[~is_left_out], {})
        promised[is_left_out] = chances(reader, table[is_left_out])
    return promised


def fit_report(table: pd.DataFrame, promised: Floats) -> FitReport:
    """How promised chances compare with the answers."""
    with_chance = table.assign(promised=promised, real=table["score"])
    contexts = with_chance.groupby(["share", "strategy", "writer", "chain"])
    by_context = contexts.agg(
        promised=("promised", "mean"),
        real=("real", "mean"),
        answers=("real", "size"),
    )
    return FitReport(
        answers=len(table),
        contexts=table.groupby(CONTEXT).ngroups,
        sessions=table["session"].nunique(),
        projects=table["project"].nunique(),
        auc=auc(promised, table["score"].to_numpy()),
        order=_order(with_chance),
        by_context=by_context.reset_index(),
        errors=_errors(with_chance),
        tenths=_tenths(with_chance),
    )


def _errors(table: pd.DataFrame) -> ReaderErrors:
    """How far the reader is off in each project."""
    strategies = _without_references(table)
    error = strategies["promised"] - strategies["real"]
    kind = strategies["writer"].map(text_kind)
    rows = strategies.assign(error=error, kind=kind)
    contexts = rows.groupby([*CONTEXT, "project", "kind"])
    errors = contexts["error"].mean()
    projects = errors.groupby(["project", "kind"])
    around_project = errors - projects.transform("mean")
    spread = around_project.std(ddof=0)
    errors_by_project = []
    table_of_means = projects.mean().unstack("kind")
    for _, row in table_of_means.iterrows():
        known_errors = row.dropna()
        errors_by_project.append(known_errors.to_dict())
    return ReaderErrors(tuple(errors_by_project), float(spread))


def asker_errors(
    table: pd.DataFrame, elsewhere: pd.DataFrame
) -> tuple[Mapping[TextKind, float], ...]:
    """How far a reader is off on answers to questions that somebody else wrote: for each project by
    kind of context.

    The reader is fitted without the projects of these answers.

    Args:
        table: answers to fit to, of `read_answers`.
        elsewhere: the answers to the other questions.

    Raises:
        SettingError: they are of all projects that could be fitted to, or of all but one or two.
    """
    is_of_both = table["project"].isin(elsewhere["project"])
    of_others = table[~is_of_both]
    remaining = of_others["project"].nunique()
    if remaining < FEWEST_PROJECTS:
        raise SettingError(
            f"without the projects of the other asker's questions {remaining} projects remain to"
            f" fit to; {FEWEST_PROJECTS} and more are needed"
        )
    reader = fit(of_others, {})
    with_chance = elsewhere.assign(
        promised=chances(reader, elsewhere),
        real=elsewhere["score"],
    )
    errors = _errors(with_chance)
    return errors.by_project


def auc(promised: Floats, scores: Floats) -> float:
    """How often a right answer (above .5) has a higher chance than a wrong one; a tie counts a
    half.
    """
    is_right = scores > 0.5
    is_wrong = scores < 0.5
    is_decided = is_right | is_wrong
    right_count = int(is_right.sum())
    wrong_count = int(is_wrong.sum())
    if not right_count or not wrong_count:
        return float("nan")
    ranks = rankdata(promised[is_decided])
    ranks_of_right = ranks[is_right[is_decided]]
    least_sum = right_count * (right_count + 1) / 2
    wins = ranks_of_right.sum() - least_sum
    return float(wins / (right_count * wrong_count))


def _order(table: pd.DataFrame) -> float:
    strategies = _without_references(table)
    correlations: list[float] = []
    for _, rows in strategies.groupby(["session", "at", "share"]):
        groups = rows.groupby(["strategy", "writer", "chain"])
        columns = groups[["promised", "real"]]
        means = columns.mean()
        differing_counts = means.nunique()
        if len(means) > 2 and differing_counts.min() > 1:
            correlation = spearmanr(means["promised"], means["real"])
            correlations.append(float(correlation.statistic))
    if not correlations:
        return float("nan")
    return float(np.mean(correlations))


def _tenths(table: pd.DataFrame) -> tuple[Tenth, ...]:
    ordered = table.sort_values("promised")
    tenths: list[Tenth] = []
    for number in range(TENTHS):
        start = len(ordered) * number // TENTHS
        end = len(ordered) * (number + 1) // TENTHS
        answers = ordered.iloc[start:end]
        if answers.empty:
            continue
        promised = answers["promised"].mean()
        real = answers["real"].mean()
        tenth = Tenth(float(promised), float(real), len(answers))
        tenths.append(tenth)
    return tuple(tenths)
