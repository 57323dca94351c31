"""The decision that a run supports: one recommendation, what it trades, how sure it is, and what
would change it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import nan
from typing import Any

import pandas as pd

from workbench.base.formats import missing, paragraph
from workbench.evaluation.analysis.likely_best import LIKELY, LikelyBest
from workbench.evaluation.analysis.paired import FEWEST
from workbench.evaluation.analysis.price_ranges import PRICES, PriceRange
from workbench.evaluation.analysis.table_rows import rows_of_contenders
from workbench.evaluation.analysis.trade import (
    MARGIN,
    WORTH,
    Choice,
    choice,
    complete_sessions,
)
from workbench.evaluation.findings.decision_changes import Counted, what_would_change_it
from workbench.evaluation.findings.decision_dollars import (
    cheapest_of,
    dollars_words,
)
from workbench.evaluation.findings.disagreement import (
    disagreement_words,
    largest_disagreement,
    other_numbers_words,
)
from workbench.evaluation.findings.figures import Figures
from workbench.evaluation.findings.look_ups import FAR_BEHIND, far_behind
from workbench.evaluation.findings.monthly_bill import MonthlyBill
from workbench.evaluation.findings.prices import (
    OWN_TRIGGER,
    considered,
    points_of,
    trade_rows,
    usable,
)
from workbench.evaluation.findings.readers import no_winner
from workbench.evaluation.findings.recorded_bill import SAME_SAVING
from workbench.evaluation.findings.standing import Standing, lead_over_next
from workbench.evaluation.findings.summaries import replayed_contenders
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.findings.wording import paragraphs, sentences
from workbench.evaluation.metrics import HALVES

IDLE = (
    "No difference that you would notice: at these windows no strategy compacts, so all send the"
    " same. A smaller --window shows one."
)
"""What is recommended where nothing was compacted."""
HELD = "9 of 17 cases"
"""Where the answer made from one half of a project's sessions is at most `FAR_BEHIND` points
behind the best in the other half.

Source: reports/studies/verdicts/README.md, 2026-11-28.
"""
COMPARED = 2
"""Strategies that are told beside the recommended one."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What to use, in words. All but the recommendation is empty where nothing could be decided.

    Attributes:
        use: the strategy that is recommended; empty for none.
        recommendation: in a sentence.
        trade_off: what it keeps and saves, and what the others would.
        set_aside: which strategies were not considered, and why; often empty.
        agent: what the recorded agents' own compactions kept beside it; often empty.
        disagreement: by which number of the headline another strategy is ahead of the one that is
            recommended, where the leading number says the opposite; often empty.
        other_numbers: by how much it leads its first rival in the other numbers of the headline;
            often empty.
        by_price: which strategy to use at which price of a tenth of the bill; empty where nobody
            knows.
        dollars: what the bill is, simulated or estimated, which strategy to use if only dollars
            count, and why not to keep everything; often empty.
        cheapest: the strategy to use if only dollars count; empty where nobody knows.
        switch_prices: points for a tenth of the bill from which on another one is to be used.
        confidence: the lead over the runner-up, with its interval over projects; with few projects
            how often such answers held on other sessions.
        changes: what would make it another one.
        points: of each strategy: 100 times the work (names where it is unknown) on its own trigger,
            and `WORTH` a tenth of the bill saved.
        no_winner: why nothing is recommended, where none is likely enough; else empty.
        level: by strategy how likely it is the best or less than `MARGIN` points below it, where a
            tenth of the bill is worth `WORTH`; empty where nobody knows.
        month: what the bill comes to in a month at the pace of the recordings; None where their
            times do not say.
    """

    use: str
    recommendation: str
    trade_off: str = ""
    set_aside: str = ""
    agent: str = ""
    disagreement: str = ""
    other_numbers: str = ""
    by_price: str = ""
    dollars: str = ""
    cheapest: str = ""
    switch_prices: tuple[float, ...] = ()
    confidence: str = ""
    changes: tuple[str, ...] = ()
    points: Mapping[str, float] | None = None
    no_winner: str = ""
    level: Mapping[str, float] = field(default_factory=dict)
    month: MonthlyBill | None = None

    def __str__(self) -> str:
        return paragraph(self.disagreement, self.recommendation, *self.reasons.values())

    @property
    def reasons(self) -> dict[str, str]:
        """What speaks for the recommendation and how much, by the question that it answers."""
        kept_and_saved = paragraph(
            self.trade_off,
            self.other_numbers,
        )
        answers = {
            "What it keeps and saves": kept_and_saved,
            "Set aside": self.set_aside,
            "At your price": self.by_price,
            "The bill": self.dollars,
            "The agents themselves": self.agent,
            "How sure": self.confidence,
        }
        reasons: dict[str, str] = {}
        for question, answer in answers.items():
            if answer:
                reasons[question] = answer
        return reasons


def decide(figures: Figures) -> Decision | None:
    """The decision between the contenders that can be used as they are; None where some compacted
    and none has a figure.

    A strategy whose requests are larger than the window, with replays that failed or wait, whose
    contexts read like a list of names, or that ends far behind when simulated, is not recommended.
    """
    run = figures.tables
    basis = _Basis.of(figures)
    if basis is None:
        return _without_figures(run)
    use = basis.standing.use
    cheapest = cheapest_of(figures, use)
    counted_figures = Counted(basis.rows, basis.recall, basis.counted_savings())
    month = MonthlyBill.of(run, list(dict.fromkeys([use, cheapest or use])))
    words = _words(basis)
    disagreement = largest_disagreement(run, use, basis.compared, basis.alternatives)
    return Decision(
        use="" if basis.no_winner else use,
        recommendation=words.recommendation,
        trade_off=words.trade_off,
        set_aside=words.set_aside,
        agent=words.agent,
        disagreement=disagreement_words(run, use, disagreement),
        other_numbers=other_numbers_words(run, use, basis.compared, disagreement),
        by_price=_by_price(basis),
        dollars=dollars_words(figures, use, basis.compared, cheapest, month),
        cheapest=cheapest,
        switch_prices=tuple(price_range.low for price_range in basis.ranges[1:]),
        confidence=words.confidence,
        changes=tuple(what_would_change_it(figures, counted_figures, use, basis.alternatives)),
        points={name: round(mean, 1) for name, mean in basis.best.means.items()},
        no_winner=basis.no_winner,
        level=basis.standing.shares,
        month=month,
    )


def _without_figures(run: Tables) -> Decision | None:
    """That no strategy has a figure on its own trigger since none compacted; None where that is not
    the reason, and where none has one at the same size either.
    """
    if not run.shares or _has_compacted(run):
        return None
    return Decision(use="", recommendation=IDLE)


def _has_compacted(run: Tables) -> bool:
    """Whether a contender compacted anything on its own trigger."""
    compactions = rows_of_contenders(run.compactions)
    return bool((compactions["mode"] == OWN_TRIGGER).any())


@dataclass(frozen=True)
class _Basis:
    """What a decision rests on.

    Attributes:
        figures: of the run.
        half: the number of the headline that leads on the strategies' own triggers.
        likely: how likely each strategy is best by that number; None where nobody knows.
        rows: a row a session and usable strategy, as `analysis.trade.Trade` reads them.
        points: of each usable strategy, by project.
        recall: by strategy, of the sessions that count.
        saved: by strategy the share of the bill that it saves; NaN without prices.
        best: the choice by points.
        standing: who is level with whom.
        no_winner: why nothing is recommended; empty where something is.
    """

    figures: Figures
    half: str
    likely: LikelyBest | None
    rows: pd.DataFrame
    points: pd.DataFrame
    recall: Mapping[str, float]
    saved: Mapping[str, float]
    best: Choice
    standing: Standing
    no_winner: str

    @classmethod
    def of(cls, figures: Figures) -> _Basis | None:
        """What the decision of a run rests on; None where no strategy has a figure."""
        run = figures.tables
        half = run.leading(OWN_TRIGGER)
        rows = trade_rows(run, usable(run), half)
        if rows["recall"].isna().all():
            return None
        points = points_of(rows, WORTH)
        if points.empty:
            return None
        recall_points = points_of(rows, 0)
        mean_recall = recall_points.mean() / 100
        saved: dict[str, float] = {}
        for name in map(str, points):
            saved[name] = _net_saving(figures, name)
        best = choice(points, saved)
        standing = Standing.of(figures, best, saved)
        return cls(
            figures=figures,
            half=half,
            likely=figures.likely_best.get(half),
            rows=rows,
            points=points,
            recall=mean_recall.to_dict(),
            saved=saved,
            best=best,
            standing=standing,
            no_winner=no_winner(run, standing.contested, half, OWN_TRIGGER, len(points)),
        )

    @cached_property
    def alternatives(self) -> list[str]:
        """The strategies beside the recommended one, best first."""
        return [name for name in self.best.means if name != self.standing.use]

    @cached_property
    def ranges(self) -> list[PriceRange]:
        """Which strategy to use at which price; none where nobody knows."""
        if self.likely is None or not self.likely.is_general:
            return []
        return self.likely.ranges(self.standing.use, WORTH)

    @cached_property
    def compared(self) -> list[str]:
        """The strategies to tell beside the recommended one, best first: those of other prices, and
        the next.
        """
        names = [price_range.use for price_range in self.ranges]
        by_rank = dict.fromkeys([*names, *self.alternatives])
        by_rank.pop(self.standing.use, None)
        compared = list(by_rank)[:COMPARED]
        return [name for name in self.alternatives if name in compared]

    @property
    def loss(self) -> float:
        """Points that the recommended strategy is behind on average where it is not level with the
        best one; 0 where nobody knows.
        """
        if self.likely is None:
            return 0.0
        return self.likely.loss(self.standing.use)

    def counted_savings(self) -> dict[str, float]:
        """Shares of the bill that each strategy saves, of the sessions that count."""
        savings: dict[str, float] = {}
        for column, mean in self.points.mean().items():
            name = str(column)
            points_of_bill = mean - 100 * self.recall[name]
            savings[name] = points_of_bill / (10 * WORTH)
        return savings

    def savings_that_differ(self) -> dict[str, float]:
        """The counted savings of the strategies that are told, the recommended one first, where one
        of them prints otherwise than the saving in all sessions; else none.
        """
        counted_savings = self.counted_savings()
        savings: dict[str, float] = {}
        is_different = False
        for name in (self.standing.use, *self.compared):
            saving = counted_savings[name]
            savings[name] = saving
            if not missing(self.saved[name]):
                is_different |= abs(saving - self.saved[name]) >= SAME_SAVING
        if not is_different:
            return {}
        return savings


@dataclass(frozen=True, slots=True)
class _Words:
    """The paragraphs of a decision, as `Decision` has them."""

    recommendation: str
    trade_off: str
    set_aside: str
    agent: str
    confidence: str


def _words(basis: _Basis) -> _Words:
    figures = basis.figures
    run = figures.tables
    standing = basis.standing
    use = standing.use
    alternatives = basis.alternatives
    contenders = replayed_contenders(run)
    idle = ""
    if not _has_compacted(run):
        idle = IDLE
    within_reach = _by_strategy(figures.within_reach)
    texts = paragraphs(
        "decision",
        half=basis.half,
        no_winner=basis.no_winner,
        use=use,
        level=standing.level,
        maybe=standing.maybe,
        shares=standing.shares,
        least=LIKELY,
        others=alternatives,
        compared=basis.compared,
        recall=basis.recall,
        saved=basis.saved,
        counted=basis.savings_that_differ(),
        sessions=complete_sessions(basis.rows)["session"].nunique(),
        margin=MARGIN,
        alone=len(contenders) == 1,
        behind=far_behind(run, considered(run)),
        far=FAR_BEHIND,
        held=HELD,
        simulated=run.simulated is not None,
        loss=basis.loss,
        idle=idle,
        ahead=lead_over_next(basis.points, use, alternatives, basis.likely),
        fewest=FEWEST,
        recorded=_by_strategy(figures.recorded),
        projects=len(basis.points),
        priced=any(not missing(share) for share in basis.saved.values()),
        reach=within_reach.get(use),
        lists=[name for name in run.contenders if name in run.names_only],
        too_large=[name for name in run.contenders if name in run.over_window],
    )
    return _Words(*texts)


def _by_price(basis: _Basis) -> str:
    """Which strategy to use at which price, in words; empty where nobody knows."""
    ranges = basis.ranges
    if basis.likely is None or not ranges:
        return ""
    texts = sentences(
        "decision_prices",
        half=HALVES[basis.half],
        ranges=ranges,
        usd=basis.figures.tables.usd_a_tenth,
        most=PRICES[-1],
        worth=WORTH,
        undecided=basis.no_winner != "",
    )
    return " ".join(texts)


def _net_saving(figures: Figures, name: str) -> float:
    """The share of the bill that a strategy saves; NaN without prices."""
    saving = figures.strategies[name].net_saving
    if saving is None:
        return nan
    return saving.mean


def _by_strategy(table: pd.DataFrame) -> dict[str, Mapping[Hashable, Any]]:
    """The rows of a table with one row a strategy, by its name."""
    rows: dict[str, Mapping[Hashable, Any]] = {}
    for row in table.to_dict("records"):
        name = str(row["strategy"])
        rows[name] = row
    return rows
