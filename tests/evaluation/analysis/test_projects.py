"""Sessions of one project are alike: intervals and tests hold their word where projects are the
unit.
"""

import numpy as np
import pytest

from workbench.evaluation.analysis.paired import interval, project_means, sign_flip

SAMPLES = 1_500


def differences(projects: int, correlation: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Means of projects of 1 to 6 sessions, and the same sessions as if each stood alone, for many
    samples.

    The true mean is 0; `correlation` is that of two sessions of a project (intra-class).
    """
    rng = np.random.default_rng(seed)
    names = np.repeat(np.arange(projects), rng.integers(1, 7, projects))
    shared = np.sqrt(correlation) * rng.normal(size=(SAMPLES, projects))[:, names]
    every = shared + np.sqrt(1 - correlation) * rng.normal(size=(SAMPLES, len(names)))
    labels = [str(name) for name in names]
    return np.array([project_means(sample, labels) for sample in every]), every


def coverage(values: np.ndarray) -> float:
    low, high = interval(values)
    return float(((low <= 0) & (high >= 0)).mean())


def false_alarms(values: np.ndarray) -> float:
    return float((sign_flip(values, draws=999) <= 0.05).mean())


@pytest.mark.parametrize("correlation", (0.0, 0.2, 0.4))
@pytest.mark.parametrize("projects", (8, 20, 40))
def test_intervals_cover_and_tests_err_as_they_say(projects: int, correlation: float) -> None:
    means, _ = differences(projects, correlation, projects)
    assert 0.93 <= coverage(means) <= 0.97
    assert false_alarms(means) <= 0.06


def test_sessions_as_the_unit_promise_too_much_where_projects_differ() -> None:
    _, sessions = differences(20, 0.3, 1)
    assert coverage(sessions) < 0.9
    assert false_alarms(sessions) > 0.08
