"""A grid of strategies, settings, windows and models, as a TOML file or a mapping says it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from workbench.compaction.presets import preset
from workbench.compaction.strategy import Preset
from workbench.errors import SettingError
from workbench.experiment.spec import DEFAULT_STRATEGIES, Read, Scope, Strategies, Whole, listed
from workbench.experiment.variants import Plain, variant
from workbench.palette import REFERENCES

MOST = 1_000
"""Points of a grid; more is a slip of the pen."""


@dataclass(frozen=True, slots=True)
class Point:
    """One strategy with its settings, in a window, with a model.

    Attributes:
        name: of the variant in tables and reports.
        base: the strategy that it varies.
        settings: what it changes, by path.
    """

    name: str
    base: str
    settings: tuple[tuple[str, Plain], ...]
    window: int | None
    model: str


def _own(value: object) -> object:
    return None if value == "own" else value


def _once(values: tuple[object, ...]) -> tuple[object, ...]:
    if len({repr(one) for one in values}) < len(values):
        raise PydanticCustomError("twice", "it names a value twice")
    return values


def _axes(value: object) -> dict[str, dict[str, tuple[Plain, ...]]]:
    if not isinstance(value, Mapping) or not all(isinstance(table, Mapping) for table in value.values()):
        raise PydanticCustomError("axes", "it must be a table per strategy, such as [settings.summarize]")
    return {str(strategy): dict(_flat(table, strategy)) for strategy, table in value.items()}


def _flat(table: Mapping[str, object], strategy: str, path: str = "") -> Iterator[tuple[str, tuple[Plain, ...]]]:
    """Settings by path: TOML reads `trigger.threshold = 0.8` as a table in a table."""
    for name, value in table.items():
        here = f"{path}.{name}" if path else name
        if isinstance(value, Mapping):
            yield from _flat(value, strategy, here)
            continue
        values = value if isinstance(value, list) else [value]
        chosen = [one for one in values if isinstance(one, str | int | float | bool | list)]
        if not values or len(chosen) < len(values):
            raise SettingError(
                f"`settings.{strategy}.{here}` is {value!r}; "
                "it must be a list of at least one string, number, boolean or list"
            )
        yield here, tuple(chosen)


class Grid(Scope):
    """What a sweep does; see docs/runs.md for the file."""

    sessions: Annotated[tuple[str, ...], BeforeValidator(listed)] = Field(
        (), description="Files, folders or patterns; none stand for the bundled sessions."
    )
    strategies: Strategies = Field(DEFAULT_STRATEGIES, description="Strategies to vary: names, or presets of your own.")
    windows: Annotated[tuple[Annotated[Whole | None, BeforeValidator(_own)], ...], AfterValidator(_once)] = Field(
        (None,), min_length=1, description='Context windows in tokens, or "own" for each session\'s own.'
    )
    models: Annotated[tuple[str, ...], BeforeValidator(listed), AfterValidator(_once)] = Field(
        ("extractive",), min_length=1, description="Models that write summaries."
    )
    settings: Annotated[Mapping[str, Mapping[str, tuple[Plain, ...]]], Read(_axes)] = Field(
        {}, description="By strategy and path, the values to try."
    )

    @model_validator(mode="after")
    def _refuse_what_a_run_would(self) -> Self:
        """Refuse before anything runs what one of its runs would refuse."""
        for name in self.settings:
            if name not in self.bases:
                raise SettingError(
                    f"`settings` names {name!r}, which is not among the strategies {', '.join(self.bases)}"
                )
            if name in REFERENCES and self.settings[name]:
                raise SettingError(f"the reference {name!r} has no settings")
        for window in self.windows:
            if window is not None and window < 1000:
                raise SettingError(f"`windows` holds {window}; it must be at least 1,000")
        points = self.points()
        if len(points) > MOST:
            raise SettingError(f"the grid has {len(points):,} points; a sweep does at most {MOST:,}")
        for point in points:
            self.preset(point)
        return self

    @property
    def bases(self) -> tuple[str, ...]:
        """The strategies' names."""
        return tuple(one if isinstance(one, str) else one.name for one in self.strategies)

    def points(self) -> tuple[Point, ...]:
        """Every combination, strategies outermost."""
        return tuple(self._points())

    def _points(self) -> Iterator[Point]:
        for base in self.bases:
            axes = self.settings.get(base, {})
            for values in product(*axes.values()):
                chosen = tuple(zip(axes, values, strict=True))
                for window, model in product(self.windows, self.models):
                    varied: list[tuple[str, object]] = [(path, value) for path, value in chosen if len(axes[path]) > 1]
                    varied += [("window", window)] * (len(self.windows) > 1)
                    varied += [("model", model)] * (len(self.models) > 1)
                    name = " ".join([base, *(f"{_short(path, axes)}={_word(value)}" for path, value in varied)])
                    yield Point(name, base, chosen, window, model)

    def preset(self, point: Point) -> Preset:
        """The variant of a point.

        Raises:
            UnknownName: no such strategy.
            SettingError: a setting that it does not have, or of another type.
        """
        base = self.strategies[self.bases.index(point.base)]
        return variant(preset(base) if isinstance(base, str) else base, dict(point.settings), point.name)


def read(grid: Grid | Mapping[str, object] | str | Path, presets: Mapping[str, Preset] | None = None) -> Grid:
    """The grid of a TOML file or of its fields, every value of it checked.

    Args:
        grid: a file, the fields of one, or a grid, which stays as it is.
        presets: strategies of your own that it names.

    Raises:
        SettingError: the file cannot be read, or has a wrong field, setting or value.
        UnknownName: no strategy of that name.
    """
    if isinstance(grid, Grid):
        return grid
    if isinstance(grid, Mapping):
        return Grid(**_with(grid, presets or {}))
    where = Path(grid)
    try:
        found = tomllib.loads(where.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingError(f"there is no file {where}") from None
    except (OSError, ValueError) as error:
        raise SettingError(f"{where} cannot be read: {error}") from None
    try:
        return Grid(**_with(found, presets or {}))
    except SettingError as error:
        raise SettingError(f"{where}: {error}") from None


def _with(fields: Mapping[str, object], presets: Mapping[str, Preset]) -> dict[str, object]:
    """The fields with presets of one's own in the place of their names."""
    named = listed(fields.get("strategies", ()))
    if not presets or not isinstance(named, Sequence):
        return dict(fields)
    return {**fields, "strategies": [presets.get(one, one) for one in named]}


def _short(path: str, axes: Mapping[str, object]) -> str:
    """The last word of a path where no other setting ends in it."""
    last = path.rpartition(".")[2]
    return last if sum(other.rpartition(".")[2] == last for other in axes) <= 1 else path


def _word(value: object) -> str:
    if isinstance(value, list | tuple):
        return "+".join(map(str, value)) or "none"
    return "own" if value is None else str(value)
