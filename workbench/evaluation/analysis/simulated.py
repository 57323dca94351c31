"""What simulations say of each strategy: means with intervals over projects."""

from math import inf

import pandas as pd

from workbench.base.formats import joined, some
from workbench.evaluation.analysis.paired import estimate, interval_columns

FIGURES = (
    "compactions", "look_ups", "recalls", "look_up_tokens", "look_up_usd", "blind", "blind_user", "blind_decision",
    "blind_result", "spirals", "steps_until_work", "usd_uncompacted", "saved_usd", "saved_usd_net",
)  # fmt: skip
"""Columns of `simulated`, and `blind`: all blind actions."""


def by_strategy(simulated: pd.DataFrame) -> pd.DataFrame:
    """A row a strategy with the mean over projects, each the mean of its sessions, of each of
    `FIGURES`.

    Args:
        simulated: the table of that name.

    Returns:
        `strategy`, `sessions`, `projects`, and each figure with `_low` and `_high`, the ends of its
        95 % interval; missing with fewer than six projects. Sessions without a value, such as a
        price, do not count for it.
    """
    kinds = [name for name in simulated if name.startswith("blind_")]
    with_blind = simulated.assign(blind=simulated[kinds].sum(axis=1))
    by_name = with_blind.groupby("strategy", sort=False)
    return pd.DataFrame([_means(str(name), rows) for name, rows in by_name])


def _means(strategy: str, rows: pd.DataFrame) -> dict[str, object]:
    means: dict[str, object] = {
        "strategy": strategy,
        "sessions": rows["session"].nunique(),
        "projects": rows["project"].nunique(),
    }
    for name in FIGURES:
        with_value = rows[rows[name].notna()]
        values = with_value[name].astype(float).tolist()
        lower_bound = -inf if name.startswith("saved") else 0.0
        mean = estimate(values, with_value["project"].tolist(), least=lower_bound)
        means |= interval_columns(name, mean)
    return means


def which_bill(simulated: pd.DataFrame) -> str:
    """Which of two figures to believe where the bill says that a strategy saves and the look-ups
    turn it round.

    Args:
        simulated: the table of that name.

    Returns:
        A few sentences, with the session that alone turns it where there is one; empty where both
        figures have the same sign for every strategy.
    """
    dearer: list[str] = []
    cheaper: list[str] = []
    alone: list[str] = []
    with_bill = simulated.dropna(subset=["saved_usd", "saved_usd_net"])
    for name, rows in with_bill.groupby("strategy", sort=False):
        if not _is_turned(rows):
            continue
        if _mean(rows, "saved_usd") > 0:
            dearer.append(str(name))
        else:
            cheaper.append(str(name))
        detours = (rows["saved_usd"] - rows["saved_usd_net"]).astype(float)
        worst = rows.loc[detours.abs().idxmax()]
        other_rows = rows[rows["session"] != worst["session"]]
        if len(other_rows) and not _is_turned(other_rows):
            compactions = some(int(worst["compactions"]), "compaction")
            alone.append(f"{name} ({worst['session']}, {compactions})")
    if not dearer and not cheaper:
        return ""
    sides = []
    if dearer:
        sides.append(f"{joined(dearer)} cost more than no compaction")
    if cheaper:
        sides.append(f"{joined(cheaper)} save")
    text = (
        f"With all look-ups {' and '.join(sides)}, although the bill of `compare` has the opposite"
        " sign. Believe the net: the bill prices what was lost once, the net pays each look-up and"
        " the compactions that they bring about."
    )
    if alone:
        text += f" One session alone turns it for {joined(alone)}: look at it before you decide."
    return text


def _is_turned(rows: pd.DataFrame) -> bool:
    """Whether the two figures have opposite signs."""
    return _mean(rows, "saved_usd") * _mean(rows, "saved_usd_net") < 0


def _mean(rows: pd.DataFrame, column: str) -> float:
    """The mean over projects."""
    mean = estimate(rows[column].astype(float).tolist(), rows["project"].tolist())
    assert mean is not None
    return mean.mean
