"""Means of metrics by place: one value a session."""

import pandas as pd

from workbench.evaluation.findings.session_means import SessionMeans

MISSING = float("nan")
SCORES = pd.DataFrame(
    [
        ("work", "truncate", "b", 0.5, 0.1),
        ("work", "truncate", "a", 0.2, 0.3),
        ("work", "truncate", "a", 0.4, 0.3),
        ("work", "truncate", "c", MISSING, 0.7),
        ("names", "truncate", "a", 0.9, 0.9),
    ],
    columns=["metric", "strategy", "session", "value", "scaled"],
)


def test_a_place_has_the_mean_of_each_session_that_has_a_value() -> None:
    means = SessionMeans(SCORES, ["metric", "strategy"])

    values = means.at(("work", "truncate"), "value")

    assert values.round(9).to_dict() == {"a": 0.3, "b": 0.5}
    assert (values.name, values.index.name) == ("value", "session")
    assert list(means.at(("work", "truncate"), "scaled").index) == ["a", "b", "c"]


def test_a_place_without_scores_is_empty() -> None:
    values = SessionMeans(SCORES, ["metric", "strategy"]).at(("work", "summarize"), "value")

    assert values.empty
    assert values.dtype == float
