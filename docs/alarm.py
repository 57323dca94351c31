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
from workbench.evaluation.experiment.sources import sessions_in, sources_of
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
    made = scored(_one_a_project(paths, bundled), strategies=[*catalogue()])
    rows = pd.concat([made, _went_on_with(paths)], ignore_index=True)
    return {"": rows[["session", "project", "share", "name", "presence", "exam"]]}


def alarm(rows: pd.DataFrame) -> Iterator[str]:
    """How often contexts that only name things are recognised: chosen on half of the projects,
    tried on the rest.
    """
    table = rows[~rows["name"].isin(["null", "none", "oracle"])].copy()
    table["honest"] = table["name"].isin([*catalogue(), "recorded"])
    projects = sorted(table["project"].unique())
    first = table["project"].isin(projects[::2])
    yield f"{some(table['session'].nunique(), 'session')} of {some(len(projects), 'project')}:"
    yield f"{', '.join(name[:24] for name in projects)}."
    yield ""
    yield (
        "| exam as a share of presence, means over the sessions | lowest honest | highest made to"
        " please |"
    )
    yield "|---|---|---|"
    for title, half in (("projects to choose on", table[first]), ("other projects", table[~first])):
        means = (
            half.groupby(["honest", "share", "name"], dropna=False)[["presence", "exam"]]
            .mean()
            .reset_index()
        )
        means["told"] = means["exam"] / means["presence"]
        honest = means[means["honest"]].sort_values("told").iloc[0]
        made = means[~means["honest"]].sort_values("told").iloc[-1]
        yield f"| {title} | {_strategy(honest)} | {_strategy(made)} |"
        if title.startswith("projects"):
            middle = (honest["told"] + made["told"]) / 2
    yield ""
    yield (
        f"Midway between the two on the first half: {decimal(middle)}. The alarm is below"
        f" {ANSWERED}."
    )
    yield ""
    yield f"| alarm below {ANSWERED}, on the other projects | strategies | sessions of each |"
    yield "|---|---|---|"
    for title, own in _groups(table[~first]):
        means = (
            own.groupby(["share", "name"], dropna=False)[["presence", "exam"]].mean().reset_index()
        )
        yield f"| {title} | {_rate(means)} | {_rate(own)} |"


def _one_a_project(paths: Sequence[str], bundled: bool) -> list[Prepared]:
    """The first session of 60 to 300 messages of each project."""
    sources = [*(sources_of([]) if bundled else ()), *sources_of(list(paths))]
    every = (
        session
        for source in sources
        for session in sessions_in(source)
        if 60 <= len(session.messages) <= 300
    )
    chosen: dict[str, Session] = {}
    for session in every:
        chosen.setdefault(session.project or session.id, session)
    return [prepared(session) for session in chosen.values()]


def _went_on_with(paths: Sequence[str]) -> pd.DataFrame:
    """The contexts that recorded agents went on with, over the things that they then used;
    chance is not taken off.
    """
    rows = used_things(compacted_in(paths))
    own = rows[(rows["context"] == "recorded") & rows["exam"].notna()].assign(name="recorded")
    return (
        own.groupby(["session", "project", "name"])[["presence", "exam"]]
        .mean()
        .astype(float)
        .reset_index()
    )


def _strategy(row: pd.Series) -> str:
    size = "" if pd.isna(row["share"]) else f", {percent(row['share'])}"
    return f"{decimal(row['told'])} ({row['name']}{size})"


def _groups(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    yield "presets (false alarms)", table[table["honest"] & (table["name"] != "recorded")]
    yield "what agents really went on with (false alarms)", table[table["name"] == "recorded"]
    forms = table["name"].str.partition(",")[0]
    for form in forms[~table["honest"]].unique():
        yield TITLES.get(form, f"{form}s"), table[~table["honest"] & (forms == form)]


def _rate(rows: pd.DataFrame) -> str:
    return f"{sum(map(names_only, rows['presence'], rows['exam']))} of {len(rows)}"
