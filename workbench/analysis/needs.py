"""What two readers say of the exam's items: was the answer needed, do the candidates give it away, do they agree?"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from workbench.analysis.paired import Estimate, estimate
from workbench.errors import SettingError
from workbench.validation.needs import NEEDED, READERS


def precision_table(labels: pd.DataFrame) -> pd.DataFrame:
    """How many items the agent needed: a row for all items, then a row a kind.

    Args:
        labels: as from `labelled`.

    Returns:
        `kind`, `items`, `sessions`; `needed`: the share that both readers call needed, a mean over projects with each
        item's `weight`, and its 95 % interval `low`, `high`; `by_either`: that at least one calls needed; `kappa`: the
        readers' agreement on that, beyond chance; `given_away`: the share whose candidates give the answer away to a
        reader without a context, as both say.

    Raises:
        SettingError: there are no labels.
    """
    if labels.empty:
        raise SettingError("none of the labelled items is of these recordings; name those that were labelled")
    kinds = [("all", labels), *((str(kind), rows) for kind, rows in labels.groupby("kind", sort=False))]
    return pd.DataFrame([{"kind": kind} | _precision(rows) for kind, rows in kinds])


def _precision(rows: pd.DataFrame) -> dict[str, float | int | None]:
    first, second = (rows[f"label_{reader}"] == NEEDED for reader in READERS)
    both, either = _mean(rows, first & second), _mean(rows, first | second)
    given = _mean(rows, (rows["given_away_1"] == "yes") & (rows["given_away_2"] == "yes"))
    return {
        "items": len(rows), "sessions": rows["session"].nunique(), "needed": both.mean, "low": both.low,
        "high": both.high, "by_either": either.mean, "kappa": kappa(first, second), "given_away": given.mean,
    }  # fmt: skip


def _mean(rows: pd.DataFrame, needed: pd.Series[bool]) -> Estimate:
    """A mean over projects, each the mean of its sessions."""
    places = [rows["session"], rows["project"]]
    shares = (rows["weight"] * needed).groupby(places).sum() / rows["weight"].groupby(places).sum()
    found = estimate(shares.tolist(), [str(project) for _, project in shares.index], most=1)
    assert found is not None
    return found


def kappa(first: Iterable[object], second: Iterable[object]) -> float | None:
    """Cohen's kappa of two readers' labels of the same items; None where chance alone would agree always."""
    one, other = pd.Series(list(first)), pd.Series(list(second))
    shares = one.value_counts(normalize=True), other.value_counts(normalize=True)
    chance = float((shares[0] * shares[1]).sum())
    return None if chance == 1 else float(((one == other).mean() - chance) / (1 - chance))
