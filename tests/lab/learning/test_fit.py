"""What the weights are drawn to, and what they may not become."""

from __future__ import annotations

from typing import Literal

import numpy as np

from workbench.lab.learning.fit import fitted
from workbench.lab.learning.samples import Sample

Part = Literal["needed", "tells", "states"]
RULE = {"said": 1.2, "never said": -1.2}

NAMES = ("said", "never said", "by the user", "text since")


def samples(needed: np.ndarray, labels: np.ndarray) -> dict[Part, list[Sample]]:
    """Names with these features; nothing for the other models."""
    found: dict[Part, list[Sample]] = {"needed": [], "tells": [], "states": []}
    found["needed"] = [Sample(needed, labels, np.ones(len(labels)), "p")]
    return found


def names(said: np.ndarray) -> np.ndarray:
    return np.column_stack(
        [np.log1p(said), said == 0, np.zeros(len(said)), np.linspace(0, 1, len(said))]
    )


def test_recordings_that_tell_nothing_leave_the_rule_standing_in_part() -> None:
    said = np.tile(np.arange(5), 200)
    labels = np.arange(len(said)) % 25 < 5  # as often for each number
    weights = dict(zip(NAMES, fitted(samples(names(said), labels)).needed.weights, strict=True))

    assert 0 < weights["said"] < RULE["said"]
    assert RULE["never said"] < weights["never said"] < 0


def test_recordings_that_say_the_opposite_never_turn_a_weight_round() -> None:
    said = np.tile(np.arange(5), 200)
    weights = dict(zip(NAMES, fitted(samples(names(said), said == 0)).needed.weights, strict=True))

    assert weights["said"] >= 0
    assert weights["never said"] <= 0
