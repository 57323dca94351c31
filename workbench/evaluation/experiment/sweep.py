"""Replays sessions under every point of a grid: each point is a strategy of one run."""

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self, Unpack

from workbench.base.errors import LeftOut
from workbench.base.palette import REFERENCES
from workbench.engine.models.settings import ModelSettings
from workbench.evaluation.experiment import compare as runs
from workbench.evaluation.experiment.checked_spec import documented
from workbench.evaluation.experiment.combined import combined
from workbench.evaluation.experiment.forecast import Forecast, together
from workbench.evaluation.experiment.grid import Grid, GridLike, Point, by_run, read
from workbench.evaluation.experiment.job import folder_of
from workbench.evaluation.experiment.keys import described, key
from workbench.evaluation.experiment.replacement import NewRun, check_replaceable
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.run_folder import RunFolder
from workbench.evaluation.experiment.settings import ExecutionSettings
from workbench.evaluation.experiment.sources import SessionSource, sources_of
from workbench.evaluation.experiment.spec import Execution, RunSpec, Scope
from workbench.evaluation.experiment.table_columns import frame


@documented(Execution)
def sweep(
    grid: GridLike, *, replicates: int | None = None, **settings: Unpack[ExecutionSettings]
) -> Results:
    """Run a grid and write one run of it, in which each point is a strategy named after what
    varies.

    It resumes as `compare` does. The references are those of the first window and model; `scaled`
    scores were scaled by the references of their own run.

    Args:
        grid: a TOML file, its fields, or a `Grid`; see docs/runs.md.
        replicates: replaces the grid's own number.
        **settings: the fields of `Execution`; limits of `model_settings` hold for all points
            together.

    Raises:
        SettingError: a field, setting or value is wrong, or the folder holds a finished run of
            other points, sessions or settings; nothing has run then.
        UnknownName: no strategy or model of that name.
    """
    grid_sweep = _Sweep.of(grid, replicates, Execution(**settings))
    with grid_sweep.claimed():
        return _results(grid_sweep)


def _results(grid_sweep: "_Sweep") -> Results:
    """The one run of all points."""
    parts: list[tuple[Results, list[str]]] = []
    windows_by_use: dict[tuple[object, ...], int | None] = {}
    used_windows: dict[str, tuple[int, int]] = {}
    merged: list[str] = []
    points = list(grid_sweep.points)
    for spec, names in grid_sweep.runs():
        run = runs.Run.of(grid_sweep.sources, spec)
        results = runs.finished(run)
        session_windows = results.sessions["window_used"]
        use = (spec.model, *session_windows.fillna(0))
        if use in windows_by_use:
            points = [point for point in points if point.strategy not in names]
            first_window = windows_by_use[use]
            reason = _merged(spec.window, first_window)
            merged.append(reason)
            warnings.warn(reason, LeftOut, stacklevel=2)
            continue
        windows_by_use[use] = spec.window
        smallest = session_windows.min()
        largest = session_windows.max()
        for name in names:
            used_windows[name] = (smallest, largest)
        references = () if parts else REFERENCES
        parts.append((results, [*names, *references]))
    finished_runs = [results for results, _ in parts]
    about = grid_sweep.manifest(finished_runs, points)
    about["merged"] = merged
    rows = _variant_rows(points, used_windows)
    tables = {"variants": frame("variants", rows)}
    folder = RunFolder(grid_sweep.folder)
    return combined(parts, folder, tables, about)


def _variant_rows(
    points: Sequence[Point], used_windows: Mapping[str, tuple[int, int]]
) -> list[dict[str, object]]:
    """The table `variants`: each point, with the least and the most of its sessions' windows."""
    rows: list[dict[str, object]] = []
    for point in points:
        row = asdict(point)
        row["settings"] = json.dumps(point.settings, sort_keys=True)
        if point.strategy in used_windows:
            smallest, largest = used_windows[point.strategy]
            row["window_least"] = smallest
            row["window_most"] = largest
        rows.append(row)
    return rows


def _merged(window: int | None, first_window: int | None) -> str:
    """Why the points of a window are left out."""
    return (
        f"the points with window {_in_words(window)} are left out: every session is replayed in"
        f" the same window as with {_in_words(first_window)}; a window is at least twice what"
        " system prompt and tools take"
    )


def _in_words(window: int | None) -> str:
    if window is None:
        return "each session's own"
    return f"{window:,}"


@documented(Execution)
def forecast(
    grid: GridLike, *, replicates: int | None = None, **settings: Unpack[ExecutionSettings]
) -> Forecast:
    """Predict what `sweep` would take with the same arguments: replays, tokens, requests and
    dollars.

    Raises:
        SettingError: a field, setting or value is wrong, or there is nothing to read.
        UnknownName: no strategy or model of that name.
    """
    grid_sweep = _Sweep.of(grid, replicates, Execution(**settings))
    forecasts: list[Forecast] = []
    for spec, _ in grid_sweep.runs():
        run_forecast = runs.forecast(grid_sweep.grid.sessions, spec=spec)
        forecasts.append(run_forecast)
    some_forecast = forecasts[0]
    return replace(
        together(forecasts),
        sessions=some_forecast.sessions,
        unreadable=some_forecast.unreadable,
    )


@dataclass(frozen=True, slots=True)
class _Sweep:
    """A sweep before it begins: everything is checked, nothing is read."""

    grid: Grid
    points: tuple[Point, ...]
    folder: Path
    execution: Execution

    @classmethod
    def of(cls, grid: GridLike, replicates: int | None, execution: Execution) -> Self:
        full_grid = read(grid)
        if replicates is not None:
            full_grid = full_grid.changed(replicates=replicates)
        points = full_grid.points()
        presets = list(map(full_grid.preset, points))
        fields = dict(full_grid) | {"replicates": None}
        folder = folder_of(execution, "sweep", fields, presets)
        settings = ModelSettings.of_run(execution.model_settings, folder)
        run_execution = execution.changed(model_settings=settings)
        return cls(full_grid, points, folder, run_execution)

    @property
    def sources(self) -> list[SessionSource]:
        """What it reads."""
        return sources_of(self.grid.sessions)

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Keep the folder for this sweep until the `with` ends.

        Raises:
            SettingError: another process writes into it, or it holds a finished run that this one
                would take figures from.
        """
        folder = RunFolder(self.folder)
        first_spec, _ = next(self.runs())
        first_run = runs.Run.of(self.sources, first_spec)
        settings = {
            **first_run.job.spec.settings(),
            "strategies": [point.strategy for point in self.points],
            "model": ",".join(self.grid.models),
            "replicates": self.grid.replicates,
        }
        # several windows stand in the names of the points, and only one that is alone in a setting
        free = {"baseline"}
        if len(self.grid.windows) > 1:
            free.add("window")
        new_run = NewRun(
            settings,
            first_run.sources,
            first_run.job.masked,
            self.grid.limit,
            free,
        )
        with folder.claimed():
            check_replaceable(folder, new_run)
            yield

    def runs(self) -> Iterator[tuple[RunSpec, list[str]]]:
        """A run for each window and model, in the order of their first points, with the names of
        its points.
        """
        settings: dict[str, Any] = {}
        for name in Scope.model_fields:
            settings[name] = getattr(self.grid, name)
        settings |= dict(self.execution)
        for (window, model), points in by_run(self.points).items():
            run_key = key(window, model)[:8]
            settings["strategies"] = list(map(self.grid.preset, points))
            settings["window"] = window
            settings["model"] = model
            settings["out"] = self.folder / "runs" / run_key
            names = [point.strategy for point in points if point.base not in REFERENCES]
            yield RunSpec(**settings), names

    def manifest(
        self, finished_runs: Sequence[Results], points: Sequence[Point]
    ) -> dict[str, object]:
        """What the combined run's manifest says in place of its first part's."""
        settings = dict(finished_runs[0].manifest["settings"])
        seconds = 0.0
        for results in finished_runs:
            seconds += results.manifest["seconds"]
            if "replicates" in settings:
                settings_of_run = results.manifest["settings"]
                replicates = settings_of_run["replicates"]
                settings["replicates"] = max(settings["replicates"], replicates)
        strategies: list[str] = []
        presets: list[object] = []
        for point in points:
            preset = self.grid.preset(point)
            strategies.append(point.strategy)
            presets.append(described(preset))
        window: int | None = None
        if len(finished_runs) == 1:
            window = self.grid.windows[0]
        settings["strategies"] = strategies
        settings["model"] = ",".join(self.grid.models)
        settings["window"] = window
        return {
            "settings": settings,
            "presets": presets,
            "seconds": round(seconds, 1),
        }
