"""What an advice says before it is done: which candidate leads, and how far the final figures may
lie from those so far. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import sqrt
from typing import overload

import numpy as np
import pandas as pd
from scipy import special

from workbench.base.formats import dollars, interval, percent, points, some
from workbench.base.ragged import Floats
from workbench.evaluation.analysis.paired import Estimate
from workbench.evaluation.analysis.trade import Trade, choice, complete_sessions
from workbench.evaluation.findings.preliminary_reach import PROMISED, Spread
from workbench.lab.advice.advice import TODAY, Bill
from workbench.lab.advice.glimpse import BETWEEN_RECORDINGS, Glimpse
from workbench.lab.advice.measured import saved_shares
from workbench.lab.advice.outcomes import far_behind

BETWEEN_PROJECTS = Spread(25.0, 4)
"""Of the points by which a candidate is ahead of the default, as wide as most candidates show in
real sessions of Claude Code.
"""
TENTHS = 10
"""Of a bill."""


@dataclass(frozen=True, slots=True)
class AdviceSoFar:
    """What a search knows before it is done.

    Attributes:
        leader: the candidate that leads: the default, or `rival`.
        rival: the best of the others.
        default: the candidate that it is compared with.
        points: by which the rival is ahead of the default, with the interval that is to hold the
            final figure.
        saved: the share of the bill that the rival saves more than the default, likewise; None
            where nothing is priced.
        usd: the same in USD a session, likewise; None until the bill of every session is known.
        candidates: that were tried.
        sessions: that have a figure so far.
        recordings: that the search has in all.
        bill: that savings are shares of.
        glimpse: what was seen of one session, where no session was measured as a whole.
    """

    leader: str
    rival: str
    default: str
    points: Estimate
    saved: Estimate | None
    usd: Estimate | None
    candidates: int
    sessions: int
    recordings: int
    bill: Bill
    glimpse: Glimpse | None = None

    @classmethod
    def of(
        cls,
        rows: pd.DataFrame,
        rows_of_default: pd.DataFrame,
        sizes: pd.Series[float],
        default: str,
        trade: Trade,
        bill: Bill,
        glimpse: Glimpse | None = None,
    ) -> AdviceSoFar | None:
        """What these rows say; None where they have no figure, or no candidate but the default.

        Args:
            rows: as of `Measurements.of`.
            rows_of_default: what is known of the default on every recording, as of `rows`.
            sizes: in bytes of all recordings, by `unit`.
            default: what the candidates are compared with.
            trade: of what is kept and the bill.
            bill: that savings are shares of.
            glimpse: what was seen of the one session, where that is not all.
        """
        table = trade.points(rows).dropna()
        if table.empty or default not in table or len(table.columns) < 2:
            return None
        unmeasured = _Unmeasured.of(rows, rows_of_default, sizes)
        leader, rival = _leader_and_rival(rows, table, default)
        leads = table[rival] - table[default]
        unknown = unmeasured.with_figure
        points_variance = 0.0
        saved_variance = 0.0
        if glimpse is not None:
            unknown += glimpse.further_sessions
            points_variance = glimpse.variance_of_points(trade.worth)
            saved_variance = glimpse.variance_of_bill
        most_saved = _most_saved(rows, default)
        saved = _saved(rows, rival, default, "plain", unmeasured, saved_variance)
        usd = None
        if unmeasured.usd is not None:
            share = _saved(rows, rival, default, "uncompacted", unmeasured, saved_variance)
            usd = _times(share, unmeasured.usd)
            usd = _at_most(usd, unmeasured.usd_of_default)
        points_ahead = _mean_within(leads.to_numpy(dtype=float), unknown, points_variance)
        return cls(
            leader,
            rival,
            default,
            points=_at_most(points_ahead, 100 + TENTHS * trade.worth * most_saved),
            saved=_at_most(saved, most_saved),
            usd=usd,
            candidates=len(table.columns),
            sessions=complete_sessions(rows)["session"].nunique(),
            recordings=len(sizes),
            bill=bill,
            glimpse=glimpse,
        )

    @property
    def lines(self) -> list[str]:
        """What it says, in three or four lines, each short enough for a narrow terminal."""
        sessions = some(self.sessions, "session")
        recordings = some(self.recordings, "recording")
        candidates = some(self.candidates, "candidate")
        source = f"preliminary: {sessions} of {recordings}, {candidates}"
        if self.glimpse is not None:
            source = f"{source}, {self.glimpse.words}"
        default = self.default
        if self.bill is TODAY:
            default = "today's setting"
        lead = self.points
        better, worse = self.rival, default
        joint = "and"
        if self.leader == self.default:
            lead = _negative(lead)
            better, worse = default, self.rival
            joint = "which"
        lead_words = _words(lead, "{:+.1f}".format, "{:.1f} points".format)
        if lead.mean < 0:  # so few points less that the cheaper one is taken
            lines = [source, f"{better} is cheaper, and level at {lead_words}", f"with {worse}"]
        else:
            lines = [source, f"{better} leads by {lead_words}", f"over {worse}"]
        return [*lines, *self._bill_lines(joint)]

    def _bill_lines(self, joint: str) -> list[str]:
        """What the rival saves or costs more, as far as that is known; `joint` comes before it."""
        saved, usd = self.saved, self.usd
        if saved is None:
            return []
        verb, scale = "saves", f"of {self.bill.name}"
        costs_more = saved.mean < 0
        if costs_more:
            saved = _negative(saved)
            verb, scale = "costs", f"more than {self.bill.name}"
        lines = [f"{joint} {verb} {_words(saved, points, percent)} {scale}"]
        if usd is not None:
            if costs_more:
                usd = _negative(usd)
            lines.append(f"{_words(usd, dollars, dollars)} a session")
        return lines


def _negative(figure: Estimate) -> Estimate:
    """The same as seen from the other side."""
    assert figure.low is not None and figure.high is not None
    return Estimate(
        -figure.mean,
        figure.n,
        figure.projects,
        low=-figure.high,
        high=-figure.low,
    )


def _words(
    figure: Estimate,
    end: Callable[[float | None], str],
    mean: Callable[[float], str],
) -> str:
    """`12 % (-2 to 8)`; without an interval where the figure is final.

    Args:
        figure: to be told.
        end: says an end of the interval.
        mean: says the mean.
    """
    words = mean(figure.mean)
    if figure.low == figure.high:
        return words
    return f"{words} ({interval(figure.low, figure.high, end)})"


@dataclass(frozen=True, slots=True)
class _Unmeasured:
    """What a search has not measured yet.

    Attributes:
        weights: by recording about how much its bill counts: its bytes, or its bill.
        recordings: those of which nothing is known of the candidates.
        with_figure: how many of them may have a figure.
        usd: the mean bill of a session without compaction; None before all are known.
        usd_of_default: likewise with the default, as far as it is known.
    """

    weights: pd.Series[float]
    recordings: pd.Index[str]
    with_figure: int
    usd: float | None
    usd_of_default: float

    @classmethod
    def of(
        cls,
        rows: pd.DataFrame,
        rows_of_default: pd.DataFrame,
        sizes: pd.Series[float],
    ) -> _Unmeasured:
        """What is not among the rows; see `AdviceSoFar.of`."""
        recordings = sizes.index.difference(rows["unit"])
        units_known = pd.Index(rows_of_default["unit"])
        has_figure = rows_of_default["recall"].notna()
        units_with_figure = rows_of_default.loc[has_figure, "unit"]
        without_figure = units_known.difference(units_with_figure)
        with_figure = recordings.difference(without_figure)
        priced_rows = rows_of_default[rows_of_default["plain"] > 0]
        bills_of_default = priced_rows["plain"] - priced_rows["saved"]
        usd_of_default = float(bills_of_default.mean())
        if len(sizes.index.difference(units_known)) or priced_rows.empty:
            return cls(sizes, recordings, len(with_figure), None, usd_of_default)
        bills = priced_rows.groupby("unit")["plain"].sum()
        weights = bills.reindex(sizes.index, fill_value=0.0)
        usd = float(priced_rows["plain"].mean())
        return cls(weights, recordings, len(with_figure), usd, usd_of_default)


def _leader_and_rival(rows: pd.DataFrame, table: pd.DataFrame, default: str) -> tuple[str, str]:
    """The candidate that leads, chosen as in the last round, and the best but the default.

    Args:
        rows: as of `Measurements.of`.
        table: points by project and candidate.
        default: a candidate.
    """
    excluded = set(far_behind(rows)) - {default}
    eligible = table.drop(columns=list(excluded & set(table)))
    savings = saved_shares(rows)
    leader = choice(eligible, savings).use
    if leader != default:
        return leader, leader
    rivals = eligible.drop(columns=default)
    if rivals.empty:
        rivals = table.drop(columns=default)
    rival = choice(rivals, savings).use
    return default, rival


def _mean_within(values: Floats, unknown: int, variance: float) -> Estimate:
    """The mean of values, with the interval that is to hold the mean of all.

    Args:
        values: points of the projects that are known, one and more.
        unknown: how many are not.
        variance: of the mean beside that between projects.
    """
    count = len(values)
    part_of_variance = 1 / count - 1 / (count + unknown)
    mean = float(values.mean())
    return _within(mean, values, part_of_variance, BETWEEN_PROJECTS, variance)


def _within(
    mean: float,
    values: Floats,
    part_of_variance: float,
    spread: Spread,
    further_variance: float,
) -> Estimate:
    """A mean of values, with an interval that has so large a part of their variance, and a further
    one.
    """
    count = len(values)
    variances: list[float] = []
    if count > 1:
        variance = np.var(values, ddof=1)
        variances.append(float(variance))
    believed_variance = spread.with_seen(variances, count - 1)
    degrees = spread.weight + count - 1
    quantile = special.stdtrit(degrees, (1 + PROMISED) / 2)
    reach = float(quantile) * sqrt(believed_variance * part_of_variance + further_variance)
    return Estimate(mean, count, count, mean - reach, mean + reach)


def _saved(
    rows: pd.DataFrame,
    rival: str,
    default: str,
    bill: str,
    unmeasured: _Unmeasured,
    further_variance: float,
) -> Estimate | None:
    """The share of a bill that the rival saves more than the default: a ratio of sums, in which
    long recordings decide, also those that are not measured yet.

    Args:
        rows: with the `unit`, `candidate`, `saved`, and the bill.
        rival: a candidate.
        default: another.
        bill: the column of the bill.
        unmeasured: what is not measured yet.
        further_variance: of the share, beside that between recordings.
    """
    priced_rows = rows[rows[bill] > 0]
    if not {rival, default} <= set(priced_rows["candidate"]):
        return None
    groups = priced_rows.groupby(["candidate", "unit"])
    saved = groups["saved"].sum()
    saved_more = saved[rival] - saved[default]
    saved_more = saved_more.dropna()
    bills = groups[bill].sum()[default]
    bills = bills.reindex(saved_more.index)
    if not bills.sum() > 0:
        return None
    weights = unmeasured.weights.reindex(saved_more.index)
    weights_to_come = unmeasured.weights.reindex(unmeasured.recordings)
    weight = weights.sum()
    weight_to_come = weights_to_come.sum()
    squares = (weights**2).sum()
    variance_of_mean = squares / weight**2
    variance = (weights_to_come**2).sum()
    variance += weight_to_come**2 * variance_of_mean
    whole_weight = weight + weight_to_come
    shares = saved_more / bills
    mean = saved_more.sum() / bills.sum()
    return _within(
        float(mean),
        shares.to_numpy(dtype=float),
        variance / whole_weight**2,
        BETWEEN_RECORDINGS,
        further_variance,
    )


def _most_saved(rows: pd.DataFrame, default: str) -> float:
    """The share of the bill that a candidate may save more than the default: all that it costs.

    Args:
        rows: with the `candidate`, what is `saved`, and the `plain` bill.
        default: a candidate.
    """
    is_of_default = rows["candidate"] == default
    priced_rows = rows[is_of_default & (rows["plain"] > 0)]
    if priced_rows.empty:
        return 1.0
    saved = priced_rows["saved"].sum() / priced_rows["plain"].sum()
    return max(1.0, float(1 - saved))


@overload
def _at_most(figure: Estimate, bound: float) -> Estimate: ...
@overload
def _at_most(figure: Estimate | None, bound: float) -> Estimate | None: ...
def _at_most(figure: Estimate | None, bound: float) -> Estimate | None:
    """A figure whose interval goes no further than what is possible."""
    if figure is None or figure.low is None or figure.high is None:
        return figure
    return replace(
        figure,
        low=min(figure.low, max(bound, figure.mean)),
        high=min(figure.high, max(bound, figure.mean)),
    )


def _times(share: Estimate | None, usd: float) -> Estimate | None:
    """A share with its interval in USD."""
    if share is None or share.low is None or share.high is None:
        return None
    return Estimate(
        usd * share.mean,
        share.n,
        share.projects,
        low=usd * share.low,
        high=usd * share.high,
    )
