"""Compares strategies on sessions: the run, from files to tables, and what it would take,
without asking any model.
"""

from __future__ import annotations

import platform
import sys
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from socket import gethostname
from time import time
from typing import TYPE_CHECKING, NoReturn, Self, Unpack

from workbench.base.errors import SettingError, UnknownName
from workbench.base.formats import percent
from workbench.base.palette import REFERENCES
from workbench.base.registry import DISTRIBUTION
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models import recorded_name
from workbench.engine.models.local import server_address
from workbench.engine.models.model import Model
from workbench.engine.models.settings import ModelSettings, local_weights
from workbench.evaluation.experiment.combined import replicated
from workbench.evaluation.experiment.filler import FillerModel, ModelUse, is_asked
from workbench.evaluation.experiment.keys import described, key
from workbench.evaluation.experiment.prepared import Prepared, read
from workbench.evaluation.experiment.progress import progress
from workbench.evaluation.experiment.replay_rows import Row, replays
from workbench.evaluation.experiment.settings import RunSettings
from workbench.evaluation.experiment.shards import merged_tables, run_shards, shards
from workbench.evaluation.experiment.sources import (
    SessionSource,
    What,
    default_model_for,
    limited,
    sources_of,
)
from workbench.evaluation.experiment.spec import (
    RunSpec,
    chosen_baseline,
    documented,
    with_references,
)
from workbench.evaluation.experiment.store import SCHEMA, Results, RunFolder
from workbench.evaluation.experiment.work import (
    Shard,
    ShardResult,
    Task,
    code_of_replays,
    is_compared,
    replay_codes,
    replay_key,
)
from workbench.evaluation.experiment.workers import Workers, workers

if TYPE_CHECKING:
    from tqdm import tqdm


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a run would do.

    Attributes:
        sessions: that can be replayed.
        unreadable: files and sessions that cannot.
        replays: of the run, and `done` those of them that are on disk already.
        tokens: of the sessions of all replays still to do.
        asked: of language models, by strategy; estimated as if every summary took all the room that
            it may, none were in the cache and no provider gave a discount, so that a run seldom
            costs more.
    """

    sessions: int
    unreadable: int
    replays: int
    done: int
    tokens: int
    asked: tuple[ModelUse, ...] = ()

    @property
    def requests(self) -> int:
        """Questions to real models."""
        return sum(one.requests for one in self.asked)

    @property
    def usd(self) -> float | None:
        """Dollars; None where a price is not known."""
        return sum(self.asked, ModelUse("", "")).usd


def forecast_shards(
    todo: Sequence[Shard], task: Task, crew: Workers, tell: Callable[[float], object]
) -> Forecast:
    """Go through a run's shards without doing them; requests to models are counted once a
    replicate.

    `tell` gets the part of a source that was looked at, in (0, 1].
    """
    found = []
    for place, result in crew.each(partial(_of_a_shard, task), todo):
        if result is not None:
            found.append(result)
        tell(len(todo[place].presets) / len(task.presets))
    return together(found, task.spec.replicates)


def together(parts: Sequence[Forecast], times: int = 1) -> Forecast:
    """Several forecasts as one; requests to models are made so many times."""
    counts = ("sessions", "unreadable", "replays", "done", "tokens")
    total = {name: sum(getattr(one, name) for one in parts) for name in counts}
    asked: dict[tuple[str, str], ModelUse] = {}
    for one in times * [one for part in parts for one in part.asked]:
        name = one.strategy, one.model
        asked[name] = asked.get(name, ModelUse(*name)) + one
    return Forecast(**total, asked=tuple(found for _, found in sorted(asked.items())))


def _of_a_shard(task: Task, shard: Shard) -> Forecast:
    found = read(shard.source, task.spec.window, redaction=task.spec.redaction)
    sessions = found.ready[: shard.source.most]
    replays = done = tokens = 0
    asked: list[ModelUse] = []
    for ready in sessions:
        for preset in shard.presets:
            for wanted in task.spec.model:
                model = task.model_settings.model(wanted)
                replays += 1
                if task.folder.replay(replay_key(ready, preset, wanted, model, task)) is not None:
                    done += 1
                    continue
                tokens += sum(ready.sizing.sizes)
                if is_asked(model):
                    asked += _would_ask(ready, preset, wanted, model, task)
    first = shard.presets[0] == task.presets[0]  # each source is counted once, whatever its shards
    return Forecast(
        first * len(sessions), first * len(found.unreadable), replays, done, tokens, tuple(asked)
    )


def _would_ask(
    ready: Prepared, preset: Preset, wanted: str | Model, model: Model, task: Task
) -> list[ModelUse]:
    """What a replay would ask, also for the baseline at its sizes."""
    filler = FillerModel(model.name)
    baseline = task.baseline_of(ready, filler) if is_compared(preset, wanted, task) else None
    for replay in replays(ready, preset, filler, task.spec):
        if baseline is not None and replay.mode == "matched":
            deque(baseline.rows(replay), maxlen=0)
    return [replace(one, strategy=preset.name) for one in filler.asked]


REPORTS = Path("reports")


@documented(RunSpec)
def compare(
    what: What = (), *, spec: RunSpec | None = None, **settings: Unpack[RunSettings]
) -> Results:
    """Replay sessions under strategies, score them, and write a run folder.

    A run resumes: finished replays are not computed again. Unreadable files and failed replays are
    rows with a reason.

    Args:
        what: files, folders, patterns or sessions; none: the bundled sessions.
        spec: a specification made before; further settings change it.
        **settings: the fields of `RunSpec`.

    Raises:
        SettingError: a setting has a wrong value, or there is nothing to read.
        SetupError: no scheduler answers.
        UnknownName: no strategy or model of that name.
    """
    run = Run.of(sources_of(what), RunSpec.of(spec, settings))
    times = run.task.spec.replicates
    return run.results() if times == 1 else replicated(run.replicate, times, run.task.folder)


@documented(RunSpec)
def forecast(
    what: What = (), *, spec: RunSpec | None = None, **settings: Unpack[RunSettings]
) -> Forecast:
    """Predict what `compare` would take with the same arguments: replays, tokens, requests and
    dollars.

    No provider is asked: strategies that would ask one are replayed with a model that answers with
    filler of the right length. It raises what `compare` raises.
    """
    return Run.of(sources_of(what), RunSpec.of(spec, settings)).forecast()


@dataclass(frozen=True, slots=True)
class Run:
    """A run before it begins: everything is checked, nothing is read."""

    sources: tuple[SessionSource, ...]
    task: Task

    @classmethod
    def of(cls, sources: Sequence[SessionSource], spec: RunSpec) -> Self:
        """The run of these sources."""
        spec = spec.with_default_model(default_model_for(sources))
        presets = with_references(spec.strategies)
        known = [one.name for one in presets]
        if spec.baseline and spec.baseline not in (*known, *REFERENCES):
            raise UnknownName("strategy of this run", spec.baseline, (*known, *REFERENCES))
        chosen = chosen_baseline(spec.baseline, known)
        baseline = next(
            (one for one in presets if one.name == chosen and chosen not in REFERENCES), None
        )
        where = [str(source.path.resolve()) if source.path else source.name for source in sources]
        name = key(spec.settings(), list(map(described, presets)), where)[:8]
        folder = spec.out or REPORTS / f"compare-{name}"
        how = ModelSettings.of_run(spec.model_settings, folder)
        how = replace(how, part=str(folder.resolve()), replicate=spec.seed)
        return cls(tuple(sources), Task(spec, presets, RunFolder(folder), how, baseline))

    def results(self) -> Results:
        """Do the run and write its tables."""
        started = time()
        self.task.folder.begin()
        with self._begun("replaying and scoring") as (sources, todo, task, crew, bar):
            worked = run_shards(todo, task, crew, partial(_tell, bar, defaultdict(list)))
            bar.set_description_str("writing the tables")
            tables = merged_tables(
                worked, task, {source.number for source in sources if source.named}
            )
            _keep_finished(task.folder, tables["sessions"])
            projects = len(
                {str(row["project"]) for row in tables["sessions"] if row["status"] == "ok"}
            )
            task.folder.write(
                tables, _manifest(sources, task, time() - started) | {"projects": projects}
            )
            task.folder.tidy(started)
        return Results.open(task.folder.path)

    def forecast(self) -> Forecast:
        """What the run would take."""
        with self._begun("counting calls", serve=False) as (_, todo, task, crew, bar):
            return forecast_shards(todo, task, crew, bar.update)

    def replicate(self, place: int, names: Sequence[str], folder: Path) -> Results:
        """The run once more, under its strategies of these names (none: all), with another seed and
        folder.

        A name may say the model besides, as in `summarize (litellm:gpt-4o-mini)`.
        """
        spec = self.task.spec
        against = self.task.baseline.name if self.task.baseline is not None else ""
        chosen = [
            part
            for part, name in zip(spec.strategies, spec.names, strict=True)
            if not names
            or name == against
            or any(one == name or one.startswith(f"{name} (") for one in names)
        ]
        changes = {
            "strategies": chosen,
            "baseline": against,
            "seed": spec.seed + place,
            "replicates": 1,
            "out": folder,
        }
        return Run.of(
            self.sources, spec.changed(**changes, model_settings=self.task.model_settings)
        ).results()

    @contextmanager
    def _begun(
        self, word: str, *, serve: bool = True
    ) -> Iterator[tuple[Sequence[SessionSource], list[Shard], Task, Workers, tqdm[NoReturn]]]:
        """The sources within the limit, the work in shards, its workers and a progress bar:
        until the `with` ends.
        """
        task, sources = self.task, limited(self.sources, self.task.spec.limit)
        spec, how = task.spec, task.model_settings
        # workers on another machine start their own servers
        elsewhere = how.cache_only or spec.scheduler or not serve
        served = (
            ()
            if elsewhere
            else tuple((name, server_address(name)) for name in local_weights(spec.model))
        )
        how = replace(how, served=served, machine=gethostname())
        with (
            workers(spec.jobs, spec.scheduler, sources) as crew,
            progress(len(sources), word, quiet=spec.quiet) as bar,
        ):
            task = replace(task, model_settings=how, codes=replay_codes(task))
            yield sources, shards(sources, task.presets, crew.size), task, crew, bar


def _keep_finished(folder: RunFolder, sessions: Sequence[Row]) -> None:
    """Refuse to write a run of nothing over a finished one."""
    if (folder.path / "manifest.json").is_file() and all(one["status"] != "ok" for one in sessions):
        why = "; ".join(str(one["reason"]) for one in sessions[:3])
        raise SettingError(
            f"no session could be read ({why}); the finished run in {folder.path} stays as it is"
        )


def _tell(
    bar: tqdm[NoReturn], known: dict[str, list[float]], part: float, result: ShardResult
) -> None:
    """Move the bar on, and put behind it the names that each strategy keeps on its own trigger:
    means over sessions.
    """
    for one in chain.from_iterable(done for _, done in result.sessions):
        if one.recall is not None and one.strategy not in REFERENCES:
            known[one.strategy].append(one.recall)
    means = [f"{name} {percent(sum(values) / len(values))}" for name, values in known.items()]
    bar.set_postfix_str(f"so far names: {', '.join(means)}" if means else "", refresh=False)
    bar.update(part)


def _manifest(sources: Sequence[SessionSource], task: Task, seconds: float) -> dict[str, object]:
    command = ["workbench", *sys.argv[1:]] if Path(sys.argv[0]).name == "workbench" else []
    read = [str(source.path) if source.path else f"session {i}" for i, source in enumerate(sources)]
    return {
        "schema": SCHEMA,
        "command": [task.masked(_without_secrets(word)) for word in command],
        "settings": task.spec.settings(),
        "presets": [described(part) for part in task.presets],
        "sources": list(map(task.masked, read)),
        "code": code_of_replays(task.spec.redaction, {"": ()}, task.folder.path)[""],
        "python": platform.python_version(),
        "packages": {
            name: _version(name)
            for name in (DISTRIBUTION, "tiktoken", "litellm", "numpy", "pandas")
        },
        "jobs": task.spec.jobs,
        "seconds": round(seconds, 1),
        "created": round(time()),
    }


def _without_secrets(word: str) -> str:
    """A word of our own command line; the command line of a model may hold a key."""
    before, command, line = word.partition("command:")
    return before + recorded_name(command + line) if command else word


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
