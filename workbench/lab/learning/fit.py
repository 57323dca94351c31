"""Fits the logistic models, and checks them on projects that they were not fitted to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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
        return cls(
            np.concatenate([sample.features for sample in samples]),
            np.concatenate([sample.labels for sample in samples]),
            np.concatenate([sample.weights for sample in samples]),
        )


def _fit(part: Part, samples: Sequence[Sample]) -> Logistic:
    """Logistic regression, drawn to weights of 0 (L2), and for `needed` to those of the rule."""
    if not samples:
        return Logistic(-5.0, (0.0,) * len(FEATURES[part]))
    rows = Rows.of(samples)
    # of like spread, so that one penalty fits all and few steps are enough
    spread = np.maximum(rows.features.std(axis=0), 0.01)
    features = rows.features / spread
    labels = rows.labels.astype(np.float64)
    aim = np.zeros(features.shape[1])
    pull = PENALTY
    if part == "needed":
        aim = spread * [RULE.get(name, 0.0) for name in FEATURES[part]]
        pull = DRAWN * float(rows.weights.sum())

    def loss_with_slope(parameters: Floats) -> tuple[float, Floats]:
        bias, weights = parameters[0], parameters[1:]
        margin = features @ weights + bias
        chance = 1 / (1 + np.exp(-np.clip(margin, -30, 30)))
        error = rows.weights * (chance - labels)
        off = weights - aim
        loss = float(rows.weights @ (np.logaddexp(0, margin) - labels * margin))
        penalty = pull / 2 * float(off @ off)
        return loss + penalty, np.concatenate([[error.sum()], error @ features + pull * off])

    best = minimize(
        loss_with_slope,
        np.concatenate([[0.0], aim]),
        jac=True,
        method="L-BFGS-B",
        bounds=_bounds(part),
        options={"maxiter": 100, "ftol": 1e-7},
    ).x
    weights = best[1:] / spread
    return Logistic(round(float(best[0]), 4), tuple(round(float(value), 4) for value in weights))


Bound: TypeAlias = tuple[float | None, float | None]


def _bounds(part: Part) -> list[Bound]:
    """The bounds of the bias, which has none, and of each weight, by the sign that it must have."""
    by_sign: Mapping[int, Bound] = {1: (0.0, None), -1: (None, 0.0), 0: (None, None)}
    bounds: list[Bound] = [(None, None)]
    for name in FEATURES[part]:
        bounds.append(by_sign[SIGNS[part].get(name, 0)])
    return bounds


def folds_of(projects: Collection[str]) -> list[list[str]]:
    """The projects in groups that are left out together."""
    ordered = sorted(projects)
    return [ordered[n::FOLDS] for n in range(min(FOLDS, len(ordered)))]


def cross_validated(samples: Mapping[Part, Sequence[Sample]]) -> dict[Part, FitCheck]:
    """Each model on each project, fitted without it."""
    projects = {sample.project for part in PARTS for sample in samples[part]}
    chances: dict[Part, list[Floats]] = {part: [] for part in PARTS}
    checked: dict[Part, list[Sample]] = {part: [] for part in PARTS}
    for fold in folds_of(projects):
        weights = fitted(samples, without=fold)
        for part in PARTS:
            model: Logistic = getattr(weights, part)
            for sample in samples[part]:
                if sample.project in fold:
                    chances[part].append(model.probability(sample.features))
                    checked[part].append(sample)
    return {part: _check(chances[part], checked[part]) for part in PARTS}


def _check(chances_by_sample: Sequence[Floats], samples: Sequence[Sample]) -> FitCheck:
    if not samples:
        return FitCheck(0, 0, None, 0.0, ())
    chances = np.concatenate(chances_by_sample)
    rows = Rows.of(samples)
    order = np.argsort(chances, kind="stable")
    weights = rows.weights[order]
    share_below = np.cumsum(weights) / rows.weights.sum()
    group = np.minimum((share_below * GROUPS).astype(np.int64), GROUPS - 1)
    groups = []
    errors = []
    for number in range(GROUPS):
        in_group = group == number
        if not in_group.any():
            continue
        group_weights = weights[in_group]
        promised = float(np.average(chances[order][in_group], weights=group_weights))
        real = float(np.average(rows.labels[order][in_group], weights=group_weights))
        groups.append((round(promised, 4), round(real, 4)))
        errors.append(abs(promised - real))
    return FitCheck(
        rows=int(rows.weights.sum()),
        needed=int(rows.labels.sum()),
        auc=_auc(chances, rows.labels),
        error=float(np.mean(errors)),
        groups=tuple(groups),
    )


def _auc(chances: Floats, labels: Flags) -> float | None:
    """By ranks; other rows stand for equally many of their like, so that their weights do not
    matter.
    """
    positive, negative = int(labels.sum()), int((~labels).sum())
    if not positive or not negative:
        return None
    wins = rankdata(chances)[labels].sum() - positive * (positive + 1) / 2
    return float(wins / (positive * negative))
