"""Fits a reader to the answers that real models gave, and says how well it foretells answers of
other projects.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import rankdata, spearmanr

from workbench.base.errors import FormatError, SettingError
from workbench.base.ragged import Floats
from workbench.evaluation.metrics.work_exam.fitted_reader import FEATURES, WorkReader
from workbench.evaluation.metrics.work_exam.reader_error import (
    Calibration,
    LeftOutCheck,
    ReaderErrors,
    TextKind,
    text_kind,
)
from workbench.lab.judge.work_exam.records import SITTINGS
from workbench.lab.judge.work_exam.scores import CONTEXT
from workbench.lab.judge.work_exam.sheet import Half

PENALTY = 0.003
"""Of the squared weights of standardised features."""
FEWEST_PROJECTS = 3
TENTHS = 10
REFERENCES = ("none", "null", "oracle", "soup", "index", "salad")
"""Contexts that are no strategies: they are fitted to, and left out where strategies are
ordered.
"""


@dataclass(frozen=True, slots=True)
class Tenth:
    """Answers of about one promised chance: what was promised, what came, as means; and how many
    there are.
    """

    promised: float
    real: float
    answers: int


@dataclass(frozen=True, slots=True)
class FitReport:
    """How a fitted reader does on projects that were left out of the fit, each in its turn.

    Attributes:
        auc: how often an answer that is right (above .5) has a higher chance than one that is
            wrong.
        order: Spearman correlation of the strategies' means with the real readers', a mean over
            boundaries.
        by_context: a row a share, strategy, writer and length of chain: `promised`, `real` (means),
            `answers`.
        errors: of the projects, for contexts of strategies.
        tenths: calibration, from the lowest promised chances to the highest.
    """

    answers: int
    contexts: int
    sessions: int
    projects: int
    auc: float
    order: float
    by_context: pd.DataFrame
    errors: ReaderErrors
    tenths: tuple[Tenth, ...]

    @property
    def largest_error(self) -> float:
        """The largest distance of a tenth's promise from what came."""
        return max(abs(tenth.promised - tenth.real) for tenth in self.tenths)

    @property
    def left_out(self) -> LeftOutCheck:
        """What a reader keeps of this: strategies by who made their contexts, all sizes
        together.
        """
        kinds: dict[TextKind, Calibration] = {}
        strategies = self.by_context[~self.by_context["strategy"].isin(REFERENCES)]
        for kind, rows in strategies.groupby(strategies["writer"].map(text_kind)):
            answers = rows["answers"]
            promised, real = (
                (rows[column] * answers).sum() / answers.sum() for column in ("promised", "real")
            )
            kinds[kind] = Calibration(float(promised), float(real), int(answers.sum()))
        return LeftOutCheck(self.auc, self.order, kinds, self.errors)


def read_answers(folders: Iterable[Path]) -> pd.DataFrame:
    """The graded answers about the work in some folders of `workbench lab judge work`.

    Returns:
        A row an answer: `session at project strategy writer share chain question score`, and the
        `FEATURES`. Answers of several readers to one question from one context are one row with
        their mean score.

    Raises:
        SettingError: a folder has none.
    """
    rows: list[dict[str, Any]] = []
    for folder in folders:
        rows += _rows(folder)
    if not rows:
        raise SettingError(
            "there are no graded answers about the work; `workbench lab judge work` asks for some"
        )
    answers = pd.DataFrame(rows).groupby([*CONTEXT, "project", "question"], sort=False)
    return answers.agg({"score": "mean", **dict.fromkeys(FEATURES, "first")}).reset_index()


def read_names(folders: Iterable[Path]) -> pd.DataFrame:
    """The answers for exact names in some folders of `workbench lab judge work`: a row an answer,
    with its score.

    Raises:
        SettingError: a folder holds no sittings.
    """
    rows: list[dict[str, Any]] = []
    for folder in folders:
        rows += _rows(folder, "names")
    return pd.DataFrame(rows)


def _rows(folder: Path, half: Half = "work") -> Iterator[dict[str, Any]]:
    file = folder / SITTINGS
    packed_file = folder / f"{SITTINGS}.gz"
    if file.is_file():
        text = file.read_bytes().decode()
    elif packed_file.is_file():
        file = packed_file
        text = gzip.decompress(file.read_bytes()).decode()
    else:
        raise SettingError(
            f"{folder} holds no answers about the work; `workbench lab judge work` asks for some"
        )
    for number, line in enumerate(text.splitlines(), 1):
        try:
            sitting = json.loads(line)
            yield from _answers(sitting, half)
        except (ValueError, KeyError, TypeError) as error:
            raise FormatError(
                f"is no sitting ({error!r:.80})", where=str(file), line=number
            ) from None


def _answers(sitting: Mapping[str, Any], half: Half) -> Iterator[dict[str, Any]]:
    columns = ("session", "at", "project", "strategy", "writer", "share")
    place = {name: sitting[name] for name in columns}
    # answers of 2026 were collected before there were chains
    place["chain"] = sitting.get("chain", 1)
    for number, answer in enumerate(sitting["answers"]):
        if answer["half"] != half or answer["score"] is None:
            continue
        row = {**place, "question": number, "score": float(answer["score"])}
        if half == "work":
            row |= zip(FEATURES, answer["features"], strict=True)
        yield row


def fit(
    table: pd.DataFrame, fitted_on: Mapping[str, Any], left_out: LeftOutCheck | None = None
) -> WorkReader:
    """A reader whose chances come nearest to the answers.

    Args:
        table: of `read_answers`.
        fitted_on: what the reader says of its answers.
        left_out: what it says of answers that it was not fitted to.
    """
    values = table[list(FEATURES)].to_numpy(dtype=np.float64)
    scores = table["score"].to_numpy(dtype=np.float64)
    weights, bias = logistic(values, scores)
    return WorkReader(dict(zip(FEATURES, weights.tolist(), strict=True)), bias, fitted_on, left_out)


def logistic(values: Floats, scores: Floats) -> tuple[Floats, float]:
    """The weights of some features, and the bias, whose chances come nearest to the scores of
    answers.

    Args:
        values: (answers, features).
        scores: (answers,) between 0 and 1.
    """
    means = values.mean(axis=0)
    widths = np.maximum(values.std(axis=0), 1e-6)
    standard = (values - means) / widths

    def loss_with_slope(parameters: Floats) -> tuple[float, Floats]:
        weights, bias = parameters[:-1], parameters[-1]
        margin = standard @ weights + bias
        penalty = PENALTY * np.square(weights).sum()
        loss = (np.logaddexp(0, margin) - scores * margin).mean() + penalty
        too_high = expit(margin) - scores
        slope = too_high @ standard / len(scores) + 2 * PENALTY * weights
        return float(loss), np.append(slope, too_high.mean())

    best = minimize(loss_with_slope, np.zeros(values.shape[1] + 1), jac=True, method="L-BFGS-B").x
    weights = best[:-1] / widths
    return weights, float(best[-1] - weights @ means)


def chances(reader: WorkReader, table: pd.DataFrame) -> Floats:
    """(answers,) what a reader promises for each answer of a table."""
    rows = table[list(FEATURES)].to_numpy(dtype=np.float64).tolist()
    return np.array([reader.probability(row) for row in rows])


def left_out_chances(table: pd.DataFrame) -> Floats:
    """(answers,) what is promised for each answer by a reader that was fitted to all other
    projects.

    Raises:
        SettingError: there are too few projects.
    """
    projects = table["project"].unique().tolist()
    if len(projects) < FEWEST_PROJECTS:
        raise SettingError(
            f"the answers are of {len(projects)} projects; {FEWEST_PROJECTS} and more are needed,"
            " since each is left out of the fit in its turn"
        )
    promised = np.zeros(len(table))
    for project in projects:
        is_left_out = (table["project"] == project).to_numpy()
        reader = fit(table[~is_left_out], {})
        promised[is_left_out] = chances(reader, table[is_left_out])
    return promised


def fit_report(table: pd.DataFrame, promised: Floats) -> FitReport:
    """How promised chances compare with the answers."""
    with_chance = table.assign(promised=promised, real=table["score"])
    by_context = with_chance.groupby(["share", "strategy", "writer", "chain"]).agg(
        promised=("promised", "mean"), real=("real", "mean"), answers=("real", "size")
    )
    return FitReport(
        answers=len(table),
        contexts=table.groupby(CONTEXT).ngroups,
        sessions=table["session"].nunique(),
        projects=table["project"].nunique(),
        auc=auc(promised, table["score"].to_numpy()),
        order=_order(with_chance),
        by_context=by_context.reset_index(),
        errors=_errors(with_chance),
        tenths=_tenths(with_chance),
    )


def _errors(table: pd.DataFrame) -> ReaderErrors:
    """How far the reader is off in each project."""
    strategies = table[~table["strategy"].isin(REFERENCES)]
    error = strategies["promised"] - strategies["real"]
    rows = strategies.assign(error=error, kind=strategies["writer"].map(text_kind))
    contexts = rows.groupby([*CONTEXT, "project", "kind"])["error"].mean()
    projects = contexts.groupby(["project", "kind"])
    around_project = contexts - projects.transform("mean")
    by_project = projects.mean().unstack("kind")
    return ReaderErrors(
        tuple(row.dropna().to_dict() for _, row in by_project.iterrows()),
        float(around_project.std(ddof=0)),
    )


def asker_errors(
    table: pd.DataFrame, elsewhere: pd.DataFrame
) -> tuple[Mapping[TextKind, float], ...]:
    """How far a reader is off on answers to questions that somebody else wrote: for each project by
    kind of context.

    The reader is fitted without the projects of these answers.

    Args:
        table: answers to fit to, of `read_answers`.
        elsewhere: the answers to the other questions.

    Raises:
        SettingError: they are of all projects that could be fitted to, or of all but one or two.
    """
    of_others = table[~table["project"].isin(elsewhere["project"])]
    remaining = of_others["project"].nunique()
    if remaining < FEWEST_PROJECTS:
        raise SettingError(
            f"without the projects of the other asker's questions {remaining} projects remain to"
            f" fit to; {FEWEST_PROJECTS} and more are needed"
        )
    promised = chances(fit(of_others, {}), elsewhere)
    return _errors(elsewhere.assign(promised=promised, real=elsewhere["score"])).by_project


def auc(promised: Floats, scores: Floats) -> float:
    """How often a right answer (above .5) has a higher chance than a wrong one; a tie counts a
    half.
    """
    is_right, is_wrong = scores > 0.5, scores < 0.5
    decided = is_right | is_wrong
    ranks = rankdata(promised[decided])
    right, wrong = int(is_right.sum()), int(is_wrong.sum())
    if not right or not wrong:
        return float("nan")
    return float((ranks[is_right[decided]].sum() - right * (right + 1) / 2) / (right * wrong))


def _order(table: pd.DataFrame) -> float:
    strategies = table[~table["strategy"].isin(REFERENCES)]
    correlations = []
    for _, rows in strategies.groupby(["session", "at", "share"]):
        means = rows.groupby(["strategy", "writer", "chain"])[["promised", "real"]].mean()
        if len(means) > 2 and means.nunique().min() > 1:
            correlations.append(float(spearmanr(means["promised"], means["real"]).statistic))
    return float(np.mean(correlations)) if correlations else float("nan")


def _tenths(table: pd.DataFrame) -> tuple[Tenth, ...]:
    ordered = table.sort_values("promised")
    tenths = []
    for number in range(TENTHS):
        start = len(ordered) * number // TENTHS
        end = len(ordered) * (number + 1) // TENTHS
        answers = ordered.iloc[start:end]
        if len(answers):
            promised, real = float(answers["promised"].mean()), float(answers["real"].mean())
            tenths.append(Tenth(promised, real, len(answers)))
    return tuple(tenths)
