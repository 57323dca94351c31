"""How much of a metric's variance lies between sessions, and how much in the model's answers."""

from math import sqrt

import pandas as pd

from workbench.base.errors import SettingError
from workbench.evaluation.analysis.scores import floats
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.metrics import NAMES

COLUMNS = (
    "strategy",
    "sessions",
    "replicates",
    "mean",
    "between",
    "within",
    "model_share",
    "error",
    "error_at_most",
)
"""Of `variance_split`, see there."""


def variance_split(
    results: Results, metric: str = NAMES, mode: str = "natural", share: float | None = None
) -> pd.DataFrame:
    """Split each strategy's variance over sessions and replicates.

    Args:
        results: a run with replicates.
        metric: one of its metrics.
        mode: `natural` or `matched`.
        share: of matched mode; None takes each session's mean over all shares.

    Returns:
        A row a strategy that was repeated, over the sessions that have a value in every replicate:
        `mean` in the metric's unit; `between`, the standard deviation of sessions without what the
        model adds, and `within`, that of replicates of one session; `model_share`, the part of one
        value's variance that is the model's, in [0, 1]; `error`, the standard error of the mean
        over sessions as run, and `error_at_most`, the same with any number of replicates: where the
        two are close, more sessions help and more replicates do not. Missing where there are fewer
        than two sessions or replicates.

    Raises:
        SettingError: nothing was repeated, or the metric has no values.

    Source:
        One-way random effects: S. R. Searle et al., Variance Components (1992), chapter 3.
    """
    rows = results.replicates
    if rows.empty:
        raise SettingError(
            f"{results.path} has no replicates; `workbench compare --replicates 3` makes some"
        )
    rows = rows[(rows["metric"] == metric) & (rows["mode"] == mode)]
    if share is not None:
        rows = rows[(floats(rows["share"]).fillna(0.0) - share).abs() < 1e-9]
    if rows.empty:
        raise SettingError(
            f"{results.path} has no replicates of {metric!r} in mode {mode!r} at that share"
        )
    rows = rows.assign(value=floats(rows["value"]))
    splits: list[dict[str, object]] = []
    for name, of_strategy in rows.groupby("strategy", sort=False):
        wide = of_strategy.pivot_table(
            index="session", columns="replicate", values="value", dropna=False
        )
        splits.append({"strategy": str(name), **_split(wide.dropna())})
    return pd.DataFrame(splits, columns=list(COLUMNS))


def repeated_note(results: Results) -> str:
    """A warning for the reader of replicates that are all the same; empty for nothing."""
    settings = results.manifest.get("settings")
    if not isinstance(settings, dict) or settings.get("replicates") is None:
        return ""
    rows = results.replicates
    if rows.empty:
        return (
            "Nothing was repeated: the writer of this run's summaries answers the same each time."
        )
    repeated = rows[rows["replicate"].notna()]
    place = ["strategy", "session", "mode", "share", "metric"]
    values = repeated.groupby(place, dropna=False)["value"].agg(["nunique", "size"])
    names: list[str] = []
    for name, of_strategy in values.groupby("strategy", sort=False):
        is_repeated = (of_strategy["size"] > 1).any()
        is_always_same = (of_strategy["nunique"] <= 1).all()
        if is_repeated and is_always_same:
            names.append(str(name))
    if not names:
        return ""
    return (
        f"The replicates of {' and '.join(names)} are all the same: the model gave the same answer"
        " each time, as most do at temperature 0, so they say nothing of how much another answer"
        " would matter."
    )


def _split(values: pd.DataFrame) -> dict[str, float | int | None]:
    """The variances of (sessions, replicates)."""
    n, k = values.shape
    means = values.mean(axis=1)
    row: dict[str, float | int | None] = {
        "sessions": n,
        "replicates": k,
        "mean": float(means.mean()) if n else None,
    }
    if n < 2 or k < 2:
        return row
    within = float(values.var(axis=1).mean())
    between = max(float(means.var()) - within / k, 0.0)
    total = between + within
    return row | {
        "between": sqrt(between),
        "within": sqrt(within),
        "model_share": within / total if total else 0.0,
        "error": sqrt((between + within / k) / n),
        "error_at_most": sqrt(between / n),
    }
