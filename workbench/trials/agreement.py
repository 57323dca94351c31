"""Do the metrics order strategies as success does? Conversations of tasks, asked where a value is needed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import pandas as pd

from workbench.compaction.presets import RECALL, preset
from workbench.experiment.prepared import prepared
from workbench.importers.importer import load
from workbench.metrics.costs.pricing import ASSUMED, known_tariff
from workbench.metrics.exam.exams import Exams
from workbench.metrics.view import view
from workbench.models.extractive import Extractive
from workbench.palette import REFERENCES
from workbench.replay.natural import natural
from workbench.trials.agents import ReaderAgent
from workbench.trials.loop import work
from workbench.trials.run import UNBOUNDED, TrialSpec, opened
from workbench.trials.task import TrialTask

LEVELS = ("exam", "presence", "bound")
CASE = ("metric", "succeeds", "less", "success", "success_less", "value", "value_less")
FAR_APART = 0.1
"""Of success: pairs of strategies that lie further apart should be ordered alike."""
OVER = 0.05
"""The share of boundaries up to which a strategy may send more than the window and be compared."""
SHARE = TrialSpec().share
Windows: TypeAlias = Mapping[tuple[str, int], int]
"""Tokens by family and seed of a task."""


def levels(tasks: Iterable[TrialTask], strategies: Sequence[str], windows: Windows | None = None) -> pd.DataFrame:
    """What the metrics say of contexts where the tasks' values are needed.

    The uncompacted conversation of each task is replayed under each strategy.

    Args:
        tasks: of families; they may have few questions, so means are over tasks.
        strategies: names of presets.
        windows: of the trials; by default the share of a task's largest request that trials have by default.

    Returns:
        A row a strategy and family: `strategy`, `family`, the means of `LEVELS`, and `over`, the share of contexts that
        are larger than the window.
    """
    found = pd.DataFrame([row for task in tasks for row in _levels(task, strategies, windows or {})])
    return found.groupby(["strategy", "family"], sort=False)[["over", *LEVELS]].mean().reset_index()


def _levels(task: TrialTask, strategies: Sequence[str], windows: Windows) -> Iterator[Mapping[str, object]]:
    with opened(task, sandbox=False) as workspace, TemporaryDirectory() as folder:
        tariff = known_tariff(ASSUMED)
        plain = work(task, ReaderAgent(), preset("none"), workspace, window=UNBOUNDED, tariff=tariff)
        file = Path(folder) / f"{task.name}.json"
        file.write_text(json.dumps({"messages": plain.messages}), encoding="utf-8")
        window = windows.get((task.family, task.seed)) or int(SHARE * plain.peak)
        ready = prepared(load(file)[0], window)
    users = [place for place, message in enumerate(ready.session.messages) if message.role == "user"]
    asks = [users[n] + 1 for n, turn in enumerate(task.turns) if any(step.holes for step in turn.steps)]
    for name in strategies:
        replay = natural(ready.session, preset(name), Extractive(), ready.sizing, window=ready.window, score_at=asks)
        for shot in replay.snapshots:
            seen, exam = view(ready.session, shot.context), Exams.of(ready.index).at(shot.at)
            kept = ready.index.demand(shot.at).retained(seen.kept, seen.texts)
            yield {
                "strategy": name, "family": task.family, "over": float(shot.context.tokens > ready.window),
                "exam": exam.score(seen) if exam.items else None,
                "presence": kept.mean("presence") if len(kept.demand) else None,
                "bound": kept.mean("bound") if len(kept.demand) else None,
            }  # fmt: skip


@dataclass(frozen=True)
class Agreement:
    """How metrics order strategies against their success.

    Attributes:
        ranks: a row a metric: Spearman's correlation over the compared strategies in `all families` and in each family;
            missing where all succeed alike, or all have one value.
        every: by metric, the same over all strategies but the references.
        over, recall: strategies that are not compared: they send more than the window, or have an archive, which no
            metric of a context sees.
        means: a row a compared strategy: `success` and the metrics, means over families.
        strategies: how many `every` is of.
    """

    ranks: pd.DataFrame
    every: Mapping[str, float]
    over: tuple[str, ...]
    recall: tuple[str, ...]
    means: pd.DataFrame
    strategies: int

    @classmethod
    def of(cls, levels: pd.DataFrame, success: pd.DataFrame) -> Agreement:
        """Of what `levels` gives, and of `success` by `strategy` and `family`."""
        both = levels.merge(success[["strategy", "family", "success"]])
        both = both[~both["strategy"].isin(REFERENCES)]
        over = both.groupby("strategy", sort=False)["over"].mean()
        large, recall = list(over.index[over > OVER]), [name for name in over.index if name.endswith(RECALL)]
        every = both.groupby("strategy", sort=False)[["success", *LEVELS]].mean()
        kept = both[~both["strategy"].isin([*large, *recall])]
        whole = kept.groupby("strategy", sort=False)[["success", *LEVELS]].mean()
        parts = {"all families": whole, **{str(name): rows for name, rows in kept.groupby("family", sort=False)}}
        ranks = {title: {level: _rank(rows, level) for level in LEVELS} for title, rows in parts.items()}
        return cls(
            pd.DataFrame(ranks).rename_axis("metric").reset_index(), {level: _rank(every, level) for level in LEVELS},
            tuple(large), tuple(recall), whole, len(every),
        )  # fmt: skip

    @property
    def far_apart(self) -> list[tuple[str, str]]:
        """Pairs of compared strategies of which the first succeeds clearly more often."""
        success = self.means["success"]
        return [pair for pair in permutations(self.means.index, 2) if success[pair[0]] - success[pair[1]] >= FAR_APART]

    def contradictions(self, metric: str) -> list[tuple[str, str]]:
        """Those that the metric puts the other way round, widest difference in success first."""
        success, values = self.means["success"], self.means[metric]
        wrong = [pair for pair in self.far_apart if values[pair[0]] < values[pair[1]]]
        return sorted(wrong, key=lambda pair: float(success[pair[1]] - success[pair[0]]))

    def cases(self) -> pd.DataFrame:
        """A row a contradiction: `metric`, `succeeds`, `less` (strategies), their success and the metric's values."""
        success = self.means["success"]
        rows = [
            {"metric": metric, "succeeds": a, "less": b, "success": success[a], "success_less": success[b],
             "value": self.means[metric][a], "value_less": self.means[metric][b]}
            for metric in LEVELS for a, b in self.contradictions(metric)
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=list(CASE))


def _rank(rows: pd.DataFrame, level: str) -> float:
    """Spearman's correlation with success; missing where one of both is the same for all."""
    if min(rows["success"].nunique(), rows[level].nunique()) < 2:
        return float("nan")
    return float(rows["success"].corr(rows[level], method="spearman"))
