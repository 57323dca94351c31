"""How metrics and judges order strategies against what came of them, and where the order is the
other way round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import pandas as pd

from workbench.base.palette import REFERENCES
from workbench.engine.compaction.presets import RECALL
from workbench.lab.agreement.measured import METRICS, READ
from workbench.lab.validation.judges import JUDGES

TARGETS = {
    "success": "success", "look_ups": "fewer look-ups", "blind": "fewer blind actions",
    "saved": "dollars saved, with look-ups",
}  # fmt: skip
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
        contenders = measured[~measured["strategy"].isin(REFERENCES)]
        targets = [name for name in TARGETS if name in contenders]
        contenders = contenders.assign(
            stale=1 - contenders["stale"], **{name: _won(contenders, name) for name in targets}
        )
        names = [name for name in (*METRICS, READ) if contenders[name].notna().any()]
        means = (
            contenders.groupby(["strategy", "family"], sort=False)[["over", *names, *targets]]
            .mean()
            .reset_index()
        )
        if success is not None:
            means, targets = (
                means.merge(success[["strategy", "family", "success"]]),
                ["success", *targets],
            )
        sent = means.groupby("strategy", sort=False)["over"].mean()
        over, recall = (
            sent.index[sent > OVER],
            [name for name in sent.index if name.endswith(RECALL)],
        )
        compared = means[~means["strategy"].isin([*over, *recall])]
        orders = [
            _Order.of(target, metric, family, rows, all_rows)
            for target in targets
            for metric in names
            for family, rows, all_rows in _parts(compared, means)
        ]
        readers = measured["reader"].dropna().unique()
        return cls(
            pd.DataFrame([order.row for order in orders], columns=list(RANKS)),
            pd.DataFrame(
                [case for order in orders if order.family == ALL for case in order.cases],
                columns=list(CASES),
            ),
            tuple(over),
            tuple(recall),
            str(readers[0]) if len(readers) else "",
        )

    def title(self, metric: str) -> str:
        """What a metric looks at, in a word or two."""
        return f"the exam, read by {self.reader}" if metric == READ else TITLES[metric]

    def by_target(self, column: str = "rank") -> pd.DataFrame:
        """The ranks over all families: a row a metric, a column a target."""
        overall = self.ranks[self.ranks["family"] == ALL]
        table = overall.pivot_table(column, "metric", "target", sort=False, dropna=False)
        return (
            table.rename(index=self.title, columns=TARGETS).rename_axis(columns=None).reset_index()
        )

    def by_family(self, target: str) -> pd.DataFrame:
        """The ranks against one target: a row a metric, a column a family."""
        rows = self.ranks[self.ranks["target"] == target]
        table = rows.pivot_table("rank", "metric", "family", sort=False, dropna=False)
        return table.rename(index=self.title).rename_axis(columns=None).reset_index()

    def disputes(self) -> pd.DataFrame:
        """The contradictions, a row a pair of strategies, those that most metrics get wrong first.

        Returns:
            `target`, `better`, `worse`, what the target says of both, and the titles of the metrics
                `against`.
        """
        rows = self.cases.assign(against=self.cases["metric"].map(self.title))
        pairs = rows.groupby(["target", "better", "worse"], sort=False)
        pair_rows = (
            pairs[["target_better", "target_worse"]]
            .first()
            .assign(against=pairs["against"].agg(list))
        )
        order = [
            list(TARGETS).index(target) * 1000 - len(wrong)
            for (target, *_), wrong in pair_rows["against"].items()
        ]
        return pair_rows.iloc[np.argsort(order, kind="stable")].reset_index()

    def told(self, limit: int = 5) -> dict[str, tuple[list[str], int]]:
        """By target so many contradictions in words, and how many more there are."""
        texts = {}
        for target, target_rows in self.disputes().groupby("target", sort=False):
            cases = [
                f"{case.better} ({case.target_better:.2f}) before {case.worse}"
                f" ({case.target_worse:.2f}), against {', '.join(case.against)}"
                for case in target_rows.head(limit).itertuples()
            ]
            texts[TARGETS[str(target)]] = (cases, len(target_rows) - len(cases))
        return texts


@dataclass(frozen=True)
class _Order:
    """One metric against one target in one family."""

    target: str
    metric: str
    family: str
    compared: pd.DataFrame
    every: pd.DataFrame

    @classmethod
    def of(
        cls, target: str, metric: str, family: str, compared: pd.DataFrame, all_rows: pd.DataFrame
    ) -> _Order:
        compared, all_rows = (
            part.dropna(subset=[target, metric])
            .groupby("strategy", sort=False)[[target, metric]]
            .mean()
            for part in (compared, all_rows)
        )
        return cls(target, metric, family, compared, all_rows)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Of the compared strategies, those of which the first is clearly better."""
        came = self.compared[self.target]
        return [
            pair
            for pair in permutations(came.index, 2)
            if came[pair[0]] - came[pair[1]] >= FAR_APART
        ]

    @property
    def cases(self) -> list[dict[str, object]]:
        """The pairs that the metric puts the other way round, widest difference first."""
        came, values = self.compared[self.target], self.compared[self.metric]
        wrong = [pair for pair in self.pairs if values[pair[0]] < values[pair[1]]]
        return [
            dict(
                zip(
                    CASES,
                    (
                        self.target,
                        self.metric,
                        better,
                        worse,
                        came[better],
                        came[worse],
                        values[better],
                        values[worse],
                    ),
                    strict=True,
                )
            )
            for better, worse in sorted(
                wrong, key=lambda pair: float(came[pair[1]] - came[pair[0]])
            )
        ]

    @property
    def row(self) -> dict[str, object]:
        """Its row of `ranks`."""
        figures = (
            self._rank(self.compared),
            len(self.compared),
            len(self.pairs),
            len(self.cases),
            self._rank(self.every),
            len(self.every),
        )
        return dict(zip(RANKS, (self.target, self.metric, self.family, *figures), strict=True))

    def _rank(self, rows: pd.DataFrame) -> float:
        """Spearman's correlation; missing where the metric or the target is the same for all."""
        values = rows[[self.target, self.metric]].astype(float)
        if len(values) < 2 or values.nunique().min() < 2:
            return float("nan")
        return float(values[self.target].corr(values[self.metric], method="spearman"))


def _parts(
    compared: pd.DataFrame, all_rows: pd.DataFrame
) -> Iterator[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """All families, then each: its name, and its rows of the compared strategies and of all."""
    yield ALL, compared, all_rows
    for family, rows in compared.groupby("family", sort=False):
        yield str(family), rows, all_rows[all_rows["family"] == family]


def _won(rows: pd.DataFrame, target: str) -> pd.Series:
    """The share of the other strategies that are worse in the same session, ties half."""
    values = rows[target].astype(float) * (-1 if target in FEWER else 1)
    by = values.groupby(rows["session"])
    return (by.rank() - 1) / (by.transform("count") - 1)
