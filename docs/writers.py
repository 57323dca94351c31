"""Which rules of the rule-based writer earn their place: each left out, chosen on some projects,
tried on others.

A part of docs/validity.py. The space was declared before it was run, and no weight is fitted: a
rule is there or not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import numpy as np
import pandas as pd
from summaries import AT, SHARES, TITLES, cut, ours, rows_of

from workbench.engine.models.extractive import choice, outline
from workbench.engine.transcript.session import Session
from workbench.evaluation.analysis.paired import estimate
from workbench.evaluation.experiment.prepared import prepared
from workbench.evaluation.replays.boundaries import at_shares
from workbench.evaluation.replays.matched import sized_histories
from workbench.lab.validation.judges import Judged

SHOWN = ("exam", "edits", "request", "phrases", "bound", "runs", "rare", "compressed")
TODAY, OTHER = "all rules", "truncate"
ROWS = len(choice.ORIGINS)
RULES: Mapping[str, Mapping[str, object]] = {
    "origins of lines": {"choice.ORIGINS": np.ones(ROWS)},
    "how often a name was said": {"choice.SPOKEN": 0.0},
    "text since": {"choice.DISTANCE": 0.0},
    "less for a name again": {"choice.AGAIN": 1.0},
    "less for older lines": {"choice.OLDER": 1.0},
    "less for what only results had": {"choice.UNSAID": 1.0},
    "other words in the line": {"choice._BOUND": np.ones(100)},
    "something for prose": {"choice.PROSE": 0.0},
    "a part for the user's words": {"writer.DEMANDS": 0.0, "writer.OLDEST": 0.0},
    "a part for decisions": {"writer.DECISIONS": 0.0},
    "sections": {
        "outline.Outline.row": lambda own, pick, *_: outline.Row(
            0, 0, pick.message_index, pick.place, pick.line.text
        )
    },
}
"""By rule, what is set where it is left out."""
_FEWER = ("text since", "less for older lines", "less for what only results had")
_FEW = (*_FEWER, "origins of lines", "something for prose", "a part for decisions")
_FEWEST = (*_FEW, "other words in the line", "a part for the user's words", "sections")
WITHOUT: Mapping[str, tuple[str, ...]] = {
    TODAY: (),
    **{f"without {rule}": (rule,) for rule in RULES},
    "without three rules": _FEWER, "without six rules": _FEW, "names said, each once": _FEWEST,
    "the user's words and the newest lines": tuple(
        rule for rule in RULES if rule not in ("text since", "a part for the user's words")
    ),
}  # fmt: skip
"""The space: rules that each variant leaves out."""
CHOOSING = 14
"""The first projects, on which writers are chosen."""
CANDIDATES = (TODAY, "without something for prose")
"""Those that came out of it; they are tried on all other projects."""


@contextmanager
def used(without: Iterable[str]) -> Iterator[None]:
    """The writer does without these rules for a while."""
    with ExitStack() as stack:
        for rule in without:
            for name, value in RULES[rule].items():
                stack.enter_context(patch(f"workbench.engine.models.extractive.{name}", value))
        yield


def tried(sessions: Iterable[Session]) -> pd.DataFrame:
    """`summarize` with each writer, and `truncate`, at equal size; rows as `summaries.rows_of`
    gives them.

    The projects that come first have all writers, the others only the candidates.
    """
    rows: list[dict[str, object]] = []
    projects_to_choose_on: set[str] = set()
    for session in sessions:
        project = session.project or session.id
        if len(projects_to_choose_on) < CHOOSING:
            projects_to_choose_on.add(project)
        names: Iterable[str] = CANDIDATES
        if project in projects_to_choose_on:
            names = WITHOUT
        prepared_session = prepared(session)
        boundaries = at_shares(session, AT)
        for history in sized_histories(session, prepared_session.sizing, boundaries, SHARES):
            if not history.fits:
                continue
            contexts = {OTHER: cut(prepared_session, history, OTHER)}
            for name in names:
                with used(WITHOUT[name]):
                    contexts[name] = cut(prepared_session, history, "summarize")
            judged = Judged(prepared_session, history.at)
            rows += rows_of(judged, contexts, f"{history.share:.0%}")
    return pd.DataFrame(rows)


def writers_table(rows: pd.DataFrame) -> Iterator[str]:
    """Writers less the one with all rules, where they were chosen and elsewhere; what choosing
    gives; the lead.
    """
    scores = {judge: of_projects(rows, judge) for judge in SHOWN}
    projects_to_choose_on = scores["exam"].dropna().index
    to_choose_on: dict[str, pd.DataFrame] = {}
    elsewhere: dict[str, pd.DataFrame] = {}
    for judge, table in scores.items():
        is_to_choose_on = table.index.isin(projects_to_choose_on)
        to_choose_on[judge] = table[is_to_choose_on]
        elsewhere[judge] = table[~is_to_choose_on]
    yield from _less_all_rules(f"on the {CHOOSING} projects to choose on", to_choose_on, WITHOUT)
    yield from _less_all_rules(f"on the {len(elsewhere['exam'])} others", elsewhere, CANDIDATES)
    yield from _head("lead over *truncate*, points")
    for title, cells in leads(scores, to_choose_on).items():
        yield f"| {title} | {' | '.join(map(_cell, cells))} |"
    yield ""
    picks = Counter(left_out(to_choose_on["exam"], simplest).values())
    counts = ", ".join([f"{name} ({n})" for name, n in picks.most_common()])
    yield f"Simplest, without one project in turn: {counts}."


def _less_all_rules(
    title: str, scores: Mapping[str, pd.DataFrame], names: Iterable[str]
) -> Iterator[str]:
    """A table of writers, and of `truncate`, less the writer with all rules."""
    yield from _head(f"less all rules, points, {title}")
    for name in (*names, OTHER):
        if name == TODAY:
            continue
        cells: list[str] = []
        for judge in SHOWN:
            cells.append(_cell(scores[judge][name] - scores[judge][TODAY]))
        yield f"| {name} | {' | '.join(cells)} |"
    yield ""


def _head(title: str) -> Iterator[str]:
    yield f"| {title} | {' | '.join(TITLES[judge] for judge in SHOWN)} |"
    yield "|---" * (len(SHOWN) + 1) + "|"


def of_projects(rows: pd.DataFrame, judge: str) -> pd.DataFrame:
    """A row a project and a column a context: means over sessions, in points."""
    of_judge = rows[rows["judge"] == judge]
    by_session = of_judge.groupby(["project", "session", "context"])["value"].mean()
    return 100 * by_session.groupby(["project", "context"]).mean().unstack()


def leads(
    scores: Mapping[str, pd.DataFrame], to_choose_on: Mapping[str, pd.DataFrame]
) -> dict[str, list[pd.Series]]:
    """The lead over `truncate` by judge: with all rules, and of chosen ones where they were
    chosen and left out.
    """
    everywhere: list[pd.Series] = []
    on_bundled: list[pd.Series] = []
    on_others: list[pd.Series] = []
    for judge in SHOWN:
        lead = scores[judge][TODAY] - scores[judge][OTHER]
        is_bundled = ours(scores[judge])
        everywhere.append(lead)
        on_bundled.append(lead[is_bundled])
        on_others.append(lead[~is_bundled])
    by_title = {
        "all rules, all projects": everywhere,
        "... on the bundled sessions": on_bundled,
        "... on recordings of others": on_others,
    }
    for title, rule in (("best by exam", best), ("simplest within one standard error", simplest)):
        name = rule(to_choose_on["exam"])
        names_by_project = left_out(to_choose_on["exam"], rule)
        on_these: list[pd.Series] = []
        on_left_out: list[pd.Series] = []
        for judge in SHOWN:
            table = to_choose_on[judge]
            on_these.append(table[name] - table[OTHER])
            on_left_out.append(_lead_where_left_out(table, names_by_project))
        by_title[f"{title} of {CHOOSING} projects, on these: {name}"] = on_these
        by_title[f"{title}, on the one left out"] = on_left_out
    return by_title


def _lead_where_left_out(table: pd.DataFrame, names_by_project: Mapping[str, str]) -> pd.Series:
    """By project the lead over `truncate` of the writer that was chosen without it."""
    by_project: dict[str, float] = {}
    for project in table.index:
        if project in names_by_project:
            name = names_by_project[project]
            by_project[project] = table.loc[project, name] - table.loc[project, OTHER]
    return pd.Series(by_project)


def best(exam: pd.DataFrame) -> str:
    """The writer with the highest mean."""
    return str(exam.drop(columns=OTHER).mean().idxmax())


def simplest(exam: pd.DataFrame) -> str:
    """The writer with the fewest rules among those within one standard error of the best, the
    better of equal ones.
    """
    best_name = best(exam)
    behind_best = exam.drop(columns=OTHER).rsub(exam[best_name], axis=0)
    near_best: list[str] = []
    for name in behind_best:
        is_near = behind_best[name].mean() <= behind_best[name].sem()
        if is_near or name == best_name:
            near_best.append(str(name))
    return max(near_best, key=lambda name: (len(WITHOUT[name]), exam[name].mean()))


def left_out(exam: pd.DataFrame, rule: Callable[[pd.DataFrame], str]) -> dict[str, str]:
    """By project: the writer that a rule chooses on all other projects."""
    by_project: dict[str, str] = {}
    for project in exam.index:
        by_project[project] = rule(exam.drop(index=project))
    return by_project


def _cell(values: pd.Series) -> str:
    estimated = estimate(values.dropna().tolist())
    if estimated is None:
        return "–"
    if estimated.low is None:
        return f"{estimated.mean:+.1f}"
    return f"{estimated.mean:+.1f} ({estimated.low:+.1f} to {estimated.high:+.1f})"
