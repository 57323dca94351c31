"""The decision that a run supports: one recommendation, what it trades, how sure it is, and what
would change it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import nan
from typing import Any

import pandas as pd

from workbench.base.formats import missing
from workbench.evaluation.analysis.compared import ALPHA
from workbench.evaluation.analysis.likely_best import LIKELY, PRICES, LikelyBest, PriceRange
from workbench.evaluation.analysis.paired import FEWEST, Estimate, holm, sign_flip
from workbench.evaluation.analysis.trade import (
    MARGIN,
    WORTH,
    Choice,
    Trade,
    choice,
    difference,
    thriftiest,
)
from workbench.evaluation.findings.decision_changes import Counted, what_would_change_it
from workbench.evaluation.findings.decision_dollars import cheapest_of, dollars_words
from workbench.evaluation.findings.disagreement import disagreement_words, other_numbers_words
from workbench.evaluation.findings.figures import Figures
from workbench.evaluation.findings.look_ups import FAR_BEHIND
from workbench.evaluation.findings.prices import OWN_TRIGGER, considered, trade_rows, usable
from workbench.evaluation.findings.readers import beyond_names, no_winner
from workbench.evaluation.findings.summaries import RECORDED
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.findings.wording import one_paragraph, paragraphs, sentences
from workbench.evaluation.metrics import HALVES

COMPARED = 2
"""Strategies that are told beside the recommended one."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What to use, in words. All but the recommendation is empty where nothing could be decided.

    Attributes:
        use: the strategy that is recommended; empty for none.
        recommendation: in a sentence.
        trade_off: what it keeps and saves, and what the others would.
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
        confidence: the lead over the runner-up, with its interval over projects.
        changes: what would make it another one.
        points: of each strategy: 100 times the work (names where it is unknown) on its own trigger,
            and `WORTH` a tenth of the bill saved.
        no_winner: why nothing is recommended, where none is likely enough; else empty.
        level: by strategy how likely it is the best or less than `MARGIN` points below it, where a
            tenth of the bill is worth `WORTH`; empty where nobody knows.
    """

    use: str
    recommendation: str
    trade_off: str = ""
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

    def __str__(self) -> str:
        texts = (
            self.disagreement,
            self.recommendation,
            self.other_numbers,
            self.trade_off,
            self.by_price,
            self.dollars,
            self.agent,
            self.confidence,
        )
        return one_paragraph(texts)


def decide(figures: Figures) -> Decision | None:
    """The decision between the contenders that can be used as they are; None where none has a
    figure.

    A strategy whose requests are larger than the window, with replays that failed or wait, whose
    contexts read like a list of names, or that ends far behind when simulated, is not recommended.
    """
    run = figures.tables
    half = run.leading(OWN_TRIGGER)
    names = usable(run)
    set_aside = considered(run)
    for name in names:
        set_aside.remove(name)
    rows = trade_rows(run, names, half)
    if rows["recall"].isna().all():
        return None
    points = Trade(WORTH).points(rows).dropna()
    if points.empty:
        return None
    saved = {name: _net_saving(figures, name) for name in map(str, points)}
    best = choice(points, saved)
    standing = _standing(figures, best, saved)
    use = standing.use
    alternatives = list(best.means)
    alternatives.remove(use)
    recall_points = Trade(0).points(rows).dropna()
    recall = (recall_points.mean() / 100).to_dict()
    why_none = no_winner(run, standing.contested, half, OWN_TRIGGER)
    ranges = _price_ranges(figures, use)
    compared = _compared(use, ranges, alternatives)
    recommendation, trade_off, agent, confidence = paragraphs(
        "decision",
        half=half,
        no_winner=why_none,
        use=use,
        level=standing.level,
        maybe=standing.maybe,
        shares=standing.shares,
        least=LIKELY,
        others=alternatives,
        compared=compared,
        recall=recall,
        saved=saved,
        margin=MARGIN,
        alone=len(set(run.contenders) - {RECORDED}) == 1,
        behind=set_aside,
        far=FAR_BEHIND,
        loss=_loss(figures, use),
        idle=not (run.compactions["mode"] == OWN_TRIGGER).any(),
        ahead=_ahead(points, use, alternatives, figures.likely_best.get(half)),
        fewest=FEWEST,
        recorded=_by_strategy(figures.recorded),
        projects=len(points),
        priced=any(not missing(share) for share in saved.values()),
        reach=_by_strategy(figures.within_reach).get(use),
        lists=[name for name in run.contenders if name in run.names_only],
        too_large=[name for name in run.contenders if name in run.over_window],
    )
    cheapest = cheapest_of(run, use)
    counted = Counted(rows, recall, _counted_savings(points, recall))
    return Decision(
        use="" if why_none else use,
        recommendation=recommendation,
        trade_off=trade_off,
        agent=agent,
        disagreement=disagreement_words(run, use, compared, alternatives),
        other_numbers=other_numbers_words(run, use, compared),
        by_price=_by_price(figures, ranges, undecided=why_none != ""),
        dollars=dollars_words(run, use, compared, saved, cheapest),
        cheapest=cheapest,
        switch_prices=tuple(price_range.low for price_range in ranges[1:]),
        confidence=confidence,
        changes=tuple(what_would_change_it(figures, counted, use, alternatives)),
        points={name: round(mean, 1) for name, mean in best.means.items()},
        no_winner=why_none,
        level=standing.shares,
    )


def _price_ranges(figures: Figures, use: str) -> list[PriceRange]:
    """Which strategy to use at which price; none where nobody knows."""
    likely = figures.likely_best.get(figures.tables.leading(OWN_TRIGGER))
    if likely is None or not likely.is_general:
        return []
    return likely.ranges(use, WORTH)


def _loss(figures: Figures, use: str) -> float:
    """Points that a strategy is behind on average where it is not level with the best one; 0 where
    nobody knows.
    """
    likely = figures.likely_best.get(figures.tables.leading(OWN_TRIGGER))
    if likely is None:
        return 0.0
    return likely.loss(use)


def _by_price(
    figures: Figures,
    ranges: Sequence[PriceRange],
    *,
    undecided: bool,
) -> str:
    """The same in words; empty for none. `undecided`: whether nothing is recommended."""
    if not ranges:
        return ""
    half = figures.tables.leading(OWN_TRIGGER)
    texts = sentences(
        "decision_prices",
        half=HALVES[half],
        ranges=ranges,
        usd=figures.likely_best[half].usd_a_tenth,
        most=PRICES[-1],
        worth=WORTH,
        undecided=undecided,
    )
    return " ".join(texts)


def _compared(use: str, ranges: Sequence[PriceRange], alternatives: Sequence[str]) -> list[str]:
    """The strategies to tell beside the recommended one, best first: those of other prices, and
    the next.
    """
    names = dict.fromkeys([price_range.use for price_range in ranges])
    names |= dict.fromkeys(alternatives)
    names.pop(use, None)
    compared = list(names)[:COMPARED]
    return [name for name in alternatives if name in compared]


def _net_saving(figures: Figures, name: str) -> float:
    """The share of the bill that a strategy saves; NaN without prices."""
    saving = figures.strategies[name].net_saving
    return saving.mean if saving else nan


@dataclass(frozen=True, slots=True)
class Standing:
    """Who is level with whom on their own triggers, where a tenth of the bill is worth `WORTH`.

    Attributes:
        use: of those that are likely to be the best or nearly so, the one that saves most of the
            bill; else the likeliest.
        level: those that are likely to be, `use` among them.
        maybe: others that may be.
        contested: the strategies between which there is no winner, `use` first; empty where it is
            likely.
        shares: by strategy how likely it is; empty where nobody knows.
    """

    use: str
    level: list[str]
    maybe: list[str]
    contested: list[str]
    shares: Mapping[str, float]


def _standing(figures: Figures, best: Choice, saved: Mapping[str, float]) -> Standing:
    """Who is level with whom, by the draws that the chances are from; by the means where nobody
    knows the reader's error.
    """
    run = figures.tables
    likely = figures.likely_best.get(run.leading(OWN_TRIGGER))
    if likely is None:
        contested = _contested_by_names(run, best)
        return Standing(best.use, list(best.level), [], contested, {})
    level = likely.likely()
    possible = likely.level_with_best()
    if level:
        use = thriftiest(level, saved, best.means)
        maybe = possible[len(level) :]
        return Standing(use, level, maybe, [], likely.at())
    return Standing(possible[0], [], [], possible, likely.at())


def _contested_by_names(run: Tables, best: Choice) -> list[str]:
    """The strategy to use and those between which names alone decide nothing, with those that are
    level with it; empty without such ones.
    """
    recall = {best.use: best.means[best.use] / 100}
    for name in best.others:
        recall[name] = best.means[name] / 100
    undecided = beyond_names(run, recall, OWN_TRIGGER)
    if len(undecided) < 2:
        return []
    contested: list[str] = []
    for name in recall:
        if name in undecided or name in best.level:
            contested.append(name)
    return contested


def _by_strategy(table: pd.DataFrame) -> dict[str, Mapping[Hashable, Any]]:
    """The rows of a table with one row a strategy, by its name."""
    return {str(row["strategy"]): row for row in table.to_dict("records")}


def _counted_savings(points: pd.DataFrame, recall: Mapping[str, float]) -> dict[str, float]:
    """Shares of the bill that each strategy saves, of the sessions that count."""
    saved = {}
    for name, mean in points.mean().items():
        saved[str(name)] = (mean - 100 * recall[str(name)]) / (10 * WORTH)
    return saved


def _ahead(
    points: pd.DataFrame,
    use: str,
    alternatives: Sequence[str],
    likely: LikelyBest | None,
) -> dict[str, object] | None:
    """The lead over the next strategy: its estimate, whether it is beyond chance over all pairs,
    and where it leads. Its interval is from the draws that the chances are from, with the reader's
    error; of projects alone where nobody knows that error.
    """
    if not alternatives:
        return None
    runner_up = alternatives[0]
    p = _chances_of_pairs(points)[frozenset({use, runner_up})]
    lead = difference(points, use, runner_up) or Estimate(0.0, 0, 0)
    if likely is not None:
        lead = likely.lead(use, runner_up)
    is_positive = lead.low is not None and lead.low > 0
    return {
        "of": runner_up,
        "lead": lead,
        "p": p,
        "beyond_chance": is_positive and p is not None and p <= ALPHA,
        "first": int((points[use] > points[runner_up]).sum()),
    }


def _chances_of_pairs(points: pd.DataFrame) -> dict[frozenset[str], float | None]:
    """By pair of strategies the chance of a difference as large as theirs, corrected for the number
    of pairs; None with too few projects.
    """
    pairs = list(combinations(points.columns, 2))
    chances: list[float | None] = [None] * len(pairs)
    if len(points) >= FEWEST:
        differences = [points[strategy] - points[rival] for strategy, rival in pairs]
        chances = [float(sign_flip(values.to_numpy())) for values in differences]
    corrected = holm(chances)
    return {frozenset(pair): p for pair, p in zip(pairs, corrected, strict=True)}
