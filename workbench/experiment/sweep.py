"""Replays sessions under every point of a grid: each point is a strategy of one run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeAlias

from workbench.compaction.strategy import Preset
from workbench.experiment import compare as runs
from workbench.experiment.combined import Part, combined
from workbench.experiment.compare import REPORTS
from workbench.experiment.forecast import Forecast, together
from workbench.experiment.grid import Grid, Point, checked, read
from workbench.experiment.settings import key, written
from workbench.experiment.store import Results, RunFolder, frame
from workbench.models.settings import ModelSettings
from workbench.palette import REFERENCES

Where: TypeAlias = tuple[int | None, str]
"""A window (None: each session's own) and a model: what one run holds still."""


def sweep(
    grid: Grid | Mapping[str, object] | str | Path,
    *,
    presets: Mapping[str, Preset] | None = None,
    model_settings: ModelSettings | None = None,
    out: str | Path | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    replicates: int = 1,
    quiet: bool = False,
) -> Results:
    """Run a grid and write one run of it, in which each point is a strategy named after what varies.

    It resumes as `compare` does. The references are those of the first window and model; `scaled` scores were
    scaled by the references of their own.

    Args:
        grid: a TOML file, its fields, or a `Grid`; see docs/runs.md.
        presets: strategies of your own that the grid names.
        model_settings: cache and limits of the models; limits hold for all points together. None uses the default
            cache and no limits.
        out: the run's folder; by default `reports/sweep-<hash of the grid>`.
        jobs: worker processes.
        scheduler: address of a Dask scheduler.
        replicates: how often points are run whose model may answer otherwise each time, with seeds from the grid's on.
        quiet: no progress bar.

    Raises:
        SettingError: a field, setting or value that cannot be; nothing has run then.
        UnknownName: no strategy or model of that name.
    """
    whole = _Sweep.of(grid, presets, model_settings, out)
    done: list[Part] = []
    for group in whole.groups():
        results = runs.compare(
            whole.grid.sessions,
            **whole.given(group),
            jobs=jobs,
            scheduler=scheduler,
            replicates=replicates,
            quiet=quiet,
        )
        done.append(Part(results, group.names | ({} if done else {reference: reference for reference in REFERENCES})))
    tables = {"variants": frame("variants", map(_row, whole.parts))}
    return combined(done, RunFolder(whole.folder), tables, _about(whole.grid, whole.parts, done))


def forecast(
    grid: Grid | Mapping[str, object] | str | Path,
    *,
    presets: Mapping[str, Preset] | None = None,
    model_settings: ModelSettings | None = None,
    out: str | Path | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    quiet: bool = False,
) -> Forecast:
    """What `sweep` would take with the same arguments: replays, tokens, requests and dollars. No model is asked.

    Raises:
        SettingError: a field, setting or value that cannot be, or nothing to read.
        UnknownName: no strategy or model of that name.
    """
    whole = _Sweep.of(grid, presets, model_settings, out)
    return together(
        runs.forecast(whole.grid.sessions, **whole.given(group), jobs=jobs, scheduler=scheduler, quiet=quiet)
        for group in whole.groups()
    )


@dataclass(frozen=True, slots=True)
class _Group:
    """The points that one run does: those of one window and model."""

    window: int | None
    model: str
    parts: Sequence[Preset]
    names: dict[str, str]
    folder: Path


@dataclass(frozen=True, slots=True)
class _Sweep:
    """A sweep before it begins: everything checked, nothing read."""

    grid: Grid
    parts: Mapping[Point, Preset]
    folder: Path
    model_settings: ModelSettings

    @classmethod
    def of(
        cls,
        grid: Grid | Mapping[str, object] | str | Path,
        presets: Mapping[str, Preset] | None,
        model_settings: ModelSettings | None,
        out: str | Path | None,
    ) -> Self:
        if not isinstance(grid, Grid):
            grid = checked(grid, presets) if isinstance(grid, Mapping) else read(grid, presets)
        parts = {point: grid.preset(point, presets) for point in grid.points()}
        folder = Path(out) if out is not None else REPORTS / f"sweep-{_seal(grid, parts)}"
        how = model_settings or ModelSettings()
        return cls(grid, parts, folder, replace(how, run=how.run or str(folder.resolve())))

    def given(self, group: _Group) -> Mapping[str, Any]:
        """What `compare` and its forecast are told for these points."""
        grid = self.grid
        return {
            "strategies": group.parts, "window": group.window, "model": group.model, "shares": grid.shares,
            "boundaries": grid.boundaries, "model_settings": self.model_settings, "out": group.folder,
            "limit": grid.limit, "seed": grid.seed, "redact": grid.redact,
        }  # fmt: skip

    def groups(self) -> Iterator[_Group]:
        """In the order of their first points."""
        found: dict[Where, list[Point]] = {}
        for point in self.parts:
            found.setdefault((point.window, point.model), []).append(point)
        for (window, model), points in found.items():
            names = {point.name: point.name for point in points if point.base not in REFERENCES}
            folder = self.folder / "runs" / key(window, model)[:8]
            yield _Group(window, model, [self.parts[point] for point in points], names, folder)


def _seal(grid: Grid, parts: Mapping[Point, Preset]) -> str:
    return key(list(grid.sessions), [written(part) for part in parts.values()], [written(point) for point in parts],
               grid.shares, grid.boundaries, grid.limit, grid.seed, grid.redact)[:8]  # fmt: skip


def _row(point: Point) -> dict[str, object]:
    return {
        "strategy": point.name,
        "base": point.base,
        "window": point.window,
        "model": point.model,
        "settings": json.dumps(dict(point.settings), sort_keys=True),
    }


def _about(grid: Grid, parts: Mapping[Point, Preset], done: list[Part]) -> dict[str, object]:
    """What the combined run's manifest says in place of its first part's."""
    manifests = [part.results.manifest for part in done]
    each = [found for manifest in manifests if isinstance(found := manifest["settings"], dict)]
    replicates = [one["replicates"] for one in each if "replicates" in one]
    seconds = [float(str(manifest["seconds"])) for manifest in manifests]
    one = len(done) == 1
    return {
        "settings": each[0]
        | ({"replicates": max(replicates)} if replicates else {})
        | {
            "strategies": [point.name for point in parts],
            "window": grid.windows[0] if one else None,
            "model": ",".join(grid.models),
        },
        "presets": [written(part) for part in parts.values()],
        "seconds": round(sum(seconds), 1),
        "sweep": {"points": len(parts), "windows": list(grid.windows), "models": list(grid.models)},
    }
