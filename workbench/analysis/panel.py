"""Several metrics beside each other, and the rank that none of them contradicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import pandas as pd

from workbench.analysis.compared import sides
from workbench.metrics import PANEL


@dataclass(frozen=True)
class Panel:
    """What the members of the panel say of each pair of strategies.

    Attributes:
        means: a row a strategy and a column a metric: its mean over the projects that have a value; missing otherwise.
        ahead: by pair (one, other), the metrics whose paired 95 % interval puts the first one ahead.
        silent: metrics without an interval for any pair: too few projects, or no values.
    """

    means: pd.DataFrame
    ahead: Mapping[tuple[str, str], tuple[str, ...]]
    silent: tuple[str, ...]

    @property
    def disputed(self) -> list[tuple[str, str]]:
        """The pairs of which one metric puts the one ahead, and another the other; each once."""
        return [pair for pair in self.ahead if pair < pair[::-1] and self.ahead[pair] and self.ahead[pair[::-1]]]

    def above(self, one: str, other: str) -> bool:
        """Whether a member of the panel puts one strategy ahead of the other, and none says the opposite."""
        return bool(self.ahead[one, other]) and not self.ahead[other, one]

    @cached_property
    def rank(self) -> dict[str, int]:
        """1 for the strategies that none is above, 2 for those below them only, ...; without the disputed ones.

        Where the metrics go round in a circle, those in it have none; nor has any where none is above another.
        """
        left = [name for name in map(str, self.means.index) if not any(name in pair for pair in self.disputed)]
        found: dict[str, int] = {}
        while top := [name for name in left if not any(self.above(other, name) for other in left if other != name)]:
            found |= dict.fromkeys(top, max(found.values(), default=0) + 1)
            left = [name for name in left if name not in found]
        return found if len(set(found.values())) > 1 else {}


def panel(scores: pd.DataFrame, contenders: Iterable[str], mode: str, at_sizes: pd.DataFrame | None = None) -> Panel:
    """Hold the metrics of the panel against each other, on the sessions that both of a pair have a value for.

    Args:
        scores: the table of that name of a run.
        contenders: the strategies to rank.
        mode: `matched`, or `natural` where a run has no equal size.
        at_sizes: the table `baseline_at_sizes`, with one baseline: pairs are then compared at the sizes really used.
    """
    names, known = list(contenders), scores[scores["mode"] == mode]
    known = known[known["metric"].isin(PANEL) & known["value"].notna()]
    rows = known[known["strategy"].isin(names)]
    found = {metric: sides(known, metric, mode, at_sizes) for metric in PANEL if (rows["metric"] == metric).any()}
    project = rows["project"] if "project" in rows else rows["session"]
    means = rows.groupby(["strategy", "metric", project, "session"])["value"].mean()
    means = means.groupby(level=[0, 1, 2]).mean().groupby(level=[0, 1]).mean()
    return Panel(
        means.unstack().reindex(index=names, columns=list(PANEL)),
        {
            (one, other): tuple(
                metric for metric, by in found.items() if by.get((one, other), -by.get((other, one), 0)) > 0
            )
            for one, other in permutations(names, 2)
        },
        tuple(metric for metric in PANEL if not found.get(metric)),
    )
