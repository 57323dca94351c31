"""What a sweep found: its points with their settings, what each keeps and saves, and which of them nothing beats."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import nan
from typing import TypeAlias

import numpy as np
import pandas as pd

from workbench.analysis.compared import compare_table
from workbench.analysis.equal_size import evenly
from workbench.analysis.paired import by_project
from workbench.analysis.panel import frontier
from workbench.analysis.scores import floats, grouped, projects_of
from workbench.errors import SettingError
from workbench.experiment.store import Results
from workbench.metrics import HEADLINE

PLACE = ["recall", "tokens_saved"]
"""What is kept (`HEADLINE`) and what is saved: the two figures that place a point."""
METRICS = [*PLACE, "peak_context", "compactions"]
"""Of natural mode; matched mode adds `recall` and the size used at each budget."""
AT_SIZE = {HEADLINE: "recall_at_", "tokens_kept": "used_at_"}
"""What matched mode adds, by metric: a column a share, named after it."""
AGAINST = ["difference", "low", "high"]
"""From the baseline at the sizes used, as in `compare_table`."""

Row: TypeAlias = dict[str, object]


def sweep_table(results: Results) -> pd.DataFrame:
    """A row a point of the grid.

    Returns:
        `strategy` (the point's name), `base`, `window`, `window_least` and `window_most` (of those that its sessions
        were replayed in), `model`; a column for each setting that any point sets, by its
        path; the mean over projects of each of `METRICS` in natural mode, `recall` and `tokens_saved` over the
        `sessions` that have both, of how many that have any of them (`of`); `recall_at_<share>` and `used_at_<share>`,
        what is still known where that share was asked for and the size really used, over the sessions that may be
        compared there; `difference`, `low` and `high`: from the `baseline`, cut to the very sizes that the point used;
        `failed` and `pending` replays; and whether the point is `on_frontier` of `recall` against `tokens_saved`, with
        the `probability` of that over other projects, missing where there are too few.

    Raises:
        SettingError: the run is no sweep.
    """
    points = results.variants
    if points.empty:
        raise SettingError(f"{results.path} is no sweep; `workbench sweep grid.toml` makes one")
    scores = grouped(results).assign(value=floats(results.scores["value"]))
    projects = projects_of(scores)
    natural = scores[scores["mode"] == "natural"].replace({"metric": {HEADLINE: "recall"}})
    natural = natural[natural["metric"].isin(METRICS)]
    wide = natural.pivot_table(index=["strategy", "session"], columns="metric", values="value").reindex(columns=METRICS)
    even, against = _mean_at_sizes(scores, projects), _against(scores, results.baseline_at_sizes)
    statuses = results.replays.groupby(["strategy", "status"]).size()
    rows = [
        _settings(point)
        | _means(wide[wide.index.get_level_values("strategy") == point["strategy"]].droplevel("strategy"), projects)
        | even.get(point["strategy"], {})
        | against.get(point["strategy"], {})
        | {status: int(statuses.get((point["strategy"], status), 0)) for status in ("failed", "pending")}
        for point in points.to_dict("records")
    ]
    names = [str(one["strategy"]) for one in rows if one["sessions"]]
    places = wide[PLACE].unstack("strategy").reindex(columns=pd.MultiIndex.from_product([PLACE, names]))
    values = np.moveaxis(places.to_numpy(dtype=float).reshape(len(places), len(PLACE), len(names)), 1, 2)
    named = [projects[str(session)] for session in places.index]
    places = frontier(names, values, ("higher", "higher"), named).drop(columns="sessions")
    return pd.DataFrame(rows).merge(places, on="strategy", how="left")


def _settings(point: dict[str, str]) -> Row:
    names = ("window", "window_least", "window_most")
    windows: Row = {name: None if pd.isna(point[name]) else int(point[name]) for name in names}
    given = json.loads(point["settings"]).items()
    plain = {path: "+".join(map(str, value)) if isinstance(value, list) else value for path, value in given}
    return {"strategy": point["strategy"], "base": point["base"], **windows, "model": point["model"], **plain}


def _means(own: pd.DataFrame, projects: Mapping[str, str]) -> Row:
    """The means of a point, (sessions, metrics)."""
    both = own.dropna(subset=PLACE)
    means = {name: _mean((both if name in PLACE else own)[name], projects) for name in map(str, own)}
    return {**means, "sessions": len(both), "of": len(own.dropna(how="all"))}


def _mean(values: pd.Series[float], projects: Mapping[str, str]) -> float:
    """The mean over projects of values by session; NaN without any."""
    found = by_project(values.dropna(), projects)
    return float(found.mean()) if len(found) else nan


def _mean_at_sizes(scores: pd.DataFrame, projects: Mapping[str, str]) -> dict[str, Row]:
    """By strategy what it keeps and uses at each size, in the sessions that may be compared there."""
    matched = scores[(scores["mode"] == "matched") & scores["metric"].isin(AT_SIZE)].rename(columns={"why": "reason"})
    headline = matched["metric"] == HEADLINE
    matched = matched[matched["session"].isin(matched.loc[headline & matched["value"].notna(), "session"])]
    found: dict[str, Row] = {}
    for share, at in matched.groupby("share"):
        even = evenly(at[at["metric"] == HEADLINE]).dropna(subset="value")
        inside = even[["session", "strategy"]].merge(at.dropna(subset="value"))
        for (metric, name), own in inside.groupby(["metric", "strategy"]):
            value = _mean(own.groupby("session")["value"].mean(), projects)
            found.setdefault(str(name), {})[f"{AT_SIZE[metric]}{float(share):g}"] = value
    return found


def _against(scores: pd.DataFrame, at_sizes: pd.DataFrame) -> dict[str, Row]:
    """By strategy its difference from the baseline of the first run, at the sizes that it used."""
    if at_sizes.empty:
        return {}
    first = str(at_sizes["baseline"].iloc[0])
    rows = compare_table(scores, HEADLINE, first, "matched", at_sizes).set_index("strategy")[AGAINST]
    return {str(name): {**row, "baseline": first} for name, row in rows.to_dict("index").items()}
