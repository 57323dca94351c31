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
from workbench.evaluation.analysis.paired import FEWEST, Estimate
from workbench.evaluation.experiment.compare import REPORTS, Forecast, Run, together
from workbench.evaluation.experiment.grid import Grid, Point
from workbench.evaluation.experiment.keys import key
from workbench.evaluation.experiment.prepared import sources_of
from workbench.evaluation.experiment.settings import (
    ExecutionSettings,
    MaskingSettings,
    NameList,
    PricedSettings,
)
from workbench.evaluation.experiment.spec import Execution, Masking, Priced, RunSpec, Whole, Window, documented, listed
from workbench.lab.advice.measured import MARGIN, WORTH, Measurements, Trade, difference, figures, recorded
from workbench.lab.advice.search import Outside, Round, cross_validated, halved, rounds, spread
from workbench.lab.advice.space import is_default, space


class AdviceSpec(Priced, Masking, Execution):
    """What an advice is asked for, without its sessions."""

    space: Path | None = Field(
        None, description="Grid of candidates, a file as of `workbench sweep`; None: all presets with usual settings."
    )
    default: str = Field("summarize", description="Preset that the advice is compared with: what you would use.")
    worth: float = Field(
        WORTH, ge=0, description="Points of names that saving a tenth of the bill is worth to you; 0: none."
    )
    margin: float = Field(MARGIN, ge=0, description="Points below which you would not notice a difference.")
    candidates: Whole | None = Field(None, ge=2, description="Try at most this many candidates; None tries all.")
    folds: Whole = Field(5, ge=2, description="Parts of the projects that the choice is tried on unseen.")
    window: Window = Field(None, description="Context window in tokens; None takes each session's own.")
    model: Annotated[tuple[str, ...], BeforeValidator(listed)] = Field(
        (), description="Models that write summaries; none: those of the space, or extractive."
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
        stay: whether to stay with the default, since the choice gains less than the margin.
        verdict: in words.
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
    stay: bool
    verdict: str
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
    def advised(self) -> Point:
        """The candidate to use: the choice, or the default."""
        return self.default if self.stay else self.chosen


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
    asked = Search.of(what, AdviceSpec.of(spec, settings))
    found = rounds(len(asked.points), len(asked.order))
    parts = []
    for one, last in zip(found, [Round(0, 0), *found], strict=False):  # the dearest that may come this far
        units = asked.order[last.recordings : one.recordings]
        for window, model in dict.fromkeys((point.window, point.model) for point in asked.points):
            mine = [point for point in asked.points[: one.candidates] if (point.window, point.model) == (window, model)]
            if mine and units:
                sources = [asked.measured.sources[unit] for unit in units]
                parts.append(Run.of(sources, asked.measured.run_of(mine)).forecast())
    return found, together(parts)


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
        grid = space(spec.space, spec.window, spec.model, spec.default)
        every = grid.points()
        default = next((one for one in every if is_default(one, grid, spec.default)), None)
        if default is None:
            plain = preset(spec.default)
            default = Point(plain.name, plain.name, grid.windows[0], grid.models[0], {})
            grid = grid.changed(strategies=(*grid.strategies, plain)) if plain.name not in grid.names else grid
            every = (default, *every)
        points = _at_most((default, *(one for one in every if one != default)), spec.candidates)
        sources = {one.name: one for one in sources_of(what or grid.sessions)}
        known = recorded(sources.values(), spec.group_by)
        projects = {name: one.project for name, one in known.items()}
        if not projects:
            raise SettingError("there is no session to advise on; `workbench list formats` shows what can be read")
        names = [(one.strategy, dict(one.settings), one.window, one.model) for one in every]
        folder = spec.out or REPORTS / f"advise-{key(names, sorted(sources))[:8]}"
        common = {"redact", "unmasked", "price_model", "prices", "group_by", "model_settings", "jobs", "scheduler"}
        settings = {name: getattr(spec, name) for name in common}
        run = RunSpec(**settings, shares=(), baseline="none", out=folder, quiet=spec.quiet)
        measured = Measurements(grid, sources, known, run)
        return cls(spec, grid, points, default, measured, projects, spread(projects, spec.seed))

    def advice(self) -> Advice:
        """Do the search, without parts of the projects and with all of them."""
        trade, spec = Trade(self.spec.worth), self.spec
        outside = cross_validated(
            self.measured, self.points, self.order, self.projects, trade, self.default, spec.folds
        )
        best = halved(self.measured, self.points, self.order, trade, self.default)
        chosen = next(one for one in self.points if one.strategy == best.best)
        means = best.points.mean().sort_values(ascending=False, kind="stable")
        others = [str(name) for name in means.index if name != chosen.strategy]
        lead = difference(best.points, chosen.strategy, self.default.strategy) if len(best.points) else None
        every = self.measured.rows
        stay, verdict = _verdict(self.default, chosen, outside, spec.margin)
        return Advice(
            self.grid, self.default, chosen, stay, verdict, figures(best.rows, spec.worth), lead,
            (others[0], difference(best.points, chosen.strategy, others[0])) if others else None,
            outside, _regret(best.points, self.default.strategy, outside),
            tuple(rounds(len(self.points), len(self.order))), self.measured.window,
            tuple(sorted(set(every.loc[~(every["ok"] & every["fits"]), "candidate"]))), self.measured.pending,
        )  # fmt: skip


def _at_most(points: tuple[Point, ...], most: int | None) -> tuple[Point, ...]:
    """So many points: the first of every preset, then the second of every preset, and so on."""
    if most is None:
        return points
    place: dict[str, int] = {}
    turn = []
    for one in points:
        turn.append(place.setdefault(one.base, 0))
        place[one.base] += 1
    order = sorted(range(len(points)), key=lambda i: turn[i])
    return tuple(points[i] for i in order[:most])


def _regret(points: pd.DataFrame, default: str, outside: Outside) -> float | None:
    """What the best finalist, known beforehand, gains over the choice on the projects that were held out."""
    known = points.reindex(list(outside.by_project)).dropna()
    if not len(known):
        return None
    gains = known.sub(known[default], axis=0)
    choice = pd.Series(outside.by_project).reindex(known.index)
    return max(0.0, float(gains.mean().max() - choice.mean()))


def _verdict(default: Point, chosen: Point, outside: Outside, margin: float) -> tuple[bool, str]:
    """Whether to stay with the default, and why."""
    gain = outside.gain
    if chosen.strategy == default.strategy:
        return True, f"Stay with {default.strategy}: no candidate came out ahead of it."
    if gain is None:
        return True, (
            f"Stay with {default.strategy}: {chosen.strategy} came out ahead, but the sessions are of one project, so "
            "that nothing says what it gains elsewhere."
        )
    on = f"on projects that the choice had not seen it gained {gain.mean:+.1f} points"
    on += f" (95 % interval {gain.low:+.1f} to {gain.high:+.1f})" if gain.low is not None else ""
    if gain.mean < margin:
        return True, f"Stay with {default.strategy}: no difference that you would notice; {on}."
    few = f"; with {gain.projects} projects there is no interval, {FEWEST} would do" if gain.low is None else ""
    chance = "; that may be chance" if gain.low is not None and gain.low <= 0 else few
    return False, f"Use {chosen.strategy} in place of {default.strategy}: {on}{chance}."
