"""The report of a run, part by part, for a notebook to show."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import laboratory
from workbench.evaluation.analysis.survival import half_life
from workbench.evaluation.experiment.store import Results
from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.costs import typical
from workbench.evaluation.findings.figures import Figures
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.findings.wording import sentences
from workbench.evaluation.metrics import HALVES
from workbench.report.page import comparison, contexts, cost, losses, provenance, sweep, verdict
from workbench.report.page.html import Html, empty, note

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


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

        return {"image/svg+xml": svg(self.figure, self.name, self.alt), "text/plain": self.alt}

    def picture(self) -> dict[str, str]:
        """What a notebook has besides, for places that show no SVG."""
        from workbench.report.page.plot_style import png

        return {"image/png": b64encode(png(self.figure)).decode("ascii")}

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
        return self.drawing() | self.picture(), ON_LIGHT


def _chart(name: str, findings: Findings, rows: pd.DataFrame, *session: str | None) -> Chart:
    """The chart of that name; matplotlib is imported for the first one, so that words need not
    wait for it.
    """
    from workbench.report.page import charts

    half = HALVES[findings.tables.leading("matched" if name == "equal_size" else "natural")]
    values = {
        "half": half.capitalize(),
        "rows": rows.to_dict("records"),
        "session": next(iter(session), None),
    }
    alt = sentences("alt", chart=name, **values)
    return Chart(name, getattr(charts, name)(findings, *session), " ".join(alt))


def _section(make: Callable[[Report], Html | Chart], doc: str) -> property:
    return property(make, doc=doc)


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
        self.results = results
        self.findings = Findings.of(results, baseline) if findings is None else findings
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
        return cls(Results.open(run), baseline, Results.open(other) if other else None)

    @property
    def figures(self) -> Figures:
        """Every number and table of the run."""
        return self.findings.figures

    verdict = _section(lambda of: verdict.verdict_html(of.findings), "The answer in words.")
    headline = _section(lambda of: verdict.headline_html(of.findings), "The headline table.")
    differences = _section(
        lambda of: comparison.differences_html(of.findings), "Every strategy against the baseline."
    )
    panel = _section(
        lambda of: comparison.panel_html(of.findings), "Whether other metrics contradict the order."
    )
    frontier = _section(
        lambda of: comparison.frontier_html(of.findings), "The Pareto frontier, in words."
    )
    by_kind = _section(
        lambda of: losses.kinds_html(of.findings), "What is kept of each kind of information."
    )
    by_session = _section(
        lambda of: losses.by_session_html(of.findings), "What each strategy keeps in each session."
    )
    losses = _section(
        lambda of: losses.losses_html(of.findings), "The worst losses, each with its story."
    )
    contexts = _section(
        lambda of: contexts.contexts_html(of.findings),
        "The context over each session, side by side.",
    )
    half_lives = _section(
        lambda of: half_lives_html(of.findings), "When half of the entities are gone."
    )
    costs = _section(
        lambda of: cost.costs_html(of.findings),
        "The bill of each strategy, and when compaction breaks even.",
    )
    paging = _section(
        lambda of: cost.paging_html(of.findings),
        "What recall keeps within reach, and what it costs.",
    )
    closed_loop = _section(
        lambda of: laboratory_html("closed_loop", of.results),
        "Whether agents got their work done, and what it took.",
    )
    reconciled = _section(
        lambda of: cost.reconciled_html(of.findings), "The bill against reported usage."
    )
    recorded = _section(
        lambda of: provenance.recorded_html(of.findings),
        "Recall where the recorded agents compacted.",
    )
    integrity = _section(lambda of: provenance.integrity_html(of.findings), "What the guard found.")
    sessions = _section(
        lambda of: provenance.sessions_html(of.findings),
        "What was replayed, and what could not be.",
    )
    reproduce = _section(
        lambda of: provenance.reproduce_html(of.findings), "How to get this report again."
    )
    changed = _section(
        lambda of: comparison.answer_html(of.findings, of.other), "What changed, in words."
    )
    changes = _section(
        lambda of: comparison.changes_html(of.findings, of.other),
        "Then and now, and what is newly lost.",
    )
    sweep = _section(lambda of: sweep.sweep_html(of.results), "The points of a sweep.")
    writers = _section(
        lambda of: provenance.writers_html(of.findings) + provenance.replicates_html(of.results),
        "The models that wrote summaries, and replicates.",
    )
    validation = _section(
        lambda of: laboratory_html("trust", of.results),
        "Whether this run's own scale holds.",
    )
    equal_size = _section(
        lambda of: _chart("equal_size", of.findings, of.figures.by_size), "Recall at one size."
    )
    savings = _section(
        lambda of: _chart("savings", of.findings, of.figures.points), "Recall and tokens saved."
    )
    rounds = _section(
        lambda of: _chart("rounds", of.findings, of.figures.by_round), "Survival by compactions."
    )

    def spending(self, session: str | None = None) -> Chart:
        """What one session has cost after each request; the one in the middle by its cost if
        none is named.
        """
        session = typical(self.findings.tables) if session is None else session
        bills = self.findings.tables.costs
        bills = bills[bills["session"] == session]
        return _chart("spending", self.findings, bills, session)


def laboratory_html(section: str, results: Results) -> Html:
    """A section of the laboratory; nothing where this is not installed."""
    make = laboratory.section(section)
    if make is None:
        return empty()
    html: Html = make(results)
    return html


def half_lives_html(findings: Findings) -> Html:
    """After how many compactions half of the entities are gone; nothing where none was followed."""
    curves = findings.figures.by_round
    ends = [
        (half_life(curve), curve.iloc[-1]) for _, curve in curves.groupby("strategy", sort=False)
    ]
    return note(" ".join(sentences("half_lives", ends=ends)), curves)
