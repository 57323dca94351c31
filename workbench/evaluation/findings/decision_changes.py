"""What would make another strategy the better one than the one that is recommended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from operator import attrgetter
from typing import NamedTuple

import pandas as pd

from workbench.base.formats import missing
from workbench.evaluation.analysis.paired import FEWEST
from workbench.evaluation.analysis.trade import MARGIN, WORTH
from workbench.evaluation.findings.figures import Figures
from workbench.evaluation.findings.prices import OWN_TRIGGER, points_of
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.findings.wording import sentences
from workbench.evaluation.metrics import HALVES, PANEL


@dataclass(frozen=True, slots=True)
class Counted:
    """What a decision counts.

    Attributes:
        rows: a row a session and strategy, as `analysis.trade.Trade` reads them.
        recall: by strategy, of the sessions that count.
        saved: shares of the bill, likewise.
    """

    rows: pd.DataFrame
    recall: Mapping[str, float]
    saved: Mapping[str, float]


def what_would_change_it(
    figures: Figures,
    counted_figures: Counted,
    use: str,
    alternatives: Sequence[str],
) -> list[str]:
    """What would make another strategy the better one, nearest first."""
    run = figures.tables
    half = run.leading(OWN_TRIGGER)
    likely = figures.likely_best.get(half)
    rates: list[Rate] = []
    if likely is None or not likely.is_general:
        rates = _rates(counted_figures, use, alternatives)
    return sentences(
        "decision_changes",
        half=HALVES[half],
        dearer=_next_dearer(rates),
        cheaper=_next_cheaper(rates),
        worth=WORTH,
        unfetched=_best_if_fetching_is_free(counted_figures.rows, use),
        at_sizes=_best_at_sizes(figures.by_size, use, alternatives),
        by_panel=_ahead_by_panel(figures, use, alternatives),
        windows=_windows(run),
        projects=run.project_count(counted_figures.rows["session"]),
        fewest=FEWEST,
        counts=figures.summaries,
    )


def _windows(run: Tables) -> tuple[int, int] | None:
    """The smallest window of the sessions, and the largest; None where none is known."""
    windows = run.replayed["window_used"].dropna()
    if windows.empty:
        return None
    smallest = int(windows.min())
    largest = int(windows.max())
    return smallest, largest


class Rate(NamedTuple):
    """A strategy, and the points that a tenth of the bill must be worth for it to be as good."""

    strategy: str
    points: float


def _rates(
    counted_figures: Counted,
    use: str,
    alternatives: Sequence[str],
) -> list[Rate]:
    """At which worth each alternative is as good, of those that are at any."""
    recall = counted_figures.recall
    saved = counted_figures.saved
    rates: list[Rate] = []
    for name in alternatives:
        fewer = recall[use] - recall[name]
        more = saved[name] - saved[use]
        rate = _rate(fewer, more)
        if rate:
            rates.append(Rate(name, rate))
    return rates


def _next_dearer(rates: Sequence[Rate]) -> list[Rate]:
    """The alternative that is as good at the next higher worth, if any."""
    dearer = [rate for rate in rates if rate.points > WORTH]
    dearer.sort(key=attrgetter("points"))
    return dearer[:1]


def _next_cheaper(rates: Sequence[Rate]) -> list[Rate]:
    """The alternative that is as good at the next lower worth, if any."""
    cheaper = [rate for rate in rates if rate.points <= WORTH]
    cheaper.sort(key=attrgetter("points"), reverse=True)
    return cheaper[:1]


def _best_if_fetching_is_free(rows: pd.DataFrame, use: str) -> str:
    """The strategy that is clearly better if looking up again costs nothing; empty for none."""
    free = rows.assign(saved=rows["saved"] + rows["fetching"])
    means = points_of(free, WORTH).mean()
    if means.empty:
        return ""
    lead = means.max() - means[use]
    if lead >= MARGIN:
        return str(means.idxmax())
    return ""


def _best_at_sizes(
    by_size: pd.DataFrame,
    use: str,
    alternatives: Sequence[str],
) -> list[tuple[str, float]]:
    """The sizes at which another strategy has the highest mean, by a difference that somebody would
    notice, each with that strategy.
    """
    is_usable = by_size["strategy"].isin([use, *alternatives])
    sizes = by_size[is_usable]
    if sizes.empty:
        return []
    means = sizes.pivot_table("mean", "share", "strategy")
    ahead: list[tuple[str, float]] = []
    for share, row in means.iterrows():
        best = str(row.idxmax())
        mean = row.get(use)
        is_noticed = missing(mean) or 100 * (row[best] - mean) >= MARGIN
        if best != use and is_noticed:
            ahead.append((best, float(str(share))))
    return ahead


def _ahead_by_panel(
    figures: Figures,
    use: str,
    alternatives: Sequence[str],
) -> list[tuple[str, list[str]]]:
    """The alternatives that the panel ranks higher, with the metrics in which each is ahead.

    The number that the decision itself counts says nothing new and is left out.
    """
    panel = figures.panel
    if panel is None:
        return []
    leading = figures.tables.leading(OWN_TRIGGER)
    rank = panel.rank.get(use, 0)
    alternatives_ahead: list[tuple[str, list[str]]] = []
    for name in alternatives:
        if panel.rank.get(name, inf) >= rank:
            continue
        metrics_ahead = panel.ahead[name, use]
        metrics = [PANEL[metric] for metric in metrics_ahead if metric != leading]
        if metrics:
            alternatives_ahead.append((name, metrics))
    return alternatives_ahead


def _rate(fewer: float, more: float) -> float | None:
    """Points that a tenth of the bill must be worth for another strategy to be as good; None
    where none would do.
    """
    if missing(more) or not more:
        return None
    points = 10 * fewer / more
    if 0 < points <= 100:
        return points
    return None
