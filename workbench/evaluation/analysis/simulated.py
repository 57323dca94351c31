"""What simulations say of each strategy: means with intervals over projects."""

from dataclasses import dataclass
from math import inf

import pandas as pd

from workbench.base.formats import decimal, joined, some
from workbench.evaluation.analysis.paired import estimate, interval_columns

FIGURES = (
    "compactions", "look_ups", "recalls", "look_up_tokens", "look_up_usd", "blind", "blind_user", "blind_decision",
    "blind_result", "spirals", "steps_until_work", "usd_uncompacted", "saved_usd", "saved_usd_net",
    "blind_steps", "saved_usd_blind",
)  # fmt: skip
"""Columns of `simulated`, and `blind`: all blind actions."""
MOST_STEPS = 20.0
"""Steps that a blind step may cost at most where it is asked at which price the order turns."""


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
        if name not in rows:
            continue  # a run of before there was such a column
        with_value = rows[rows[name].notna()]
        values = with_value[name].astype(float).tolist()
        lower_bound = -inf if name.startswith("saved") else 0.0
        mean = estimate(values, with_value["project"].tolist(), least=lower_bound)
        means |= interval_columns(name, mean)
    return means


@dataclass(frozen=True, slots=True)
class Cheapest:
    """The strategy that saves most where a blind step costs so many steps and more."""

    strategy: str
    from_steps: float


def cheapest_by_price(simulated: pd.DataFrame) -> list[Cheapest]:
    """Which strategy saves most with every look-up, by what a blind step costs: from 0 to
    `MOST_STEPS` steps of the session without compaction.

    Args:
        simulated: the table of that name.

    Returns:
        One where the order never turns at the top; none without prices.
    """
    if "blind_steps" not in simulated:
        return []
    priced = simulated.dropna(subset=["saved_usd_net", "step_usd"])
    net: dict[str, float] = {}
    a_step: dict[str, float] = {}
    for name, rows in priced.groupby("strategy", sort=False):
        lost = rows.assign(lost=rows["blind_steps"] * rows["step_usd"])
        net[str(name)] = _mean(rows, "saved_usd_net")
        a_step[str(name)] = _mean(lost, "lost")
    if not net:
        return []

    def saved_without_price(name: str) -> tuple[float, float]:
        return net[name], -a_step[name]

    best = max(net, key=saved_without_price)
    cheapest = [Cheapest(best, 0.0)]
    while True:
        turns: list[tuple[float, float, str]] = []
        for name in net:
            fewer_lost = a_step[best] - a_step[name]
            if fewer_lost > 0:
                turn = (net[best] - net[name]) / fewer_lost
                turns.append((turn, a_step[name], name))
        if not turns:
            return cheapest
        price, _, best = min(turns)
        if price >= MOST_STEPS:
            return cheapest
        cheapest.append(Cheapest(best, price))


def price_words(simulated: pd.DataFrame) -> str:
    """Which strategy saves most at which price of a blind step, in a sentence or two; empty for
    one strategy and without prices.

    Args:
        simulated: the table of that name.
    """
    cheapest = cheapest_by_price(simulated)
    if not cheapest or simulated["strategy"].nunique() < 2:
        return ""
    at_no_cost = cheapest[0].strategy
    if len(cheapest) == 1:
        return f"Whatever a blind step costs, up to {MOST_STEPS:g} steps, {at_no_cost} saves most."
    turns = []
    for turn in cheapest[1:]:
        turns.append(f"from {decimal(turn.from_steps)} steps on {turn.strategy}")
    return (
        f"Where a blind step costs nothing, {at_no_cost} saves most; {joined(turns)}"
        " (--blind-step-cost)."
    )


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
