"""Compares strategies on sessions: the run, from files to tables."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import time
from typing import Any

from workbench.compaction.strategy import Preset
from workbench.errors import SettingError
from workbench.experiment.cell import NAMES, Row, Value
from workbench.experiment.settings import Settings, code_version, key, presets, written
from workbench.experiment.sources import Source
from workbench.experiment.store import SCHEMA, Results, RunFolder
from workbench.experiment.work import Surveyed, Task, Worked, common, survey, work
from workbench.importers.bundled import bundled
from workbench.importers.importer import files, load
from workbench.models.model import Model
from workbench.transcript.redaction import Redactor
from workbench.transcript.session import Session

REPORTS = Path("reports")
PROSE = frozenset({".md", ".log"})
TRIES = 3
"""How often a source is given to workers before its worker's death counts as its own doing."""


def compare(
    what: Iterable[str | Path | Session] | str | Path | Session = (),
    *,
    strategies: Sequence[str | Preset] = Settings().strategies,
    window: int | None = None,
    model: str | Model = "extractive",
    shares: Sequence[float] = Settings().shares,
    boundaries: Sequence[float] = Settings().boundaries,
    out: str | Path | None = None,
    jobs: int = 1,
    limit: int | None = None,
    seed: int = 0,
    redact: bool = False,
    quiet: bool = False,
) -> Results:
    """Replay sessions under strategies, score them, and write a run folder.

    A run resumes: cells that are on disk are not computed again. A file that cannot be read and a cell that fails are
    rows with their reason.

    Args:
        what: files, folders, globs or sessions; nothing takes the bundled sessions.
        strategies: names, or presets of your own.
        window: tokens; None takes each session's own.
        model: who writes summaries.
        shares: budgets of the matched mode, each in (0, 1).
        boundaries: where the matched mode compacts, as shares of the messages.
        out: the run's folder; by default `reports/compare-<hash of the run>`.
        jobs: worker processes.
        limit: sessions at most.
        seed: for parts that vary.
        redact: mask secrets, e-mail addresses and names of home directories before anything is asked or written.
        quiet: no progress bar.

    Raises:
        SettingError: a setting that cannot work, or nothing to read.
        UnknownName: no strategy or model of that name.
    """
    given = {part.name: part for part in strategies if isinstance(part, Preset)}
    names = tuple(part.name if isinstance(part, Preset) else part for part in strategies)
    settings = Settings(
        names, window, model if isinstance(model, str) else model.name, tuple(shares), tuple(boundaries), seed, redact
    )
    sources = _sources(what)
    if not sources:
        raise SettingError("there is nothing to read; name files or folders with recorded sessions")
    parts = presets(names, given)
    folder = RunFolder(Path(out) if out is not None else REPORTS / f"compare-{_run_name(settings, parts, sources)}")
    task = Task(settings, parts, model, folder)
    started = time()
    wanted: dict[int, int] = {}
    surveys: list[Surveyed] = []
    if len(sources) > 2 or limit is not None:
        surveys = [
            s for found in _each(survey, [(s, window, redact) for s in sources], jobs, quiet, "reading") for s in found
        ]
        wanted = _first(surveys, sources, limit)
        task = Task(settings, parts, model, folder, common(surveys))
        full = {one.number for one in surveys} - set(wanted)  # they hold sessions, but none within the limit
        sources = [source for source in sources if source.number not in full]
    todo = [(source, task, wanted.get(source.number) if limit is not None else None) for source in sources]
    worked = list(_each(work, todo, jobs, quiet, "replaying"))
    worked.sort(key=lambda one: one.number)
    tables = _merged(worked, folder, {source.number for source in sources if source.named})
    manifest = _manifest(settings, parts, sources, task, jobs, time() - started)
    manifest["projects"] = len({str(row["project"]) for row in tables["sessions"] if row["status"] == "ok"})
    folder.write(tables, manifest)
    return Results.open(folder.path)


def _sources(what: Iterable[str | Path | Session] | str | Path | Session) -> list[Source]:
    items: list[str | Path | Session] = [what] if isinstance(what, str | Path | Session) else list(what)
    found: list[Source] = []
    for item in items or list(bundled()):
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
    folder = path.parent.parent if path.parent.name == "cells" else path.parent
    return (folder / "manifest.json").is_file() and (folder / "cells.parquet").is_file()


def _run_name(settings: Settings, parts: Sequence[Preset], sources: Sequence[Source]) -> str:
    where = [str(s.path.resolve()) if s.path else s.session.id if s.session else "" for s in sources]
    return key(settings.as_json(), [written(part) for part in parts], where)[:8]


def _first(surveys: Sequence[Surveyed], sources: Sequence[Source], limit: int | None) -> dict[int, int]:
    """How many sessions to take of each source, so that the first `limit` of the run are taken."""
    wanted: dict[int, int] = {}
    left = len(surveys) if limit is None else limit
    for one in sorted(surveys, key=lambda one: one.number):
        if left > 0:
            wanted[one.number] = wanted.get(one.number, 0) + 1
            left -= 1
    return wanted


def _each(
    what: Callable[..., Any], todo: Sequence[tuple[Any, ...]], jobs: int, quiet: bool, word: str
) -> Iterator[Any]:
    """Call `what` with each of these, in this process or in workers, and yield what comes back, in any order."""
    from tqdm.auto import tqdm

    bar = tqdm(total=len(todo), desc=word, unit="file", disable=quiet or not sys.stderr.isatty(), leave=False)
    with bar:
        if jobs <= 1 or len(todo) <= 1:
            for one in todo:
                yield what(*one)
                bar.update()
        else:
            for result in _in_workers(what, todo, jobs):
                yield result
                bar.update()


def _in_workers(what: Callable[..., Any], todo: Sequence[tuple[Any, ...]], jobs: int) -> Iterator[Any]:
    """The same in worker processes; what was lost with a worker that died is given out again."""
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import BrokenProcessPool, TerminatedWorkerError

    left = {args[0].number: args for args in todo}
    for attempt in range(TRIES):
        largest_first = sorted(left.values(), key=lambda args: -args[0].bytes)
        try:
            pool = Parallel(n_jobs=jobs if attempt < TRIES - 1 else 1, return_as="generator_unordered", batch_size=1)
            for number, result in pool(delayed(_numbered)(what, args) for args in largest_first):
                del left[number]
                yield result
        except (TerminatedWorkerError, BrokenProcessPool):
            continue
        return


def _numbered(what: Callable[..., Any], args: tuple[Any, ...]) -> tuple[int, Any]:
    return args[0].number, what(*args)


def _merged(worked: Sequence[Worked], folder: RunFolder, named: Collection[int]) -> dict[str, list[Row]]:
    """All rows of the run in the order of its sessions and strategies, whatever the order of the work."""
    tables: dict[str, list[Row]] = {name: [] for name in ("sessions", "cells", *NAMES)}
    taken: set[str] = set()
    for one in worked:
        for row, cells in one.sessions:
            name = _unique(str(row["session"]), taken)
            tables["sessions"].append({**row, "session": name})
            scores: list[Row] = []
            for done in cells:
                status = "failed" if done.reason else "ok"
                tables["cells"].append(
                    {"session": name, "strategy": done.strategy, "status": status, "reason": done.reason}
                )
                for table, rows in (folder.cell(done.key) or {}).items() if not done.reason else ():
                    assert isinstance(rows, list)
                    (scores if table == "scores" else tables[table]).extend({**row, "session": name} for row in rows)
            tables["scores"] += _scaled(scores)
        for bad in one.unreadable:
            if bad.foreign and one.number not in named and Path(bad.path).suffix in PROSE:
                continue  # a folder of recordings may have a README
            tables["sessions"].append(
                {"session": bad.path, "path": bad.path, "status": "unreadable", "reason": bad.reason}
            )
    return tables


def _unique(name: str, taken: set[str]) -> str:
    found, n = name, 1
    while found in taken:
        n += 1
        found = f"{name}~{n}"
    taken.add(found)
    return found


def _scaled(scores: Sequence[Row]) -> list[Row]:
    """One session's scores with the column `scaled`: 0 is the arm `null`, 1 is the arm `none`."""
    arms: dict[tuple[Value, ...], Value] = {
        (row["strategy"], row["mode"], row["share"], row["metric"]): row["value"] for row in scores
    }
    found = []
    for row in scores:
        place = (row["mode"], row["share"], row["metric"])
        floor, top, value = arms.get(("null", *place)), arms.get(("none", *place)), row["value"]
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
        "background_atoms": len(task.background),
        "code": code_version(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in ("workbench", "tiktoken", "litellm", "numpy", "pandas")},
        "jobs": jobs,
        "seconds": round(seconds, 1),
        "created": round(time()),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
