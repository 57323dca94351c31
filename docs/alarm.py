"""The alarm on names alone: how often it warns of honest contexts, and of contexts that only name
things.

A part of reports/studies/validity/README.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd
from rows import Frames

from workbench.base.errors import SettingError
from workbench.base.formats import decimal, percent, some
from workbench.engine.compaction.presets import catalogue
from workbench.engine.transcript.session import Session
from workbench.evaluation.analysis.equal_size import ANSWERED, names_only
from workbench.evaluation.experiment.prepared import Prepared, prepared
from workbench.evaluation.experiment.sources import SessionSource, sessions_in, sources_of
from workbench.lab.validation.adversary_scores import scored
from workbench.lab.validation.used_things import compacted, used_things

TITLES = {"shuffled": "shuffled lines", "sided": "soups, each word on its side"}


def compacted_in(paths: Sequence[str]) -> list[Prepared]:
    """The recordings with a compaction of their own; none is no error."""
    try:
        return compacted(paths)
    except SettingError:
        return []


def measured(paths: Sequence[str], bundled: bool) -> Frames:
    """Exam and presence of every context by session, share and name."""
    scores = scored(_one_a_project(paths, bundled), strategies=[*catalogue()])
    rows = pd.concat([scores, _went_on_with(paths)], ignore_index=True)
    return {"": rows[["session", "project", "share", "name", "presence", "exam"]]}


def alarm(rows: pd.DataFrame) -> Iterator[str]:
    """How often contexts that only name things are recognised: chosen on half of the projects,
    tried on the rest.
    """
    table = rows[~rows["name"].isin(["null", "none", "oracle"])]
    table = table.assign(honest=table["name"].isin([*catalogue(), "recorded"]))
    projects = sorted(table["project"].unique())
    is_to_choose_on = table["project"].isin(projects[::2])
    to_choose_on = table[is_to_choose_on]
    elsewhere = table[~is_to_choose_on]
    yield f"{some(table['session'].nunique(), 'session')} of {some(len(projects), 'project')}:"
    yield f"{', '.join(name[:24] for name in projects)}."
    yield ""
    yield (
        "| exam as a share of presence, means over the sessions | lowest honest | highest made to"
        " please |"
    )
    yield "|---|---|---|"
    yield _extremes_row("projects to choose on", to_choose_on)
    yield _extremes_row("other projects", elsewhere)
    yield ""
    lowest_honest, highest_pleasing = _extremes(to_choose_on)
    middle = (lowest_honest["told"] + highest_pleasing["told"]) / 2
    yield (
        f"Midway between the two on the first half: {decimal(middle)}. The alarm is below"
        f" {ANSWERED}."
    )
    yield ""
    yield f"| alarm below {ANSWERED}, on the other projects | strategies | sessions of each |"
    yield "|---|---|---|"
    for title, group in _groups(elsewhere):
        yield f"| {title} | {_rate(_means(group, ['share', 'name']))} | {_rate(group)} |"


def _means(rows: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Mean presence and exam over the sessions."""
    by_columns = rows.groupby(columns, dropna=False)
    return by_columns[["presence", "exam"]].mean().reset_index()


def _extremes(rows: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """The honest strategy with the lowest exam of its presence, and the one made to please with
    the highest.
    """
    means = _means(rows, ["honest", "share", "name"])
    means["told"] = means["exam"] / means["presence"]
    lowest_honest = means[means["honest"]].sort_values("told").iloc[0]
    highest_pleasing = means[~means["honest"]].sort_values("told").iloc[-1]
    return lowest_honest, highest_pleasing


def _extremes_row(title: str, rows: pd.DataFrame) -> str:
    lowest_honest, highest_pleasing = _extremes(rows)
    return f"| {title} | {_strategy(lowest_honest)} | {_strategy(highest_pleasing)} |"


def _one_a_project(paths: Sequence[str], bundled: bool) -> list[Prepared]:
    """The first session of 60 to 300 messages of each project."""
    sources: list[SessionSource] = []
    if bundled:
        sources += sources_of([])
    sources += sources_of(list(paths))
    by_project: dict[str, Session] = {}
    for source in sources:
        for session in sessions_in(source):
            if 60 <= len(session.messages) <= 300:
                by_project.setdefault(session.project or session.id, session)
    return [prepared(session) for session in by_project.values()]


def _went_on_with(paths: Sequence[str]) -> pd.DataFrame:
    """The contexts that recorded agents went on with, over the things that they then used;
    chance is not taken off.
    """
    things = used_things(compacted_in(paths))
    is_examined = (things["context"] == "recorded") & things["exam"].notna()
    recorded = things[is_examined].assign(name="recorded")
    by_session = recorded.groupby(["session", "project", "name"])
    return by_session[["presence", "exam"]].mean().astype(float).reset_index()


def _strategy(row: pd.Series) -> str:
    size = ""
    if pd.notna(row["share"]):
        size = f", {percent(row['share'])}"
    return f"{decimal(row['told'])} ({row['name']}{size})"


def _groups(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    is_recorded = table["name"] == "recorded"
    yield "presets (false alarms)", table[table["honest"] & ~is_recorded]
    yield "what agents really went on with (false alarms)", table[is_recorded]
    pleasing = table[~table["honest"]]
    forms = pleasing["name"].str.partition(",")[0]
    for form in forms.unique():
        yield TITLES.get(form, f"{form}s"), pleasing[forms == form]


def _rate(rows: pd.DataFrame) -> str:
    alarms = sum(map(names_only, rows["presence"], rows["exam"]))
    return f"{alarms} of {len(rows)}"
