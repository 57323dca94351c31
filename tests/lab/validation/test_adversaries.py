from __future__ import annotations

import pandas as pd
import pytest

from workbench import prepared
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.lab.validation.adversaries import FAMILY, Gamer
from workbench.lab.validation.adversary_scores import scored
from workbench.recordings.datasets.generator import generate

LIST, SOUP, CUE = Gamer("list", 12), Gamer("soup", 8, 10), Gamer("cue", 1, 3)


@pytest.fixture(scope="module")
def found() -> pd.DataFrame:
    sessions = [prepared(generate(30_000, seed).session) for seed in (0, 1)]
    return scored(sessions, (LIST, SOUP, CUE)).groupby(["share", "name"])["exam"].mean()


def test_the_references_mark_the_ends_of_the_scale(found: pd.Series) -> None:
    assert found[0.1, "null"] < found[0.1, "none"] == 1
    assert found[0.2, "oracle"] >= 0.95


def test_lists_and_soups_win_next_to_nothing(found: pd.Series) -> None:
    assert found[0.1, LIST.label] <= 0.15
    assert found[0.1, SOUP.label] <= 0.15


def test_every_gamer_writes_lines_of_its_form() -> None:
    ready = prepared(generate(10_000, 0).session)
    history = Exams.of(ready.index).history
    at = len(ready.session.messages) // 2
    for gamer in FAMILY:
        assert next(gamer.lines(history, at))
    assert ": " in next(CUE.lines(history, at))
