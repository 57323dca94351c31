"""What simulations say of each strategy: means with intervals over projects."""

from math import inf

import pandas as pd

from workbench.evaluation.analysis.paired import estimate, interval_columns

FIGURES = (
    "compactions", "look_ups", "recalls", "look_up_tokens", "look_up_usd", "blind", "blind_user", "blind_decision",
    "blind_result", "spirals", "steps_until_work", "usd_uncompacted", "saved_usd", "saved_usd_net",
)  # fmt: skip
"""Columns of `simulated`, and `blind`: all blind actions."""


def by_strategy(simulated: pd.DataFrame) -> pd.DataFrame:
    """A row a strategy with the mean over projects, each the mean of its sessions, of each of `FIGURES`.

    Args:
        simulated: the table of that name.

    Returns:
        `strategy`, `sessions`, `projects`, and each figure with `_low` and `_high`, the ends of its 95 % interval;
        missing with fewer than six projects. Sessions without a value, such as a price, do not count for it.
    """
    kinds = [name for name in simulated if name.startswith("blind_")]
    every = simulated.assign(blind=simulated[kinds].sum(axis=1))
    return pd.DataFrame([_means(str(name), rows) for name, rows in every.groupby("strategy", sort=False)])


def _means(strategy: str, rows: pd.DataFrame) -> dict[str, object]:
    found: dict[str, object] = {
        "strategy": strategy, "sessions": rows["session"].nunique(), "projects": rows["project"].nunique()
    }  # fmt: skip
    for name in FIGURES:
        known = rows[rows[name].notna()]
        least = -inf if name.startswith("saved") else 0.0
        mean = estimate(known[name].astype(float).tolist(), known["project"].tolist(), least=least)
        found |= interval_columns(name, mean)
    return found
