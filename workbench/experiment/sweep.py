"""Replays sessions under every point of a grid: each point is a strategy of one run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self, TypeAlias, Unpack

from workbench.compaction.strategy import Preset
from workbench.experiment import compare as runs
from workbench.experiment.combined import Part, combined
from workbench.experiment.compare import REPORTS
from workbench.experiment.forecast import Forecast, together
from workbench.experiment.grid import Grid, Point, read
from workbench.experiment.keys import described, key
from workbench.experiment.signature import documented
from workbench.experiment.spec import Execution, ExecutionSettings, RunSpec, Scope
from workbench.experiment.store import Results, RunFolder
from workbench.experiment.tables import frame
from workbench.models.settings import ModelSettings
from workbench.palette import REFERENCES

GridLike: TypeAlias = Grid | Mapping[str, object] | str | Path


@documented(Execution)
def sweep(
    grid: GridLike,
    *,
    presets: Mapping[str, Preset] | None = None,
    replicates: int | None = None,
    **settings: Unpack[ExecutionSettings],
) -> Results:
    """Run a grid and write one run of it, in which each point is a strategy named after what varies.

    It resumes as `compare` does. The references are those of the first window and model; `scaled` scores were scaled by
    the references of their own.

    Args:
        grid: a TOML file, its fields, or a `Grid`; see docs/runs.md.
        presets: strategies of your own that the grid names.
        replicates: in the place of the grid's own number.
        **settings: the fields of `Execution`; limits of `model_settings` hold for all points together.

    Raises:
        SettingError: a field, setting or value is wrong; nothing has run then.
        UnknownName: no strategy or model of that name.
    """
    whole = _Sweep.of(grid, presets, replicates, Execution(**settings))
    done: list[Part] = []
    for spec, names in whole.runs():
        results = runs.compare(whole.grid.sessions, spec=spec)
        done.append(Part(results, names | ({} if done else {name: name for name in REFERENCES})))
    tables = {"variants": frame("variants", map(_row, whole.parts))}
    return combined(done, RunFolder(whole.folder), tables, _about(whole.grid, whole.parts, done))


@documented(Execution)
def forecast(
    grid: GridLike,
    *,
    presets: Mapping[str, Preset] | None = None,
    replicates: int | None = None,
    **settings: Unpack[ExecutionSettings],
) -> Forecast:
    """Predict what `sweep` would take with the same arguments: replays, tokens, requests and dollars.

    Raises:
        SettingError: a field, setting or value is wrong, or there is nothing to read.
        UnknownName: no strategy or model of that name.
    """
    whole = _Sweep.of(grid, presets, replicates, Execution(**settings))
    return together(runs.forecast(whole.grid.sessions, spec=spec) for spec, _ in whole.runs())


@dataclass(frozen=True, slots=True)
class _Sweep:
    """A sweep before it begins: everything is checked, nothing is read."""

    grid: Grid
    parts: Mapping[Point, Preset]
    folder: Path
    execution: Execution

    @classmethod
    def of(
        cls, grid: GridLike, presets: Mapping[str, Preset] | None, replicates: int | None, execution: Execution
    ) -> Self:
        found = read(grid, presets)
        if replicates is not None:
            found = found.changed(replicates=replicates)
        parts = {point: found.preset(point) for point in found.points()}
        folder = execution.out or REPORTS / f"sweep-{_name(found, parts)}"
        how = execution.model_settings or ModelSettings()
        how = replace(how, run=how.run or str(folder.resolve()))
        return cls(found, parts, folder, execution.changed(model_settings=how))

    def runs(self) -> Iterator[tuple[RunSpec, dict[str, str]]]:
        """A run for each window and model, in the order of their first points, with the names of its points."""
        found: dict[tuple[int | None, str], list[Point]] = {}
        for point in self.parts:
            found.setdefault((point.window, point.model), []).append(point)
        common = {name: getattr(self.grid, name) for name in Scope.model_fields} | dict(self.execution)
        for (window, model), points in found.items():
            folder = self.folder / "runs" / key(window, model)[:8]
            presets = [self.parts[point] for point in points]
            spec = RunSpec(**{**common, "strategies": presets, "window": window, "model": model, "out": folder})
            yield spec, {point.name: point.name for point in points if point.base not in REFERENCES}


def _name(grid: Grid, parts: Mapping[Point, Preset]) -> str:
    scope = [getattr(grid, name) for name in Scope.model_fields if name != "replicates"]
    return key(list(grid.sessions), list(map(described, parts.values())), list(map(described, parts)), scope)[:8]


def _row(point: Point) -> dict[str, object]:
    return {
        "strategy": point.name,
        "base": point.base,
        "window": point.window,
        "model": point.model,
        "settings": json.dumps(dict(point.settings), sort_keys=True),
    }


def _about(grid: Grid, parts: Mapping[Point, Preset], done: Sequence[Part]) -> dict[str, object]:
    """What the combined run's manifest says in place of its first part's."""
    manifests = [part.results.manifest for part in done]
    each = [found for manifest in manifests if isinstance(found := manifest["settings"], dict)]
    replicates = [one["replicates"] for one in each if "replicates" in one]
    return {
        "settings": each[0]
        | ({"replicates": max(replicates)} if replicates else {})
        | {
            "strategies": [point.name for point in parts],
            "window": grid.windows[0] if len(done) == 1 else None,
            "model": ",".join(grid.models),
        },
        "presets": [described(part) for part in parts.values()],
        "seconds": round(sum(float(str(manifest["seconds"])) for manifest in manifests), 1),
        "sweep": {"points": len(parts), "windows": list(grid.windows), "models": list(grid.models)},
    }
