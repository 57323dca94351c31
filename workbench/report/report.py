"""The report of a run, part by part, for a notebook to show."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.experiment.store import Results
from workbench.palette import REFERENCES
from workbench.report import (
    asked,
    changes,
    charts,
    cost,
    differences,
    grid,
    lasting,
    losses,
    maps,
    provenance,
    repeated,
    summary,
    validity,
    writers,
)
from workbench.report.digits import amount, listed, percent
from workbench.report.html import Html
from workbench.report.plot_style import png, svg
from workbench.report.points import points_words
from workbench.report.tables import Source, Tables, by_kind, by_round, by_size, typical

if TYPE_CHECKING:
    from matplotlib.figure import Figure


HALF = 5.6
"""Inches of a chart that stands beside another."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure that shows itself in a notebook, with words for those who cannot see it."""

    name: str
    figure: Figure
    alt: str

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
        picture = b64encode(png(self.figure)).decode("ascii")
        shown = {"image/svg+xml": svg(self.figure, self.name, self.alt), "image/png": picture, "text/plain": self.alt}
        return shown, {"image/svg+xml": {"needs_background": "light"}}


class Report:
    """What there is to say about a run. Each part is worked out when it is asked for."""

    def __init__(self, results: Source, baseline: str = "", other: Source | None = None) -> None:
        self.results = results
        self.run = Tables.of(results, baseline)
        self.other = None if other is None else Tables.of(other)

    @classmethod
    def open(cls, run: str | Path, baseline: str = "", other: str | Path = "") -> Report:
        """The report of the run in this folder.

        Args:
            run: its folder.
            baseline: the strategy that all others are compared with; by default `truncate`, or the one named first.
            other: the folder of a run over the same sessions that this one is compared with; empty for none.

        Raises:
            SettingError: there is no finished run.
            UnknownName: the run has no such strategy.
        """
        return cls(Results.open(run), baseline, Results.open(other) if other else None)

    @property
    def verdict(self) -> Html:
        """The answer in words."""
        return summary.verdict_html(self.run)

    @property
    def headline(self) -> Html:
        """The headline table."""
        return summary.headline_html(self.run)

    @property
    def differences(self) -> Html:
        """Every strategy against the baseline: interval, test and what they say."""
        return differences.differences_html(self.run)

    @property
    def changed(self) -> Html:
        """What changed against the other run, in words; nothing where there is none."""
        return changes.answer_html(self.run, self.other)

    @property
    def changes(self) -> Html:
        """Then and now, strategy by strategy, and what is newly lost; nothing where there is no other run."""
        return changes.changes_html(self.run, self.other)

    @property
    def sweep(self) -> Html:
        """The points of a sweep; nothing where the run is none."""
        return grid.sweep_html(self.results)

    @property
    def by_kind(self) -> Html:
        """What each strategy keeps of each kind of information, with a way to what was lost."""
        return maps.kinds_html(self.run)

    @property
    def by_session(self) -> Html:
        """What each strategy keeps in each session, with a way to what was lost there."""
        return maps.by_session_html(self.run)

    @property
    def lead(self) -> Html:
        """The strategy that keeps most against each other one."""
        return differences.lead_html(self.run)

    @property
    def frontier(self) -> Html:
        """Who is beaten by nobody on what is kept and what is saved, and how sure that is."""
        return differences.frontier_html(self.run)

    @property
    def losses(self) -> Html:
        """The worst losses, each with its story."""
        return losses.losses_html(self.run)

    @property
    def integrity(self) -> Html:
        """What the guard found."""
        return provenance.integrity_html(self.run)

    @property
    def writers(self) -> Html:
        """Who wrote the summaries, model beside model, and what replicates say; nothing where there is neither."""
        wrote, again = writers.writers_html(self.run), repeated.repeated_html(self.results)
        return Html(wrote.html + again.html, data=wrote.data)

    @property
    def asked(self) -> Html:
        """What real models say of the same contexts: their surprise, their answers, what they do next."""
        return asked.asked_html(self.results)

    @property
    def validity(self) -> Html:
        """Whether this run's own scale holds, and what real models say of the same contexts."""
        scale, models = validity.validity_html(self.results), self.asked
        return Html(scale.html + models.html, data=scale.data)

    @property
    def recorded(self) -> Html:
        """What was really kept where the recorded agents compacted; nothing where none did."""
        return validity.recorded_html(self.results)

    @property
    def costs(self) -> Html:
        """The bill of each strategy by part, and after how many requests compaction has paid off."""
        return cost.costs_html(cost.Money.of(self.results))

    @property
    def reconciled(self) -> Html:
        """How well the bill reproduces what providers reported."""
        return cost.reconciled_html(cost.Money.of(self.results))

    def spending(self, session: str | None = None) -> Chart:
        """What one session has cost after each request; the one in the middle by its cost if none is named."""
        money = cost.Money.of(self.results)
        return Chart("spending", cost.spending(money, session), cost.spending_words(money, session))

    @property
    def sessions(self) -> Html:
        """What was replayed, and what could not be."""
        return provenance.sessions_html(self.run)

    @property
    def reproduce(self) -> Html:
        """How to get this report again."""
        return provenance.reproduce_html(self.run)

    @property
    def equal_size(self) -> Chart:
        """What is kept when all are cut to the same size."""
        rows = by_size(self.run)
        told = [f"{r['strategy']} {percent(r['mean'])} at {percent(r['share'])}" for r in rows.to_dict("records")]
        return Chart(
            "equal", charts.equal_size(self.run, HALF), "What is kept at equal size: " + (listed(told) or "no data")
        )

    @property
    def savings(self) -> Chart:
        """What is kept against what is saved."""
        return Chart("savings", charts.savings(self.run, HALF), points_words(self.run))

    @property
    def kinds(self) -> Chart:
        """What is kept of each kind of information."""
        rows = by_kind(self.run)
        rows = rows[~rows["strategy"].isin(REFERENCES)].head(24)
        told = [f"{r['kind']} under {r['strategy']} {percent(r['recall'])}" for r in rows.to_dict("records")]
        alt = f"A heat map of what each strategy keeps, by kind of information: {listed(told) or 'no data'}"
        return Chart("kinds", charts.kinds(self.run), alt)

    @property
    def rounds(self) -> Chart:
        """What outlives one compaction, two, and so on."""
        rows = by_round(self.run)
        told = [f"{r['strategy']} {percent(r['surviving'])} after {r['round']}" for r in rows.to_dict("records")]
        alt = f"What outlives one compaction, two, and so on: {listed(told) or 'no data'}"
        return Chart("rounds", charts.rounds(self.run), alt)

    @property
    def half_lives(self) -> Html:
        """After how many compactions half of what was said is gone."""
        return lasting.half_lives_html(self.run)

    def context(self, session: str | None = None) -> Chart:
        """The context over one session; a typical one if none is named."""
        session = typical(self.run) if session is None else session
        rows = self.run.steps[self.run.steps["session"] == session]
        sizes = rows.groupby("strategy", sort=False)["tokens_sent"].max()
        most = listed([f"{name} {amount(size)}" for name, size in sizes.items()]) or "no data"
        told = f"The size of each request of {session} under each strategy; the largest, in tokens: {most}"
        return Chart("context", charts.context_over_time(self.run, session), told)
