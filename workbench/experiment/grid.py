"""A grid of strategies, settings, windows and models, as a TOML file says it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from workbench.compaction.presets import preset
from workbench.compaction.strategy import Preset
from workbench.errors import SettingError
from workbench.experiment.settings import Settings as RunSettings
from workbench.experiment.variants import Plain, variant
from workbench.palette import REFERENCES
from workbench.replay.boundaries import Boundaries

MOST = 1_000
"""Points of a grid; more is a slip of the pen."""

FIELDS = ("sessions", "strategies", "windows", "models", "settings", "shares", "boundaries", "limit", "seed", "redact")


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


@dataclass(frozen=True, slots=True)
class Grid:
    """What a sweep does; see docs/runs.md for the file.

    Attributes:
        sessions: files, folders or patterns; none are the bundled sessions.
        settings: by strategy and path, the values to try.
    """

    strategies: tuple[str, ...] = RunSettings().strategies
    windows: tuple[int | None, ...] = (None,)
    models: tuple[str, ...] = ("extractive",)
    settings: Mapping[str, Mapping[str, tuple[Plain, ...]]] = field(default_factory=dict)
    sessions: tuple[str, ...] = ()
    shares: tuple[float, ...] = RunSettings().shares
    boundaries: Boundaries = RunSettings().boundaries
    limit: int | None = None
    seed: int = 0
    redact: bool = False

    def points(self) -> tuple[Point, ...]:
        """Every combination, strategies outermost."""
        return tuple(self._points())

    def _points(self) -> Iterator[Point]:
        for base in self.strategies:
            axes = self.settings.get(base, {})
            for values in product(*axes.values()):
                chosen = tuple(zip(axes, values, strict=True))
                for window, model in product(self.windows, self.models):
                    varied = [(path, value) for path, value in chosen if len(axes[path]) > 1]
                    varied += [("window", window)] * (len(self.windows) > 1)  # type: ignore[list-item]  # a number, or none
                    varied += [("model", model)] * (len(self.models) > 1)
                    yield Point(" ".join([base, *(f"{_short(p, axes)}={_said(v)}" for p, v in varied)]),
                                base, chosen, window, model)  # fmt: skip

    def preset(self, point: Point, given: Mapping[str, Preset] | None = None) -> Preset:
        """The variant of a point.

        Raises:
            UnknownName: no such strategy.
            SettingError: a setting that it does not have, or of another type.
        """
        base = (given or {}).get(point.base) or preset(point.base)
        return variant(base, dict(point.settings), point.name)


def read(path: str | Path, given: Mapping[str, Preset] | None = None) -> Grid:
    """The grid in a TOML file, every value of it checked.

    Args:
        path: of the file.
        given: presets of one's own by name.

    Raises:
        SettingError: the file cannot be read, or names a field, setting or value that cannot be.
        UnknownName: no strategy of that name.
    """
    where = Path(path)
    try:
        found = tomllib.loads(where.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingError(f"there is no file {where}") from None
    except (OSError, ValueError) as error:
        raise SettingError(f"{where} cannot be read: {error}") from None
    try:
        return checked(found, given)
    except SettingError as error:
        raise SettingError(f"{where}: {error}") from None


def checked(found: Mapping[str, object], given: Mapping[str, Preset] | None = None) -> Grid:
    """The grid that these fields say.

    Args:
        found: as in the file.
        given: presets of one's own by name.

    Raises:
        SettingError: a field, setting or value that cannot be.
        UnknownName: no strategy of that name.
    """
    for name in found:
        if name not in FIELDS:
            raise SettingError(f"there is no field {name!r}; there are {', '.join(FIELDS)}")
    usual = Grid()
    numbers = {name: found.get(name, getattr(usual, name)) for name in ("limit", "seed")}
    for name, value in numbers.items():
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < (name == "limit")):
            raise SettingError(f"{name} is {value!r}; it must be a whole number, at least {int(name == 'limit')}")
    redact = found.get("redact", False)
    if not isinstance(redact, bool):
        raise SettingError(f"redact is {redact!r}; it must be true or false")
    grid = Grid(
        strategies=_texts(found, "strategies", usual.strategies),
        windows=tuple(_whole("windows", value) for value in _list(found, "windows", usual.windows)),
        models=_texts(found, "models", usual.models),
        settings=_axes(found.get("settings", {})),
        sessions=_texts(found, "sessions", usual.sessions),
        shares=tuple(_number("shares", value) for value in _list(found, "shares", usual.shares, empty=True)),
        boundaries=_boundaries(found, usual.boundaries),
        limit=numbers["limit"],  # type: ignore[arg-type]  # checked above
        seed=numbers["seed"],  # type: ignore[arg-type]
        redact=redact,
    )
    _check(grid, given or {})
    return grid


def _check(grid: Grid, given: Mapping[str, Preset]) -> None:
    """Refuse what a run would refuse later, before anything runs."""
    for name in grid.settings:
        if name not in grid.strategies:
            raise SettingError(f"settings for {name!r}, which is not among the strategies {', '.join(grid.strategies)}")
    for name in grid.strategies:
        if name in REFERENCES and grid.settings.get(name):
            raise SettingError(f"the reference {name!r} has no settings")
    points = grid.points()
    if len(points) > MOST:
        raise SettingError(f"the grid has {len(points):,} points; {MOST:,} are the most that a sweep does")
    for point in points:
        grid.preset(point, given)
    for window in grid.windows:
        RunSettings(grid.strategies, window, shares=grid.shares, boundaries=grid.boundaries)


def _axes(value: object) -> dict[str, dict[str, tuple[Plain, ...]]]:
    if not isinstance(value, dict):
        raise SettingError(f"settings is {value!r}; it must be a table for each strategy, such as [settings.summarize]")
    found: dict[str, dict[str, tuple[Plain, ...]]] = {}
    for strategy, table in value.items():
        if not isinstance(table, dict):
            raise SettingError(f"settings.{strategy} is {table!r}; it must be a table of settings")
        found[strategy] = dict(_flat(table, strategy))
    return found


def _flat(table: Mapping[str, object], where: str, path: str = "") -> Iterator[tuple[str, tuple[Plain, ...]]]:
    """Settings by path: TOML reads `trigger.threshold = 0.8` as a table in a table."""
    for name, value in table.items():
        here = f"{path}.{name}" if path else name
        if isinstance(value, dict):
            yield from _flat(value, where, here)
            continue
        values = value if isinstance(value, list) else [value]
        if not values:
            raise SettingError(f"settings.{where}: {here} is an empty list; it needs one value at least")
        chosen = [one for one in values if isinstance(one, str | int | float | bool | list)]
        if len(chosen) < len(values):
            raise SettingError(f"settings.{where}: {here} holds a value that is no text, number, truth or list")
        yield here, tuple(chosen)


def _list(found: Mapping[str, object], name: str, usual: tuple[object, ...], *, empty: bool = False) -> list[object]:
    value = found.get(name, list(usual))
    if not isinstance(value, list) or (not value and not empty):
        raise SettingError(f"{name} is {value!r}; it must be a list of one value at least")
    if len({repr(one) for one in value}) < len(value):
        raise SettingError(f"{name} names a value twice: {value!r}")
    return value


def _texts(found: Mapping[str, object], name: str, usual: tuple[str, ...]) -> tuple[str, ...]:
    values = _list(found, name, usual, empty=name == "sessions")
    for value in values:
        if not isinstance(value, str) or not value:
            raise SettingError(f"{name} holds {value!r}; it must be a list of texts")
    return tuple(str(value) for value in values)


def _whole(name: str, value: object) -> int | None:
    if value is None or value == "own":
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise SettingError(
            f'{name} holds {value!r}; it must be whole numbers of tokens, or "own" for each session\'s own'
        )
    return value


def _boundaries(found: Mapping[str, object], usual: Boundaries) -> Boundaries:
    value = found.get("boundaries", usual)
    if isinstance(value, str):
        return value  # the run knows which words there are
    return tuple(_number("boundaries", one) for one in _list(found, "boundaries", tuple(usual)))


def _number(name: str, value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise SettingError(f"{name} holds {value!r}; it must be a list of numbers")
    return float(value)


def _short(path: str, axes: Mapping[str, object]) -> str:
    """The last word of a path where no other setting ends in it."""
    last = path.rpartition(".")[2]
    return last if sum(other.rpartition(".")[2] == last for other in axes) <= 1 else path


def _said(value: object) -> str:
    if isinstance(value, list | tuple):
        return "+".join(map(str, value)) or "none"
    return "own" if value is None else str(value)
