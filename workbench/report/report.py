"""The report of a run, part by part, for a notebook to show."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.experiment.store import Results
from workbench.formats import amount, joined, percent
from workbench.report import charts
from workbench.report.comparison import answer_html, changes_html, differences_html, frontier_html
from workbench.report.cost import costs_html, reconciled_html, spending_words
from workbench.report.html import Html, note, sentences
from workbench.report.judges import judges_html
from workbench.report.losses import by_session_html, kinds_html, losses_html
from workbench.report.plot_style import png, svg
from workbench.report.provenance import integrity_html, recorded_html, reproduce_html, sessions_html, validation_html
from workbench.report.summaries import by_round, by_size, lives, points, typical
from workbench.report.sweep import sweep_html
from workbench.report.tables import StoredRun, Tables, contenders
from workbench.report.verdict import headline_html, verdict_html
from workbench.report.writers import replicates_html, writers_html

if TYPE_CHECKING:
    import pandas as pd
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


def _of_tables(make: Callable[[Tables], Html], doc: str) -> property:
    return property(lambda report: make(report.run), doc=doc)


class Report:
    """The report of a run. Each part is computed when it is asked for."""

    def __init__(self, results: StoredRun, baseline: str = "", other: StoredRun | None = None) -> None:
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

    verdict = _of_tables(verdict_html, "The answer in words.")
    headline = _of_tables(headline_html, "The headline table.")
    differences = _of_tables(differences_html, "Every strategy against the baseline: interval, test, result.")
    frontier = _of_tables(frontier_html, "The Pareto frontier of recall and tokens saved, and how sure it is.")
    by_kind = _of_tables(kinds_html, "What each strategy still knows of each kind of information.")
    by_session = _of_tables(by_session_html, "What each strategy still knows in each session.")
    losses = _of_tables(losses_html, "The worst losses, each with its story.")
    half_lives = _of_tables(
        lambda run: half_lives_html(run), "After how many compactions half of the entities are gone."
    )
    costs = _of_tables(costs_html, "The bill of each strategy by part, and when compaction breaks even.")
    reconciled = _of_tables(reconciled_html, "How well the bill reproduces what providers reported.")
    recorded = _of_tables(recorded_html, "Recall where the recorded agents compacted; nothing where none did.")
    integrity = _of_tables(integrity_html, "What the guard found.")
    sessions = _of_tables(sessions_html, "What was replayed, and what could not be.")
    reproduce = _of_tables(reproduce_html, "How to get this report again.")

    @property
    def changed(self) -> Html:
        """What changed against the other run, in words; nothing where there is none."""
        return answer_html(self.run, self.other)

    @property
    def changes(self) -> Html:
        """Then and now, strategy by strategy, and what is newly lost; nothing where there is no other run."""
        return changes_html(self.run, self.other)

    @property
    def sweep(self) -> Html:
        """The points of a sweep; nothing where the run is none."""
        return sweep_html(self.results)

    @property
    def writers(self) -> Html:
        """The models that wrote summaries, and what replicates show; nothing where there is neither."""
        wrote, again = writers_html(self.run), replicates_html(self.results)
        return Html(wrote.html + again.html, data=wrote.data)

    @property
    def judges(self) -> Html:
        """What real models make of the same contexts: their surprise, their answers, and their next actions."""
        return judges_html(self.results)

    @property
    def validation(self) -> Html:
        """Whether this run's own scale holds, and what real models make of the same contexts."""
        scale = validation_html(self.results)
        return Html(scale.html + self.judges.html, data=scale.data)

    @property
    def equal_size(self) -> Chart:
        """Recall when all are cut to the same size."""
        words = _words(by_size(self.run), lambda r: f"{r['strategy']} {percent(r['mean'])} at {percent(r['share'])}")
        return Chart("equal", charts.equal_size(self.run, HALF), f"Recall at equal size: {words}")

    @property
    def savings(self) -> Chart:
        """Recall against tokens saved."""
        return Chart("savings", charts.savings(self.run, HALF), points_words(self.run))

    @property
    def rounds(self) -> Chart:
        """What survives one compaction, two, and so on."""
        words = _words(by_round(self.run), lambda r: f"{r['strategy']} {percent(r['surviving'])} after {r['round']}")
        return Chart("rounds", charts.rounds(self.run), f"What survives one compaction, two, and so on: {words}")

    def context(self, session: str | None = None) -> Chart:
        """The context over one session; a typical one if none is named."""
        session = typical(self.run) if session is None else session
        steps = self.run.steps[self.run.steps["session"] == session]
        sizes = steps.groupby("strategy", sort=False)["tokens_sent"].max().reset_index()
        words = _words(sizes, lambda r: f"{r['strategy']} {amount(r['tokens_sent'])}")
        alt = f"The size of each request of {session} under each strategy; the largest, in tokens: {words}"
        return Chart("context", charts.context_over_time(self.run, session), alt)

    def spending(self, session: str | None = None) -> Chart:
        """What one session has cost after each request; the one in the middle by its cost if none is named."""
        return Chart("spending", charts.spending(self.run, session), spending_words(self.run, session))


def _words(rows: pd.DataFrame, sentence: Callable[[Any], str]) -> str:
    """The rows of a chart in words, for those who cannot see it."""
    return joined([sentence(one) for one in rows.to_dict("records")]) or "no data"


def points_words(run: Tables) -> str:
    """The chart of recall against tokens saved in words."""

    def sentence(one: Any) -> str:  # noqa: ANN401 - a row
        part = "" if one["sessions"] == one["of"] else f" in {one['sessions']} of {one['of']} sessions"
        return f"{one['strategy']} keeps {percent(one['recall'])} and saves {percent(one['saved'])}{part}"

    return "Recall against tokens saved: " + _words(points(run), sentence)


def half_lives_html(run: Tables) -> Html:
    """After how many compactions half of the entities are gone; nothing where none was followed."""
    curves = {name: lives(run, name) for name in contenders(run)}
    return note(" ".join(sentences("half_lives", curves=curves)), by_round(run))
