"""The points of a sweep: what each sets, keeps and saves, and which are on the Pareto frontier."""

from __future__ import annotations

from workbench.analysis.sweep import sweep_table
from workbench.experiment.store import Results
from workbench.formats import joined, percent, some
from workbench.report.html import Html, empty, part

FIGURES = frozenset({
    "strategy", "base", "window", "model", "recall", "tokens_saved", "peak_context", "compactions", "sessions", "of",
    "failed", "on_frontier", "probability",
})  # fmt: skip
"""Columns of a sweep's table that are no setting."""
AT_SIZE = "recall_at_"
TITLES = {"base": "Strategy", "window": "Window", "model": "Summaries by"}


def sweep_html(results: object) -> Html:
    """The points of a sweep, those on the frontier first; nothing where the run is no sweep."""
    if not isinstance(results, Results) or results.variants.empty:
        return empty()
    points = sweep_table(results)
    points = points.sort_values(["on_frontier", "recall"], ascending=False, na_position="last").reset_index(drop=True)
    varied = [name for name in TITLES if points[name].nunique(dropna=False) > 1]
    varied += [name for name in points if name not in FIGURES and not name.startswith(AT_SIZE)]
    unbeaten = [str(name) for name in points.loc[points["on_frontier"].fillna(False).astype(bool), "strategy"]]
    verb = "is" if len(unbeaten) == 1 else "are"
    told = f"{some(len(points), 'point')} of a grid; {joined(unbeaten) or 'none'} {verb} unbeaten"
    return part(
        "sweep", points, told, told=told, rows=points.astype(object).where(points.notna(), None).to_dict("records"),
        settings=[(TITLES.get(name, name.replace("_", " ").replace(".", " · ")), name) for name in varied],
        sizes=[
            (f"Still knows at {percent(float(name.removeprefix(AT_SIZE)))} of the size", name)
            for name in points if name.startswith(AT_SIZE)
        ],
    )  # fmt: skip
