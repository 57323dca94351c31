"""What replicates say: how much of a score's spread is the sessions', and how much the model that answers otherwise."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from workbench.analysis.replication import repeated_note, variance_split
from workbench.errors import SettingError
from workbench.experiment.store import Results
from workbench.markup import shown
from workbench.report.digits import NOTHING, percent
from workbench.report.html import Cell, Html, dot, row, table

WHERE = (("natural", "on its own trigger"), ("matched", "at equal size"))
"""Modes, and what the reader calls them."""


def repeated_html(results: object) -> Html:
    """A row a strategy and mode, with a warning where replicates say nothing; empty where none were asked for."""
    if not isinstance(results, Results):
        return Html("")
    note = repeated_note(results)
    warned = f'<p class="bad">{shown(note, 2000)}</p>' if note else ""
    rows = _rows(results)
    if rows.empty and not note:
        return Html("")
    head = '<h2 id="replicates">Replicates</h2>'
    if rows.empty:
        return Html(head + warned, note)
    names = list(dict.fromkeys(rows["strategy"]))
    heads: list[Cell] = [("Strategy", ""), ("Kept", ""), ("Mean", "n"), ("Sessions", "n"), ("Replicates", "n"),
                         ("Spread of sessions", "n"), ("Spread of answers", "n"), ("The model's part", "n"),
                         ("Error of the mean", "n"), ("With endless replicates", "n")]  # fmt: skip
    lines = [
        row([(dot(one["strategy"], names), ""), (one["where"], ""), *((text, "n") for text in _figures(one))])
        for one in rows.to_dict("records")
    ]
    caption = (
        "The same run several times, where a model may answer otherwise each time; every other table shows the means. "
        "Spread: standard deviation of what is kept, of sessions without what the model adds, and of the answers to "
        "one session. The model's part: of the variance of one value. Where the last two columns are near each other, "
        "more sessions would make the mean surer, and more replicates would not."
    )
    return Html(head + warned + table(heads, lines, caption=caption, label="replicates"), note, rows)


def _rows(results: Results) -> pd.DataFrame:
    found = []
    for mode, where in WHERE:
        try:
            found.append(variance_split(results, mode=mode).assign(where=where))
        except SettingError:  # nothing was repeated in this mode
            continue
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()


def _figures(one: Mapping[Hashable, Any]) -> tuple[str, ...]:
    spreads = (_share(one[name]) for name in ("between", "within", "model_share", "error", "error_at_most"))
    return (_share(one["mean"]), str(one["sessions"]), str(one["replicates"]), *spreads)


def _share(value: object) -> str:
    return percent(float(value)) if isinstance(value, float) and value == value else NOTHING
