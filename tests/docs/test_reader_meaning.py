"""What meaning and order of words would add to the fitted reader: the study's table, from the
rows beside it.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from docs.looks import auc
from docs.test_salads import WITHOUT_FIT
from scipy.special import expit

from workbench.evaluation.metrics.work_exam.question_sheet import FEATURES
from workbench.lab.judge.work_exam.fit import logistic

STUDY = Path(__file__).parents[2] / "reports" / "studies" / "reader-meaning"
TODAY = "as it ships"
ADDED = {
    TODAY: (),
    "meaning of sentences": ("sentence_meaning",),
    "meaning by words": ("word_meaning",),
    "words that mean about the same": ("answer_alike", "points_alike"),
    "neighbours kept": ("neighbours_kept",),
    "small words": ("small_words",),
    "neighbours kept, small words": ("neighbours_kept", "small_words"),
    "meaning of sentences, neighbours kept, small words": (
        "sentence_meaning",
        "neighbours_kept",
        "small_words",
    ),
}
"""The features that each reader has beside today's."""
FITTED = "real-readers"
HELD_OUT = ("second-look", "third-look", "others-first", "others-second")
"""Studies that nothing was fitted to."""
BY_A_MODEL = "folder:summaries"
ORDER = "neighbours kept, small words"


@cache
def answers() -> pd.DataFrame:
    return pd.read_csv(STUDY / "answers.csv.gz", keep_default_na=False)


@cache
def foremean_chance(reader: str) -> pd.DataFrame:
    """All answers with their chances, by a reader that was fitted without the answer's project."""
    rows = answers()
    values = rows[[*FEATURES, *ADDED[reader]]].to_numpy(dtype=np.float64)
    scores = rows["score"].to_numpy(dtype=np.float64)
    is_fitted = (rows["study"] == FITTED).to_numpy()
    chances = np.zeros(len(rows))
    groups = rows["project"].where(rows["project"].isin(rows["project"][is_fitted]), "of no fit")
    for group in groups.unique():
        is_left_out = (groups == group).to_numpy()
        weights, bias = logistic(values[is_fitted & ~is_left_out], scores[is_fitted & ~is_left_out])
        chances[is_left_out] = expit(values[is_left_out] @ weights + bias)
    losses = np.logaddexp(0, np.log1p(-chances) - np.log(chances))
    losses_if_wrong = np.logaddexp(0, np.log(chances) - np.log1p(-chances))
    return rows.assign(chance=chances, loss=scores * losses + (1 - scores) * losses_if_wrong)


def area(reader: str, *studies: str) -> float:
    rows = foremean_chance(reader)
    rows = rows[rows["study"].isin(studies)]
    return auc(rows["chance"].to_numpy(), rows["score"].to_numpy(dtype=np.float64))


def loss(reader: str, *studies: str) -> float:
    rows = foremean_chance(reader)
    return float(rows["loss"][rows["study"].isin(studies)].mean())


def too_high(
    reader: str, study: str, column: str, value: str, projects: Collection[str] | None = None
) -> float:
    rows = foremean_chance(reader)
    rows = rows[(rows["study"] == study) & (rows[column] == value)]
    if projects is not None:
        rows = rows[rows["project"].isin(projects)]
    return float((rows["chance"] - rows["score"]).mean())


def mean_chance(reader: str, wording: str) -> float:
    rows = foremean_chance(reader)
    return float(
        rows["chance"][(rows["study"] == "wordings") & (rows["strategy"] == wording)].mean()
    )


def row(reader: str) -> str:
    looks = [f"{area(reader, study):.3f}" for study in HELD_OUT]
    wordings = [
        f"{mean_chance(reader, wording):.2f}" for wording in ("verbatim", "terse", "other_words")
    ]
    cells = [
        reader,
        f"{area(reader, FITTED):.3f}",
        f"{loss(reader, FITTED):.3f}",
        *looks,
        f"{loss(reader, *HELD_OUT):.3f}",
        ", ".join(wordings),
        f"{too_high(reader, 'third-look', 'writer', BY_A_MODEL):+.2f}",
        f"{too_high(reader, 'salads', 'strategy', 'salad'):+.2f}",
        f"{too_high(reader, 'salads', 'strategy', 'telegram'):+.2f}",
    ]
    return f"| {' | '.join(cells)} |"


def test_the_page_has_the_rows_of_the_answers() -> None:
    page = (STUDY / "README.md").read_text("utf-8")
    text = page.partition("<!-- reader-meaning -->\n")[2].partition(
        "<!-- end of reader-meaning -->"
    )[0]
    assert text.splitlines()[2:] == [row(reader) for reader in ADDED]


@pytest.mark.parametrize("reader", ADDED)
def test_no_feature_makes_other_words_mean_chance(reader: str) -> None:
    assert mean_chance(reader, "verbatim") - mean_chance(reader, "other_words") > 0.6


@pytest.mark.parametrize("reader", ADDED)
def test_no_feature_predicts_answers_better_that_nothing_was_fitted_to(reader: str) -> None:
    """A hundredth of the loss is what the choice of recordings does."""
    assert loss(reader, *HELD_OUT) > 0.99 * loss(TODAY, *HELD_OUT)


def test_small_words_and_neighbours_tell_a_salad_from_a_text() -> None:
    assert abs(too_high(ORDER, "salads", "strategy", "salad")) < 0.02
    assert too_high(TODAY, "salads", "strategy", "salad") > 0.05


def test_salads_of_sessions_outside_of_the_fit_are_then_promised_too_little() -> None:
    assert round(too_high(TODAY, "salads", "strategy", "salad", WITHOUT_FIT), 2) == 0.02
    assert round(too_high(ORDER, "salads", "strategy", "salad", WITHOUT_FIT), 2) == -0.04
