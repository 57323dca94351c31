"""How metrics and judges order strategies against what came of them, and where the order is the
other way round.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd

from workbench.base.palette import REFERENCES
from workbench.engine.compaction.presets import RECALL
from workbench.lab.agreement.measured import METRICS, READ
from workbench.lab.validation.judges import JUDGES

TARGETS = {
    "success": "success",
    "look_ups": "fewer look-ups",
    "blind": "fewer blind actions",
    "saved": "dollars saved, with look-ups",
}
"""What strategies are held against: the share of tasks that an agent succeeds in; simulated
detours, and what is saved with all of them, as the share of the other strategies that are worse in
the same session, ties half.
"""
TITLES = JUDGES | {"stale": "no stale values"}
FEWER = ("look_ups", "blind")
FAR_APART = 0.1
"""Of a target: pairs of strategies that lie further apart should be ordered alike."""
OVER = 0.05
"""The share of contexts up to which a strategy may send more than the window and be compared."""
ALL = "all"
RANKS = (
    "target",
    "metric",
    "family",
    "rank",
    "strategies",
    "pairs",
    "contradictions",
    "rank_all",
    "strategies_all",
)
CASES = (
    "target",
    "metric",
    "better",
    "worse",
    "target_better",
    "target_worse",
    "value_better",
    "value_worse",
)


@dataclass(frozen=True)
class Agreement:
    """How metrics order strategies against targets.

    Attributes:
        ranks: a row a target, metric and family (`all`: over the means of families), with `RANKS`:
            Spearman's correlation over the `strategies` that are compared, missing where all are
            alike; of the `pairs` that lie `FAR_APART` the number of `contradictions`; and the
            correlation over all strategies but the references.
        cases: a row a contradiction over all families, with `CASES`, widest difference first.
        over, recall: strategies that are not compared: they send more than the window, or have an
            archive, which no metric of a context sees.
        reader: the model that read the exam; empty without one.
    """

    ranks: pd.DataFrame
    cases: pd.DataFrame
    over: tuple[str, ...]
    recall: tuple[str, ...]
    reader: str

    @classmethod
    def of(cls, measured: pd.DataFrame, success: pd.DataFrame | None = None) -> Agreement:
        """Of what `on_tasks` or `on_recordings` gives.

        Args:
            measured: a row a session and strategy.
            success: by `strategy` and `family`, where trials were made.
        """
        targets = [name for name in TARGETS if name in measured]
        contenders = _contenders(measured, targets)
        metrics = _metrics_of(contenders)
        means = _family_means(contenders, ["over", *metrics, *targets])
        if success is not None:
            success_rates = success[["strategy", "family", "success"]]
            means = means.merge(success_rates)
            targets = ["success", *targets]
        over = _over_window(means)
        recall = _with_recall(means)
        is_left_out = means["strategy"].isin([*over, *recall])
        orders = _orders(targets, metrics, means[~is_left_out], means)
        rank_rows: list[dict[str, object]] = []
        cases: list[dict[str, object]] = []
        for order in orders:
            rank_rows.append(order.row)
            if order.family == ALL:
                cases += order.cases
        return cls(
            ranks=pd.DataFrame(rank_rows, columns=list(RANKS)),
            cases=pd.DataFrame(cases, columns=list(CASES)),
            over=over,
            recall=recall,
            reader=_reader_of(measured),
        )

    def title(self, metric: str) -> str:
        """What a metric looks at, in a word or two."""
        if metric == READ:
            return f"the exam, read by {self.reader}"
        return TITLES[metric]

    def by_target(self, column: str = "rank") -> pd.DataFrame:
        """The ranks over all families: a row a metric, a column a target."""
        overall = self.ranks[self.ranks["family"] == ALL]
        table = overall.pivot_table(
            column,
            "metric",
            "target",
            sort=False,
            dropna=False,
        )
        titled = table.rename(index=self.title, columns=TARGETS)
        return titled.rename_axis(columns=None).reset_index()

    def by_family(self, target: str) -> pd.DataFrame:
        """The ranks against one target: a row a metric, a column a family."""
        rows = self.ranks[self.ranks["target"] == target]
        table = rows.pivot_table(
            "rank",
            "metric",
            "family",
            sort=False,
            dropna=False,
        )
        titled = table.rename(index=self.title)
        return titled.rename_axis(columns=None).reset_index()

    def disputes(self) -> pd.DataFrame:
        """The contradictions, a row a pair of strategies, those that most metrics get wrong first.

        Returns:
            `target`, `better`, `worse`, what the target says of both, and the titles of the metrics
            `against`.
        """
        titles = self.cases["metric"].map(self.title)
        rows = self.cases.assign(against=titles)
        pairs = rows.groupby(["target", "better", "worse"], sort=False)
        disputes = pairs[["target_better", "target_worse"]].first()
        disputes["against"] = pairs["against"].agg(list)
        target_order = list(TARGETS)
        order = []
        for place, metrics in disputes["against"].items():
            target, _, _ = place
            target_number = target_order.index(target)
            order.append(target_number * 1000 - len(metrics))
        places = np.argsort(order, kind="stable")
        return disputes.iloc[places].reset_index()

    def told(self, limit: int = 5) -> dict[str, tuple[list[str], int]]:
        """By target so many contradictions in words, and how many more there are."""
        texts = {}
        for target, disputes in self.disputes().groupby("target", sort=False):
            cases = []
            for case in disputes.head(limit).itertuples():
                better = f"{case.better} ({case.target_better:.2f})"
                worse = f"{case.worse} ({case.target_worse:.2f})"
                cases.append(f"{better} before {worse}, against {', '.join(case.against)}")
            more = len(disputes) - len(cases)
            texts[TARGETS[str(target)]] = (cases, more)
        return texts


@dataclass(frozen=True)
class _Order:
    """One metric against one target in one family."""

    target: str
    metric: str
    family: str
    compared: pd.DataFrame
    all_rows: pd.DataFrame

    @classmethod
    def of(
        cls,
        target: str,
        metric: str,
        family: str,
        compared: pd.DataFrame,
        all_rows: pd.DataFrame,
    ) -> _Order:
        """Of the rows of one family, or of all."""
        columns = [target, metric]
        return cls(
            target=target,
            metric=metric,
            family=family,
            compared=_means(_of_family(compared, family), columns),
            all_rows=_means(_of_family(all_rows, family), columns),
        )

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Of the compared strategies, those of which the first is clearly better."""
        values = self.compared[self.target]
        pairs = []
        for better, worse in permutations(values.index, 2):
            if values[better] - values[worse] >= FAR_APART:
                pairs.append((better, worse))
        return pairs

    @property
    def cases(self) -> list[dict[str, object]]:
        """The pairs that the metric puts the other way round, widest difference first."""
        target_values = self.compared[self.target]
        values = self.compared[self.metric]
        cases: list[dict[str, Any]] = []
        for better, worse in self.pairs:
            if values[better] >= values[worse]:
                continue
            case = {
                "target": self.target,
                "metric": self.metric,
                "better": better,
                "worse": worse,
                "target_better": target_values[better],
                "target_worse": target_values[worse],
                "value_better": values[better],
                "value_worse": values[worse],
            }
            cases.append(case)
        cases.sort(key=lambda case: float(case["target_worse"] - case["target_better"]))
        return cases

    @property
    def row(self) -> dict[str, object]:
        """Its row of `ranks`."""
        return {
            "target": self.target,
            "metric": self.metric,
            "family": self.family,
            "rank": self._rank(self.compared),
            "strategies": len(self.compared),
            "pairs": len(self.pairs),
            "contradictions": len(self.cases),
            "rank_all": self._rank(self.all_rows),
            "strategies_all": len(self.all_rows),
        }

    def _rank(self, rows: pd.DataFrame) -> float:
        """Spearman's correlation; missing where the metric or the target is the same for all."""
        values = rows[[self.target, self.metric]].astype(float)
        if len(values) < 2 or values.nunique().min() < 2:
            return float("nan")
        target_values = values[self.target]
        metric_values = values[self.metric]
        rank = target_values.corr(metric_values, method="spearman")
        return float(rank)


def _contenders(measured: pd.DataFrame, targets: list[str]) -> pd.DataFrame:
    """The rows of strategies, without references, with a share of wins in place of each target."""
    is_reference = measured["strategy"].isin(REFERENCES)
    contenders = measured[~is_reference]
    wins: dict[str, pd.Series] = {}
    for target in targets:
        wins[target] = _won(contenders, target)
    no_stale_values = 1 - contenders["stale"]
    return contenders.assign(stale=no_stale_values, **wins)


def _metrics_of(contenders: pd.DataFrame) -> list[str]:
    """The metrics that have values."""
    metrics = []
    for metric in (*METRICS, READ):
        if contenders[metric].notna().any():
            metrics.append(metric)
    return metrics


def _family_means(contenders: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """The means of some columns over the sessions of a family: a row a strategy and family."""
    groups = contenders.groupby(["strategy", "family"], sort=False)
    return groups[columns].mean().reset_index()


def _over_window(means: pd.DataFrame) -> tuple[str, ...]:
    """The strategies that send more than the window too often to be compared."""
    strategies = means.groupby("strategy", sort=False)
    shares = strategies["over"].mean()
    is_over = shares > OVER
    return tuple(shares.index[is_over])


def _with_recall(means: pd.DataFrame) -> tuple[str, ...]:
    """The strategies that have an archive."""
    names = []
    for name in means["strategy"].unique():
        if name.endswith(RECALL):
            names.append(name)
    return tuple(names)


def _orders(
    targets: list[str], metrics: list[str], compared: pd.DataFrame, all_rows: pd.DataFrame
) -> list[_Order]:
    """Each metric against each target, over all families and in each."""
    orders = []
    for target in targets:
        for metric in metrics:
            for family in _families(compared):
                order = _Order.of(target, metric, family, compared, all_rows)
                orders.append(order)
    return orders


def _reader_of(measured: pd.DataFrame) -> str:
    """The model that read the exam; empty without one."""
    readers = measured["reader"].dropna()
    if readers.empty:
        return ""
    return str(readers.iloc[0])


def _means(rows: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """The means of two columns by strategy, of the rows that have both."""
    complete = rows.dropna(subset=columns)
    return complete.groupby("strategy", sort=False)[columns].mean()


def _families(rows: pd.DataFrame) -> list[str]:
    """All families together, then each by its name."""
    return [ALL, *map(str, rows["family"].unique())]


def _of_family(rows: pd.DataFrame, family: str) -> pd.DataFrame:
    if family == ALL:
        return rows
    return rows[rows["family"] == family]


def _won(rows: pd.DataFrame, target: str) -> pd.Series:
    """The share of the other strategies that are worse in the same session, ties half."""
    values = rows[target].astype(float)
    if target in FEWER:
        values = -values
    sessions = values.groupby(rows["session"])
    worse = sessions.rank() - 1
    others = sessions.transform("count") - 1
    return worse / others
