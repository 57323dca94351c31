"""Whether agents fetched again what a metric calls lost, and whether readers call needed what
the exam asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from workbench.base.errors import SettingError
from workbench.base.formats import decimal, interval, missing
from workbench.evaluation.analysis.paired import Estimate, interval_columns, ratio
from workbench.evaluation.analysis.paired import estimate as estimate_of
from workbench.lab.validation.answers.agreement import KNOWN
from workbench.lab.validation.needs import NEEDED, READERS, label_column
from workbench.lab.validation.used_things import METRICS

BANDS = (0, 8, 24)
"""Messages after the compaction at which a band of first uses begins: the later, the more has
been looked at anyway.
"""

Key: TypeAlias = tuple[object, ...]
"""The values of the columns by which rows are grouped."""
SHOWN = ("if_lost", "if_kept", "auc", "alike", "lead")
"""Figures with an interval."""


def scored(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of `used_things` that figures are of: every metric has a verdict, and nobody told
    the thing unasked.

    With a column `when`: the band of its first use, in messages after the compaction.
    """
    has_verdict = rows["fetched_again"].notna() & rows["exam"].notna()
    with_verdict = rows[has_verdict]
    labels = []
    for low, high in pairwise(BANDS):
        labels.append(f"{low} to {high - 1}")
    labels.append(f"from {BANDS[-1]}")
    messages_after = with_verdict["used"] - with_verdict["at"]
    band = pd.cut(
        messages_after.astype(int),
        [*BANDS, np.inf],
        right=False,
        labels=labels,
    )
    return with_verdict.assign(
        when=band.astype(str),
        fetched_again=with_verdict["fetched_again"].astype(bool),
    )


def figures(
    rows: pd.DataFrame,
    by: Sequence[str] = (),
    unit: str = "session",
    metrics: Sequence[str] = METRICS,
) -> pd.DataFrame:
    """What each metric's verdicts say of what was fetched again: a row a metric, and a value of the
    columns `by`.

    Args:
        rows: the table `used_things`.
        by: its columns, or `when`.
        unit: `session` or `project`: what intervals are over.
        metrics: columns with a verdict in [0, 1] wherever the exam has one.

    Returns:
        Columns: `by`; `metric`; `things`, `units`: how many; `fetched`: the share fetched again;
        `lost`: things with a verdict of at most .5; `if_lost`, `if_kept`: the shares of them and of
        the others that were fetched again; `auc`: of two things of one compaction, one fetched
        again and one not, how often the first has the lower value, ties half; `alike`: the same of
        two of one kind and band; `lead`: `auc` less that of presence. The last five each with
        `_low` and `_high`, the ends of the 95 % interval, missing with fewer than six units. A
        compaction's pairs weigh one over its things and one (van Elteren).
    """
    scored_rows = scored(rows)
    groups: Iterable[tuple[Key, pd.DataFrame]] = [((), scored_rows)]
    if by:
        groups = scored_rows.groupby(
            list(by),
            sort=False,
            observed=True,
        )
    figure_rows = []
    for key, group in groups:
        for metric in metrics:
            row: dict[str, object] = dict(zip(by, key, strict=True))
            row["metric"] = metric
            row.update(_figures(group, metric, unit))
            figure_rows.append(row)
    return pd.DataFrame(figure_rows)


def _figures(
    rows: pd.DataFrame,
    metric: str,
    unit: str,
) -> dict[str, float | int | None]:
    is_lost = rows[metric] <= KNOWN
    pairs = _pairs(rows, metric, unit, [])
    alike_pairs = _pairs(rows, metric, unit, ["kind", "when"])
    presence_pairs = _pairs(rows, "presence", unit, [])
    lead = pairs.assign(won=pairs["won"] - presence_pairs["won"])
    figures: dict[str, float | int | None] = {
        "things": len(rows),
        "units": rows[unit].nunique(),
        "fetched": float(rows["fetched_again"].mean()),
        "lost": int(is_lost.sum()),
    }
    estimates = {
        "if_lost": _share(rows[is_lost], unit),
        "if_kept": _share(rows[~is_lost], unit),
        "auc": _ratio(pairs),
        "alike": _ratio(alike_pairs),
        "lead": _ratio(lead, lowest=-1),
    }
    for name, estimate in estimates.items():
        figures |= interval_columns(name, estimate)
    return figures


def _share(rows: pd.DataFrame, unit: str) -> Estimate | None:
    units = rows.groupby(unit)
    sums = units["fetched_again"].agg(["sum", "size"]).astype(float)
    return ratio(
        sums["sum"].tolist(),
        sums["size"].tolist(),
        sums.index.tolist(),
        least=0,
        most=1,
    )


def _pairs(
    rows: pd.DataFrame,
    metric: str,
    unit: str,
    more_columns: Sequence[str],
) -> pd.DataFrame:
    """By unit, weighted: `won` and `all` pairs of things of one compaction that agree in some
    more columns.
    """
    columns = ["session", "compaction", *more_columns]
    pair_rows = []
    for _, things in rows.groupby(columns, sort=False, observed=True):
        is_again = things["fetched_again"].to_numpy()
        values = things[metric].to_numpy(dtype=float)
        values_again = values[is_again]
        other_values = values[~is_again]
        apart = other_values[None, :] - values_again[:, None]
        wins = (apart > 0).sum()
        ties = (apart == 0).sum()
        weight = len(things) + 1
        row = {
            "unit": things[unit].iloc[0],
            "won": float(wins + ties / 2) / weight,
            "all": apart.size / weight,
        }
        pair_rows.append(row)
    pairs = pd.DataFrame(pair_rows, columns=["unit", "won", "all"])
    return pairs.groupby("unit").sum()


def _ratio(pairs: pd.DataFrame, lowest: float = 0) -> Estimate | None:
    return ratio(
        pairs["won"].tolist(),
        pairs["all"].tolist(),
        pairs.index.tolist(),
        least=lowest,
        most=1,
    )


def with_intervals(table: pd.DataFrame) -> pd.DataFrame:
    """The figures with their intervals as text, one column each: `.72 (.62 to .83)`."""
    if "auc" not in table:
        return table
    with_text = table.copy()
    for name in SHOWN:
        lows = with_text.pop(f"{name}_low")
        highs = with_text.pop(f"{name}_high")
        texts = []
        for mean, low, high in zip(table[name], lows, highs, strict=True):
            texts.append(_with_interval(mean, low, high))
        with_text[name] = texts
    return with_text


def _with_interval(
    mean: float,
    low: float | None,
    high: float | None,
) -> str:
    """A figure as text, with its interval where it has one."""
    text = decimal(mean)
    if not missing(low):
        text += f" ({interval(low, high, decimal)})"
    return text.replace("0.", ".")


def lead_note(table: pd.DataFrame) -> str:
    """Whether the exam tells what was fetched again better than presence does, in a sentence."""
    row = table[table["metric"] == "exam"].iloc[0]
    if missing(row["lead"]):
        return (
            "No compaction has both a thing that was fetched again and one that was not: there is"
            " no AUC."
        )
    low = row["lead_low"]
    ends = ""
    how_much = "no better than presence, as far as this can show"
    if not missing(low):
        ends = f" ({low:+.2f} to {row['lead_high']:+.2f})"
        if low > 0:
            how_much = "better than presence does"
    return (
        f"The AUC of the exam less that of presence is {row['lead']:+.2f}{ends}: the exam tells"
        f" what will be fetched again {how_much}."
    )


def by_way(rows: pd.DataFrame) -> pd.DataFrame:
    """How agents came by what they used, and the shares that `recall` demands and that the exam
    asks.
    """
    recorded_rows = rows[rows["context"] == "recorded"]
    recorded_rows = recorded_rows.astype({"demanded": float, "asked": float})
    by_how = recorded_rows.groupby("how", sort=False)
    counts = by_how.agg(
        things=("thing", "size"),
        demanded=("demanded", "mean"),
        asked=("asked", "mean"),
    )
    return counts.reset_index()


def ranks(rows: pd.DataFrame) -> pd.DataFrame:
    """Spearman over sessions of the mean verdict with the share fetched again, a row a metric.

    `used`: over all things with a verdict; `asked`: verdicts over those alone that `recall`
    demands, or the exam asks.
    """
    is_recorded = rows["context"] == "recorded"
    scored_rows = rows[is_recorded & rows["exam"].notna()]
    is_fetched = scored_rows["how"].isin(["fetched", "looked for"])
    fetched = is_fetched.groupby(scored_rows["session"]).mean()
    rank_rows = []
    for metric in METRICS:
        asked_column = "asked" if metric == "exam" else "demanded"
        asked_rows = scored_rows[scored_rows[asked_column]]
        row = {
            "metric": metric,
            "sessions": len(fetched),
            "used": _rank(scored_rows, metric, fetched),
            "asked": _rank(asked_rows, metric, fetched),
        }
        rank_rows.append(row)
    return pd.DataFrame(rank_rows)


def _rank(
    rows: pd.DataFrame,
    metric: str,
    fetched: pd.Series,
) -> float | None:
    """The rank correlation over sessions of the mean verdict with the share fetched again; None
    with fewer than three sessions, or where one side is constant.
    """
    sessions = rows.groupby("session")
    means = sessions[metric].mean().astype(float)
    shares = fetched[means.index]
    if len(means) <= 2:
        return None
    if means.nunique() <= 1 or shares.nunique() <= 1:
        return None
    return float(means.corr(shares, method="spearman"))


def precision_table(labels: pd.DataFrame) -> pd.DataFrame:
    """How many items the agent needed: a row for all items, then a row a kind.

    Args:
        labels: as from `labelled`.

    Returns:
        `kind`, `items`, `sessions`; `needed`: the share that both readers call needed, a mean over
        projects with each item's `weight`, and its 95 % interval `low`, `high`; `by_either`: that
        at least one calls needed; `kappa`: the readers' agreement on that, beyond chance;
        `given_away`: the share whose candidates give the answer away to a reader without a context,
        as both say.

    Raises:
        SettingError: there are no labels.
    """
    if labels.empty:
        raise SettingError(
            "none of the labelled items is of these recordings; name those that were labelled"
        )
    precisions = [_precision("all", labels)]
    for kind, rows in labels.groupby("kind", sort=False):
        precisions.append(_precision(str(kind), rows))
    return pd.DataFrame(precisions)


def _precision(kind: str, rows: pd.DataFrame) -> dict[str, Any]:
    first_reader, second_reader = READERS
    first_needs = rows[label_column("label", first_reader)] == NEEDED
    second_needs = rows[label_column("label", second_reader)] == NEEDED
    first_given_away = rows[label_column("given_away", first_reader)] == "yes"
    second_given_away = rows[label_column("given_away", second_reader)] == "yes"
    both = _mean(rows, first_needs & second_needs)
    either = _mean(rows, first_needs | second_needs)
    given_away = _mean(rows, first_given_away & second_given_away)
    return {
        "kind": kind,
        "items": len(rows),
        "sessions": rows["session"].nunique(),
        "needed": both.mean,
        "low": both.low,
        "high": both.high,
        "by_either": either.mean,
        "kappa": kappa(first_needs, second_needs),
        "given_away": given_away.mean,
    }


def _mean(
    rows: pd.DataFrame,
    needed: pd.Series[bool],
) -> Estimate:
    """A mean over projects, each the mean of its sessions."""
    places = [rows["session"], rows["project"]]
    weights = rows["weight"]
    needed_weight = (weights * needed).groupby(places).sum()
    total_weight = weights.groupby(places).sum()
    shares = needed_weight / total_weight
    projects = [str(project) for _, project in shares.index]
    mean = estimate_of(shares.tolist(), projects, most=1)
    assert mean is not None
    return mean


def kappa(
    labels: Iterable[object],
    other_labels: Iterable[object],
) -> float | None:
    """Cohen's kappa of two readers' labels of the same items; None where chance alone would
    agree always.
    """
    first_labels = pd.Series(list(labels))
    second_labels = pd.Series(list(other_labels))
    first_shares = first_labels.value_counts(normalize=True)
    second_shares = second_labels.value_counts(normalize=True)
    chance = float((first_shares * second_shares).sum())
    if chance == 1:
        return None
    agreed = (first_labels == second_labels).mean()
    return float((agreed - chance) / (1 - chance))
