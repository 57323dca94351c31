"""Replays sessions under every point of a grid: each point is a strategy of one run."""

import json
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Self, Unpack

from workbench.base.errors import LeftOut
from workbench.base.palette import REFERENCES
from workbench.engine.models.settings import ModelSettings
from workbench.evaluation.experiment import compare as runs
from workbench.evaluation.experiment.combined import combined
from workbench.evaluation.experiment.compare import Forecast, together
from workbench.evaluation.experiment.grid import Grid, GridLike, Point, by_run, read
from workbench.evaluation.experiment.job import folder_of
from workbench.evaluation.experiment.keys import described, key
from workbench.evaluation.experiment.settings import ExecutionSettings
from workbench.evaluation.experiment.spec import Execution, RunSpec, Scope, documented
from workbench.evaluation.experiment.store import Results, RunFolder, frame


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
        SettingError: a field, setting or value is wrong; nothing has run then.
        UnknownName: no strategy or model of that name.
    """
    grid_sweep = _Sweep.of(grid, replicates, Execution(**settings))
    parts: list[tuple[Results, list[str]]] = []
    windows: dict[tuple[object, ...], int | None] = {}
    used: dict[str, tuple[int, int]] = {}
    merged: list[str] = []
    points = list(grid_sweep.points)
    for spec, names in grid_sweep.runs():
        results = runs.compare(grid_sweep.grid.sessions, spec=spec)
        each = results.sessions["window_used"]
        if (place := (spec.model, *each.fillna(0))) in windows:
            points = [point for point in points if point.strategy not in names]
            merged.append(_merged(spec.window, windows[place]))
            warnings.warn(merged[-1], LeftOut, stacklevel=2)
            continue
        windows[place] = spec.window
        used |= dict.fromkeys(names, (each.min(), each.max()))
        parts.append((results, [*names, *([] if parts else REFERENCES)]))
    rows = [
        asdict(point)
        | dict(
            zip(
                ("window_least", "window_most"), used.get(point.strategy, (None, None)), strict=True
            )
        )
        | {"settings": json.dumps(point.settings, sort_keys=True)}
        for point in points
    ]
    about = grid_sweep.manifest([results for results, _ in parts], points) | {"merged": merged}
    return combined(
        parts, RunFolder(grid_sweep.folder), {"variants": frame("variants", rows)}, about
    )


def _merged(window: int | None, first_window: int | None) -> str:
    window_texts = [
        f"{tokens:,}" if tokens else "each session's own" for tokens in (window, first_window)
    ]
    return (
        f"the points with window {window_texts[0]} are left out: every session is replayed in the same"
        f" window as with {window_texts[1]}; a window is at least twice what system prompt and tools take"
    )


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
    each = [runs.forecast(grid_sweep.grid.sessions, spec=spec) for spec, _ in grid_sweep.runs()]
    return replace(together(each), sessions=each[0].sessions, unreadable=each[0].unreadable)


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
        full_grid = full_grid if replicates is None else full_grid.changed(replicates=replicates)
        points = full_grid.points()
        presets = [full_grid.preset(point) for point in points]
        folder = folder_of(execution, "sweep", dict(full_grid) | {"replicates": None}, presets)
        settings = ModelSettings.of_run(execution.model_settings, folder)
        return cls(full_grid, points, folder, execution.changed(model_settings=settings))

    def runs(self) -> Iterator[tuple[RunSpec, list[str]]]:
        """A run for each window and model, in the order of their first points, with the names of
        its points.
        """
        common = {name: getattr(self.grid, name) for name in Scope.model_fields} | dict(
            self.execution
        )
        for (window, model), points in by_run(self.points).items():
            folder = self.folder / "runs" / key(window, model)[:8]
            presets = list(map(self.grid.preset, points))
            spec = RunSpec(
                **{**common, "strategies": presets, "window": window, "model": model, "out": folder}
            )
            yield spec, [point.strategy for point in points if point.base not in REFERENCES]

    def manifest(
        self, finished_runs: Sequence[Results], points: Sequence[Point]
    ) -> dict[str, object]:
        """What the combined run's manifest says in place of its first part's."""
        each = [results.manifest["settings"] for results in finished_runs]
        replicates = (
            {"replicates": max(results["replicates"] for results in each)}
            if "replicates" in each[0]
            else {}
        )
        names = {
            "strategies": [point.strategy for point in points],
            "model": ",".join(self.grid.models),
        }
        windows = {"window": self.grid.windows[0] if len(finished_runs) == 1 else None}
        return {
            "settings": each[0] | replicates | names | windows,
            "presets": [described(self.grid.preset(point)) for point in points],
            "seconds": round(sum(results.manifest["seconds"] for results in finished_runs), 1),
        }
