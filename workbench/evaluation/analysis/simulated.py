"""What simulations say of each strategy: means with intervals over projects."""

from dataclasses import dataclass
from math import inf

import pandas as pd

from workbench.base.formats import decimal, joined, some
from workbench.evaluation.analysis.paired import estimate, interval_columns

BLIND = ("blind_user", "blind_decision", "blind_result")
"""Columns of `simulated` that count blind actions, by who said what they use."""
FIGURES = (
    "compactions",
    "unrecorded",
    "look_ups",
    "recalls",
    "look_up_tokens",
    "look_up_usd",
    "blind",
    "blind_user",
    "blind_decision",
    "blind_result",
    "spirals",
    "steps_until_work",
    "usd_uncompacted",
    "saved_usd",
    "saved_usd_net",
    "blind_steps",
    "saved_usd_blind",
)
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
    actions = simulated[list(BLIND)].sum(axis=1)
    with_blind = simulated.assign(blind=actions)
    rows: list[dict[str, object]] = []
    for name, rows_of_strategy in with_blind.groupby("strategy", sort=False):
        rows.append(_means(str(name), rows_of_strategy))
    return pd.DataFrame(rows)


def _means(strategy: str, rows: pd.DataFrame) -> dict[str, object]:
    means: dict[str, object] = {
        "strategy": strategy,
        "sessions": rows["session"].nunique(),
        "projects": rows["project"].nunique(),
    }
    for name in FIGURES:
        if name not in rows:
            continue  # a run of before there was such a column
        has_value = rows[name].notna()
        with_value = rows[has_value]
        values = with_value[name].astype(float)
        projects = with_value["project"]
        lower_bound = -inf if name.startswith("saved") else 0.0
        mean = estimate(values.tolist(), projects.tolist(), least=lower_bound)
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
    lost = priced["blind_steps"] * priced["step_usd"]
    priced = priced.assign(lost=lost)
    savings: list[_Saving] = []
    for name, rows in priced.groupby("strategy", sort=False):
        saving = _Saving(
            strategy=str(name),
            net=_mean(rows, "saved_usd_net"),
            a_step=_mean(rows, "lost"),
        )
        savings.append(saving)
    if not savings:
        return []
    best = max(savings, key=lambda saving: (saving.net, -saving.a_step))
    cheapest = [Cheapest(best.strategy, 0.0)]
    while True:
        turns: list[tuple[float, float, str]] = []
        by_name: dict[str, _Saving] = {}
        for saving in savings:
            by_name[saving.strategy] = saving
            fewer_lost = best.a_step - saving.a_step
            if fewer_lost > 0:
                price = (best.net - saving.net) / fewer_lost
                turns.append((price, saving.a_step, saving.strategy))
        if not turns:
            return cheapest
        price, _, name = min(turns)
        if price >= MOST_STEPS:
            return cheapest
        best = by_name[name]
        cheapest.append(Cheapest(name, price))


@dataclass(frozen=True, slots=True)
class _Saving:
    """What a strategy saves, in USD.

    Attributes:
        net: with every look-up, where a blind step costs nothing.
        a_step: what it loses by blind steps for each step that such a one costs.
    """

    strategy: str
    net: float
    a_step: float


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
    turns: list[str] = []
    for turn in cheapest[1:]:
        steps = decimal(turn.from_steps)
        turns.append(f"from {steps} steps on {turn.strategy}")
    return (
        f"Where a blind step costs nothing, {at_no_cost} saves most; {joined(turns)}"
        " (--blind-step-cost)."
    )


def unrecorded_words(simulated: pd.DataFrame) -> str:
    """That a rule wrote some summaries in the place of the model whose recorded ones are used;
    empty where it wrote none.

    Args:
        simulated: the table of that name.
    """
    if "unrecorded" not in simulated:
        return ""
    count = int(simulated["unrecorded"].sum())
    if not count:
        return ""
    return (
        f"No recorded summary answers {some(count, 'request')}, since look-ups change what is"
        " summarized: a rule wrote these, so the figures are of a mixed writer. With --model all"
        " are of one."
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
        session = _turning_session(rows)
        if session:
            alone.append(f"{name} ({session})")
    if not dearer and not cheaper:
        return ""
    sides: list[str] = []
    if dearer:
        sides.append(f"{joined(dearer)} cost more than no compaction")
    if cheaper:
        sides.append(f"{joined(cheaper)} save")
    text = (
        f"With all look-ups {' and '.join(sides)}, although the bill without look-ups has the"
        " opposite sign. Believe the net: it pays each look-up and the compactions that they bring"
        " about."
    )
    if alone:
        text += f" One session alone turns it for {joined(alone)}: look at it before you decide."
    return text


def _turning_session(rows: pd.DataFrame) -> str:
    """The session that alone turns the figures of a strategy, and its compactions; empty where
    none does.
    """
    detours = rows["saved_usd"] - rows["saved_usd_net"]
    sizes = detours.astype(float).abs()
    worst = rows.loc[sizes.idxmax()]
    is_other = rows["session"] != worst["session"]
    other_rows = rows[is_other]
    if other_rows.empty or _is_turned(other_rows):
        return ""
    compactions = some(int(worst["compactions"]), "compaction")
    return f"{worst['session']}, {compactions}"


def _is_turned(rows: pd.DataFrame) -> bool:
    """Whether the two figures have opposite signs."""
    saved = _mean(rows, "saved_usd")
    saved_net = _mean(rows, "saved_usd_net")
    return saved * saved_net < 0


def _mean(rows: pd.DataFrame, column: str) -> float:
    """The mean over projects."""
    values = rows[column].astype(float)
    projects = rows["project"]
    mean = estimate(values.tolist(), projects.tolist())
    assert mean is not None
    return mean.mean
