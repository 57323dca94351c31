"""The numbers of the first screen once more, from the tables of a run and what docs/method.md says
of them: nothing here uses the code that makes findings.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import nan
from typing import Any

import pandas as pd

from workbench import Results

REFERENCES = {"none", "null", "oracle", "random"}
UNCUT = {"none", "null"}
"""References that are cut to no size."""
HALVES = {"work": "work", "names": "exam_recall", "code": "code"}
"""Numbers of the headline, and the metric of each."""
PLACE = ["session", "share"]


def plain(table: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """A table whose columns of these names are plain floats."""
    numbers = {name: table[name].astype("Float64").astype(float) for name in columns}
    return table.assign(**numbers)


def numbers_that_differ(results: Results, answer: Mapping[str, Any]) -> list[str]:
    """The numbers of `--json` that a recomputation does not find."""
    recomputation = Recomputation(results)
    wrong: list[str] = []
    for row in answer["strategies"]:
        strategy = row["strategy"]
        for name, number in recomputation.of(strategy).items():
            if not is_same(number, row[name]):
                wrong.append(f"{strategy} {name}: {number} here, {row[name]} in the answer")
    return wrong


def is_same(number: float, other: float | None) -> bool:
    """Whether two numbers are equal; a missing one is NaN here and None in JSON."""
    if other is None or pd.isna(number):
        return other is None and bool(pd.isna(number))
    return abs(number - other) <= 1e-9 * max(1.0, abs(number))


class Recomputation:
    """What each strategy of a run tells, saves and costs."""

    def __init__(self, results: Results) -> None:
        sessions = results.sessions.set_index("session")
        self.projects = sessions["project"].to_dict()
        self.scores = plain(results.scores, "value", "share")
        self.scores["share"] = self.scores["share"].fillna(0.0)
        self.at_used_sizes = plain(results.table("baseline_at_sizes"), "value", "share")
        self.costs = plain(results.costs, "usd", "usd_uncompacted", "usd_fetching", "net_saving")
        self.steps = plain(results.steps, "tokens_sent", "prefix_reused")
        self.compactions = results.compactions
        simulated = pd.read_parquet(results.path / "simulated.parquet")
        self.net_savings = plain(simulated, "saved_usd_net").set_index(["session", "strategy"])

    def of(self, strategy: str) -> dict[str, float]:
        """The numbers of a strategy, by their names in the answer."""
        numbers: dict[str, float] = {}
        for half, metric in HALVES.items():
            for name, mode in ((f"{half}_own", "natural"), (half, "matched")):
                rows = self.on_one_basis(metric, mode)
                of_strategy = rows[rows["strategy"] == strategy]
                numbers[name] = self.over_projects(of_strategy.groupby("session")["value"].mean())
        return {**numbers, **self.bill(strategy), **self.sizes(strategy)}

    def over_projects(self, by_session: pd.Series[float]) -> float:
        """The mean over projects, each the mean of its sessions."""
        projects = [self.projects[session] for session in by_session.index]
        return float(by_session.groupby(projects).mean().mean())

    def on_one_basis(self, metric: str, mode: str) -> pd.DataFrame:
        """The values of a metric in the places in which all contenders have one; at the same size
        less what the baseline loses by shrinking to the smallest size that one of them used.
        """
        is_of_metric = (self.scores["metric"] == metric) & (self.scores["mode"] == mode)
        rows = self.scores[is_of_metric].assign(gain=0.0)
        used = self.at_used_sizes[self.at_used_sizes["metric"] == metric]
        if mode == "matched" and len(used):
            rows = self.with_gain(rows, used)
        rows = rows[rows["value"].notna()]
        contenders = rows[~rows["strategy"].isin(REFERENCES)]
        by_place = contenders.groupby(PLACE)
        has_all = by_place["strategy"].nunique() == contenders["strategy"].nunique()
        smallest_gain = by_place["gain"].min()[has_all].rename("smallest_gain").reset_index()
        rows = rows.merge(smallest_gain, on=PLACE)
        at_smallest = rows["value"] - rows["gain"] + rows["smallest_gain"]
        is_uncut = rows["strategy"].isin(UNCUT)
        return rows.assign(value=at_smallest.mask(is_uncut, rows["value"]))

    def with_gain(self, rows: pd.DataFrame, used: pd.DataFrame) -> pd.DataFrame:
        """The rows with what the baseline has at the size used less what it has at the size asked
        for.
        """
        (baseline,) = used["baseline"].unique()
        at_used = used[[*PLACE, "strategy", "value"]].rename(columns={"value": "at_used"})
        asked = rows.loc[rows["strategy"] == baseline, [*PLACE, "value"]]
        asked = asked.rename(columns={"value": "at_asked"})
        rows = rows.drop(columns="gain").merge(at_used, "left", [*PLACE, "strategy"])
        rows = rows.merge(asked, "left", PLACE)
        gain = rows["at_used"] - rows["at_asked"]
        return rows.assign(gain=gain.fillna(0.0))

    def bill(self, strategy: str) -> dict[str, float]:
        """What a strategy saves of the bill of all sessions, and what a session costs: unknown for
        `null`, which is not simulated.
        """
        if strategy == "null":
            return {"cost_saved": nan, "cost": nan}
        costs = self.costs[self.costs["strategy"] == strategy]
        saved = costs["net_saving"]
        if strategy not in REFERENCES:
            places = pd.MultiIndex.from_frame(costs[["session", "strategy"]])
            net_savings = self.net_savings["saved_usd_net"].reindex(places)
            saved = pd.Series(net_savings.to_numpy(), costs.index)
        paid = costs["usd_uncompacted"] - saved
        share_saved = saved.sum() / costs["usd_uncompacted"].sum()
        return {"cost_saved": float(share_saved), "cost": float(paid.mean())}

    def sizes(self, strategy: str) -> dict[str, float]:
        """How large requests are, what they share with the request before, and how often the
        strategy compacts.
        """
        steps = self.steps[self.steps["strategy"] == strategy]
        is_later = steps["request"] > 0
        later_tokens = steps[is_later].groupby("session")["tokens_sent"].sum()
        by_session = steps.groupby("session")
        is_own = self.compactions["mode"] == "natural"
        is_of_strategy = self.compactions["strategy"] == strategy
        compactions = self.compactions[is_own & is_of_strategy].groupby("session").size()
        compactions = compactions.reindex(by_session.size().index, fill_value=0)
        return {
            "peak_context": self.over_projects(by_session["tokens_sent"].max()),
            "mean_context": self.over_projects(by_session["tokens_sent"].mean()),
            "prefix_reuse": self.over_projects(by_session["prefix_reused"].sum() / later_tokens),
            "compactions": self.over_projects(compactions),
        }
