"""What a report rests on: what was replayed, who wrote summaries and judged, whether it was
sound, how to repeat it.
"""

import shlex
from datetime import UTC, datetime

import pandas as pd

from workbench.base.errors import SettingError
from workbench.base.formats import some
from workbench.base.markup import render
from workbench.evaluation.analysis.replication import repeated_note, variance_split
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.metrics import HALVES
from workbench.report.page.html import Html, empty, part

MOST_PATHS = 4
"""Recordings that the line for Python names one by one."""
MOST_FAULTS = 6
"""Kinds of findings that are listed."""
MODES = (("natural", "on its own trigger"), ("matched", "at the same size"))
"""Modes, and their names for readers."""
NAMED = ("strategies", "window", "model", "shares")
"""Settings that the line for Python names."""


def integrity_html(findings: Findings) -> Html:
    """What the guard found, in a sentence and a table."""
    run = findings.tables
    rows = findings.figures.integrity
    replays = run.replays
    return part(
        "integrity",
        rows,
        known=run.strategies,
        compactions=rows["compactions"].sum(),
        violations=rows["violations"].sum(),
        failed=replays[replays["status"] == "failed"].to_dict("records"),
        pending=replays[replays["status"] == "pending"].to_dict("records"),
    )


def sessions_html(findings: Findings) -> Html:
    """The sessions of the run, and the files that could not be read."""
    run = findings.tables
    return part("sessions", run.replayed, unreadable=run.unreadable.to_dict("records"))


def reproduce_html(findings: Findings) -> Html:
    """The command, the settings and the versions that give this report again."""
    manifest = findings.tables.manifest
    settings = findings.tables.settings
    paths = manifest.get("sources", [])
    sources = "[...]"
    if 0 < len(paths) <= MOST_PATHS:
        sources = repr(paths)
    command = render(
        "report/command.txt",
        shared=manifest.get("shared"),
        command=shlex.join(manifest.get("command") or ()),
        sources=sources,
        named=[f"{name}={settings[name]!r}" for name in NAMED if name in settings],
    )
    command = command.strip()
    packages = manifest.get("packages", {})
    created = manifest.get("created")
    if created is not None:
        created = datetime.fromtimestamp(created, UTC)
    return part(
        "reproduce",
        None,
        command,
        command=command,
        made=manifest,
        settings=settings,
        wrote=findings.written_by,
        packages=[f"{name} {version}" for name, version in packages.items()],
        when=created,
    )


def recorded_html(findings: Findings) -> Html:
    """Recall at recorded compactions beside the strategies at the same size; empty where no
    recording has one.
    """
    data = findings.figures.recorded
    if data.empty:
        return Html("", "no recording has a compaction with a summary that can be read")
    return part("recorded", data, known=findings.tables.strategies)


def writers_html(findings: Findings) -> Html:
    """The models that wrote summaries, with the most frequent faults; nothing where `extractive`
    alone wrote.
    """
    run = findings.tables
    rows = findings.figures.writers
    if rows.empty or (rows["writer"] == "extractive").all():
        return empty(data=rows)
    return part(
        "writers",
        rows,
        half=HALVES[run.first_half],
        faults=_faults(run),
        known=run.strategies,
    )


def _faults(run: Tables) -> list[str]:
    """The most frequent findings, without what differs from one to the next."""
    kinds = []
    for findings in run.compactions["findings"].astype(str):
        for line in findings.split("\n"):
            if line:
                kinds.append(_kind_of_fault(line))
    counts = pd.Series(kinds, dtype=object).value_counts().head(MOST_FAULTS)
    return [f"{kind}: {some(int(count), 'time')}" for kind, count in counts.items()]


def _kind_of_fault(finding: str) -> str:
    """A finding without what differs from one to the next."""
    parts = finding.split(": ")
    if "wrote a useless summary" in finding:
        return parts[-2]
    return parts[0]


def replicates_html(results: Results) -> Html:
    """A row a strategy and mode: the spread of sessions and of answers; nothing where nothing
    was repeated.
    """
    note = repeated_note(results)
    splits = []
    for mode, where in MODES:
        try:
            split = variance_split(results, mode=mode)
        except SettingError:  # nothing was repeated in this mode
            continue
        splits.append(split.assign(where=where))
    if not splits and not note:
        return empty()
    rows = pd.DataFrame()
    if splits:
        rows = pd.concat(splits, ignore_index=True)
    return part("replicates", rows, note, note=note)
