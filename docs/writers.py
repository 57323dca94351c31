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
    first: dict[str, None] = {}
    for session in sessions:
        project = session.project or session.id
        if len(first) < CHOOSING:
            first[project] = None
        space = WITHOUT if project in first else {name: WITHOUT[name] for name in CANDIDATES}
        ready = prepared(session)
        for one in sized_histories(session, ready.sizing, at_shares(session, AT), SHARES):
            if one.fits:
                contexts = {OTHER: cut(ready, one, OTHER)}
                for name, without in space.items():
                    with used(without):
                        contexts[name] = cut(ready, one, "summarize")
                rows += rows_of(Judged(ready, one.at), contexts, f"{one.share:.0%}")
    return pd.DataFrame(rows)


def writers_table(rows: pd.DataFrame) -> Iterator[str]:
    """Writers less the one with all rules, where they were chosen and elsewhere; what choosing
    gives; the lead.
    """
    by = {judge: of_projects(rows, judge) for judge in SHOWN}
    chose = by["exam"].dropna().index
    inside, outside = (
        {j: v[v.index.isin(chose) == side] for j, v in by.items()} for side in (True, False)
    )
    for title, own, names in (
        (f"on the {CHOOSING} projects to choose on", inside, (*WITHOUT, OTHER)),
        (f"on the {len(outside['exam'])} others", outside, (*CANDIDATES, OTHER)),
    ):
        yield from _head(f"less all rules, points, {title}")
        for name in names:
            if name != TODAY:
                yield (
                    f"| {name} |"
                    f" {' | '.join(_cell(own[judge][name] - own[judge][TODAY]) for judge in SHOWN)} |"
                )
        yield ""
    yield from _head("lead over *truncate*, points")
    for title, cells in leads(by, inside).items():
        yield f"| {title} | {' | '.join(map(_cell, cells))} |"
    yield ""
    picks = Counter(left_out(inside["exam"], simplest)["chosen"])
    yield (
        "Simplest, without one project in turn:"
        f" {', '.join(f'{name} ({n})' for name, n in picks.most_common())}."
    )


def _head(title: str) -> Iterator[str]:
    yield f"| {title} | {' | '.join(TITLES[judge] for judge in SHOWN)} |"
    yield "|---" * (len(SHOWN) + 1) + "|"


def of_projects(rows: pd.DataFrame, judge: str) -> pd.DataFrame:
    """A row a project and a column a context: means over sessions, in points."""
    each = rows[rows["judge"] == judge].groupby(["project", "session", "context"])["value"].mean()
    return 100 * each.groupby(["project", "context"]).mean().unstack()


def leads(
    by: Mapping[str, pd.DataFrame], inside: Mapping[str, pd.DataFrame]
) -> dict[str, list[pd.Series]]:
    """The lead over `truncate` by judge: with all rules, and of chosen ones where they were
    chosen and left out.
    """
    bundled = {judge: ours(values) for judge, values in by.items()}
    found = {
        "all rules, all projects": [by[judge][TODAY] - by[judge][OTHER] for judge in SHOWN],
        "... on the bundled sessions": [(by[j][TODAY] - by[j][OTHER])[bundled[j]] for j in SHOWN],
        "... on recordings of others": [(by[j][TODAY] - by[j][OTHER])[~bundled[j]] for j in SHOWN],
    }
    for title, rule in (("best by exam", best), ("simplest within one standard error", simplest)):
        name = rule(inside["exam"])
        out = left_out(inside["exam"], rule)["chosen"]
        found[f"{title} of {CHOOSING} projects, on these: {name}"] = [
            inside[j][name] - inside[j][OTHER] for j in SHOWN
        ]
        found[f"{title}, on the one left out"] = [
            pd.Series(
                {p: values.loc[p, out[p]] - values.loc[p, OTHER] for p in values.index if p in out}
            )
            for values in (inside[shown] for shown in SHOWN)
        ]
    return found


def best(exam: pd.DataFrame) -> str:
    """The writer with the highest mean."""
    return str(exam.drop(columns=OTHER).mean().idxmax())


def simplest(exam: pd.DataFrame) -> str:
    """The writer with the fewest rules among those within one standard error of the best, the
    better of equal ones.
    """
    top = best(exam)
    apart = exam.drop(columns=OTHER).rsub(exam[top], axis=0)
    near = [str(name) for name in apart if apart[name].mean() <= apart[name].sem() or name == top]
    return max(near, key=lambda name: (len(WITHOUT[name]), exam[name].mean()))


def left_out(exam: pd.DataFrame, rule: Callable[[pd.DataFrame], str]) -> pd.DataFrame:
    """By project: the writer that a rule chooses on all other projects."""
    return pd.DataFrame(
        {"chosen": {project: rule(exam.drop(index=project)) for project in exam.index}}
    )


def _cell(values: pd.Series) -> str:
    known = values.dropna()
    found = estimate(known.tolist())
    if found is None:
        return "–"
    ends = "" if found.low is None else f" ({found.low:+.1f} to {found.high:+.1f})"
    return f"{found.mean:+.1f}{ends}"
