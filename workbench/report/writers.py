"""What the models that wrote the summaries did: model beside model, and how much their answers vary."""

from __future__ import annotations

import pandas as pd

from workbench.analysis.replication import repeated_note, variance_split
from workbench.errors import SettingError
from workbench.experiment.store import Results
from workbench.formats import some
from workbench.report.html import Html, empty, part
from workbench.report.summaries import writers
from workbench.report.tables import Tables, strategies

MOST = 6
"""Kinds of findings that are listed."""
MODES = (("natural", "on its own trigger"), ("matched", "at equal size"))
"""Modes, and their names for readers."""


def writers_html(run: Tables) -> Html:
    """The models that wrote summaries, with the most frequent faults; nothing where `extractive` alone wrote."""
    rows = writers(run)
    if rows.empty or (rows["writer"] == "extractive").all():
        return empty(data=rows)
    return part("writers", rows, faults=_faults(run), known=strategies(run))


def _faults(run: Tables) -> list[str]:
    """The most frequent findings, without what differs from one to the next."""
    lines = run.compactions["findings"].astype(str).str.split("\n").explode()
    kinds = [line.split(": ")[-2 if "wrote a useless summary" in line else 0] for line in lines if line]
    counts = pd.Series(kinds, dtype=object).value_counts()
    return [f"{kind}: {some(int(n), 'time')}" for kind, n in counts.head(MOST).items()]


def replicates_html(results: object) -> Html:
    """A row a strategy and mode: the spread of sessions and of answers; nothing where nothing was repeated."""
    if not isinstance(results, Results):
        return empty()
    note, found = repeated_note(results), []
    for mode, where in MODES:
        try:
            found.append(variance_split(results, mode=mode).assign(where=where))
        except SettingError:  # nothing was repeated in this mode
            continue
    if not found and not note:
        return empty()
    return part("replicates", pd.concat(found, ignore_index=True) if found else pd.DataFrame(), note, note=note)
