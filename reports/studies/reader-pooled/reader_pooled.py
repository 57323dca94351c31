"""Two tables of this study: how far the fitted reader is off by who wrote a context, and what a
refit to all answers and a bonus for a model's summaries change.

`reader_pooled.py level` and `reader_pooled.py refit` write a table from the answers of the other
studies; with `--check` they say where the page differs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))

from rows import Frames, Part, run
from scipy.special import expit

from workbench.base.ragged import Floats
from workbench.evaluation.metrics.work_exam.question_sheet import FEATURES
from workbench.evaluation.metrics.work_exam.text_kind import text_kind
from workbench.lab.judge.work_exam.fit import REFERENCES, chances, fit, fit_report, logistic
from workbench.lab.judge.work_exam.graded_answers import read_answers

PAGE = Path(__file__).parent / "README.md"
FIT = "real-readers"
"""The answers that the reader which ships was fitted to."""
SAME_ASKER = (FIT, "chains", "presets")
OTHER_ASKERS = ("second-look", "third-look", "other-askers/first", "other-askers/second")
STUDIES = (*SAME_ASKER, *OTHER_ASKERS)
TITLES = {
    FIT: "the fit",
    "second-look": "second look",
    "third-look": "third look",
    "other-askers/first": "others' first questions",
    "other-askers/second": "others' second questions",
}
NAMESAKE = {"cli": "cli/cli"}
"""The third look has another project of the same name than the fit."""
READERS = {
    "fitted": "as it ships: fitted to `real-readers`",
    "pooled": "fitted to all answers",
    "bonus": "fitted to all answers, with a bonus for a model's summaries",
}
"""Columns of chances, and how the table calls them; each by a reader without the project."""
KINDS = ("model", "rule", "cut")
DRAWS = 4_000
SEED = 7


@cache
def answers() -> pd.DataFrame:
    """All answers, each with the chances that readers promise which were fitted without its
    project.
    """
    frames = []
    for study in STUDIES:
        frame = read_answers([PAGE.parent.parent / study]).assign(study=study)
        if study == "third-look":
            frame["project"] = frame["project"].replace(NAMESAKE)
        # one session asked in two studies is ordered in each by itself
        frame["session"] = study + "/" + frame["session"]
        frames.append(frame)
    table = pd.concat(frames, ignore_index=True)
    table["kind"] = table["writer"].map(text_kind)
    table.loc[table["strategy"].isin(REFERENCES), "kind"] = "reference"
    return with_chances(table)


def with_chances(table: pd.DataFrame) -> pd.DataFrame:
    """The answers with a column for each of `READERS`, and `claimed`: what the last one promises
    if every context is said to be a model's.
    """
    is_fitted_to = (table["study"] == FIT).to_numpy()
    chances_of = {reader: np.zeros(len(table)) for reader in (*READERS, "claimed")}
    for project in table["project"].unique():
        is_left_out = (table["project"] == project).to_numpy()
        left_out = table[is_left_out]
        fitted = fit(table[is_fitted_to & ~is_left_out], {})
        pooled = fit(table[~is_left_out], {})
        chances_of["fitted"][is_left_out] = chances(fitted, left_out)
        chances_of["pooled"][is_left_out] = chances(pooled, left_out)
        bonus = BonusReader.fitted_to(table[~is_left_out])
        is_by_model = (left_out["kind"] == "model").to_numpy(dtype=np.float64)
        chances_of["bonus"][is_left_out] = bonus.chances(left_out, is_by_model)
        chances_of["claimed"][is_left_out] = bonus.chances(left_out, np.ones(len(left_out)))
    return table.assign(**chances_of)


@dataclass(frozen=True)
class BonusReader:
    """A reader that promises more of every context whose summary a model wrote.

    Attributes:
        weights: (features,) of `FEATURES`.
        bonus: what is added where a model wrote.
        bias: what is always added.
    """

    weights: Floats
    bonus: float
    bias: float

    @classmethod
    def fitted_to(cls, table: pd.DataFrame) -> BonusReader:
        """The reader whose chances come nearest to some answers."""
        features = table[list(FEATURES)].to_numpy(dtype=np.float64)
        is_by_model = (table["kind"] == "model").to_numpy(dtype=np.float64)
        scores = table["score"].to_numpy(dtype=np.float64)
        weights, bias = logistic(np.column_stack([features, is_by_model]), scores)
        return cls(weights[:-1], float(weights[-1]), bias)

    def chances(self, table: pd.DataFrame, is_by_model: Floats) -> Floats:
        """(answers,) what it promises; `is_by_model` is 1 where a model wrote, else 0."""
        features = table[list(FEATURES)].to_numpy(dtype=np.float64)
        margins = features @ self.weights + self.bonus * is_by_model + self.bias
        return np.asarray(expit(margins))


def is_to_choose_by(project: str) -> bool:
    """Whether variants were chosen by a project; the others were looked at when that was done."""
    first_byte = sha256(project.encode()).digest()[0]
    return first_byte % 2 == 0


def errors_by_project(rows: pd.DataFrame, reader: str) -> pd.DataFrame:
    """What is promised less what is real: a row a project, a column a kind of context, and `gap`,
    by how much a model's summaries are promised too little beside a rule's.
    """
    errors = (rows[reader] - rows["score"]).groupby([rows["project"], rows["kind"]]).mean()
    table = errors.unstack("kind")
    return table.assign(gap=table["model"] - table["rule"])


def resampled_means(values: pd.Series, size: int) -> Floats:
    """Means of so many projects, drawn with replacement."""
    numbers = values.to_numpy(dtype=np.float64)
    places = np.random.default_rng(SEED).integers(0, len(numbers), (DRAWS, size))
    return np.asarray(numbers[places].mean(axis=1))


def with_interval(values: pd.Series, digits: int = 2) -> str:
    """The mean of projects, and its 95 % interval over projects."""
    values = values.dropna()
    low, high = np.percentile(resampled_means(values, len(values)), [2.5, 97.5])
    return f"{values.mean():+.{digits}f} ({low:+.{digits}f} to {high:+.{digits}f})"


def chance_of_a_look(column: str) -> float:
    """How often as many of the fit's projects as the third look has are off by as much as it."""
    table = answers()
    look = errors_by_project(table[table["study"] == "third-look"], "fitted")[column]
    of_the_fit = errors_by_project(table[table["study"] == FIT], "fitted")[column]
    return float((resampled_means(of_the_fit, len(look)) <= look.mean()).mean())


def level_table(table: pd.DataFrame) -> Iterator[str]:
    """By group of answers: the error for each kind of context."""
    yield "| answers | projects | a model's summaries | a rule's | messages cut | model less rule |"
    yield "|---|---|---|---|---|---|"
    for study, title in TITLES.items():
        yield level_row(table[table["study"] == study], title, "fitted")
    yield level_row(table[table["study"].isin(OTHER_ASKERS)], "these but the fit", "fitted")
    yield level_row(table, "all", "fitted")
    yield level_row(table, "all, by a reader fitted to all", "pooled")
    yield level_row(table, "all, with a bonus for a model's summaries", "bonus")
    is_chosen_by = table["project"].map(is_to_choose_by)
    yield level_row(table[is_chosen_by], "of these the projects to choose by", "bonus")
    yield level_row(table[~is_chosen_by], "the other projects", "bonus")


def level_row(rows: pd.DataFrame, title: str, reader: str) -> str:
    """A row of the table of levels."""
    errors = errors_by_project(rows, reader)
    cells = [with_interval(errors[column]) for column in (*KINDS, "gap")]
    return f"| {title} | {len(errors)} | {' | '.join(cells)} |"


def refit_table(table: pd.DataFrame) -> Iterator[str]:
    """By reader: its errors on left-out projects."""
    yield (
        "| reader | squared error (Brier) | loss | AUC | order within a recording"
        " | largest error of a tenth |"
    )
    yield "|---|---|---|---|---|---|"
    for reader, title in READERS.items():
        promised = table[reader].to_numpy(dtype=np.float64)
        report = fit_report(table, promised)
        cells = [
            f"{squared_errors(table, reader).mean():.4f}",
            f"{losses(table, reader).mean():.4f}",
            f"{report.auc:.4f}",
            f"{report.order:.3f}",
            f"{report.largest_error:.3f}",
        ]
        yield f"| {title} | {' | '.join(cells)} |"


def squared_errors(table: pd.DataFrame, reader: str) -> pd.Series:
    """Of each answer."""
    return (table[reader] - table["score"]) ** 2


def losses(table: pd.DataFrame, reader: str) -> pd.Series:
    """The negative log-likelihood of each answer."""
    score = table["score"]
    return -(score * np.log(table[reader]) + (1 - score) * np.log1p(-table[reader]))


def gain_by_project(table: pd.DataFrame, before: str, after: str) -> pd.Series:
    """By how much the squared error of one reader is below another's, a mean of each project."""
    gains = squared_errors(table, before) - squared_errors(table, after)
    return gains.groupby(table["project"]).mean()


def measured(_paths: Sequence[str], _bundled: bool) -> Frames:
    """The answers; they are read from the other studies each time."""
    return {"": answers()}


def from_answers(_rows: pd.DataFrame) -> pd.DataFrame:
    """The answers with all their digits."""
    return answers()


PARTS = {
    "reader-level-pooled": Part(
        measure=measured, tell=lambda rows: level_table(from_answers(rows)), kept=False
    ),
    "reader-refit": Part(
        measure=measured, tell=lambda rows: refit_table(from_answers(rows)), kept=False
    ),
}

if __name__ == "__main__":
    sys.exit(run(PARTS, PAGE, sys.argv[1:]))
