"""A grid of strategies, settings, windows and models, as a TOML file or a mapping says it.

A setting is named by its path: `trigger.threshold`, `summarize.most`.
"""

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from os import PathLike
from pathlib import Path
from typing import Annotated, Self, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from workbench.base.errors import SettingError
from workbench.base.typed_value import check_instance
from workbench.engine.compaction.presets import preset
from workbench.engine.compaction.setting_text import Plain
from workbench.engine.compaction.strategy import Preset
from workbench.engine.compaction.variant import variant
from workbench.engine.models import shown_name
from workbench.evaluation.experiment.spec import Scope
from workbench.evaluation.experiment.spec_fields import Read, Window, listed

MOST = 1_000
"""Points of a grid; more is a slip of the pen."""


@dataclass(frozen=True, slots=True)
class Point:
    """A row of the table `variants`: the variant's name, the strategy that it varies, and what
    it changes.
    """

    strategy: str
    base: str
    window: int | None
    model: str
    settings: dict[str, Plain]


RunPlace: TypeAlias = tuple[int | None, str]
"""A window and a model."""


def by_run(points: Iterable[Point]) -> dict[RunPlace, list[Point]]:
    """The points that one run can hold, by their window and model."""
    groups: defaultdict[RunPlace, list[Point]] = defaultdict(list)
    for point in points:
        place = (point.window, point.model)
        groups[place].append(point)
    return dict(groups)


def _once(values: tuple[object, ...]) -> tuple[object, ...]:
    texts = set(map(repr, values))
    if len(texts) < len(values):
        raise ValueError("it names a value twice")
    return values


def _axes(value: object) -> dict[str, dict[str, list[Plain]]]:
    problem = "it must be a table per strategy, such as [settings.summarize]"
    if not isinstance(value, Mapping):
        raise ValueError(problem)
    axes: dict[str, dict[str, list[Plain]]] = {}
    for table in value.values():
        if not isinstance(table, Mapping):
            raise ValueError(problem)
    for strategy, table in value.items():
        settings = _flat(table, f"settings.{strategy}")
        axes[str(strategy)] = dict(settings)
    return axes


def _flat(
    table: Mapping[str, object], prefix: str, path: str = ""
) -> Iterator[tuple[str, list[Plain]]]:
    """Settings by path: TOML reads `trigger.threshold = 0.8` as a table in a table."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, prefix, f"{path}{name}.")
            continue
        values: list[Plain] = value if isinstance(value, list) else [value]  # type: ignore[list-item]  # see below
        if not values or not all(
            isinstance(item, str | int | float | bool | list) for item in values
        ):
            raise SettingError(
                f"`{prefix}.{path}{name}` is {value!r}; it must be a list of at least one string,"
                " number, boolean or list"
            )
        yield f"{path}{name}", values


class Grid(Scope):
    """What a sweep does; see docs/runs.md for the file."""

    sessions: Annotated[tuple[str, ...], BeforeValidator(listed)] = Field(
        (), description="Files, folders or patterns; none: the bundled sessions."
    )
    windows: Annotated[
        tuple[Annotated[Window, BeforeValidator(lambda one: None if one == "own" else one)], ...],
        AfterValidator(_once),
    ] = Field(
        (None,),
        min_length=1,
        description='Context windows in tokens, or "own" for each session\'s own.',
    )
    models: Annotated[tuple[str, ...], BeforeValidator(listed), AfterValidator(_once)] = Field(
        ("extractive",), min_length=1, description="Models that write summaries."
    )
    settings: Annotated[Mapping[str, Mapping[str, list[Plain]]], Read(_axes)] = Field(
        {}, description="By strategy and path, the values to try."
    )

    @model_validator(mode="after")
    def _refuse_what_a_run_would(self) -> Self:
        """Refuse before anything runs what one of its runs would refuse."""
        for name in self.settings:
            if name not in self.names:
                raise SettingError(
                    f"`settings` names {name!r}, which is not among the strategies"
                    f" {', '.join(self.names)}"
                )
        points = self.points()
        if len(points) > MOST:
            raise SettingError(
                f"the grid has {len(points):,} points; a sweep does at most {MOST:,}"
            )
        for point in points:
            self.preset(point)
        return self

    def points(self) -> tuple[Point, ...]:
        """Every combination, strategies outermost."""
        points: list[Point] = []
        for base in self.names:
            points += self._points(base)
        return tuple(points)

    def _points(self, base: str) -> Iterator[Point]:
        axes = self.settings.get(base, {})
        for *values, window, model in product(*axes.values(), self.windows, self.models):
            settings = dict(zip(axes, values, strict=True))
            words = [base]
            for path, value in settings.items():
                if len(axes[path]) > 1:
                    words.append(f"{_short(path, axes)}={_word(value)}")
            if len(self.windows) > 1:
                words.append(f"window={_word(window)}")
            if len(self.models) > 1:
                words.append(f"model={shown_name(str(model))}")
            yield Point(" ".join(words), base, window, model, settings)  # type: ignore[arg-type]  # as the fields

    def preset(self, point: Point) -> Preset:
        """The variant of a point.

        Raises:
            UnknownName: no such strategy.
            SettingError: a setting that it does not have, or of another type.
        """
        base = self.strategies[self.names.index(point.base)]
        return variant(preset(base), point.settings, point.strategy)


GridLike: TypeAlias = Grid | Mapping[str, object] | str | Path
"""A grid, its fields, or a TOML file of them."""


def read(grid: GridLike) -> Grid:
    """The grid of a TOML file or of its fields, every value of it checked; a `Grid` stays as it is.

    Raises:
        SettingError: the file cannot be read, or has a wrong field, setting or value.
        UnknownName: no strategy of that name.
    """
    if isinstance(grid, Grid):
        return grid
    if isinstance(grid, Mapping):
        return Grid(**grid)
    accepted = "the path of a TOML file, its fields, or a Grid"
    check_instance("grid", grid, (str, PathLike), accepted)
    try:
        return read(tomllib.loads(Path(grid).read_text(encoding="utf-8")))
    except SettingError as error:
        raise SettingError(f"{grid}: {error}") from None
    except FileNotFoundError:
        raise SettingError(f"there is no file {grid}") from None
    except (OSError, ValueError) as error:
        raise SettingError(f"{grid} cannot be read: {error}") from None


def _short(path: str, axes: Mapping[str, object]) -> str:
    """The last word of a path where no other setting ends in it."""
    last_words = [_last_word(other_path) for other_path in axes]
    last_word = _last_word(path)
    if last_words.count(last_word) > 1:
        return path
    return last_word


def _last_word(path: str) -> str:
    _, _, last_word = path.rpartition(".")
    return last_word


def _word(value: object) -> str:
    if isinstance(value, list | tuple):
        return "+".join(map(str, value)) or "none"
    return "own" if value is None else str(value)
