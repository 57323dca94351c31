"""Fits the logistic models, and checks them on projects that they were not fitted to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import log
from types import MappingProxyType

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
    {"said": SPOKEN, "never said": round(log(UNSAID), 1), "text since": DISTANCE}
)
"""What the rule-based writer has for weights of `needed`: a fit is drawn to these."""
DRAWN = 0.06
"""How strongly: `needed` counts as many rows for the rule as this share of its own. Without, it
fits one kind of agents and fails on another.
"""
FOLDS = 5
GROUPS = 10
"""Groups of rows, by their probability, on which calibration is looked at."""


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
    samples: Mapping[Part, Sequence[Sample]], without: Collection[str] = ()
) -> LearnedWeights:
    """Weights from all samples but those of some projects."""
    return LearnedWeights(
        **{
            part: _fit(part, [sample for sample in samples[part] if sample.project not in without])
            for part in PARTS
        }
    )


def _fit(part: Part, samples: Sequence[Sample]) -> Logistic:
    """Logistic regression, drawn to weights of 0 (L2), and for `needed` to those of the rule."""
    if not samples:
        return Logistic(-5.0, (0.0,) * len(FEATURES[part]))
    x = np.concatenate([one.features for one in samples])
    # of like spread, so that one penalty fits all and few steps are enough
    spread = np.maximum(x.std(axis=0), 0.01)
    x = x / spread
    y = np.concatenate([one.labels for one in samples]).astype(np.float64)
    w = np.concatenate([one.weights for one in samples])
    aim, pull = np.zeros(x.shape[1]), PENALTY
    if part == "needed":
        aim, pull = (
            spread * [RULE.get(name, 0.0) for name in FEATURES[part]],
            DRAWN * float(w.sum()),
        )

    def loss(theta: Floats) -> tuple[float, Floats]:
        z = x @ theta[1:] + theta[0]
        error = w * (1 / (1 + np.exp(-np.clip(z, -30, 30))) - y)
        off = theta[1:] - aim
        value = float(w @ (np.logaddexp(0, z) - y * z)) + pull / 2 * float(off @ off)
        return value, np.concatenate([[error.sum()], error @ x + pull * off])

    ends = {1: (0.0, None), -1: (None, 0.0), 0: (None, None)}
    bounds = [(None, None), *(ends[SIGNS[part].get(name, 0)] for name in FEATURES[part])]
    start = np.concatenate([[0.0], aim])
    theta = minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": 100, "ftol": 1e-7},
    ).x
    theta[1:] /= spread
    return Logistic(round(float(theta[0]), 4), tuple(round(float(one), 4) for one in theta[1:]))


def folds_of(projects: Collection[str]) -> list[list[str]]:
    """The projects in groups that are left out together."""
    ordered = sorted(projects)
    return [ordered[n::FOLDS] for n in range(min(FOLDS, len(ordered)))]


def cross_validated(samples: Mapping[Part, Sequence[Sample]]) -> dict[Part, FitCheck]:
    """Each model on each project, fitted without it."""
    projects = {sample.project for part in PARTS for sample in samples[part]}
    predictions: dict[Part, list[tuple[Floats, Sample]]] = {part: [] for part in PARTS}
    for fold in folds_of(projects):
        weights = fitted(samples, without=fold)
        for part in PARTS:
            model: Logistic = getattr(weights, part)
            predictions[part] += [
                (model.probability(sample.features), sample)
                for sample in samples[part]
                if sample.project in fold
            ]
    return {part: _check(rows) for part, rows in predictions.items()}


def _check(rows: Sequence[tuple[Floats, Sample]]) -> FitCheck:
    if not rows:
        return FitCheck(0, 0, None, 0.0, ())
    p = np.concatenate([found for found, _ in rows])
    y = np.concatenate([one.labels for _, one in rows])
    w = np.concatenate([one.weights for _, one in rows])
    order = np.argsort(p, kind="stable")
    group = np.minimum((np.cumsum(w[order]) / w.sum() * GROUPS).astype(np.int64), GROUPS - 1)
    means = [
        (
            float(np.average(p[order][group == n], weights=w[order][group == n])),
            float(np.average(y[order][group == n], weights=w[order][group == n])),
        )
        for n in range(GROUPS)
        if (group == n).any()
    ]
    error = float(np.mean([abs(promised - real) for promised, real in means]))
    groups = tuple((round(promised, 4), round(real, 4)) for promised, real in means)
    return FitCheck(int(w.sum()), int(y.sum()), _auc(p, y), error, groups)


def _auc(p: Floats, y: Flags) -> float | None:
    """By ranks; other rows stand for equally many of their like, so that their weights do not
    matter.
    """
    positive, negative = int(y.sum()), int((~y).sum())
    if not positive or not negative:
        return None
    return float((rankdata(p)[y].sum() - positive * (positive + 1) / 2) / (positive * negative))
