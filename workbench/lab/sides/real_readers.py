"""Real readers: what models answered from contexts, beside what the measures predict of the
same contexts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from workbench.base.package import PACKAGE
from workbench.evaluation.metrics.work_exam.fitted_reader import shipped_reader
from workbench.evaluation.metrics.work_exam.text_kind import text_kind
from workbench.lab.judge.work_exam.baselines import PLACE, read_baselines
from workbench.lab.judge.work_exam.fit import (
    REFERENCES,
    FitReport,
    chances,
    fit_report,
    left_out_chances,
)
from workbench.lab.judge.work_exam.graded_answers import read_answers, read_names
from workbench.lab.judge.work_exam.scores import CONTEXT
from workbench.lab.sides.side import SideTable

STUDIES = PACKAGE.parent / "reports" / "studies"
"""Where the project's own graded answers lie in a checkout."""
OWN_STUDIES = ("real-readers", "presets", "chains", "second-look")
FEWEST_PROJECTS = 3
"""Projects from which each can be left out of a fit in its turn."""
APART = 0.1
"""By how much two contexts must differ for real readers before their order counts."""
NOT_HERE = (
    "The project's graded answers do not ship in the wheel: run this in a checkout, "
    "or name folders that `workbench lab judge work` wrote."
)


class Measure(NamedTuple):
    """A measure of one half of the headline: its column, and how tables call it."""

    half: str
    column: str
    title: str


WORK_MEASURES = (
    Measure("the work", "left_out", "fitted reader, project left out"),
    Measure("the work", "shipped", "fitted reader, as shipped"),
    Measure("the work", "bm25", "BM25"),
)
NAME_MEASURES = (
    Measure("names", "exam", "exam (lexical reader)"),
    Measure("names", "presence", "presence"),
    Measure("names", "bm25", "BM25"),
)


def real_readers(folders: Sequence[Path] = ()) -> SideTable:
    """How well the measures predict what real readers answered.

    Args:
        folders: of `workbench lab judge work`; none stand for the project's own studies.
    """
    studies = [Path(folder) for folder in folders] or own_studies()
    if not studies:
        return SideTable.absent(NOT_HERE)
    work = work_answers(studies)
    names = name_answers(studies)
    rows_of_work = list(_rows(work, WORK_MEASURES))
    rows_of_names = list(_rows(names, NAME_MEASURES))
    rows = pd.DataFrame(rows_of_work + rows_of_names)
    promise = "shipped"
    if "left_out" in work:
        promise = "left_out"
    details = {
        "calibration, from the lowest promised tenth": _tenths(work, promise),
        "level by kind of context": by_kind(work, promise),
        "by study": _by_study(work, promise),
    }
    return SideTable(rows, _says(rows), details)


def own_studies() -> list[Path]:
    """The folders of the project's studies; none in an installed package."""
    folders = [STUDIES / name for name in OWN_STUDIES]
    return [folder for folder in folders if folder.is_dir()]


def work_answers(folders: Sequence[Path]) -> pd.DataFrame:
    """The graded answers about the work with what is predicted of them.

    Columns: those of `read_answers`, and `study`, `bm25`, `shipped` (by the reader that ships) and,
    where there are enough projects, `left_out` (by a reader that was fitted to the answers of all
    other projects).
    """
    tables = []
    for folder in folders:
        graded_answers = read_answers([folder])
        tables.append(_with_baselines(graded_answers, folder))
    answers = pd.concat(tables, ignore_index=True)
    answers["shipped"] = chances(shipped_reader(), answers)
    if answers["project"].nunique() >= FEWEST_PROJECTS:
        answers["left_out"] = left_out_chances(answers)
    return answers


def name_answers(folders: Sequence[Path]) -> pd.DataFrame:
    """The answers for names: `read_names`, one row a question and context, with `study` and the
    baselines.
    """
    tables = []
    for folder in folders:
        answers = read_names([folder])
        if not answers.empty:
            groups = answers.groupby([*PLACE, "project"], sort=False)
            scores = groups["score"].mean().reset_index()
            tables.append(_with_baselines(scores, folder))
    if not tables:
        return pd.DataFrame(columns=["score", "exam", "presence", "bm25"])
    return pd.concat(tables, ignore_index=True)


def _with_baselines(answers: pd.DataFrame, folder: Path) -> pd.DataFrame:
    baselines = read_baselines(folder)
    baselines = baselines.astype({"question": "int64", "at": "int64", "chain": "int64"})
    with_baselines = answers.merge(baselines, on=PLACE, how="left")
    return with_baselines.assign(study=folder.name)


def _rows(
    answers: pd.DataFrame,
    measures: Sequence[Measure],
) -> Iterator[dict[str, object]]:
    """A row a measure; where the last of them, the baseline, knows fewer answers, each also on
    those alone.
    """
    baseline = measures[-1].column
    has_baseline = answers[baseline].notna()
    for measure in measures:
        if measure.column not in answers:
            continue
        has_value = answers[measure.column].notna()
        if has_value.any():
            yield _row(answers, measure, measure.title)
    baseline_count = has_baseline.sum()
    for measure in measures[:-1]:
        if measure.column not in answers:
            continue
        has_value = answers[measure.column].notna()
        if 0 < baseline_count < has_value.sum():
            title = f"{measure.title}, answers with BM25"
            yield _row(answers[has_baseline], measure, title)


def _row(
    answers: pd.DataFrame,
    measure: Measure,
    title: str,
) -> dict[str, object]:
    with_value = answers[answers[measure.column].notna()]
    report = _report(with_value, measure.column)
    pairs = ordered_pairs(with_value, measure.column)
    return {
        "half": measure.half,
        "measure": title,
        "answers": report.answers,
        "contexts": report.contexts,
        "projects": report.projects,
        "auc": report.auc,
        "order": report.order,
        "pairs": pairs.pairs,
        "pairs alike": pairs.alike,
    }


def _report(answers: pd.DataFrame, column: str) -> FitReport:
    """How what a column promises compares with the answers."""
    return fit_report(answers, answers[column].to_numpy(dtype="float64"))


class OrderedPairs(NamedTuple):
    """Pairs of contexts of one boundary and size that real readers hold apart, and the share
    ordered as by them.
    """

    pairs: int
    alike: float | None


def ordered_pairs(answers: pd.DataFrame, column: str) -> OrderedPairs:
    """How a column orders contexts of strategies within a boundary and size; equal values are
    not ordered alike.
    """
    strategies = answers[~answers["strategy"].isin(REFERENCES)]
    groups = strategies.groupby(CONTEXT)
    columns = [column, "score"]
    means = groups[columns].mean().reset_index()
    pairs = 0
    alike = 0
    for _, group in means.groupby(["session", "at", "share"]):
        values_and_scores = group[columns]
        contexts = list(values_and_scores.itertuples(index=False, name=None))
        for (value, score), (other_value, other_score) in combinations(contexts, 2):
            score_gap = score - other_score
            if abs(score_gap) >= APART:
                pairs += 1
                alike += (value - other_value) * score_gap > 0
    if not pairs:
        return OrderedPairs(0, None)
    return OrderedPairs(pairs, alike / pairs)


def _tenths(answers: pd.DataFrame, promise: str) -> pd.DataFrame:
    report = _report(answers, promise)
    rows = []
    for number, tenth in enumerate(report.tenths, 1):
        row = {
            "tenth": number,
            "answers": tenth.answers,
            "predicted": tenth.promised,
            "real readers": tenth.real,
            "too high by": tenth.promised - tenth.real,
        }
        rows.append(row)
    return pd.DataFrame(rows)


def kind_of(strategy: str, writer: str) -> str:
    """The kind of a context, in words: who wrote its summary, or the name of a reference."""
    if strategy in REFERENCES:
        return strategy
    kinds = {
        "model": "a model's summary",
        "rule": "a rule's summary",
        "mixed": "both",
        "cut": "messages cut",
    }
    return kinds[text_kind(writer)]


def by_kind(answers: pd.DataFrame, promise: str) -> pd.DataFrame:
    """What is predicted and what real readers knew, a row a kind of context and size."""
    kinds = list(map(kind_of, answers["strategy"], answers["writer"]))
    groups = answers.assign(kind=kinds).groupby(["kind", "share"])
    figures = {
        "answers": ("score", "size"),
        "predicted": (promise, "mean"),
        "real readers": ("score", "mean"),
    }
    rows = groups.agg(**figures).reset_index()
    rows["too high by"] = rows["predicted"] - rows["real readers"]
    return rows


def _by_study(answers: pd.DataFrame, promise: str) -> pd.DataFrame:
    rows = []
    for study, table in answers.groupby("study", sort=False):
        for column in dict.fromkeys((promise, "shipped")):
            report = _report(table, column)
            errors = table[column] - table["score"]
            reader = "as shipped"
            if column == "left_out":
                reader = "project left out"
            row = {
                "study": study,
                "reader": reader,
                "answers": report.answers,
                "projects": report.projects,
                "auc": report.auc,
                "order": report.order,
                "too high by": errors.mean(),
                "largest error of a tenth": report.largest_error,
            }
            rows.append(row)
    return pd.DataFrame(rows)


def _says(rows: pd.DataFrame) -> str:
    """The AUC of each half's measures in one sentence."""
    parts = []
    for half, of_half in rows.groupby("half", sort=False):
        measures = []
        for row in of_half.to_dict("records"):
            measures.append(f"{row['measure']} {row['auc']:.2f}")
        parts.append(f"on {half} {', '.join(measures)}")
    return (
        "Of two answers, one right and one wrong, the right one has the higher value (AUC):"
        f" {'; '.join(parts)}."
    )
