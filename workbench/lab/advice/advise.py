"""`advise`: the candidate that fits given sessions, what choosing it gains, and when to stay
with the default.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Unpack

import pandas as pd

from workbench.base.formats import paragraph
from workbench.engine.models import find_model
from workbench.evaluation.analysis.advice_note import AdviceNote
from workbench.evaluation.analysis.trade import Trade, difference
from workbench.evaluation.experiment.checked_spec import documented
from workbench.evaluation.experiment.compare import Run
from workbench.evaluation.experiment.filler import is_asked
from workbench.evaluation.experiment.forecast import Forecast, together
from workbench.evaluation.experiment.grid import Point, by_run
from workbench.evaluation.experiment.job import folder_of
from workbench.evaluation.experiment.processes import lasting_workers
from workbench.evaluation.experiment.progress import standing_lines
from workbench.evaluation.experiment.sources import SessionSource, sources_of
from workbench.evaluation.experiment.spec import RunSpec
from workbench.lab.advice.advice import TODAY, UNCOMPACTED, Advice, Bill
from workbench.lab.advice.advice_spec import AdviceSettings, AdviceSpec
from workbench.lab.advice.bill_facts import BillFacts, traded
from workbench.lab.advice.first_look import ENOUGH, MOST_CANDIDATES, Teller, look, telling
from workbench.lab.advice.first_reading import lines_of, read_and_glanced
from workbench.lab.advice.measured import Measurements, figures, saved_shares
from workbench.lab.advice.measured_rows import recorded
from workbench.lab.advice.outcomes import is_simulated
from workbench.lab.advice.read_once import ReadOnce
from workbench.lab.advice.search import (
    Folds,
    Outside,
    Round,
    cross_validated,
    failed_candidates,
    halved,
    rounds,
    spread,
)
from workbench.lab.advice.shortage import (
    NO_FIGURE,
    Shortage,
    nothing_to_advise_on,
    shortage,
)
from workbench.lab.advice.space import USUAL, Candidates, usual_grid
from workbench.lab.advice.verdict import DefaultComparison, opening


@documented(AdviceSpec)
def advise(
    what: Sequence[str] = (),
    *,
    spec: AdviceSpec | None = None,
    **settings: Unpack[AdviceSettings],
) -> Advice:
    """Search the candidate that fits these sessions best. The same command continues a stopped
    search.

    Args:
        what: files, folders or patterns; none: the bundled sessions.
        spec: a specification made before; further settings change it.
        **settings: the fields of `AdviceSpec`.

    Raises:
        SettingError: a setting has a wrong value, or there is nothing to read.
        UnknownName: no strategy or model of that name.
    """
    advice_spec = AdviceSpec.of(spec, settings)
    sources = sources_of(what or advice_spec.sessions_of_space())
    glance_spec = advice_spec.changed(default=advice_spec.default or USUAL)
    reader, first_glance = read_and_glanced(sources, glance_spec)
    first_lines: Sequence[str] = ()
    if first_glance is not None:
        first_lines = lines_of(first_glance, sources)
    search = Search.of_sources(sources, advice_spec, reader)
    with lasting_workers():
        advice = search.advice(first_lines)
        search.publish([("", advice)])
    return advice


@documented(AdviceSpec)
def forecast(
    what: Sequence[str] = (),
    *,
    spec: AdviceSpec | None = None,
    **settings: Unpack[AdviceSettings],
) -> tuple[list[Round], Forecast]:
    """The rounds of the search, and what they would take at most; nothing is asked. It raises
    what `advise` raises.
    """
    search = Search.of(what, AdviceSpec.of(spec, settings))
    return search.rounds(), search.forecast()


@dataclass(frozen=True, slots=True)
class Search:
    """A search before it begins.

    Attributes:
        spec: what is asked for.
        candidates: to choose from.
        measured: what they keep and cost.
        projects: by recording its project; its session where all are of one project.
        order: of the recordings, which all candidates share.
        unit: what `projects` are: `project` or `session`.
    """

    spec: AdviceSpec
    candidates: Candidates
    measured: Measurements
    projects: dict[str, str]
    order: list[str]
    unit: str = "project"

    @classmethod
    def of(cls, what: Sequence[str], spec: AdviceSpec) -> Search:
        """The search of these recordings; they are read, and nothing is replayed."""
        sources = sources_of(what or spec.sessions_of_space())
        return cls.of_sources(sources, spec)

    @classmethod
    def of_sources(
        cls, sources: Sequence[SessionSource], spec: AdviceSpec, reader: ReadOnce | None = None
    ) -> Search:
        """The search of these sources, among the candidates that the specification has."""
        grid = usual_grid(sources, spec)
        candidates = Candidates.of(grid, spec.default or USUAL)
        return cls.over(sources, candidates.at_most(spec.candidates), spec, reader=reader)

    @classmethod
    def over(
        cls,
        sources: Sequence[SessionSource],
        candidates: Candidates,
        spec: AdviceSpec,
        in_use: str = "",
        reader: ReadOnce | None = None,
    ) -> Search:
        """The search of some candidates over some recordings; `in_use` as of `Measurements`."""
        reader = reader or ReadOnce()
        by_name = {source.name: source for source in sources}
        recordings = recorded(by_name.values(), spec.group_by, reader)
        unit = "project"
        projects = {name: recording.project for name, recording in recordings.items()}
        if not projects:
            raise nothing_to_advise_on(sources, spec)
        if spec.group_by == "session" or len(set(projects.values())) == 1:
            unit = "session"
            recordings = recorded(by_name.values(), unit, reader)
            projects = {name: recording.project for name, recording in recordings.items()}
        folder = folder_of(spec, "advise", candidates.facts, sorted(by_name))
        run = RunSpec(
            redact=spec.redact,
            unmasked=spec.unmasked,
            price_model=spec.price_model,
            prices=spec.prices,
            group_by=spec.group_by,
            model_settings=spec.model_settings,
            jobs=spec.jobs,
            scheduler=spec.scheduler,
            shares=(),
            baseline="none",
            out=folder,
            quiet=spec.quiet,
        )
        measured = Measurements(
            candidates.grid, by_name, recordings, run, simulates=spec.simulate, in_use=in_use
        )
        return cls(spec, candidates, measured, projects, spread(projects, spec.seed), unit)

    def among(self, candidates: Candidates) -> Search:
        """The same search among others of the grid's candidates; what was measured is not
        measured again.
        """
        return replace(self, candidates=candidates)

    def rounds(self) -> list[Round]:
        """The rounds that it takes at most."""
        return rounds(len(self.candidates.points), len(self.order))

    def forecast(self) -> Forecast:
        """What it would take at most."""
        parts = []
        recordings_before = 0
        for step in self.rounds():
            units = self.order[recordings_before : step.recordings]
            recordings_before = step.recordings
            if not units:
                continue
            sources = [self.measured.sources[unit] for unit in units]
            # the dearest that may come this far
            points = self.candidates.points[: step.candidates]
            for run_points in by_run(points).values():
                run = Run.of(sources, self.measured.run_of(run_points))
                parts.append(run.forecast())
        return together(parts)

    def advice(self, first_lines: Sequence[str] = ()) -> Advice:
        """Do the search, without parts of the projects and with all, if a session is long enough.

        Args:
            first_lines: what is known before, shown until more is.
        """
        if (lack := self.shortage()) is not None:
            return self.without_figures(paragraph(NO_FIGURE, lack.words), lack)
        with self.measured.claimed():
            return self._advice_told(first_lines)

    def _advice_told(self, first_lines: Sequence[str]) -> Advice:
        """Do the search, and tell what is known so far unless it is quiet."""
        if self.spec.quiet:
            return self._searched()
        with standing_lines(first_lines) as lines:
            teller = Teller(
                lines,
                self.measured,
                self.candidates.default.strategy,
                self.order,
                Trade(self.spec.worth),
                self._bill,
            )
            with telling(teller):
                if len(self.order) > ENOUGH and not self.asks_a_model:
                    look(teller, self.candidates.at_most(MOST_CANDIDATES).points)
                return self._searched()

    def _searched(self) -> Advice:
        """Do the search on sessions of which at least one is long enough."""
        spec = self.spec
        trade = Trade(spec.worth)
        measured = self.measured
        points = self.candidates.points
        in_use = self.candidates.default
        if len(self.rounds()) == 1:
            measured.replayed(points, self.order)  # in one run, which reads each recording once
        order = measured.decide_half(in_use, self.order)
        folds = Folds(self.projects, spec.folds)
        outside = cross_validated(measured, points, order, folds, trade, in_use)
        finals = halved(measured, points, order, trade, in_use, tells_bills=True)
        default = in_use.strategy
        best = finals.best_or(default)
        saved = saved_shares(finals.rows)
        comparison = DefaultComparison(
            default,
            spec.margin,
            saved,
            is_in_use=bool(measured.in_use or spec.default),
            unit=self.unit,
            bill=self._bill,
        )
        verdict = comparison.verdict(measured, finals, outside)
        table = figures(finals.rows, spec.worth)
        saved_in_table = table.set_index("candidate")["saved"].to_dict()
        not_simulated = ""
        if not is_simulated(finals.rows):
            not_simulated = measured.not_simulated or "nothing with a price was simulated"
        if not spec.simulate:
            not_simulated = "--no-simulate was given"
        facts = BillFacts(
            saved_in_table,
            verdict.advised,
            default,
            finals.set_aside,
            not_simulated,
            self._bill,
            finals.out_of_reach,
        )
        trade_words = traded(table, [best, default], measured.half, self._bill)
        lead = None
        if len(finals.points):
            lead = difference(finals.points, best, default)
        failed = failed_candidates(measured.rows)
        return Advice(
            grid=self.candidates.grid,
            default=in_use,
            chosen=self._point(best),
            advised=self._point(verdict.advised),
            outcome=verdict.outcome,
            opening=opening(measured, finals.rows),
            verdict=verdict.sentence,
            traded=paragraph(trade_words, facts.words),
            half=measured.half,
            table=table,
            lead=lead,
            runner_up=finals.runner_up,
            outside=outside,
            unit=self.unit,
            bill=self._bill,
            cheapest=facts.cheapest,
            set_aside=finals.set_aside,
            out_of_reach=finals.out_of_reach,
            not_simulated=not_simulated,
            worth=spec.worth,
            regret=outside.regret(finals.points, default),
            rounds=tuple(self.rounds()),
            window=measured.window,
            out=tuple(point.strategy for point in points if point.strategy in failed),
            pending=measured.pending,
            leads=tuple(finals.leads_over(default)),
        )

    @property
    def asks_a_model(self) -> bool:
        """Whether a language model may be asked, so that its calls must be counted beforehand."""
        return any(is_asked(find_model(name)) for name in self.candidates.grid.models)

    def shortage(self) -> Shortage | None:
        """What the sessions lack where none is long enough; nothing is replayed."""
        windows = {point.window for point in self.candidates.points}
        run = self.measured.spec
        return shortage(tuple(self.measured.sources.values()), windows, run.redaction)

    def without_figures(self, reason: str, lack: Shortage | None = None) -> Advice:
        """To stay, since nothing was replayed.

        Args:
            reason: why, in a clause and more.
            lack: what the sessions lack, if that is why.
        """
        default = self.candidates.default
        return Advice(
            grid=self.candidates.grid,
            default=default,
            chosen=default,
            advised=default,
            outcome="no figure",
            opening="",
            verdict=f"Stay with {default.strategy}: {reason}",
            traded="",
            half=self.measured.half,
            table=pd.DataFrame(columns=["candidate"]),
            lead=None,
            runner_up=None,
            outside=Outside(None, {}, ()),
            unit=self.unit,
            bill=self._bill,
            cheapest="",
            set_aside={},
            out_of_reach={},
            not_simulated="nothing was replayed",
            worth=self.spec.worth,
            regret=None,
            rounds=(),
            window=lack.window if lack else 0,
            shortage=lack,
        )

    def publish(self, titled_advices: Sequence[tuple[str, Advice]]) -> None:
        """Leave in the folder of the run what was said, for its pages: the last advice is the one
        that is shown first. Where nothing was replayed there is nothing to show.

        Args:
            titled_advices: titles and advices that share this search's measurements.
        """
        if not self.measured.replayed_pairs:
            return
        notes: list[AdviceNote] = []
        advices = []
        for title, advice in titled_advices:
            note = advice.note(title)
            if notes and note.opening == notes[0].opening:
                note = replace(note, opening="")
            notes.append(note)
            advices.append(advice)
        names: list[str] = []
        for advice in reversed(advices):
            names.append(advice.advised.strategy)
            names += advice.table["candidate"].tolist()
        points: dict[str, Point] = {}
        for advice in advices:
            for point in advice.grid.points():
                points[point.strategy] = point
        for advice in advices:
            for point in (advice.default, advice.advised):
                points[point.strategy] = point
        shown_points = [points[name] for name in dict.fromkeys(names)]
        self.measured.publish(shown_points, self.order, notes)

    @property
    def _bill(self) -> Bill:
        """The bill that savings are shares of."""
        if self.measured.in_use:
            return TODAY
        return UNCOMPACTED

    def _point(self, name: str) -> Point:
        return next(point for point in self.candidates.points if point.strategy == name)
