"""Who wrote the summaries of each strategy, and how much of a difference the reader's error may
make between writers.

The fitted reader errs otherwise on a model's text than on a rule's. Where a lead may be that error
alone there is no winner.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from workbench.base.formats import decimal, joined, some
from workbench.base.ragged import Floats
from workbench.evaluation.analysis.compared import ALPHA
from workbench.evaluation.analysis.paired import FEWEST
from workbench.evaluation.metrics import NAMES, WORK
from workbench.evaluation.metrics.work_exam.error_draws import DRAWS
from workbench.evaluation.metrics.work_exam.fitted_reader import shipped_reader
from workbench.evaluation.metrics.work_exam.text_kind import (
    TextKind,
    Writing,
    parts_of,
    text_kind,
)

KIND_WORDS: Mapping[TextKind, str] = {
    "model": "a model's summary",
    "rule": "a rule's summary",
    "mixed": "a model's or a rule's summary",
    "cut": "cut messages",
}
WITHOUT_A_MODEL = (
    "Without a model a comparison of presets compares triggers, cuts and cost, not summaries. "
    "Name one with --model: litellm:NAME, command:LINE or folder:PATH."
)
"""Said first where rules wrote all summaries of a run."""


@dataclass(frozen=True)
class SummaryWriters:
    """Who wrote for each strategy.

    Attributes:
        compactions: the rows of the table of that name, missing words empty.
    """

    compactions: pd.DataFrame

    @cached_property
    def summaries(self) -> pd.DataFrame:
        """The compactions that asked for summaries, each with `by_rule`: how many of its
        summaries a rule wrote.
        """
        rows = self.compactions[self.compactions["requests"] > 0]
        is_by_rule = rows["writer"].map(text_kind) == "rule"
        # runs of before there was such a column
        derived = rows["requests"].where(is_by_rule, rows["fallbacks"])
        return rows.assign(by_rule=rows["by_rule"].fillna(derived))

    @cached_property
    def _kinds(self) -> dict[str, dict[str, TextKind]]:
        """Who made the contexts of each strategy, by mode; over all modes under an empty one."""
        has_writer = self.compactions["writer"] != ""
        writers: dict[tuple[str, str], set[str]] = defaultdict(set)
        for row in self.compactions[has_writer].itertuples():
            strategy = str(row.strategy)
            for mode in ("", str(row.mode)):
                writers[strategy, mode].add(str(row.writer))
        kinds: dict[str, dict[str, TextKind]] = defaultdict(dict)
        for (strategy, mode), names in writers.items():
            all_names = " + ".join(sorted(names))
            kinds[strategy][mode] = text_kind(all_names)
        return kinds

    def text_kind(self, strategy: str, mode: str = "") -> TextKind:
        """Who made a strategy's contexts: a model, a rule, both, or nobody (messages were cut).

        Args:
            strategy: any.
            mode: where both wrote, who did in this mode.
        """
        kinds = self._kinds.get(strategy, {})
        kind = kinds.get("", "cut")
        if kind != "mixed":
            return kind
        return kinds.get(mode, kind)

    def rule_share(self, strategy: str, mode: str = "") -> float:
        """The share of a strategy's summaries that a rule wrote, in one mode or in all.

        It is a half where both wrote and nothing says how many.
        """
        kind = self.text_kind(strategy, mode)
        if kind != "mixed":
            return float(kind == "rule")
        rows = self.summaries[self.summaries["strategy"] == strategy]
        if mode:
            rows = rows[rows["mode"] == mode]
        requests = int(rows["requests"].sum())
        if not requests:
            return 0.5
        return float(rows["by_rule"].sum()) / requests

    def bias_between(
        self, strategy: str, reference: str, metric: str, projects: int, mode: str = ""
    ) -> float:
        """How much of a difference between two strategies may be the reader's error, in the
        metric's unit.

        It is 0 for one kind of writer. Exact names say nothing of what a model's summary is worth:
        a difference in names of any size may be bias. Where a rule wrote some of a strategy's
        summaries, its share counts.

        Args:
            strategy: a strategy.
            reference: with which it is compared.
            metric: in which.
            projects: that the difference is over.
            mode: in which mode; empty for all.
        """
        kind, other_kind = self.text_kind(strategy, mode), self.text_kind(reference, mode)
        if (kind == other_kind != "mixed") or metric not in (WORK, NAMES):
            return 0.0
        rule_share, other_rule_share = (
            self.rule_share(strategy, mode),
            self.rule_share(reference, mode),
        )
        parts = {*parts_of(kind), *parts_of(other_kind)}
        if metric == NAMES:
            if "model" not in parts:
                return 0.0
            return 1.0 if "cut" in parts else abs(rule_share - other_rule_share)
        left_out = shipped_reader().left_out
        if left_out is None or not parts <= left_out.kinds.keys():
            return 0.0
        return left_out.errors.lead_bound(
            kind,
            other_kind,
            max(projects, 1),
            rule_share=rule_share,
            other_rule_share=other_rule_share,
        )

    def reader_levels(
        self,
        strategies: Sequence[str],
        metric: str,
        mode: str,
        projects: int,
        random: np.random.Generator,
    ) -> Mapping[str, Floats] | None:
        """By strategy (`DRAWS`,) what the reader may promise too much, in the metric's unit.

        Args:
            strategies: one and more.
            metric: what is read.
            mode: in which mode.
            projects: that the means are over.
            random: the source of the draws.

        Returns:
            None where nobody knows: names say nothing of what a model's summary is worth beside
            others' text, and the fit may lack a kind of writer.
        """
        writings: list[Writing] = []
        for strategy in strategies:
            kind = self.text_kind(strategy, mode)
            writings.append(Writing(kind, self.rule_share(strategy, mode)))
        if metric != WORK:
            kinds = {writing.kind for writing in writings}
            is_biased = metric == NAMES and len(kinds) > 1 and not kinds <= {"rule", "cut"}
            if is_biased:
                return None
            return dict.fromkeys(strategies, np.zeros(DRAWS))
        left_out = shipped_reader().left_out
        if left_out is None:
            return None
        levels = left_out.errors.levels(writings, projects, random)
        if levels is None:
            return None
        return dict(zip(strategies, levels, strict=True))

    def may_be_bias(
        self,
        difference: float,
        strategy: str,
        reference: str,
        metric: str,
        projects: int,
        mode: str = "",
    ) -> bool:
        """Whether the reader's error alone may make one strategy seem ahead of another.

        It may where more than `ALPHA` of the reader's errors, drawn for both together, leave no
        lead.

        Args:
            difference: of the strategy from the reference, in the metric's unit.
            strategy: a strategy.
            reference: with which it is compared.
            metric: in which.
            projects: that the difference is over.
            mode: in which mode; empty for all.
        """
        if abs(difference) >= 1 or not self.bias_between(
            strategy, reference, metric, projects, mode
        ):
            return False
        if metric == NAMES:
            return abs(difference) < self.bias_between(strategy, reference, metric, projects, mode)
        random = np.random.default_rng(0)
        levels = self.reader_levels((strategy, reference), metric, mode, max(projects, 1), random)
        if levels is None:
            return False
        real = difference - levels[strategy] + levels[reference]
        leaves_no_lead = real * np.sign(difference) <= 0
        return float(leaves_no_lead.mean()) > ALPHA

    def no_winner(self, names: Sequence[str], metric: str, mode: str, projects: int) -> str:
        """Why there is no winner between some strategies, the leader first; empty for one of them.

        Args:
            names: of the strategies.
            metric: in which they are compared.
            mode: in which mode.
            projects: that they are compared over.
        """
        if len(names) < 2:
            return ""
        where = "on their own triggers" if mode == "natural" else "at the same size"
        kinds = dict.fromkeys(self.text_kind(name, mode) for name in names)
        if metric == NAMES and len(kinds) > 1 and not set(kinds) <= {"rule", "cut"}:
            reason = (
                "exact names do not tell what a model's summary is worth, and nobody wrote"
                " questions about the work"
            )
        elif metric == WORK and len(kinds) > 1:
            texts = joined([KIND_WORDS[kind] for kind in kinds])
            reason = f"the fitted reader's own error between {texts} may be larger than the lead"
        elif metric == WORK and projects < FEWEST:
            reason = (
                f"in {some(projects, 'project')} the fitted reader's own error may be larger than"
                " the lead"
            )
        else:
            reason = "which one leads differs too much between the projects"
        return f"No winner between {joined(list(names))} {where}: {reason}."


def short_share(share: float) -> str:
    """A share as `.93`."""
    return decimal(share).removeprefix("0")
