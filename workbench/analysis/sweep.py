"""What a sweep found: its points with their settings, what each keeps and saves, and which of them nothing beats."""

from __future__ import annotations

import json
from typing import TypeAlias

import numpy as np
import pandas as pd

from workbench.analysis.over_target import evenly
from workbench.analysis.pareto import frontier
from workbench.analysis.scores import floats
from workbench.errors import SettingError
from workbench.experiment.store import Results
from workbench.metrics import HEADLINE

PLACE = ["recall", "tokens_saved"]
"""What is kept (`HEADLINE`) and what is saved: the two figures that place a point."""
METRICS = [*PLACE, "peak_context", "compactions"]
"""Of natural mode; matched mode adds `recall` at each budget."""

Row: TypeAlias = dict[str, object]


def sweep_table(results: Results) -> pd.DataFrame:
    """A row a point of the grid.

    Returns:
        `strategy` (the point's name), `base`, `window`, `model`; a column for each setting that any point sets, by its
        path; the mean over sessions of each of `METRICS` in natural mode, `recall` and `tokens_saved` over the
        `sessions` that have both, of how many that have any of them (`of`); `recall_at_<share>`, over the sessions that
        may be compared at that size; `failed` and `pending` replays; and whether the point is `on_frontier` of `recall`
        against `tokens_saved`, with the `probability` of that over other sessions, missing where there are too few.

    Raises:
        SettingError: the run is no sweep.
    """
    points = results.variants
    if points.empty:
        raise SettingError(f"{results.path} is no sweep; `workbench sweep grid.toml` makes one")
    scores = results.scores.assign(value=floats(results.scores["value"]))
    natural = scores[scores["mode"] == "natural"].replace({"metric": {HEADLINE: "recall"}})
    natural = natural[natural["metric"].isin(METRICS)]
    wide = natural.pivot_table(index=["strategy", "session"], columns="metric", values="value").reindex(columns=METRICS)
    even = _mean_at_sizes(scores)
    statuses = results.replays.groupby(["strategy", "status"]).size()
    rows = [
        _settings(point)
        | _means(wide[wide.index.get_level_values("strategy") == point["strategy"]])
        | even.get(point["strategy"], {})
        | {status: int(statuses.get((point["strategy"], status), 0)) for status in ("failed", "pending")}
        for point in points.to_dict("records")
    ]
    names = list(points["strategy"])
    places = wide[PLACE].unstack("strategy").reindex(columns=pd.MultiIndex.from_product([PLACE, names]))
    values = np.moveaxis(places.to_numpy(dtype=float).reshape(-1, len(PLACE), len(names)), 1, 2)
    places = frontier(names, values, ("higher", "higher")).drop(columns="sessions")
    return pd.DataFrame(rows).merge(places, on="strategy", how="left")


def _settings(point: dict[str, str]) -> Row:
    window = None if pd.isna(point["window"]) else int(point["window"])
    given = json.loads(point["settings"]).items()
    plain = {path: "+".join(map(str, value)) if isinstance(value, list) else value for path, value in given}
    return {"strategy": point["strategy"], "base": point["base"], "window": window, "model": point["model"], **plain}


def _means(own: pd.DataFrame) -> Row:
    """The means of a point, (sessions, metrics)."""
    both = own.dropna(subset=PLACE)
    return {**own.mean(), **both[PLACE].mean(), "sessions": len(both), "of": len(own.dropna(how="all"))}


def _mean_at_sizes(scores: pd.DataFrame) -> dict[str, Row]:
    """By strategy what it keeps at each size, in the sessions that may be compared there."""
    matched = scores[(scores["mode"] == "matched") & (scores["metric"] == HEADLINE)].rename(columns={"why": "reason"})
    matched = matched[matched["session"].isin(matched.loc[matched["value"].notna(), "session"])]
    found: dict[str, Row] = {}
    for share, at in matched.groupby("share"):
        for name, own in evenly(at).dropna(subset="value").groupby("strategy"):
            mean = own.groupby("session")["value"].mean().mean()
            found.setdefault(str(name), {})[f"recall_at_{float(share):g}"] = float(mean)
    return found
