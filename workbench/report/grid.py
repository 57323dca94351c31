"""The points of a sweep: what each sets, keeps and saves, and which of them nothing beats."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from workbench.analysis.sweep import sweep_table
from workbench.experiment.store import Results
from workbench.markup import shown
from workbench.report.digits import NOTHING, amount, count, listed, percent, some
from workbench.report.html import Cell, Html, row, table

OURS = frozenset({
    "strategy", "base", "window", "model", "recall", "tokens_saved", "peak_context", "compactions", "sessions", "of",
    "failed", "on_frontier", "probability",
})  # fmt: skip
"""Columns of a sweep's table that are no setting."""


def sweep_html(results: object) -> Html:
    """The points of a sweep, those that nothing beats first; nothing where the run is no sweep."""
    if not isinstance(results, Results) or results.variants.empty:
        return Html("")
    points = sweep_table(results)
    points = points.sort_values(["on_frontier", "recall"], ascending=False, na_position="last").reset_index(drop=True)
    settings = [name for name in points.columns if name not in OURS and not str(name).startswith("recall_at_")]
    varied = [name for name in ("base", "window", "model") if points[name].nunique(dropna=False) > 1] + settings
    budgets = [str(name) for name in points.columns if str(name).startswith("recall_at_")]
    names = {"base": "Strategy", "window": "Window", "model": "Summaries by"}
    heads = [(names.get(name, shown(_spoken(name))), "n" if name == "window" else "") for name in varied]
    heads += [
        (f"Still knows at {percent(float(name.removeprefix('recall_at_')))} of the size", "n") for name in budgets
    ]
    heads += [("Kept on its own trigger", "n"), ("Tokens saved", "n"), ("Largest request", "n"),
              ("Compac&shy;tions", "n"), ("Unbeaten", "n"), ("Sessions", "n")]  # fmt: skip
    records = points.astype(object).where(points.notna(), None).to_dict("records")
    lines = [row(_cells(one, varied, budgets), "best" if one["on_frontier"] else "") for one in records]
    unbeaten = [str(one["strategy"]) for one in records if one["on_frontier"]]
    told = f"{some(len(points), 'point')} of a grid; {listed(unbeaten) or 'none'} {_are(len(unbeaten))} unbeaten"
    note = (
        "Unbeaten: no other point both keeps and saves at least as much on its own trigger; the figure is how often "
        "that would be so with other sessions of this kind. What a point keeps and saves on its own trigger is over "
        "the same sessions: those that have both figures."
    )
    body = table(heads, lines, kind="sweep", caption=note, label="points of the sweep")
    return Html(
        f'<h2 id="points-of-the-sweep">The points of the sweep</h2><p>{shown(told, 2000)}.</p>{body}', told, points
    )


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _rests_on(one: Mapping[Hashable, Any]) -> str:
    """How many sessions its two figures rest on: `9 of 10`, or `10` where they are all."""
    return count(one["of"]) if one["sessions"] == one["of"] else f"{count(one['sessions'])} of {count(one['of'])}"


def _spoken(setting: object) -> str:
    """A setting's path as words."""
    return str(setting).replace("_", " ").replace(".", " · ")


def _cells(one: Mapping[Hashable, Any], varied: list[str], budgets: list[str]) -> list[Cell]:
    cells: list[Cell] = []
    for name in varied:
        value = one[name]
        if name == "window":
            cells.append((amount(value) if value is not None else "each session’s own", "n"))
        else:
            cells.append((shown(value) if value is not None else NOTHING, ""))
    failed = f' <small class="bad">{one["failed"]} failed</small>' if one["failed"] else ""
    sure = NOTHING if one["probability"] is None else percent(one["probability"])
    return [
        *cells, *((percent(one[name]), "n") for name in budgets), (percent(one["recall"]) + failed, "n"),
        (percent(one["tokens_saved"]), "n"), (amount(one["peak_context"]), "n"), (count(one["compactions"]), "n"),
        (f"{'yes' if one['on_frontier'] else 'no'} <small>{sure}</small>", "n"), (_rests_on(one), "n"),
    ]  # fmt: skip
