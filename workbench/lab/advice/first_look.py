"""Shows what a search knows before it is done, and looks at a few recordings first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pandas as pd

from workbench.evaluation.analysis.trade import Trade
from workbench.evaluation.experiment.grid import Point
from workbench.evaluation.experiment.progress import StandingLines
from workbench.lab.advice.advice import Bill
from workbench.lab.advice.measured import Measurements
from workbench.lab.advice.preliminary import AdviceSoFar
from workbench.lab.advice.search import failed_candidates
from workbench.lab.advice.shortage import is_long_enough

ENOUGH = 2
"""Sessions with a figure after which the search itself begins."""
MOST_RECORDINGS = 4
"""Recordings that are looked at for that, at most."""
MOST_CANDIDATES = 8
"""Candidates that are tried on them, at most."""


@dataclass(slots=True)
class Teller:
    """Shows what a search knows so far, below the bars of its runs; never less than before.

    Attributes:
        lines: that are shown.
        measured: what the search measured.
        default: what the candidates are compared with.
        units: the recordings of the search.
        trade: of what is kept and the bill.
        bill: that savings are shares of.
        sessions: with a figure, of what is shown.
    """

    lines: StandingLines
    measured: Measurements
    default: str
    units: Sequence[str]
    trade: Trade
    bill: Bill
    sessions: int = 0

    def tell(self, rows: pd.DataFrame) -> None:
        """Show what these rows say, where that stands on as many sessions as what is shown."""
        failed = failed_candidates(rows)
        usable_rows = rows[~rows["candidate"].isin(failed)]
        so_far = AdviceSoFar.of(
            usable_rows,
            self.measured.known_of(self.default),
            self._sizes,
            self.default,
            self.trade,
            self.bill,
        )
        if so_far is not None and so_far.sessions >= self.sessions:
            self.sessions = so_far.sessions
            self.lines.show(so_far.lines)

    @property
    def _sizes(self) -> pd.Series[float]:
        """Of the recordings in bytes, at least one each."""
        sizes = []
        for unit in self.units:
            size = max(self.measured.sources[unit].bytes, 1)
            sizes.append(float(size))
        return pd.Series(sizes, index=pd.Index(self.units))


@contextmanager
def telling(teller: Teller) -> Iterator[None]:
    """Show what is measured until the `with` ends."""
    measured = teller.measured
    measured.tell = teller.tell
    try:
        yield
    finally:
        measured.tell = None


def look(teller: Teller, points: Sequence[Point]) -> None:
    """Try some candidates on the smallest recordings that are long enough, one after the other,
    until a few have a figure: on the first in this process, which has read it. Replays and
    simulations stay in the folder of the run, where the search finds them.

    Args:
        teller: shows what they say.
        points: the candidates, the default first.
    """
    tried_points = points[:MOST_CANDIDATES]
    measured = teller.measured
    apart = replace(
        measured,
        spec=measured.spec.changed(jobs=1),
        rows=measured.rows.iloc[:0],
        compactions=measured.compactions.iloc[:0],
        replayed_pairs=set(),
        simulated_pairs=set(),
        tell=None,
    )
    units: list[str] = []
    for unit in _smallest_first(teller):
        units.append(unit)
        apart.replayed(tried_points, units)
        apart.decide_half(points[0], units)
        rows = apart.of(tried_points, units)
        teller.tell(rows)
        apart.spec = measured.spec
        if teller.sessions >= ENOUGH or len(units) == MOST_RECORDINGS:
            return


def _smallest_first(teller: Teller) -> Iterator[str]:
    """The recordings that are long enough for a figure."""
    measured = teller.measured
    window = measured.grid.windows[0]
    by_size = sorted(teller.units, key=lambda unit: measured.sources[unit].bytes)
    for unit in by_size:
        source = measured.sources[unit]
        if is_long_enough(source, window, measured.spec.redaction):
            yield unit
