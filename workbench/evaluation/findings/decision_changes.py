"""What would make another strategy the better one than the one that is recommended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from operator import itemgetter
from typing import TypeAlias

import pandas as pd

from workbench.base.formats import missing
from workbench.evaluation.analysis.paired import FEWEST
from workbench.evaluation.analysis.trade import (
    MARGIN,
    WORTH,
    Trade,
)
from workbench.evaluation.findings.figures import Figures
from workbench.evaluation.findings.prices import OWN_TRIGGER
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
    figures: Figures, counted: Counted, use: str, alternatives: Sequence[str]
) -> list[str]:
    """What would make another strategy the better one, nearest first."""
    run = figures.tables
    dearer: list[Rate] = []
    cheaper: list[Rate] = []
    likely = figures.likely_best.get(run.leading(OWN_TRIGGER))
    if likely is None or not likely.is_general:
        dearer, cheaper = _other_rates(counted, use, alternatives)
    windows = run.replayed["window_used"].dropna().astype(int)
    return sentences(
        "decision_changes",
        half=HALVES[run.leading(OWN_TRIGGER)],
        dearer=dearer,
        cheaper=cheaper,
        worth=WORTH,
        unfetched=_best_if_fetching_is_free(counted.rows, use),
        at_sizes=_best_at_sizes(figures.by_size, use, alternatives),
        by_panel=_ahead_by_panel(figures, use, alternatives),
        windows=(int(windows.min()), int(windows.max())) if len(windows) else None,
        projects=run.project_count(counted.rows["session"]),
        fewest=FEWEST,
        counts=figures.summaries,
    )


Rate: TypeAlias = tuple[str, float]
"""A strategy, and the points that a tenth of the bill must be worth for it to be as good."""


def _other_rates(
    counted: Counted, use: str, alternatives: Sequence[str]
) -> tuple[list[Rate], list[Rate]]:
    """The alternative that is as good at the next higher worth of a tenth of the bill, and that at
    the next lower one; each list has one at most.
    """
    recall, saved = counted.recall, counted.saved
    dearer, cheaper = [], []
    for name in alternatives:
        rate = _rate(recall[use] - recall[name], saved[name] - saved[use])
        if not rate:
            continue
        if rate > WORTH:
            dearer.append((name, rate))
        else:
            cheaper.append((name, rate))
    dearer.sort(key=itemgetter(1))
    cheaper.sort(key=lambda name_and_rate: -name_and_rate[1])
    return dearer[:1], cheaper[:1]


def _best_if_fetching_is_free(rows: pd.DataFrame, use: str) -> str:
    """The strategy that is clearly better if looking up again costs nothing; empty for none."""
    free = rows.assign(saved=rows["saved"] + rows["fetching"])
    means = Trade(WORTH).points(free).dropna().mean()
    if means.empty or not means.max() - means[use] >= MARGIN:
        return ""
    return str(means.idxmax())


def _best_at_sizes(
    by_size: pd.DataFrame, use: str, alternatives: Sequence[str]
) -> list[tuple[str, float]]:
    """The sizes at which another strategy has the highest mean, by a difference that somebody would
    notice, each with that strategy.
    """
    sizes = by_size[by_size["strategy"].isin([use, *alternatives])]
    if sizes.empty:
        return []
    means = sizes.pivot_table("mean", "share", "strategy")
    ahead: list[tuple[str, float]] = []
    for share, row in means.iterrows():
        best = str(row.idxmax())
        is_noticed = use not in row or missing(row[use]) or 100 * (row[best] - row[use]) >= MARGIN
        if best != use and is_noticed:
            ahead.append((best, float(str(share))))
    return ahead


def _ahead_by_panel(
    figures: Figures, use: str, alternatives: Sequence[str]
) -> list[tuple[str, list[str]]]:
    """The alternatives that the panel ranks higher, with the metrics in which each is ahead.

    The number that the decision itself counts says nothing new and is left out.
    """
    panel = figures.panel
    if panel is None:
        return []
    leading = figures.tables.leading(OWN_TRIGGER)
    alternatives_ahead: list[tuple[str, list[str]]] = []
    for name in alternatives:
        if panel.rank.get(name, inf) >= panel.rank.get(use, 0):
            continue
        metrics = [PANEL[metric] for metric in panel.ahead[name, use] if metric != leading]
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
    return points if 0 < points <= 100 else None
