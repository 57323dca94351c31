"""Compares strategies on sessions: the run, from files to tables."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from socket import gethostname
from time import time
from typing import TYPE_CHECKING, Any, NoReturn, Self

from workbench.compaction.strategy import Preset
from workbench.experiment.forecast import Forecast, foreseen
from workbench.experiment.keys import code_version, described, key
from workbench.experiment.merge import merged
from workbench.experiment.replicates import replicated
from workbench.experiment.shards import finished, shards
from workbench.experiment.sources import Source, What, sources_of
from workbench.experiment.spec import RunSpec, documented
from workbench.experiment.store import Results, RunFolder
from workbench.experiment.tables import SCHEMA
from workbench.experiment.work import Shard, Task, count
from workbench.experiment.workers import Workers, workers
from workbench.models.serving import local_servers
from workbench.models.settings import ModelSettings, local_weights
from workbench.registry import DISTRIBUTION

if TYPE_CHECKING:
    from tqdm import tqdm

REPORTS = Path("reports")


@documented(RunSpec)
def compare(what: What = (), *, spec: RunSpec | None = None, **settings: Any) -> Results:  # noqa: ANN401
    """Replay sessions under strategies, score them, and write a run folder.

    A run resumes: finished replays are not computed again. Unreadable files and failed replays are rows with a reason.

    Args:
        what: files, folders, patterns or sessions; none stand for the bundled sessions.
        spec: a specification made before; further settings change it.
        **settings: the fields of `RunSpec`.

    Raises:
        SettingError: a setting has a wrong value, or there is nothing to read.
        SetupError: no scheduler answers.
        UnknownName: no strategy or model of that name.
    """
    run = Run.of(sources_of(what), RunSpec.of(spec, settings))
    times = run.spec.replicates
    return run.results() if times == 1 else replicated(run.replicate, times, run.folder)


@documented(RunSpec)
def forecast(what: What = (), *, spec: RunSpec | None = None, **settings: Any) -> Forecast:  # noqa: ANN401
    """Predict what `compare` would take with the same arguments: replays, tokens, requests and dollars.

    No provider is asked: sessions are read, and strategies that would ask a provider's model are replayed with one that
    answers with filler of the right length.

    Args:
        what: files, folders, patterns or sessions; none stand for the bundled sessions.
        spec: a specification made before; further settings change it.
        **settings: the fields of `RunSpec`.

    Raises:
        As `compare`.
    """
    return Run.of(sources_of(what), RunSpec.of(spec, settings)).forecast()


@dataclass(frozen=True, slots=True)
class Run:
    """A run before it begins: everything is checked, nothing is read."""

    spec: RunSpec
    sources: tuple[Source, ...]
    presets: tuple[Preset, ...]
    folder: RunFolder
    model_settings: ModelSettings

    @classmethod
    def of(cls, sources: Sequence[Source], spec: RunSpec) -> Self:
        """The run of these sources."""
        presets = spec.presets()
        where = [str(s.path.resolve()) if s.path else s.session.id if s.session else "" for s in sources]
        name = key(spec.settings(), list(map(described, presets)), where)[:8]
        folder = spec.out or REPORTS / f"compare-{name}"
        how = spec.model_settings or ModelSettings()
        how = replace(how, run=how.run or str(folder.resolve()), replicate=spec.seed)
        return cls(spec, tuple(sources), presets, RunFolder(folder), how)

    def results(self) -> Results:
        """Do the run and write its tables."""
        started = time()
        with self._begun("replaying") as (sources, todo, task, crew, bar):
            worked = finished(todo, task, crew, bar.update)
        tables = merged(worked, self.folder, {source.number for source in sources if source.named})
        projects = len({str(row["project"]) for row in tables["sessions"] if row["status"] == "ok"})
        self.folder.write(tables, self._manifest(sources, task, time() - started) | {"projects": projects})
        self.folder.tidy(started)
        return Results.open(self.folder.path)

    def forecast(self) -> Forecast:
        """What the run would take."""
        with self._begun("counting", serve=False) as (_, todo, task, crew, bar):
            return foreseen(todo, task, crew, bar.update)

    def replicate(self, place: int, names: Sequence[str], folder: Path) -> Results:
        """The run once more, under its strategies of these names (none: all), with another seed and folder.

        A name may say the model besides, as in `summarize (litellm:gpt-4o-mini)`.
        """
        chosen = [
            part
            for part, name in zip(self.spec.strategies, self.spec.names, strict=True)
            if not names or any(one == name or one.startswith(f"{name} (") for one in names)
        ]
        changes = {"strategies": chosen, "seed": self.spec.seed + place, "replicates": 1, "out": folder}
        return Run.of(self.sources, self.spec.changed(**changes, model_settings=self.model_settings)).results()

    @contextmanager
    def _begun(
        self, word: str, *, serve: bool = True
    ) -> Iterator[tuple[Sequence[Source], list[Shard], Task, Workers, tqdm[NoReturn]]]:
        """The sources within the limit, the work in shards, its workers and a progress bar: until the `with` ends."""
        spec, sources, most = self.spec, self.sources, None
        # workers on another machine start their own servers
        elsewhere = self.model_settings.cache_only or spec.scheduler or not serve
        with (
            workers(spec.jobs, spec.scheduler) as crew,
            local_servers(() if elsewhere else local_weights(spec.models)) as local,
        ):
            how = replace(self.model_settings, served=tuple(local.items()), machine=gethostname())
            task = Task(spec, self.presets, self.folder, how)
            if spec.limit is not None:
                counts = _counted(sources, spec, crew)
                most = _first(counts, spec.limit)
                # a source without sessions has a row that says why
                sources = tuple(one for one in sources if most.get(one.number, 0) or not counts.get(one.number, 0))
            with _bar(len(sources), word, quiet=spec.quiet) as bar:
                yield sources, shards(sources, self.presets, most, crew.size), task, crew, bar

    def _manifest(self, sources: Sequence[Source], task: Task, seconds: float) -> dict[str, object]:
        command = ["workbench", *sys.argv[1:]] if Path(sys.argv[0]).name == "workbench" else []
        read = [str(source.path) if source.path else f"session {i}" for i, source in enumerate(sources)]
        return {
            "schema": SCHEMA,
            "command": list(map(task.masked, command)),
            "settings": self.spec.settings(),
            "presets": [described(part) for part in self.presets],
            "sources": list(map(task.masked, read)),
            "code": code_version(),
            "python": platform.python_version(),
            "packages": {name: _version(name) for name in (DISTRIBUTION, "tiktoken", "litellm", "numpy", "pandas")},
            "jobs": self.spec.jobs,
            "seconds": round(seconds, 1),
            "created": round(time()),
        }


def _counted(sources: Sequence[Source], spec: RunSpec, crew: Workers) -> dict[int, int]:
    """How many sessions each source holds, as far as workers survive it."""
    sessions = {}
    with _bar(len(sources), "reading", quiet=spec.quiet) as bar:
        for number, found in crew.each(partial(count, window=spec.window, redact=spec.redact), sources):
            sessions[number] = found or 0
            bar.update()
    return sessions


def _first(counts: Mapping[int, int], limit: int) -> dict[int, int]:
    """How many sessions to take of each source, so that the first `limit` of the run are taken."""
    wanted = {}
    for number in sorted(counts):
        wanted[number] = min(counts[number], limit)
        limit -= wanted[number]
    return wanted


def _bar(total: int, word: str, *, quiet: bool) -> tqdm[NoReturn]:
    """A progress bar that moves by parts of a source."""
    from tqdm.auto import tqdm

    return tqdm(
        total=total, desc=word, unit="file", disable=quiet or not sys.stderr.isatty(), leave=False,
        bar_format="{desc}: {percentage:3.0f}%|{bar}| {n:.3g}/{total_fmt} [{elapsed}<{remaining}]",
    )  # fmt: skip


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
