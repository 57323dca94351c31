"""Means of metrics by place: one value a session."""

from __future__ import annotations

import pandas as pd
import pytest
from planted_run import PlantedRun

from workbench import Findings

SCORES = [
    ("fabrication", "truncate", "b", 0.5, 0.1),
    ("fabrication", "truncate", "a", 0.2, 0.3),
    ("fabrication", "truncate", "a", 0.4, 0.3),
    ("fabrication", "truncate", "c", None, 0.7),
    ("over_window", "truncate", "a", 0.9, 0.9),
]


@pytest.fixture(scope="module")
def findings() -> Findings:
    columns = ("metric", "strategy", "session", "value", "scaled")
    rows = [dict(zip(columns, score, strict=True)) | {"mode": "natural"} for score in SCORES]
    return Findings.of(PlantedRun({}, {"scores": rows}))


def values(findings: Findings, strategy: str, of: str = "value") -> pd.Series:
    return findings.tables.values("fabrication", strategy, of=of)


def test_a_place_has_the_mean_of_each_session_that_has_a_value(findings: Findings) -> None:
    means = values(findings, "truncate")
    assert means.round(9).to_dict() == {"a": 0.3, "b": 0.5}
    assert (means.name, means.index.name) == ("value", "session")
    assert list(values(findings, "truncate", "scaled").index) == ["a", "b", "c"]


def test_a_place_without_scores_is_empty(findings: Findings) -> None:
    means = values(findings, "summarize")
    assert means.empty
    assert means.dtype == float
