"""The space of an advice: presets, their settings, writers. A grid as `sweep` reads it, or the
one made here.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path

from workbench.base.palette import REFERENCES
from workbench.base.registry import found
from workbench.engine.compaction.presets import NAMES, preset
from workbench.engine.compaction.setting_text import Plain
from workbench.engine.compaction.settings import settings
from workbench.engine.compaction.strategy import Preset
from workbench.evaluation.experiment.grid import Grid, Point, read
from workbench.evaluation.experiment.sources import SessionSource, default_model_for
from workbench.evaluation.experiment.spec import DEFAULT_MODEL
from workbench.lab.advice.advice_spec import AdviceSpec

USUAL = "summarize"
"""The preset that an advice is compared with where nothing says what is in use."""
AXES = Path(__file__).parent / "space.toml"
"""By path of a setting, the values tried wherever a preset has it."""


def space(
    grid: Path | None,
    window: int | None,
    models: tuple[str, ...],
    default: str,
    default_model: str = DEFAULT_MODEL,
) -> Grid:
    """The grid of candidates, with the default among its strategies.

    Args:
        grid: a file as of `sweep`; None takes every preset with the values of `AXES`.
        window: tokens; None leaves it to the grid.
        models: writers of summaries; none leave it to the grid.
        default: what the others are compared with, as it is.
        default_model: writes where neither `models` nor the grid names one.

    Raises:
        SettingError, UnknownName: as of a sweep.
    """
    changes: dict[str, object] = {}
    if window is not None:
        changes["windows"] = (window,)
    if models:
        changes["models"] = models
    if grid is not None:
        named = read(grid)
        if "models" not in named.model_fields_set:
            changes.setdefault("models", (default_model,))
        return named.changed(**changes)
    changes.setdefault("models", (default_model,))
    built_in = {name: preset(name) for name in NAMES}
    names = [default]
    for name in found("preset", built_in):
        if name not in REFERENCES and name != default:
            names.append(name)
    document = tomllib.loads(AXES.read_text(encoding="utf-8"))
    values: Mapping[str, list[Plain]] = document["settings"]
    axes = {name: _axes(preset(name), values) for name in names}
    return Grid(strategies=tuple(names), settings=axes, **changes)


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a search chooses from.

    Attributes:
        grid: that has their presets.
        default: what is in use.
        points: all, the default first.
    """

    grid: Grid
    default: Point
    points: tuple[Point, ...]

    @classmethod
    def of(cls, grid: Grid, default: str | Preset) -> Candidates:
        """The points of a grid; the default is a point of it, or the preset of that name as it
        is.
        """
        points = grid.points()
        plain = preset(default)
        as_it_is = _default_point(points, grid, plain)
        if as_it_is is None:
            as_it_is = Point(
                strategy=plain.name,
                base=plain.name,
                window=grid.windows[0],
                model=grid.models[0],
                settings={},
            )
            if plain.name not in grid.names:
                grid = grid.changed(strategies=(*grid.strategies, plain))
        changed_points = [point for point in points if point != as_it_is]
        return cls(grid, as_it_is, (as_it_is, *changed_points))

    def at_most(self, limit: int | None) -> Candidates:
        """So many of them: the first of every preset, then the second of every preset, and so
        on.
        """
        if limit is None:
            return self
        counts = Counter[str]()
        turns: list[tuple[int, Point]] = []
        for point in self.points:
            turns.append((counts[point.base], point))
            counts[point.base] += 1
        turns.sort(key=itemgetter(0))
        points = [point for _, point in turns]
        return replace(self, points=tuple(points[:limit]))

    @property
    def facts(self) -> list[tuple[object, ...]]:
        """What the name of a search depends on."""
        facts: list[tuple[object, ...]] = []
        for point in self.points:
            changes = dict(point.settings)
            facts.append((point.strategy, changes, point.window, point.model))
        return facts


def _axes(preset: Preset, values_by_path: Mapping[str, list[Plain]]) -> dict[str, list[Plain]]:
    """The values to try of the settings that this preset has, its own first."""
    preset_settings = settings(preset)
    axes = {}
    for path, values in values_by_path.items():
        for name, setting in preset_settings.items():
            is_named = name == path or name.endswith(f".{path}")
            if is_named and isinstance(setting.value, int | float):
                changed_values = [value for value in values if value != setting.value]
                axes[name] = [setting.value, *changed_values]
    return axes


def _default_point(
    points: Sequence[Point],
    grid: Grid,
    default: Preset,
) -> Point | None:
    """The first of the points that is the default as it is; None where none is."""
    for point in points:
        if is_default(point, grid, default):
            return point
    return None


def is_default(point: Point, grid: Grid, default: Preset) -> bool:
    """Whether a point is the default as it is, with the grid's first window and model."""
    if point.base != default.name:
        return False
    if point.window != grid.windows[0]:
        return False
    if point.model != grid.models[0]:
        return False
    return _values(grid.preset(point)) == _values(default)


def _values(strategy: Preset) -> list[object]:
    """The values of a preset's settings."""
    return [setting.value for setting in settings(strategy).values()]


def usual_grid(sources: Sequence[SessionSource], spec: AdviceSpec) -> Grid:
    """The grid of candidates; bundled sessions alone have the summaries that ship, where no
    model is named.
    """
    default_model = default_model_for(sources)
    return space(
        grid=spec.space,
        window=spec.window,
        models=spec.model,
        default=spec.default or USUAL,
        default_model=default_model,
    )
