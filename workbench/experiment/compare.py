"""Compares strategies on sessions: the run, from files to tables."""

from __future__ import annotations

import platform
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from socket import gethostname
from time import time
from typing import TYPE_CHECKING, NoReturn, Self

from workbench.compaction.strategy import Preset
from workbench.datasets.bundled import bundled_files
from workbench.errors import SettingError
from workbench.experiment.forecast import Forecast, foreseen
from workbench.experiment.replay_rows import NAMES, Row, Value
from workbench.experiment.replicates import replicated
from workbench.experiment.settings import Settings, code_version, key, presets, written
from workbench.experiment.shards import Shard, finished, shards
from workbench.experiment.sources import Source
from workbench.experiment.store import SCHEMA, Results, RunFolder
from workbench.experiment.work import Surveyed, Task, Worked, common, survey
from workbench.experiment.workers import Death, Workers, workers
from workbench.importers.importer import files, load
from workbench.models.model import Model
from workbench.models.serving import served
from workbench.models.settings import ModelSettings, local_weights, model_names
from workbench.registry import DISTRIBUTION
from workbench.transcript.redaction import Redactor
from workbench.transcript.session import Session

if TYPE_CHECKING:
    from tqdm import tqdm

REPORTS = Path("reports")
NOT_HERE = "a worker wrote it where this process does not see it; all workers must share the run's folder"


def compare(
    what: Iterable[str | Path | Session] | str | Path | Session = (),
    *,
    strategies: Sequence[str | Preset] = Settings().strategies,
    window: int | None = None,
    model: str | Model | Sequence[str | Model] = "extractive",
    model_settings: ModelSettings | None = None,
    shares: Sequence[float] = Settings().shares,
    boundaries: Sequence[float] | str = Settings().boundaries,
    out: str | Path | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    limit: int | None = None,
    seed: int = 0,
    replicates: int = 1,
    redact: bool = False,
    price_model: str = "",
    prices: str = "",
    quiet: bool = False,
) -> Results:
    """Replay sessions under strategies, score them, and write a run folder.

    A run resumes: replays that are on disk are not computed again. A file that cannot be read and a failed replay are
    rows with their reason.

    Args:
        what: files, folders, globs or sessions; nothing takes the bundled sessions.
        strategies: names, or presets of your own.
        window: tokens; None takes each session's own.
        model: who writes summaries; several names between commas, or several models, are compared with each other.
        model_settings: cache and limits of the models; None uses the default cache and no limits.
        shares: budgets of the matched mode, each in (0, 1).
        boundaries: where the matched mode compacts: shares of the messages, indices, `fill` or `recorded`.
        out: the run's folder; by default `reports/compare-<hash of the run>`.
        jobs: worker processes.
        scheduler: address of a Dask scheduler; its workers do the work, and must see the same files.
        limit: sessions at most.
        seed: for parts that vary.
        replicates: how often strategies are run whose model may answer otherwise each time, with seeds from `seed` on.
        redact: mask secrets, e-mail addresses and names of home directories before anything is asked or written.
        price_model: reckon the money of every session with this model's prices; empty for each its own.
        prices: USD a million tokens, such as `input=3,output=15,cache_read=0.3,cache_write=3.75`.
        quiet: no progress bar.

    Raises:
        SettingError: a setting that cannot work, or nothing to read.
        SetupError: no such scheduler.
        UnknownName: no strategy or model of that name.
    """
    run = _Run.of(
        what, strategies, window, model, model_settings, shares, boundaries, out, seed, redact, price_model, prices
    )
    if replicates != 1:
        if replicates < 1:
            raise SettingError(f"{replicates} replicates are no run; at least 1 is needed")

        def once(place: int, names: Sequence[str], folder: Path) -> Results:
            chosen = [part for part in strategies if _is_among(part, names)] if names else strategies
            return compare(
                what, strategies=chosen, window=window, model=model, model_settings=run.model_settings, shares=shares,
                boundaries=boundaries, out=folder, jobs=jobs, scheduler=scheduler, limit=limit, seed=seed + place,
                redact=redact, price_model=price_model, prices=prices, quiet=quiet,
            )  # fmt: skip

        return replicated(once, replicates, run.folder.path)
    started = time()
    with run.begun(jobs, scheduler, limit, quiet) as (sources, todo, task, crew), _bar(todo, quiet, "replaying") as bar:
        worked = finished(todo, task, crew, bar.update)
    tables = _merged(worked, run.folder, {source.number for source in sources if source.named})
    manifest = _manifest(run.settings, run.presets, sources, task, jobs, time() - started)
    manifest["projects"] = len({str(row["project"]) for row in tables["sessions"] if row["status"] == "ok"})
    run.folder.write(tables, manifest)
    run.folder.tidy(started)
    return Results.open(run.folder.path)


def forecast(
    what: Iterable[str | Path | Session] | str | Path | Session = (),
    *,
    strategies: Sequence[str | Preset] = Settings().strategies,
    window: int | None = None,
    model: str | Model | Sequence[str | Model] = "extractive",
    model_settings: ModelSettings | None = None,
    shares: Sequence[float] = Settings().shares,
    boundaries: Sequence[float] | str = Settings().boundaries,
    out: str | Path | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    limit: int | None = None,
    seed: int = 0,
    redact: bool = False,
    price_model: str = "",
    prices: str = "",
    quiet: bool = False,
) -> Forecast:
    """What `compare` would take with the same arguments: replays, tokens, requests and dollars. No model is asked.

    Sessions are read, and strategies that would ask a provider's model are replayed with one that makes up nothing but
    the length of its answers.

    Raises:
        SettingError: a setting that cannot work, or nothing to read.
        SetupError: no such scheduler.
        UnknownName: no strategy or model of that name.
    """
    run = _Run.of(
        what, strategies, window, model, model_settings, shares, boundaries, out, seed, redact, price_model, prices
    )
    with (
        run.begun(jobs, scheduler, limit, quiet, serve=False) as (_, todo, task, crew),
        _bar(todo, quiet, "counting") as bar,
    ):
        return foreseen(todo, task, crew, bar.update)


@dataclass(frozen=True, slots=True)
class _Run:
    """A run before it begins: everything checked, nothing read."""

    settings: Settings
    presets: tuple[Preset, ...]
    models: tuple[str | Model, ...]
    sources: tuple[Source, ...]
    folder: RunFolder
    model_settings: ModelSettings

    @classmethod
    def of(
        cls,
        what: Iterable[str | Path | Session] | str | Path | Session,
        strategies: Sequence[str | Preset],
        window: int | None,
        model: str | Model | Sequence[str | Model],
        model_settings: ModelSettings | None,
        shares: Sequence[float],
        boundaries: Sequence[float] | str,
        out: str | Path | None,
        seed: int,
        redact: bool,
        price_model: str,
        prices: str,
    ) -> Self:
        given = {part.name: part for part in strategies if isinstance(part, Preset)}
        names = tuple(part.name if isinstance(part, Preset) else part for part in strategies)
        models = _models(model)
        who = ",".join(map(_name_of, models))
        places = boundaries if isinstance(boundaries, str) else tuple(boundaries)
        settings = Settings(names, window, who, tuple(shares), places, seed, redact, price_model, prices)
        sources = _sources(what)
        if not sources:
            raise SettingError("there is nothing to read; name files or folders with recorded sessions")
        parts = presets(names, given)
        folder = RunFolder(Path(out) if out is not None else REPORTS / f"compare-{_run_name(settings, parts, sources)}")
        how = model_settings or ModelSettings()
        how = replace(how, run=how.run or str(folder.path.resolve()), replicate=seed)
        return cls(settings, parts, models, tuple(sources), folder, how)

    @contextmanager
    def begun(
        self, jobs: int, scheduler: str | None, limit: int | None, quiet: bool, *, serve: bool = True
    ) -> Iterator[tuple[Sequence[Source], list[Shard], Task, Workers]]:
        """The sources within the limit, the work in shards, and who does it: to the end of the `with`."""
        sources: Sequence[Source] = self.sources
        window, redact = self.settings.window, self.settings.redact
        most: dict[int, int] | None = None
        elsewhere = (
            self.model_settings.cache_only or scheduler or not serve
        )  # another machine's workers serve themselves
        here = () if elsewhere else local_weights(self.models)
        with workers(jobs, scheduler) as crew, served(here) as local:
            how = replace(self.model_settings, served=tuple(local.items()), machine=gethostname())
            task = Task(self.settings, self.presets, self.models, self.folder, model_settings=how)
            if len(sources) > 2 or limit is not None:
                surveys = list(_surveyed(sources, window, redact, crew, quiet))
                task = replace(task, background=common(surveys))
                most = None if limit is None else _first(surveys, limit)
                if most is not None:  # a source without any session has a row that says why
                    full = {one.number for one in surveys} - set(most)
                    sources = [source for source in sources if source.number not in full]
            yield sources, shards(sources, self.presets, most, crew.size), task, crew


def _models(model: str | Model | Sequence[str | Model]) -> tuple[str | Model, ...]:
    """The models of a run, each once."""
    if isinstance(model, str):
        return model_names(model)
    if not isinstance(model, Sequence):
        return (model,)
    found = {_name_of(one): one for one in model}
    if not found:
        raise SettingError("no model is named; `workbench list models` shows those that are known")
    return tuple(found.values())


def _is_among(part: str | Preset, shown: Sequence[str]) -> bool:
    """Whether a strategy has one of these names, which may say the model besides."""
    name = part if isinstance(part, str) else part.name
    return any(one == name or one.startswith(f"{name} (") for one in shown)


def _name_of(model: str | Model) -> str:
    return model if isinstance(model, str) else model.name


def _sources(what: Iterable[str | Path | Session] | str | Path | Session) -> list[Source]:
    items: list[str | Path | Session] = [what] if isinstance(what, str | Path | Session) else list(what)
    found: list[Source] = []
    for item in items or list(bundled_files()):
        if isinstance(item, Session):
            found.append(Source(session=item, number=len(found)))
        elif str(item) == "-":  # standard input can be read once, and by this process alone
            found += [Source(session=one, number=len(found) + i) for i, one in enumerate(load("-", lenient=True))]
        else:
            found += [
                Source(path=Path(path), number=len(found) + i, named=path == str(item))
                for i, path in enumerate(p for p in files([item]) if p == str(item) or not _of_a_run(Path(p)))
            ]
    return found


def _of_a_run(path: Path) -> bool:
    """Whether a file in a folder of recordings was written by a run of ours."""
    folder = path.parent.parent if path.parent.name == "replays" else path.parent
    return (folder / "manifest.json").is_file() and (folder / "replays.parquet").is_file()


def _run_name(settings: Settings, parts: Sequence[Preset], sources: Sequence[Source]) -> str:
    where = [str(s.path.resolve()) if s.path else s.session.id if s.session else "" for s in sources]
    return key(settings.as_json(), [written(part) for part in parts], where)[:8]


def _surveyed(
    sources: Sequence[Source], window: int | None, redact: bool, crew: Workers, quiet: bool
) -> Iterator[Surveyed]:
    """What the sources hold, as far as workers survive them."""
    with _bar(sources, quiet, "reading") as bar:
        for _, found in crew.each(partial(survey, window=window, redact=redact), sources):
            yield from () if isinstance(found, Death) else found
            bar.update()


def _first(surveys: Sequence[Surveyed], limit: int) -> dict[int, int]:
    """How many sessions to take of each source, so that the first `limit` of the run are taken."""
    wanted: dict[int, int] = {}
    for one in sorted(surveys, key=lambda one: one.number)[:limit]:
        wanted[one.number] = wanted.get(one.number, 0) + 1
    return wanted


def _bar(todo: Sequence[Source | Shard], quiet: bool, word: str) -> tqdm[NoReturn]:
    """A progress bar that moves by parts of a source."""
    from tqdm.auto import tqdm

    total = len({one.source.number if isinstance(one, Shard) else one.number for one in todo})
    return tqdm(
        total=total, desc=word, unit="file", disable=quiet or not sys.stderr.isatty(), leave=False,
        bar_format="{desc}: {percentage:3.0f}%|{bar}| {n:.3g}/{total_fmt} [{elapsed}<{remaining}]",
    )  # fmt: skip


def _merged(worked: Sequence[Worked], folder: RunFolder, named: Collection[int]) -> dict[str, list[Row]]:
    """All rows of the run in the order of its sessions and strategies, whatever the order of the work."""
    tables: dict[str, list[Row]] = {name: [] for name in ("sessions", "replays", *NAMES)}
    taken: set[str] = set()
    called = _called(worked)
    for one in worked:
        for row, replays in one.sessions:
            name = _unique(str(row["session"]), taken)
            tables["sessions"].append({**row, "session": name})
            scores: list[Row] = []
            for done in replays:
                if (shown := called.get((done.strategy, done.model))) is None:
                    continue
                found = None if done.reason else folder.replay(done.key)
                reason = done.reason or (NOT_HERE if found is None else "")
                status = "failed" if reason else "ok"
                writer = done.model if done.asked else ""
                tables["replays"].append(
                    {"session": name, "strategy": shown, "model": writer, "status": status, "reason": reason}
                )
                for table, rows in (found or {}).items():
                    assert isinstance(rows, list)
                    own = (row if row.get("strategy") != done.strategy else {**row, "strategy": shown} for row in rows)
                    (scores if table == "scores" else tables[table]).extend({**row, "session": name} for row in own)
            tables["scores"] += _scaled(scores)
        for bad in one.unreadable:
            if bad.is_prose and one.number not in named:
                continue
            tables["sessions"].append(
                {"session": bad.path, "path": bad.path, "status": "unreadable", "reason": bad.reason}
            )
    return tables


def _called(worked: Sequence[Worked]) -> dict[tuple[str, str], str]:
    """What each strategy is called under each model: its name alone where the run has one model, or none was asked."""
    all_done = [done for one in worked for _, replays in one.sessions for done in replays]
    asked = {done.strategy for done in all_done if done.asked}
    several = len({done.model for done in all_done if done.model}) > 1
    found: dict[tuple[str, str], str] = {}
    taken: set[str] = set()
    for done in all_done:
        if done.strategy in asked and several and done.model:
            found[done.strategy, done.model] = f"{done.strategy} ({done.model})"
        elif done.strategy not in taken or (done.strategy, done.model) in found:
            found[done.strategy, done.model] = done.strategy
            taken.add(done.strategy)
    return found


def _unique(name: str, taken: set[str]) -> str:
    found, n = name, 1
    while found in taken:
        n += 1
        found = f"{name}~{n}"
    taken.add(found)
    return found


def _scaled(scores: Sequence[Row]) -> list[Row]:
    """One session's scores with the column `scaled`: 0 is the reference `null`, 1 is the reference `none`."""
    references: dict[tuple[Value, ...], Value] = {
        (row["strategy"], row["mode"], row["share"], row["metric"]): row["value"] for row in scores
    }
    found = []
    for row in scores:
        place = (row["mode"], row["share"], row["metric"])
        floor, top, value = references.get(("null", *place)), references.get(("none", *place)), row["value"]
        scaled = None
        if isinstance(floor, float) and isinstance(top, float) and isinstance(value, float) and top != floor:
            scaled = (value - floor) / (top - floor)
        found.append({**row, "scaled": scaled})
    return found


def _manifest(
    settings: Settings, parts: Sequence[Preset], sources: Sequence[Source], task: Task, jobs: int, seconds: float
) -> dict[str, object]:
    command = ["workbench", *sys.argv[1:]] if Path(sys.argv[0]).name == "workbench" else []
    read = [str(source.path) if source.path else f"session {i}" for i, source in enumerate(sources)]
    mask = Redactor().mask if settings.redact else str
    return {
        "schema": SCHEMA,
        "command": [mask(word) for word in command],
        "settings": settings.as_json(),
        "presets": [written(part) for part in parts],
        "sources": [mask(path) for path in read],
        "background_entities": len(task.background),
        "code": code_version(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in (DISTRIBUTION, "tiktoken", "litellm", "numpy", "pandas")},
        "jobs": jobs,
        "seconds": round(seconds, 1),
        "created": round(time()),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
