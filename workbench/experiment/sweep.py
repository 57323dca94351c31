"""Replays sessions under every point of a grid: each point is a strategy of one run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from workbench.compaction.strategy import Preset
from workbench.experiment.combined import Part, combined
from workbench.experiment.compare import REPORTS, compare
from workbench.experiment.grid import Grid, Point, checked, read
from workbench.experiment.settings import key, written
from workbench.experiment.store import Results, RunFolder, frame
from workbench.palette import REFERENCES

Where: TypeAlias = tuple[int | None, str]
"""A window (None: each session's own) and a model: what one run holds still."""


def sweep(
    grid: Grid | Mapping[str, object] | str | Path,
    *,
    presets: Mapping[str, Preset] | None = None,
    out: str | Path | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    quiet: bool = False,
) -> Results:
    """Run a grid and write one run of it, in which each point is a strategy named after what varies.

    It resumes as `compare` does. The reference arms are those of the first window and model; `scaled` scores were
    scaled by the arms of their own.

    Args:
        grid: a TOML file, its fields, or a `Grid`; see docs/runs.md.
        presets: strategies of your own that the grid names.
        out: the run's folder; by default `reports/sweep-<hash of the grid>`.
        jobs: worker processes.
        scheduler: address of a Dask scheduler.
        quiet: no progress bar.

    Raises:
        SettingError: a field, setting or value that cannot be; nothing has run then.
        UnknownName: no strategy or model of that name.
    """
    if not isinstance(grid, Grid):
        grid = checked(grid, presets) if isinstance(grid, Mapping) else read(grid, presets)
    parts = {point: grid.preset(point, presets) for point in grid.points()}
    folder = Path(out) if out is not None else REPORTS / f"sweep-{_seal(grid, parts)}"
    groups: dict[Where, list[Point]] = {}
    for point in parts:
        groups.setdefault((point.window, point.model), []).append(point)
    done: list[Part] = []
    for (window, model), points in groups.items():
        results = compare(
            grid.sessions, strategies=[parts[point] for point in points], window=window, model=model,
            shares=grid.shares, boundaries=grid.boundaries, out=folder / "runs" / key(window, model)[:8], jobs=jobs,
            scheduler=scheduler, limit=grid.limit, seed=grid.seed, redact=grid.redact, quiet=quiet,
        )  # fmt: skip
        names = {point.name: point.name for point in points if point.base not in REFERENCES}
        done.append(Part(results, names | ({} if done else {arm: arm for arm in REFERENCES})))
    tables = {"variants": frame("variants", map(_row, parts))}
    return combined(done, RunFolder(folder), tables, _about(grid, parts, done))


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
    settings = manifests[0]["settings"]
    assert isinstance(settings, dict)
    seconds = [float(str(manifest["seconds"])) for manifest in manifests]
    one = len(done) == 1
    return {
        "settings": settings
        | {
            "strategies": [point.name for point in parts],
            "window": grid.windows[0] if one else None,
            "model": ",".join(grid.models),
        },
        "presets": [written(part) for part in parts.values()],
        "seconds": round(sum(seconds), 1),
        "sweep": {"points": len(parts), "windows": list(grid.windows), "models": list(grid.models)},
    }
