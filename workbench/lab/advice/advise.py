"""`advise`: the candidate that fits given sessions, what choosing it gains, and when to stay with the default."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Unpack

import pandas as pd
from pydantic import BeforeValidator, Field

from workbench.base.errors import SettingError
from workbench.engine.compaction.presets import preset
from workbench.engine.models.bundled_answers import NAME as BUNDLED
from workbench.evaluation.analysis.paired import Estimate
from workbench.evaluation.analysis.trade import MARGIN, WORTH, Trade, difference
from workbench.evaluation.experiment.compare import REPORTS, Forecast, Run, together
from workbench.evaluation.experiment.grid import Grid, Point, read
from workbench.evaluation.experiment.keys import key
from workbench.evaluation.experiment.prepared import is_bundled, sources_of
from workbench.evaluation.experiment.settings import (
    ExecutionSettings,
    MaskingSettings,
    NameList,
    PricedSettings,
)
from workbench.evaluation.experiment.spec import (
    DEFAULT_MODEL,
    Execution,
    Masking,
    Priced,
    RunSpec,
    Whole,
    Window,
    documented,
    listed,
)
from workbench.lab.advice.measured import Measurements, figures, recorded, saved_shares
from workbench.lab.advice.search import Folds, Outside, Round, cross_validated, halved, rounds, spread
from workbench.lab.advice.space import is_default, space
from workbench.lab.advice.verdict import DefaultComparison, Outcome, opening, traded


class AdviceSpec(Priced, Masking, Execution):
    """What an advice is asked for, without its sessions."""

    space: Path | None = Field(
        None, description="Grid of candidates, a file of `workbench lab sweep`; None: all presets with usual settings."
    )
    default: str = Field("summarize", description="Preset that the advice is compared with: what you would use.")
    worth: float = Field(WORTH, ge=0, description="Points that saving a tenth of the bill is worth to you; 0: none.")
    margin: float = Field(MARGIN, ge=0, description="Points below which you would not notice a difference.")
    candidates: Whole | None = Field(None, ge=2, description="Try at most this many candidates; None tries all.")
    folds: Whole = Field(5, ge=2, description="Parts of the projects that the choice is tried on unseen.")
    window: Window = Field(None, description="Context window in tokens; None takes each session's own.")
    model: Annotated[tuple[str, ...], BeforeValidator(listed)] = Field(
        (), description="Models that write summaries; none: those of the space, else as `compare` has it."
    )
    seed: Whole = Field(0, ge=0, description="Seed of the order of sessions.")
    group_by: str = Field("project", description="Unit of intervals and folds: project, folder or session.")


class AdviceSettings(PricedSettings, MaskingSettings, ExecutionSettings, total=False):
    """The fields of `AdviceSpec` as a caller may give them."""

    space: str | Path | None
    default: str
    worth: float
    margin: float
    candidates: int | None
    folds: int
    window: int | None
    model: NameList
    seed: int
    group_by: str


@dataclass(frozen=True, slots=True)
class Advice:
    """What to use.

    Attributes:
        chosen: the best candidate of the search.
        advised: the candidate to use: the choice, or the default.
        outcome: the verdict in a word or two.
        opening: what must be said before the verdict; often empty.
        verdict: in words.
        traded: what the choice and the default keep and save, in words.
        half: the half of the headline that decides, by the name of its metric.
        table: the last round, a row a candidate, best first.
        lead: of the choice over the default on the sessions that it was chosen on.
        runner_up: the second, and how far the choice is ahead of it.
        outside: what choosing gains on projects that the choice has not seen.
        regret: points that the best candidate in hindsight gains more there; None without folds.
        rounds: of the search.
        window: tokens, the smallest of the sessions' windows.
        out: candidates that failed, wait for answers, or sent a request larger than the window.
        pending: replays that wait for answers of their model; the same command asks again.
    """

    grid: Grid
    default: Point
    chosen: Point
    advised: Point
    outcome: Outcome
    opening: str
    verdict: str
    traded: str
    half: str
    table: pd.DataFrame
    lead: Estimate | None
    runner_up: tuple[str, Estimate | None] | None
    outside: Outside
    regret: float | None
    rounds: tuple[Round, ...]
    window: int
    out: tuple[str, ...] = ()
    pending: int = 0

    @property
    def stay(self) -> bool:
        """Whether to stay with the default."""
        return self.advised == self.default


@documented(AdviceSpec)
def advise(what: Sequence[str] = (), *, spec: AdviceSpec | None = None, **settings: Unpack[AdviceSettings]) -> Advice:
    """Search the candidate that fits these sessions best. The same command continues a stopped search.

    Args:
        what: files, folders or patterns; none: the bundled sessions.
        spec: a specification made before; further settings change it.
        **settings: the fields of `AdviceSpec`.

    Raises:
        SettingError: a setting has a wrong value, or there is nothing to read.
        UnknownName: no strategy or model of that name.
    """
    return Search.of(what, AdviceSpec.of(spec, settings)).advice()


@documented(AdviceSpec)
def forecast(
    what: Sequence[str] = (),
    *,
    spec: AdviceSpec | None = None,
    **settings: Unpack[AdviceSettings],
) -> tuple[list[Round], Forecast]:
    """The rounds of the search, and what they would take at most; nothing is asked. It raises what `advise` raises."""
    search = Search.of(what, AdviceSpec.of(spec, settings))
    planned = rounds(len(search.points), len(search.order))
    parts = []
    for step, earlier in zip(planned, [Round(0, 0), *planned], strict=False):  # the dearest that may come this far
        units = search.order[earlier.recordings : step.recordings]
        for window, model in dict.fromkeys((point.window, point.model) for point in search.points):
            alive = search.points[: step.candidates]
            mine = [point for point in alive if (point.window, point.model) == (window, model)]
            if mine and units:
                sources = [search.measured.sources[unit] for unit in units]
                parts.append(Run.of(sources, search.measured.run_of(mine)).forecast())
    return planned, together(parts)


@dataclass(frozen=True, slots=True)
class Search:
    """A search before it begins: its candidates, the recordings in their common order, and their projects."""

    spec: AdviceSpec
    grid: Grid
    points: tuple[Point, ...]
    default: Point
    measured: Measurements
    projects: dict[str, str]
    order: list[str]

    @classmethod
    def of(cls, what: Sequence[str], spec: AdviceSpec) -> Search:
        """The search of these recordings; they are read, and nothing is replayed."""
        sources = {source.name: source for source in sources_of(what or _sessions_of(spec))}
        default_model = BUNDLED if all(map(is_bundled, sources.values())) else DEFAULT_MODEL
        grid = space(spec.space, spec.window, spec.model, spec.default, default_model)
        every = grid.points()
        default = next((point for point in every if is_default(point, grid, spec.default)), None)
        if default is None:
            plain = preset(spec.default)
            default = Point(plain.name, plain.name, grid.windows[0], grid.models[0], {})
            grid = grid.changed(strategies=(*grid.strategies, plain)) if plain.name not in grid.names else grid
            every = (default, *every)
        points = _at_most((default, *(point for point in every if point != default)), spec.candidates)
        known = recorded(sources.values(), spec.group_by)
        projects = {name: source.project for name, source in known.items()}
        if not projects:
            raise SettingError("there is no session to advise on; `workbench list formats` shows what can be read")
        names = [(point.strategy, dict(point.settings), point.window, point.model) for point in every]
        folder = spec.out or REPORTS / f"advise-{key(names, sorted(sources))[:8]}"
        common = {"redact", "unmasked", "price_model", "prices", "group_by", "model_settings", "jobs", "scheduler"}
        settings = {name: getattr(spec, name) for name in common}
        run = RunSpec(**settings, shares=(), baseline="none", out=folder, quiet=spec.quiet)
        measured = Measurements(grid, sources, known, run)
        return cls(spec, grid, points, default, measured, projects, spread(projects, spec.seed))

    def advice(self) -> Advice:
        """Do the search, without parts of the projects and with all of them."""
        trade, spec, measured = Trade(self.spec.worth), self.spec, self.measured
        order = measured.decide_half(self.default, self.order)
        folds = Folds(self.projects, spec.folds)
        outside = cross_validated(measured, self.points, order, folds, trade, self.default)
        finals = halved(measured, self.points, order, trade, self.default)
        default = self.default.strategy
        best = default if finals.choice is None else finals.choice.use
        others = () if finals.choice is None else finals.choice.others
        comparison = DefaultComparison(default, spec.margin, saved_shares(finals.rows))
        verdict = comparison.verdict(measured, finals, outside)
        table = figures(finals.rows, spec.worth)
        rows = measured.rows
        failed = set(rows.loc[~(rows["ok"] & rows["fits"]), "candidate"])
        points = finals.points
        return Advice(
            grid=self.grid,
            default=self.default,
            chosen=self._point(best),
            advised=self._point(verdict.advised),
            outcome=verdict.outcome,
            opening=opening(measured, finals.rows),
            verdict=verdict.sentence,
            traded=traded(table, [best, default], measured.half),
            half=measured.half,
            table=table,
            lead=difference(points, best, default) if len(points) else None,
            runner_up=(others[0], difference(points, best, others[0])) if others else None,
            outside=outside,
            regret=_regret(points, default, outside),
            rounds=tuple(rounds(len(self.points), len(self.order))),
            window=measured.window,
            out=tuple(sorted(failed)),
            pending=measured.pending,
        )

    def _point(self, name: str) -> Point:
        return next(point for point in self.points if point.strategy == name)


def _at_most(points: tuple[Point, ...], most: int | None) -> tuple[Point, ...]:
    """So many points: the first of every preset, then the second of every preset, and so on."""
    if most is None:
        return points
    place: dict[str, int] = {}
    turn = []
    for point in points:
        turn.append(place.setdefault(point.base, 0))
        place[point.base] += 1
    order = sorted(range(len(points)), key=lambda i: turn[i])
    return tuple(points[i] for i in order[:most])


def _sessions_of(spec: AdviceSpec) -> tuple[str, ...]:
    """The sessions that the file of candidates names."""
    return () if spec.space is None else read(spec.space).sessions


def _regret(points: pd.DataFrame, default: str, outside: Outside) -> float | None:
    """What the best finalist, known beforehand, gains over the choice on the projects that were held out."""
    known = points.reindex(list(outside.by_project)).dropna()
    if not len(known):
        return None
    gains = known.sub(known[default], axis=0)
    choice = pd.Series(outside.by_project).reindex(known.index)
    return max(0.0, float(gains.mean().max() - choice.mean()))
