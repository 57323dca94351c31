"""The report of a run, part by part, for a notebook to show."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.registry import extension
from workbench.base.typed_value import check_instance
from workbench.evaluation.analysis.survival import half_life
from workbench.evaluation.analysis.table_rows import rows_with
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.costs import typical
from workbench.evaluation.findings.figures import Figures
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.findings.wording import sentences
from workbench.evaluation.metrics import HALVES
from workbench.report.page import (
    comparison,
    contexts,
    cost,
    losses,
    provenance,
    rules,
    sweep,
    verdict,
)
from workbench.report.page.html import Html, empty, note

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


RUN = "a run, as wb.compare or wb.Results.open gives it,"
"""What a report is of."""
CHANCES_IN_WORDS = 20
"""Of the prices, every so many is told in words: 0, 5 and 10 points."""
ON_LIGHT = {"image/svg+xml": {"needs_background": "light"}}
"""A chart's metadata in a notebook."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure that shows itself in a notebook, with words for those who cannot see it."""

    name: str
    figure: Figure
    alt: str

    def drawing(self) -> dict[str, str]:
        """What a page shows of it."""
        from workbench.report.page.plot_style import svg

        return {
            "image/svg+xml": svg(self.figure, self.name, self.alt),
            "text/plain": self.alt,
        }

    def picture(self) -> dict[str, str]:
        """What a notebook has besides, for places that show no SVG."""
        from workbench.report.page.plot_style import png

        letters = b64encode(png(self.figure)).decode("ascii")
        return {"image/png": letters}

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
        return self.drawing() | self.picture(), ON_LIGHT


def _chart(name: str, findings: Findings, rows: pd.DataFrame, *session: str | None) -> Chart:
    """The chart of that name; matplotlib is imported for the first one, so that words need not
    wait for it.
    """
    from workbench.report.page import charts

    drawings: Mapping[str, Callable[..., Figure]] = {
        "savings": charts.savings,
        "likely_best": charts.likely_best,
        "spending": charts.spending,
        "equal_size": charts.equal_size,
        "rounds": charts.rounds,
    }
    mode = "matched" if name == "equal_size" else "natural"
    half = HALVES[findings.tables.leading(mode)]
    alt = sentences(
        "alt",
        chart=name,
        half=half.capitalize(),
        rows=rows.to_dict("records"),
        session=session[0] if session else None,
    )
    figure = drawings[name](findings, *session)
    return Chart(name, figure, " ".join(alt))


class Report:
    """The report of a run, a property a part: each shows some of its findings, and is empty
    without data.
    """

    def __init__(
        self,
        results: Results,
        baseline: str = "",
        other: Results | None = None,
        *,
        findings: Findings | None = None,
    ) -> None:
        check_instance("the run", results, Results, RUN)
        if findings is None:
            findings = Findings.of(results, baseline)
        self.results = results
        self.findings = findings
        if other is not None:
            check_instance("the other run", other, Results, RUN)
        self.other = None if other is None else Tables.of(other)

    @classmethod
    def open(cls, run: str | Path, baseline: str = "", other: str | Path = "") -> Report:
        """The report of the run in this folder.

        Args:
            run: its folder.
            baseline: the strategy that all others are compared with; by default `truncate`, or the
                one named first.
            other: the folder of a run over the same sessions that this one is compared with; empty
                for none.

        Raises:
            SettingError: there is no finished run.
            UnknownName: the run has no such strategy.
        """
        other_results = Results.open(other) if other else None
        return cls(Results.open(run), baseline, other_results)

    @property
    def figures(self) -> Figures:
        """Every number and table of the run."""
        return self.findings.figures

    @property
    def verdict(self) -> Html:
        """The answer in words."""
        return verdict.verdict_html(self.findings)

    @property
    def headline(self) -> Html:
        """The headline table."""
        return verdict.headline_html(self.findings)

    @property
    def own_metrics(self) -> Html:
        """What each strategy has in metrics that are not built in."""
        return verdict.own_metrics_html(self.findings)

    @property
    def differences(self) -> Html:
        """Every strategy against the baseline."""
        return comparison.differences_html(self.findings)

    @property
    def panel(self) -> Html:
        """Whether other metrics contradict the order."""
        return comparison.panel_html(self.findings)

    @property
    def frontier(self) -> Html:
        """The Pareto frontier, in words."""
        return comparison.frontier_html(self.findings)

    @property
    def by_kind(self) -> Html:
        """What is kept of each kind of information."""
        return losses.kinds_html(self.findings)

    @property
    def by_session(self) -> Html:
        """What each strategy keeps in each session."""
        return losses.by_session_html(self.findings)

    @property
    def losses(self) -> Html:
        """The worst losses, each with its story."""
        return losses.losses_html(self.findings)

    @property
    def rules(self) -> Html:
        """What became of the user's rules."""
        return rules.rules_html(self.findings)

    @property
    def contexts(self) -> Html:
        """The context over each session, side by side."""
        return contexts.contexts_html(self.findings)

    @property
    def half_lives(self) -> Html:
        """When half of the entities are gone."""
        return half_lives_html(self.findings)

    @property
    def costs(self) -> Html:
        """The bill of each strategy, and when compaction breaks even."""
        return cost.costs_html(self.findings)

    @property
    def paging(self) -> Html:
        """What recall keeps within reach, and what it costs."""
        return cost.paging_html(self.findings)

    @property
    def closed_loop(self) -> Html:
        """Whether agents got their work done, and what it took."""
        return laboratory_html("closed_loop_html", self.results, self.findings)

    @property
    def reconciled(self) -> Html:
        """The bill against reported usage."""
        return cost.reconciled_html(self.findings)

    @property
    def recorded(self) -> Html:
        """Recall where the recorded agents compacted."""
        return provenance.recorded_html(self.findings)

    @property
    def integrity(self) -> Html:
        """What the guard found."""
        return provenance.integrity_html(self.findings)

    @property
    def sessions(self) -> Html:
        """What was replayed, and what could not be."""
        return provenance.sessions_html(self.findings)

    @property
    def reproduce(self) -> Html:
        """How to get this report again."""
        return provenance.reproduce_html(self.findings)

    @property
    def changed(self) -> Html:
        """What changed, in words."""
        return comparison.answer_html(self.findings, self.other)

    @property
    def changes(self) -> Html:
        """Then and now, and what is newly lost."""
        return comparison.changes_html(self.findings, self.other)

    @property
    def sweep(self) -> Html:
        """The points of a sweep."""
        return sweep.sweep_html(self.results)

    @property
    def writers(self) -> Html:
        """The models that wrote summaries, and replicates."""
        return provenance.writers_html(self.findings) + provenance.replicates_html(self.results)

    @property
    def validation(self) -> Html:
        """Whether this run's own scale holds."""
        return laboratory_html("trust_html", self.results, self.findings)

    @property
    def equal_size(self) -> Chart:
        """Recall at one size."""
        return _chart("equal_size", self.findings, self.figures.by_size)

    @property
    def savings(self) -> Chart:
        """Recall and tokens saved."""
        return _chart("savings", self.findings, self.figures.points)

    @property
    def likely_best(self) -> Chart | Html:
        """How likely each strategy is to be best at each price; nothing where nobody knows."""
        likely = self.figures.likely_best.get(self.findings.tables.leading("natural"))
        if likely is None:
            return empty()
        is_told = likely.is_general and self.findings.tables.usd_a_tenth > 0
        if not is_told:
            return empty()
        rows = likely.level.iloc[::CHANCES_IN_WORDS].reset_index()
        rows = rows.melt("price", var_name="strategy", value_name="chance")
        return _chart("likely_best", self.findings, rows)

    @property
    def rounds(self) -> Chart:
        """Survival by compactions."""
        return _chart("rounds", self.findings, self.figures.by_round)

    def plot(self, table: str) -> Chart:
        """A plain chart of one table of the run, such as `compactions`.

        Raises:
            UnknownName: a run has no such table.
        """
        from workbench.report.page.table_charts import table_chart

        return Chart(table, table_chart(self.results, table), f"Chart of the table {table}.")

    def _repr_html_(self) -> str:
        """The decision, the table and the chart: what a notebook shows of a run."""
        first_screen = self.verdict + self.headline
        chart = self.likely_best
        if isinstance(chart, Chart):
            first_screen += Html(chart.drawing()["image/svg+xml"])
        return first_screen._repr_html_()

    def spending(self, session: str | None = None) -> Chart:
        """What one session has cost after each request; the one in the middle by its cost if
        none is named.
        """
        if session is None:
            session = typical(self.findings.tables)
        costs = self.findings.tables.costs
        bills = rows_with(costs, session=session)
        return _chart("spending", self.findings, bills, session)


def laboratory_html(
    section: str,
    results: Results,
    findings: Findings,
) -> Html:
    """A section of the laboratory; nothing where this is not installed."""
    make = extension(section)
    if make is None:
        return empty()
    html: Html = make(results, findings)
    return html


def half_lives_html(findings: Findings) -> Html:
    """After how many compactions half of the entities are gone; nothing where none was followed."""
    curves = findings.figures.by_round
    ends = []
    for _, curve in curves.groupby("strategy", sort=False):
        ends.append((half_life(curve), curve.iloc[-1]))
    return note(" ".join(sentences("half_lives", ends=ends)), curves)
