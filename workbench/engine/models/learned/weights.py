"""Learned weights: three small logistic models, as readable JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from workbench.base.errors import SettingError
from workbench.base.ragged import Floats
from workbench.engine.models.learned.features import FEATURES, Part

FORMAT, VERSION = "workbench learned lines", 2
SHIPPED = Path(__file__).with_name("weights.json")


@dataclass(frozen=True, slots=True)
class Logistic:
    """A logistic regression: one weight for each of its features, in the order of `FEATURES`."""

    intercept: float
    weights: tuple[float, ...]

    def probability(self, features: Floats) -> Floats:
        """(rows,) the probability for each row of features."""
        sums = features @ np.array(self.weights) + self.intercept
        score = np.clip(sums, -30.0, 30.0)
        probabilities: Floats = 1.0 / (1.0 + np.exp(-score))
        return probabilities


@dataclass(frozen=True, slots=True)
class LearnedWeights:
    """What was learned.

    Attributes:
        needed: whether an exact name will be needed.
        tells: whether a line tells a needed name.
        states: whether a line states a rule or open work that will be asked about.
    """

    needed: Logistic
    tells: Logistic
    states: Logistic


def read_weights(path: Path) -> LearnedWeights:
    """The weights of a file that `workbench lab learn` wrote.

    Raises:
        SettingError: there is no such file, or it is another kind of file.
    """
    advice = "name a file that `workbench lab learn` wrote"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingError(f"{path} cannot be read ({error.strerror}); {advice}") from None
    except ValueError:
        raise SettingError(f"{path} holds no JSON; {advice}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise SettingError(f"{path} holds no learned weights; {advice}")
    if document.get("version") != VERSION:
        raise SettingError(
            f"{path} has weights of version {document.get('version')!r}, not {VERSION}; learn them"
            " again"
        )
    models = {name: _read_logistic(path, name, document.get(name)) for name in FEATURES}
    return LearnedWeights(**models)


def _read_logistic(path: Path, name: Part, model: Any) -> Logistic:  # noqa: ANN401 - decoded JSON
    weights = model.get("weights") if isinstance(model, Mapping) else None
    if not isinstance(weights, Mapping) or set(weights) != set(FEATURES[name]):
        raise SettingError(
            f"{path}: the features of `{name}` are not those of this version; learn the weights"
            " again"
        )
    numbers = [model.get("intercept")]
    numbers += [weights[feature] for feature in FEATURES[name]]
    if not all(map(_is_finite_number, numbers)):
        raise SettingError(
            f"{path}: a weight of `{name}` is no finite number; learn the weights again"
        )
    intercept, *feature_weights = map(float, numbers)
    return Logistic(intercept, tuple(feature_weights))


def _is_finite_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isfinite(value)


@cache
def shipped() -> LearnedWeights:
    """The weights that ship with the package."""
    return read_weights(SHIPPED)
