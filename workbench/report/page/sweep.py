"""What a sweep found: its points with their settings, what each keeps and saves, and which of
them nothing beats.
"""

import json
from collections.abc import Hashable, Iterable
from math import nan
from typing import Any

import pandas as pd

from workbench.base.errors import SettingError
from workbench.base.formats import joined, percent, some
from workbench.base.typed_value import check_instance
from workbench.evaluation.analysis.paired import Estimate
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.findings.comparison import differences, standings
from workbench.evaluation.findings.summaries import dots
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.metrics import HALVES
from workbench.report.page.html import Html, empty, part

AT_SIZE, USED_AT = "recall_at_", "used_at_"
"""How the columns at the same size begin: what is kept where a share was asked for, and the size
really used.
"""
FIGURES = frozenset(
    {
        "strategy",
        "base",
        "window",
        "window_least",
        "window_most",
        "model",
        "recall",
        "tokens_saved",
        "peak_context",
        "compactions",
        "sessions",
        "of",
        "failed",
        "pending",
        "on_frontier",
        "probability",
        "difference",
        "low",
        "high",
        "baseline",
    }
)
"""Columns of a sweep's table that are no setting; nor are those of the sizes."""
TITLES = {"base": "Strategy", "window": "Window", "model": "Summaries by"}


def sweep_table(results: Results) -> pd.DataFrame:
    """A row a point of the grid.

    Returns:
        `strategy` (the point's name), `base`, `window`, `window_least` and `window_most` (of those
        that its sessions were replayed in), `model`; a column for each setting that any point sets,
        by its path; on the point's own trigger the means over projects of `recall` and
        `tokens_saved`, over the `sessions` in which every point has both (its own where the points
        share none), of how many that have any of them (`of`), `peak_context` and `compactions`;
        `recall_at_<share>` and `used_at_<share>`, what is kept where that share was asked for and
        the size really used, over the sessions that may be compared there; `difference`, `low` and
        `high`: from the `baseline`, cut to the very sizes that the point used; `failed` and
        `pending` replays; and whether the point is `on_frontier` of `recall` against
        `tokens_saved`, with the `probability` of that over other projects, missing where there are
        too few.

    Raises:
        SettingError: the run is no sweep.
    """
    check_instance("the run", results, Results, "a run, as wb.sweep or wb.Results.open gives it,")
    if results.variants.empty:
        raise SettingError(f"{results.path} is no sweep; `workbench lab sweep grid.toml` makes one")
    run = Tables.of(results)
    statuses = run.replays.groupby(["strategy", "status"]).size()
    shared_sessions = _shared_sessions(run, results.variants["strategy"])
    rows = []
    for point in results.variants.to_dict("records"):
        name = point["strategy"]
        row = _settings(point)
        row |= _figures(run, name, shared_sessions)
        for status in ("failed", "pending"):
            row[status] = int(statuses.get((name, status), 0))
        rows.append(row)
    table = pd.DataFrame(rows)
    if len(run.at_used_sizes):
        columns = ["strategy", "difference", "low", "high"]
        against = differences(run)[columns]
        against = against.assign(baseline=run.baseline)
        table = table.merge(against, on="strategy", how="left")
    has_sessions = table["sessions"] > 0
    with_sessions = table.loc[has_sessions, "strategy"]
    places = standings(run, list(with_sessions))
    places = places.drop(columns="sessions")
    return table.merge(places, on="strategy", how="left")


def _settings(point: dict[Hashable, Any]) -> dict[str, object]:
    """The strategy of a point with its window, its model and each setting that it changes."""
    row = {
        "strategy": point["strategy"],
        "base": point["base"],
    }
    for name in ("window", "window_least", "window_most"):
        window = point[name]
        row[name] = None if pd.isna(window) else int(window)
    row["model"] = point["model"]
    for path, value in json.loads(point["settings"]).items():
        if isinstance(value, list):
            value = "+".join(map(str, value))
        row[path] = value
    return row


def _shared_sessions(run: Tables, names: Iterable[str]) -> set[str]:
    """The sessions in which every point that keeps and saves anything does both; empty where the
    points share none.
    """
    sessions_by_point = []
    for name in names:
        with_both = dots(run, name).dropna()
        if len(with_both):
            sessions_by_point.append(set(with_both.index))
    if not sessions_by_point:
        return set()
    return set.intersection(*sessions_by_point)


def _figures(
    run: Tables,
    name: str,
    shared_sessions: set[str],
) -> dict[str, float | None]:
    """The means of a point, and the sessions that its place rests on: those that all points share,
    its own where they share none.
    """
    sessions = dots(run, name)
    with_both = sessions.dropna()
    if shared_sessions:
        is_shared = with_both.index.isin(shared_sessions)
        with_both = with_both[is_shared]
    recall = run.mean_over_projects(with_both["recall"])
    saved = run.mean_over_projects(with_both["saved"])
    figures: dict[str, float | None] = {
        "recall": _mean(recall),
        "tokens_saved": _mean(saved),
    }
    for metric in ("peak_context", "compactions"):
        estimate = run.own_trigger(name, metric)
        figures[metric] = _mean(estimate)
    for share in run.shares:
        estimate = run.equal_size(name, share)
        figures[f"{AT_SIZE}{share:g}"] = _mean(estimate)
    for share in run.shares:
        figures[f"{USED_AT}{share:g}"] = run.used(name, share)
    figures["sessions"] = len(with_both)
    figures["of"] = len(sessions)
    return figures


def _mean(estimate: Estimate | None) -> float:
    if estimate is None:
        return nan
    return estimate.mean


def shared_words(points: pd.DataFrame) -> str:
    """Over which sessions the points of a `sweep_table` keep and save what it says."""
    if points["on_frontier"].notna().any():
        return "the same sessions: those in which every point has both figures"
    return "each point's own sessions, since no session has both figures for all: do not compare"


def sweep_html(results: Results) -> Html:
    """The points of a sweep, those on the frontier first; nothing where the run is no sweep."""
    if results.variants.empty:
        return empty()
    run = Tables.of(results)
    points = sweep_table(results)
    points = points.sort_values(
        ["on_frontier", "recall"],
        ascending=False,
        na_position="last",
        ignore_index=True,
    )
    merged = results.manifest.get("merged", ())
    note = "; ".join([_counted(points), *merged])
    return part(
        "sweep",
        points,
        note,
        at_size=HALVES[run.leading("matched")].capitalize(),
        own=HALVES[run.leading("natural")].capitalize(),
        note=note,
        rows=_plain_rows(points),
        settings=_setting_columns(points),
        sizes=_size_columns(points),
        base=_baseline(points),
        shared=shared_words(points),
    )


def _baseline(points: pd.DataFrame) -> str:
    """What the points are compared with; empty for nothing."""
    if "baseline" in points:
        for name in points["baseline"].dropna():
            return str(name)
    return ""


def _plain_rows(points: pd.DataFrame) -> list[dict[Hashable, Any]]:
    """The points as rows, with None where a value is missing."""
    is_known = points.notna()
    plain = points.astype(object).where(is_known, None)
    rows: list[dict[Hashable, Any]] = plain.to_dict("records")
    return rows


def _counted(points: pd.DataFrame) -> str:
    """How many points there are, and which of them nothing beats."""
    is_unbeaten = points["on_frontier"].fillna(False).astype(bool)
    unbeaten = [str(name) for name in points.loc[is_unbeaten, "strategy"]]
    verb = "is" if len(unbeaten) == 1 else "are"
    names = joined(unbeaten) or "none"
    grid = some(len(points), "point")
    return f"{grid} of a grid; {names} {verb} unbeaten"


def _setting_columns(points: pd.DataFrame) -> list[tuple[str, str]]:
    """Title and name of each column in which the points differ."""
    columns = []
    for name, title in TITLES.items():
        if points[name].nunique(dropna=False) > 1:
            columns.append((title, name))
    for name in points:
        if name not in FIGURES and not name.startswith((AT_SIZE, USED_AT)):
            title = name.replace("_", " ").replace(".", " · ")
            columns.append((title, name))
    return columns


def _size_columns(points: pd.DataFrame) -> list[tuple[str, str, str]]:
    """Share, column of what is kept, and column of the size used, for each size asked for."""
    columns = []
    for name in points:
        if name.startswith(AT_SIZE):
            share = float(name.removeprefix(AT_SIZE))
            used_column = name.replace(AT_SIZE, USED_AT)
            columns.append((percent(share), name, used_column))
    return columns
