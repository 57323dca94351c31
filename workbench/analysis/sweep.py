"""What a sweep found: its points with their settings, what each keeps and saves, and which of them nothing beats."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pandas as pd

from workbench.analysis.pareto import Standing, frontier
from workbench.errors import SettingError
from workbench.experiment.store import Results
from workbench.metrics.metric import Better

METRICS = ("frr", "tokens_saved", "peak_context", "compactions")
"""Of natural mode, which tells settings apart; matched mode adds `frr` at each budget."""


def sweep_table(results: Results, metrics: Sequence[str] = METRICS) -> pd.DataFrame:
    """A row a point of the grid.

    Args:
        results: a sweep's run.
        metrics: of natural mode.

    Returns:
        `strategy` (the point's name), `base`, `window`, `model`; a column for each setting that any point sets, by its
        path; for each metric its mean over sessions in the metric's unit; `frr_at_<share>`; `sessions` that have a
        value of the first metric; `failed` cells; and whether the point is `on_frontier` of what is kept against what
        is saved (`frr` and `tokens_saved`), with the `probability` of that over other sessions, missing where there are
        too few.

    Raises:
        SettingError: the run is no sweep.
    """
    points = results.variants
    if points.empty:
        raise SettingError(f"{results.path} is no sweep; `workbench sweep grid.toml` makes one")
    rows = []
    means = _means(results.scores, metrics)
    failed = results.cells[results.cells["status"] != "ok"].groupby("strategy").size().to_dict()
    for point in points.to_dict("records"):
        name = str(point["strategy"])
        settings = json.loads(str(point["settings"]))
        plain = {path: "+".join(map(str, v)) if isinstance(v, list) else v for path, v in settings.items()}
        window = None if pd.isna(point["window"]) else int(point["window"])
        rows.append(
            {"strategy": name, "base": str(point["base"]), "window": window, "model": str(point["model"])}
            | plain | means.get(name, {}) | {"failed": int(failed.get(name, 0))}
        )  # fmt: skip
    table = pd.DataFrame(rows)
    standing = {one.strategy: one for one in _frontier(results.scores, table["strategy"].tolist())}
    table["on_frontier"] = [standing[name].on_frontier if name in standing else None for name in table["strategy"]]
    table["probability"] = [standing[name].probability if name in standing else None for name in table["strategy"]]
    return table


def _means(scores: pd.DataFrame, metrics: Sequence[str]) -> Mapping[str, dict[str, float | int | None]]:
    values = scores.assign(value=pd.to_numeric(scores["value"]).astype("Float64").astype("float64"))
    found: dict[str, dict[str, float | int | None]] = {}
    for name, own in values.groupby("strategy", sort=False):
        natural = own[own["mode"] == "natural"]
        row: dict[str, float | int | None] = {}
        for metric in metrics:
            given = natural.loc[natural["metric"] == metric, "value"].dropna()
            row[metric] = float(given.mean()) if len(given) else None
        matched = own[(own["mode"] == "matched") & (own["metric"] == "frr")]
        for share, at in matched.groupby("share"):
            given = at["value"].dropna()
            row[f"frr_at_{float(share):g}"] = float(given.mean()) if len(given) else None
        row["sessions"] = int(natural.loc[natural["metric"] == metrics[0], "value"].notna().sum()) if metrics else 0
        found[str(name)] = row
    return found


def _frontier(scores: pd.DataFrame, names: Sequence[str]) -> Sequence[Standing]:
    counts: tuple[tuple[str, Better], ...] = (("frr", "higher"), ("tokens_saved", "higher"))
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
