"""Fits the logistic models, and checks them on projects that they were not fitted to."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import minimize
from scipy.stats import rankdata

from workbench.base.ragged import Flags, Floats
from workbench.engine.models.extractive.choice import DISTANCE, SPOKEN, UNSAID
from workbench.engine.models.learned.features import FEATURES, PARTS, SIGNS, Part
from workbench.engine.models.learned.weights import LearnedWeights, Logistic
from workbench.lab.learning.samples import Sample

PENALTY = 1.0
"""Half of the square of the weights counts so much beside the loss of all rows."""
RULE: Mapping[str, float] = MappingProxyType(
    {
        "said": SPOKEN,
        "never said": round(log(UNSAID), 1),
        "text since": DISTANCE,
    }
)
"""What the rule-based writer has for weights of `needed`: a fit is drawn to these."""
DRAWN = 0.06
"""How strongly: `needed` counts as many rows for the rule as this share of its own. Without, it
fits one kind of agents and fails on another.
"""
FOLDS = 5
GROUPS = 10
"""Groups of rows, by their probability, on which calibration is looked at."""

Bound: TypeAlias = tuple[float | None, float | None]
"""The least and the greatest value of a weight."""


@dataclass(frozen=True, slots=True)
class FitCheck:
    """How well a model does on projects that it was not fitted to.

    Attributes:
        rows, needed: how many rows there are, and how many of them were needed.
        auc: the chance that a needed row has a higher probability than another one; None without
            both.
        error: the mean distance of the promised from the real share, over ten groups of rows by
            probability.
        groups: of each group the mean probability and the share that was needed.
    """

    rows: int
    needed: int
    auc: float | None
    error: float
    groups: tuple[tuple[float, float], ...]


def fitted(
    samples: Mapping[Part, Sequence[Sample]],
    without: Collection[str] = (),
) -> LearnedWeights:
    """Weights from all samples but those of some projects."""
    models = {}
    for part in PARTS:
        remaining = [sample for sample in samples[part] if sample.project not in without]
        models[part] = _fit(part, remaining)
    return LearnedWeights(**models)


class Rows(NamedTuple):
    """The rows of some samples, one below the other."""

    features: Floats
    labels: Flags
    weights: Floats

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> Rows:
        """Those of at least one sample."""
        features = []
        labels = []
        weights = []
        for sample in samples:
            features.append(sample.features)
            labels.append(sample.labels)
            weights.append(sample.weights)
        return cls(
            features=np.concatenate(features),
            labels=np.concatenate(labels),
            weights=np.concatenate(weights),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Regression:
    """What a fit minimises: the loss of all rows, and a penalty for weights off their aim.

    Attributes:
        features: of each row, scaled to a like spread.
        labels: 1 for each row that was needed, else 0.
        row_weights: how often each row counts.
        aim: the weights that a fit is drawn to.
        pull: how strongly it is drawn to them.
    """

    features: Floats
    labels: Floats
    row_weights: Floats
    aim: Floats
    pull: float

    def loss_and_slope(self, parameters: Floats) -> tuple[float, Floats]:
        """Of the bias and the weights, in this order."""
        bias = parameters[0]
        weights = parameters[1:]
        margin = self.features @ weights + bias
        bounded_margin = np.clip(margin, -30, 30)
        chance = 1 / (1 + np.exp(-bounded_margin))
        error = self.row_weights * (chance - self.labels)
        off_aim = weights - self.aim
        row_losses = np.logaddexp(0, margin) - self.labels * margin
        loss = float(self.row_weights @ row_losses)
        penalty = self.pull / 2 * float(off_aim @ off_aim)
        bias_slope = [error.sum()]
        weights_slope = error @ self.features + self.pull * off_aim
        return loss + penalty, np.concatenate([bias_slope, weights_slope])

    def minimum(self, bounds: Sequence[Bound]) -> Floats:
        """The bias and the weights of the least loss."""
        start = np.concatenate([[0.0], self.aim])
        result = minimize(
            self.loss_and_slope,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": 100, "ftol": 1e-7},
        )
        parameters: Floats = result.x
        return parameters


def _fit(part: Part, samples: Sequence[Sample]) -> Logistic:
    """Logistic regression, drawn to weights of 0 (L2), and for `needed` to those of the rule."""
    names = FEATURES[part]
    if not samples:
        return Logistic(-5.0, (0.0,) * len(names))
    rows = Rows.of(samples)
    # of like spread, so that one penalty fits all and few steps are enough
    spread = np.maximum(rows.features.std(axis=0), 0.01)
    features = rows.features / spread
    aim = np.zeros(features.shape[1])
    pull = PENALTY
    if part == "needed":
        rule_weights = [RULE.get(name, 0.0) for name in names]
        aim = spread * rule_weights
        pull = DRAWN * float(rows.weights.sum())
    regression = Regression(
        features=features,
        labels=rows.labels.astype(np.float64),
        row_weights=rows.weights,
        aim=aim,
        pull=pull,
    )
    parameters = regression.minimum(_bounds(part))
    intercept = round(float(parameters[0]), 4)
    weights = []
    for weight in parameters[1:] / spread:
        weights.append(round(float(weight), 4))
    return Logistic(intercept, tuple(weights))


def _bounds(part: Part) -> list[Bound]:
    """The bounds of the bias, which has none, and of each weight, by the sign that it must have."""
    free: Bound = (None, None)
    by_sign: Mapping[int, Bound] = {
        1: (0.0, None),
        -1: (None, 0.0),
        0: free,
    }
    bounds = [free]
    for name in FEATURES[part]:
        sign = SIGNS[part].get(name, 0)
        bounds.append(by_sign[sign])
    return bounds


def folds_of(projects: Collection[str]) -> list[list[str]]:
    """The projects in groups that are left out together."""
    ordered = sorted(projects)
    fold_count = min(FOLDS, len(ordered))
    return [ordered[start::FOLDS] for start in range(fold_count)]


def cross_validated(samples: Mapping[Part, Sequence[Sample]]) -> dict[Part, FitCheck]:
    """Each model on each project, fitted without it."""
    projects: set[str] = set()
    for part in PARTS:
        projects.update(sample.project for sample in samples[part])
    chances: dict[Part, list[Floats]] = {}
    samples_in_order: dict[Part, list[Sample]] = {}
    for part in PARTS:
        chances[part] = []
        samples_in_order[part] = []
    for fold in folds_of(projects):
        weights = fitted(samples, without=fold)
        for part in PARTS:
            model: Logistic = getattr(weights, part)
            for sample in samples[part]:
                if sample.project not in fold:
                    continue
                promised = model.probability(sample.features)
                chances[part].append(promised)
                samples_in_order[part].append(sample)
    checks = {}
    for part in PARTS:
        checks[part] = _check(chances[part], samples_in_order[part])
    return checks


def _check(chances_by_sample: Sequence[Floats], samples: Sequence[Sample]) -> FitCheck:
    if not samples:
        return FitCheck(
            rows=0,
            needed=0,
            auc=None,
            error=0.0,
            groups=(),
        )
    chances = np.concatenate(chances_by_sample)
    rows = Rows.of(samples)
    groups = []
    errors = []
    for promised, real in _calibration(chances, rows):
        groups.append((round(promised, 4), round(real, 4)))
        errors.append(abs(promised - real))
    return FitCheck(
        rows=int(rows.weights.sum()),
        needed=int(rows.labels.sum()),
        auc=_auc(chances, rows.labels),
        error=float(np.mean(errors)),
        groups=tuple(groups),
    )


def _calibration(chances: Floats, rows: Rows) -> Iterator[tuple[float, float]]:
    """The promised and the real share of each group of rows that holds any."""
    order = np.argsort(chances, kind="stable")
    chances = chances[order]
    labels = rows.labels[order]
    weights = rows.weights[order]
    share_below = np.cumsum(weights) / rows.weights.sum()
    group_of_row = (share_below * GROUPS).astype(np.int64)
    group_of_row = np.minimum(group_of_row, GROUPS - 1)
    for group in range(GROUPS):
        in_group = group_of_row == group
        if not in_group.any():
            continue
        group_weights = weights[in_group]
        promised = np.average(chances[in_group], weights=group_weights)
        real = np.average(labels[in_group], weights=group_weights)
        yield float(promised), float(real)


def _auc(chances: Floats, labels: Flags) -> float | None:
    """By ranks; other rows stand for equally many of their like, so that their weights do not
    matter.
    """
    positive = int(labels.sum())
    negative = int((~labels).sum())
    if not positive or not negative:
        return None
    ranks = rankdata(chances)
    rank_sum = ranks[labels].sum()
    wins = rank_sum - positive * (positive + 1) / 2
    return float(wins / (positive * negative))
