"""What a judge's verdicts are worth: its errors, measured against a person's labels, and estimates freed of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FEWEST_LABELS = 10
"""Labels that each of the judge's two verdicts needs."""

DRAWS = 4_000
UNCALIBRATED = "the judge is not calibrated; label 50 of its verdicts with wb.label(folder) in a notebook"


@dataclass(frozen=True, slots=True)
class Labels:
    """How a person labelled items that a judge had judged before, without seeing its verdict.

    Attributes:
        both: judged right, and right. `false_right`: judged right, but wrong. `false_wrong`: judged wrong, but right.
        neither: judged wrong, and wrong.
        pool: how many items were judged right and wrong among all, where these were chosen by verdict (25 of each,
            say); None if these are a plain sample.
    """

    both: int
    false_right: int
    false_wrong: int
    neither: int
    pool: tuple[int, int] | None = None

    @classmethod
    def of(cls, judged: Sequence[bool], right: Sequence[bool], pool: tuple[int, int] | None = None) -> Labels:
        """Count n verdicts of the judge against n labels of the person, in the same order."""
        pairs = list(zip(judged, right, strict=True))
        both, neither = pairs.count((True, True)), pairs.count((False, False))
        return cls(both, pairs.count((True, False)), pairs.count((False, True)), neither, pool)

    @property
    def n(self) -> int:
        """How many labels there are."""
        return self.both + self.false_right + self.false_wrong + self.neither

    @property
    def kappa(self) -> float:
        """Cohen's kappa between judge and person among the labelled items: 1 is agreement, 0 is chance."""
        n = self.n
        agreed = (self.both + self.neither) / n
        judged, right = (self.both + self.false_right) / n, (self.both + self.false_wrong) / n
        chance = judged * right + (1 - judged) * (1 - right)
        return 1.0 if chance == 1 else (agreed - chance) / (1 - chance)

    @property
    def enough(self) -> bool:
        """Whether both verdicts were labelled often enough."""
        return min(self.both + self.false_right, self.false_wrong + self.neither) >= FEWEST_LABELS


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """How often a judge is right: of what is right (sensitivity), of what is wrong (specificity); on so many labels."""

    sensitivity: Interval
    specificity: Interval
    kappa: float
    labels: int


@dataclass(frozen=True, slots=True)
class Corrected:
    """A share of right answers freed of the judge's errors, or why there is none; `judged` is what the judge says."""

    judged: float
    share: Interval | None
    why: str = ""


def calibrate(labels: Labels, seed: int = 20) -> Calibration | None:
    """The judge's sensitivity and specificity; None where there are too few labels."""
    if not labels.enough:
        return None
    draws = zip(_rates(labels, _counted), _rates(labels, _drawn(np.random.default_rng(seed))), strict=True)
    sensitivity, specificity = (_interval(value, drawn) for value, drawn in draws)
    return Calibration(sensitivity, specificity, labels.kappa, labels.n)


def corrected(right: Sequence[int], asked: Sequence[int], labels: Labels | None, seed: int = 20) -> Corrected:
    """The share of answers that are right, freed of the judge's errors (Rogan and Gladen).

    The uncertainty of the verdicts, of the labels and of the pool go into the interval together. Answers of one
    session are alike; where sessions differ more than chance would make them, the answers count for less. `right` is
    for each session how many of the answers `asked` the judge calls right.
    """
    k, n = np.asarray(right, dtype=float), np.asarray(asked, dtype=float)
    judged = float(k.sum() / n.sum())
    if labels is None or not labels.enough:
        return Corrected(judged, None, UNCALIBRATED)
    rng = np.random.default_rng(seed)
    sensitive, specific = _rates(labels, _drawn(rng))
    if np.percentile(sensitive + specific, 2.5) <= 1:
        return Corrected(judged, None, "the judge may be no better than chance: more labels, or another judge")
    each = design_effect(k, n)
    verdicts = rng.beta(k.sum() / each + 0.5, (n.sum() - k.sum()) / each + 0.5, DRAWS)
    draws = np.clip((verdicts + specific - 1) / (sensitive + specific - 1), 0.0, 1.0)
    right_rate, wrong_rate = _rates(labels, _counted)
    value = (judged + wrong_rate - 1) / (right_rate + wrong_rate - 1)
    return Corrected(judged, _interval(float(np.clip(value, 0, 1)), draws))


def design_effect(right: NDArray[np.float64], asked: NDArray[np.float64]) -> float:
    """By how much the variance of the share exceeds that of independent answers; 1 with fewer than five sessions."""
    m = len(asked)
    share = right.sum() / asked.sum()
    if m < 5 or share in (0.0, 1.0):
        return 1.0
    between = m / (m - 1) * ((right - share * asked) ** 2).sum() / asked.sum() ** 2
    return max(1.0, float(between / (share * (1 - share) / asked.sum())))


def _rates(labels: Labels, beta: Callable[[int, int], Any]) -> tuple[Any, Any]:
    """Sensitivity and specificity, numbers or draws as `beta` gives them; by Bayes for items chosen by verdict."""
    if labels.pool is None:
        return beta(labels.both, labels.false_wrong), beta(labels.neither, labels.false_right)
    believed, missed = beta(labels.both, labels.false_right), beta(labels.false_wrong, labels.neither)
    often = beta(*labels.pool)
    right = believed * often + missed * (1 - often)
    return believed * often / right, (1 - missed) * (1 - often) / (1 - right)


def _drawn(rng: np.random.Generator) -> Callable[[int, int], NDArray[np.float64]]:
    return lambda hits, misses: rng.beta(hits + 0.5, misses + 0.5, DRAWS)


def _counted(hits: int, misses: int) -> float:
    return (hits + 0.5) / (hits + misses + 1)


def _interval(value: float, draws: NDArray[np.float64]) -> Interval:
    low, high = np.percentile(draws, [2.5, 97.5])
    return Interval(value, float(low), float(high))
