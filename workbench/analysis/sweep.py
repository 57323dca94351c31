"""What a sweep found: its points with their settings, what each keeps and saves, and which of them nothing beats."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pandas as pd

from workbench.analysis.over_target import evenly
from workbench.analysis.pareto import Standing, frontier
from workbench.analysis.scores import floats
from workbench.errors import SettingError
from workbench.experiment.store import Results
from workbench.metrics.metric import Better

PLACE = ("recall", "tokens_saved")
"""What is kept and what is saved: the two figures of a point."""
METRICS = ("recall", "tokens_saved", "peak_context", "compactions")
"""Of natural mode, which tells settings apart; matched mode adds `recall` at each budget."""


def sweep_table(results: Results, metrics: Sequence[str] = METRICS) -> pd.DataFrame:
    """A row a point of the grid.

    Args:
        results: a sweep's run.
        metrics: of natural mode.

    Returns:
        `strategy` (the point's name), `base`, `window`, `model`; a column for each setting that any point sets, by its
        path; for each metric its mean over sessions in the metric's unit, `recall` and `tokens_saved` over the sessions
        that have both, so that a point is one place; `recall_at_<share>`, over the sessions that may be compared at
        that size; the `sessions` that `recall` and `tokens_saved` rest on (those that have the first metric where not
        both are asked for), of how many that have any metric (`of`); `failed` cells; and whether the point is
        `on_frontier` of `recall` against `tokens_saved`, with the `probability` of that over other sessions, missing
        where there are too few.

    Raises:
        SettingError: the run is no sweep.
    """
    points = results.variants
    if points.empty:
        raise SettingError(f"{results.path} is no sweep; `workbench sweep grid.toml` makes one")
    rows = []
    means = _means(results.scores, metrics)
    failed = results.replays[results.replays["status"] != "ok"].groupby("strategy").size().to_dict()
    for point in points.to_dict("records"):
        name = str(point["strategy"])
        settings = json.loads(str(point["settings"]))
        plain = {path: "+".join(map(str, v)) if isinstance(v, list) else v for path, v in settings.items()}
        window = None if pd.isna(point["window"]) else int(point["window"])
        rows.append(
            {"strategy": name, "base": str(point["base"]), "window": window, "model": str(point["model"])}
            | plain | means.get(name, {"sessions": 0, "of": 0}) | {"failed": int(failed.get(name, 0))}
        )  # fmt: skip
    table = pd.DataFrame(rows)
    standing = {one.strategy: one for one in _frontier(results.scores, table["strategy"].tolist())}
    table["on_frontier"] = [standing[name].on_frontier if name in standing else None for name in table["strategy"]]
    table["probability"] = [standing[name].probability if name in standing else None for name in table["strategy"]]
    return table


def _means(scores: pd.DataFrame, metrics: Sequence[str]) -> Mapping[str, dict[str, float | int | None]]:
    values = scores.assign(value=floats(scores["value"]))
    found: dict[str, dict[str, float | int | None]] = {}
    even = _even(values)
    for name, own in values.groupby("strategy", sort=False):
        natural = own[own["mode"] == "natural"]
        given = {metric: _by_session(natural[natural["metric"] == metric]) for metric in metrics}
        have = set[str]().union(*(one.index for one in given.values()))
        if set(PLACE) <= set(given):
            both = given[PLACE[0]].index.intersection(given[PLACE[1]].index)
            given |= {metric: given[metric].loc[both] for metric in PLACE}
            rest = len(both)
        else:
            rest = len(given[metrics[0]]) if metrics else 0
        row: dict[str, float | int | None] = {metric: _mean(one) for metric, one in given.items()}
        found[str(name)] = row | _at_sizes(even[even["strategy"] == name]) | {"sessions": rest, "of": len(have)}
    return found


def _even(scores: pd.DataFrame) -> pd.DataFrame:
    """What is kept at equal size, at each size in the sessions that may be compared there."""
    matched = scores[(scores["mode"] == "matched") & (scores["metric"] == "recall")]
    matched = matched[matched["session"].isin(matched.loc[matched["value"].notna(), "session"])]
    parts = [evenly(at.assign(reason=at["why"])) for _, at in matched.groupby("share")]
    return pd.concat(parts) if parts else matched


def _at_sizes(matched: pd.DataFrame) -> dict[str, float | int | None]:
    return {f"recall_at_{float(share):g}": _mean(_by_session(at)) for share, at in matched.groupby("share")}


def _by_session(rows: pd.DataFrame) -> pd.Series[float]:
    return rows[rows["value"].notna()].groupby("session")["value"].mean()


def _mean(values: pd.Series[float]) -> float | None:
    return float(values.mean()) if len(values) else None


def _frontier(scores: pd.DataFrame, names: Sequence[str]) -> Sequence[Standing]:
    counts: tuple[tuple[str, Better], ...] = (("recall", "higher"), ("tokens_saved", "higher"))
    natural = scores[(scores["mode"] == "natural") & scores["strategy"].isin(list(names))]
    wide = [
        natural[natural["metric"] == metric]
        .pivot_table(index="session", columns="strategy", values="value", dropna=False)
        .reindex(columns=list(names))
        for metric, _ in counts
    ]
    sessions = wide[0].index.intersection(wide[1].index)
    values = [[[float(one.at[s, n]) if pd.notna(one.at[s, n]) else float("nan") for one in wide] for n in names]
              for s in sessions]  # fmt: skip
    return frontier(names, values, [better for _, better in counts]) if values else ()
