"""Gamers: contexts made to please a measure. What do they get, and what do real readers get from
them?

A family of them is searched on half of the projects for those that today's fitted reader likes
best; the other half shows what the choice is worth. Each is as large as a tenth of the history, as
what real readers read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from workbench.engine.compaction.presets import preset
from workbench.engine.models.extractive import Extractive
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.message import said_text
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.metrics.bm25 import Bm25
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.view import view
from workbench.evaluation.metrics.work_exam.document import exams_of
from workbench.evaluation.metrics.work_exam.fitted_reader import shipped_reader
from workbench.evaluation.metrics.work_exam.question import WorkQuestion
from workbench.evaluation.metrics.work_exam.reading import WorkReading, context_text
from workbench.evaluation.replays.boundaries import at_shares
from workbench.evaluation.replays.matched import matched
from workbench.lab.judge.work_exam.contexts import GAMERS, gamed_context, reference_context
from workbench.lab.judge.work_exam.fit import chances
from workbench.lab.judge.work_exam.graded_answers import read_answers, read_names
from workbench.lab.sides.real_readers import STUDIES, name_answers, own_studies, work_answers
from workbench.lab.sides.side import SideTable
from workbench.lab.validation.adversaries import FAMILY, SALADS, Gamer, Salad

SHARE = 0.1
BOUNDARIES = (0.5, 0.8)
SALADS_READ = STUDIES / "salads"
STRATEGIES = ("null", "truncate", "summarize", "oracle")
FAMILIES: tuple[Gamer | Salad, ...] = (*FAMILY, *SALADS)
NO_EXAM = (
    "No session here has a written exam of the work; `workbench lab exam write` has one written."
)
COLUMNS = [
    "context",
    "the work",
    "searched",
    "other projects",
    "names",
    "BM25",
    "real readers",
    "predicted of these",
    "real readers, names",
]
"""Of the table. `searched`: the work on the projects by which the best setting was chosen; the last
three are of the studies with real readers.
"""


@dataclass(frozen=True)
class Place:
    """A boundary of a session, and the questions that are asked there."""

    ready: Prepared
    at: int
    questions: Sequence[WorkQuestion]
    bm25: Bm25

    @property
    def project(self) -> str:
        """Of the session."""
        return self.ready.session.project or self.ready.session.id

    def context_of(self, name: str | Gamer | Salad) -> Context:
        """The context of a strategy, of the oracle or of a gamer."""
        if not isinstance(name, str):
            return gamed_context(name, self.ready, self.at, SHARE)
        if name == "oracle":
            return reference_context(name, self.ready, self.at, SHARE).context
        replay = matched(
            self.ready.session,
            preset(name),
            self.ready.reader(Extractive()),
            self.ready.sizing,
            window=self.ready.window,
            boundaries=(self.at,),
            shares=(SHARE,),
        )
        return replay.snapshots[0].context

    def work(self, context: Context) -> float | None:
        """The chance that a real model knows an answer about the work."""
        reading = WorkReading.of(self.ready.index, self.ready.session)
        return reading.chance(self.at, context.messages)

    def names(self, context: Context) -> float | None:
        """The score in the exam of names."""
        exam = Exams.of(self.ready.index).at(self.at)
        if not exam.items:
            return None
        return exam.score(view(self.ready.session, context))

    def bm25_share(self, context: Context) -> float:
        """The mean BM25 of the questions about the work."""
        queries = [f"{question.question} {question.gold}" for question in self.questions]
        shares = self.bm25.shares(queries, context_text(context.messages))
        return sum(shares) / len(shares)


def gamers(
    sessions: Sequence[Prepared],
    family: Sequence[Gamer | Salad] = FAMILIES,
) -> SideTable:
    """What a family of gamers gets from the measures, beside strategies and beside what real
    readers got from some.

    Args:
        sessions: with written exams; others are passed over.
        family: what is searched.
    """
    places = list(_places(sessions))
    if not places:
        return SideTable.absent(NO_EXAM)
    settings = _searched(places, family)
    labels_read = [gamer.label for gamer in GAMERS.values()]
    is_read = settings["context"].isin(labels_read)
    is_best_of_form = ~settings.duplicated("form")
    shown_labels = set(settings[is_read | is_best_of_form]["context"])
    shown_gamers = [gamer for gamer in family if gamer.label in shown_labels]
    measured = _with_other_measures(places, shown_gamers)
    by_label = settings.set_index("context")
    gamed = pd.concat(
        [measured, by_label],
        axis=1,
        join="inner",
    )
    gamed = gamed.sort_values("the work", ascending=False)
    strategies = _with_other_measures(places, STRATEGIES)
    rows = pd.concat([strategies, gamed])
    rows = rows.rename_axis("context").reset_index()
    rows = rows.merge(_real_readers(), on="context", how="left")
    rows = rows[COLUMNS]
    details = {"all settings": settings}
    return SideTable(rows, _says(rows, len(family)), details)


def _searched(
    places: Sequence[Place],
    family: Sequence[Gamer | Salad],
) -> pd.DataFrame:
    """What the fitted reader predicts of each setting, the best first: on every second project,
    and on the others.
    """
    values = []
    for place in places:
        for gamer in family:
            context = gamed_context(gamer, place.ready, place.at, SHARE)
            row = {
                "project": place.project,
                "form": gamer.form,
                "context": gamer.label,
                "the work": place.work(context),
            }
            values.append(row)
    table = pd.DataFrame(values)
    groups = table.groupby(["project", "form", "context"], sort=False)
    by_project = groups["the work"].mean().reset_index()
    projects = sorted(by_project["project"].unique())
    is_searched = by_project["project"].isin(projects[::2])
    columns = {
        "searched": _mean_work(by_project[is_searched]),
        "other projects": _mean_work(by_project[~is_searched]),
    }
    settings = pd.DataFrame(columns)
    return settings.sort_values("searched", ascending=False).reset_index()


def _mean_work(rows: pd.DataFrame) -> pd.Series:
    return rows.groupby(["form", "context"])["the work"].mean()


def _with_other_measures(
    places: Sequence[Place], contexts: Sequence[str | Gamer | Salad]
) -> pd.DataFrame:
    """The means of all measures for strategies, the oracle and gamers, each project once."""
    values = []
    for place in places:
        for name in contexts:
            context = place.context_of(name)
            label = name
            if not isinstance(name, str):
                label = name.label
            row = {
                "project": place.project,
                "context": label,
                "the work": place.work(context),
                "names": place.names(context),
                "BM25": place.bm25_share(context),
            }
            values.append(row)
    rows = pd.DataFrame(values)
    by_project = rows.groupby(["project", "context"], sort=False).mean()
    return by_project.groupby("context", sort=False).mean()


def _places(sessions: Sequence[Prepared]) -> Iterator[Place]:
    for prepared_session in sessions:
        session = prepared_session.session
        exams = exams_of(session)
        if exams is None:
            continue
        boundaries = at_shares(session, BOUNDARIES)
        for exam in exams.exams:
            if exam.at not in boundaries or not exam.questions:
                continue
            history = session.messages[: exam.at]
            bm25 = Bm25(map(said_text, history))
            yield Place(prepared_session, exam.at, exam.questions, bm25)


def _real_readers() -> pd.DataFrame:
    """What real readers got from contexts of a tenth without a model's summary, and what was
    predicted of these.
    """
    columns = ["context", "real readers", "predicted of these", "real readers, names"]
    studies = own_studies()
    if not studies:
        return pd.DataFrame(columns=columns)
    work = _of_a_tenth(work_answers(studies)).groupby("strategy")
    names = _of_a_tenth(name_answers(studies)).groupby("strategy")
    rows = work[["score", "left_out"]].mean()
    rows = rows.set_axis(["real readers", "predicted of these"], axis=1)
    rows["real readers, names"] = names["score"].mean()
    rows = pd.concat([rows, _salads_read()])
    labels = {name: gamer.label for name, gamer in GAMERS.items()}
    rows = rows.rename(index=labels)
    return rows.rename_axis("context").reset_index()[columns]


def _of_a_tenth(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers from contexts of a tenth, made by one compaction without a model's summary."""
    answers = answers[answers["share"] == SHARE]
    answers = answers[answers["chain"] == 1]
    return answers[answers["writer"].isin(["", "extractive"])]


def _salads_read() -> pd.DataFrame:
    """The same of salads and telegrams, in a study after the reader was fitted: the shipped
    reader predicts.
    """
    columns = ["real readers", "predicted of these", "real readers, names"]
    if not SALADS_READ.is_dir():
        return pd.DataFrame(columns=columns)
    work = read_answers([SALADS_READ])
    work["predicted"] = chances(shipped_reader(), work)
    work = work[work["strategy"].isin(GAMERS)]
    rows = work.groupby("strategy")[["score", "predicted"]].mean()
    names = read_names([SALADS_READ])
    rows["names"] = names.groupby("strategy")["score"].mean()
    return rows.set_axis(columns, axis=1)


def _says(rows: pd.DataFrame, settings: int) -> str:
    gamed = rows[rows["searched"].notna()]
    best = gamed.sort_values("searched").iloc[-1]
    by_context = rows.set_index("context")
    truncate = by_context.loc["truncate", "the work"]
    unread = ""
    if pd.isna(best["real readers"]):
        unread = "; no real reader has read it"
    sentence = (
        f"Of {settings} settings the fitted reader likes {best['context']!r} best:"
        f" {best['other projects']:.2f} on the projects that did not choose it, truncate"
        f" {truncate:.2f}{unread}."
    )
    by_readers = gamed[gamed["real readers"].notna()]
    if by_readers.empty:
        return sentence
    differences = by_readers["predicted of these"] - by_readers["real readers"]
    too_high = differences.max()
    return (
        f"{sentence} Where real readers read such contexts, at most {too_high:.2f} too much is"
        " predicted."
    )
