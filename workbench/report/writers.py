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
    if all(str(writer) == "extractive" for writer in rows["writer"]):
        return empty(data=rows)
    return part("writers", data=rows, rows=rows.to_dict("records"), faults=_faults(run), known=strategies(run))


def _faults(run: Tables) -> list[str]:
    """The most frequent findings, without what differs from one to the next."""
    lines = [line for text in run.compactions["findings"].astype(str) for line in text.splitlines() if line]
    kinds = pd.Series(
        [line.split(": ")[-2 if "wrote a useless summary" in line else 0] for line in lines], dtype=object
    )
    return [f"{kind}: {some(int(n), 'time')}" for kind, n in kinds.value_counts().head(MOST).items()]


def replicates_html(results: object) -> Html:
    """A row a strategy and mode: the spread of sessions and of answers; nothing where nothing was repeated."""
    if not isinstance(results, Results):
        return empty()
    note, rows = repeated_note(results), _spreads(results)
    if rows.empty and not note:
        return empty()
    known = [] if rows.empty else list(dict.fromkeys(rows["strategy"]))
    data = None if rows.empty else rows
    return part("replicates", note, data, note=note, rows=rows.to_dict("records"), known=known)


def _spreads(results: Results) -> pd.DataFrame:
    found = []
    for mode, where in MODES:
        try:
            found.append(variance_split(results, mode=mode).assign(where=where))
        except SettingError:  # nothing was repeated in this mode
            continue
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()
