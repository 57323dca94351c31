"""The files of a run, from what its workers did: merged tables and a manifest."""

import platform
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from itertools import chain, count
from pathlib import Path
from time import time

from workbench.base.errors import SettingError
from workbench.base.registry import DISTRIBUTION
from workbench.engine.models import recorded_name
from workbench.evaluation.experiment.keys import described
from workbench.evaluation.experiment.replay_rows import NAMES, Row
from workbench.evaluation.experiment.shards import ShardResult
from workbench.evaluation.experiment.sources import SessionSource
from workbench.evaluation.experiment.store import SCHEMA, RunFolder
from workbench.evaluation.experiment.work import ReplayJob, ReplayResult, code_of_replays

NOT_HERE = "its file is not here; all workers must see the run's folder"


def write_run(
    job: ReplayJob, sources: Sequence[SessionSource], results: Sequence[ShardResult], begun: float
) -> None:
    """Write the tables and the manifest of a run.

    Args:
        job: the run.
        sources: what it read.
        results: of its shards.
        begun: when it began, in seconds since 1970.

    Raises:
        SettingError: nothing could be read, and the folder holds a finished run.
    """
    named = {source.number for source in sources if source.named}
    tables = merged_tables(results, job, named)
    _keep_finished(job.folder, tables["sessions"])
    projects = {str(row["project"]) for row in tables["sessions"] if row["status"] == "ok"}
    manifest = _manifest(job, sources, time() - begun)
    job.folder.write(tables, manifest | {"projects": len(projects)})
    job.folder.tidy(begun)


def merged_tables(
    results: Sequence[ShardResult], job: ReplayJob, named: Collection[int]
) -> dict[str, list[Row]]:
    """All rows of the run, in the order of its sources, sessions and presets.

    Args:
        results: of the shards.
        job: the run.
        named: numbers of the sources that the user named; prose is left out silently elsewhere.
    """
    tables: dict[str, list[Row]] = {name: [] for name in ("sessions", "replays", *NAMES)}
    preset_order = {preset.name: place for place, preset in enumerate(job.presets)}
    every_replay = [replay for result in results for replay in _replays_of(result)]
    names = _strategy_names(every_replay)
    bill = _bill(every_replay)
    session_names: set[str] = set()
    for number, (first_shard, *other_shards) in _by_source(results).items():
        for place, (row, replays) in enumerate(first_shard.sessions):
            session = _unique(str(row["session"]), session_names)
            tables["sessions"].append({**row, "session": session})
            session_replays = list(replays)
            for shard in other_shards:
                session_replays += shard.died or shard.sessions[place][1]
            session_replays.sort(key=lambda replay: preset_order[replay.strategy])
            _add_replays(tables, session, session_replays, names, bill, job)
        for unreadable in first_shard.unreadable:
            if not unreadable.is_prose or number in named:
                tables["sessions"].append(
                    {
                        "session": unreadable.path,
                        "path": unreadable.path,
                        "status": "unreadable",
                        "reason": unreadable.reason,
                    }
                )
    return tables


def _by_source(results: Sequence[ShardResult]) -> dict[int, list[ShardResult]]:
    """The shards of each source by its number, those last whose workers died."""
    by_source: dict[int, list[ShardResult]] = {}
    for result in sorted(results, key=lambda result: (result.number, bool(result.died))):
        by_source.setdefault(result.number, []).append(result)
    return by_source


def _replays_of(result: ShardResult) -> Iterator[ReplayResult]:
    for _, replays in result.sessions:
        yield from replays
    yield from result.died


def _add_replays(
    tables: dict[str, list[Row]],
    session: str,
    replays: Iterable[ReplayResult],
    names: Mapping[tuple[str, str], str],
    bill: dict[str, float | None],
    job: ReplayJob,
) -> None:
    scores: list[Row] = []
    first_model = job.model_settings.model(job.spec.model[0]).name
    for result in replays:
        strategy = names.get((result.strategy, result.model))
        if strategy is None:
            continue
        stored_tables = None if result.reason else job.folder.replay(result.key)
        reason = result.reason or (NOT_HERE if stored_tables is None else "")
        costs = [bill.pop(request) for request in result.paid if request in bill]
        tables["replays"].append(
            {
                "session": session,
                "strategy": strategy,
                "model": result.model if result.asked else "",
                "status": "pending" if result.pending else "failed" if reason else "ok",
                "reason": reason,
                "summaries": result.summaries.requested,
                "written": result.summaries.written,
                "useless": result.summaries.useless,
                "usd": None if None in costs else sum(cost for cost in costs if cost is not None),
            }
        )
        for table in NAMES:
            rows = stored_tables[table] if stored_tables else ()
            for row in rows:
                row["session"] = session
                if row.get("strategy") == result.strategy:
                    row["strategy"] = strategy
                if "baseline" in row:
                    row["baseline"] = names.get((row["baseline"], first_model), row["baseline"])
            (scores if table == "scores" else tables[table]).extend(rows)
    tables["scores"] += _scaled(scores)


def _bill(results: Iterable[ReplayResult]) -> dict[str, float | None]:
    """What each request has cost, as the last who looked knew; replays that send the same one
    pay once.
    """
    usd_by_request: dict[str, float | None] = {}
    for name, usd in (item for result in results for item in result.paid.items()):
        earlier_usd = usd_by_request.get(name, 0.0)
        usd_by_request[name] = None if usd is None or earlier_usd is None else max(usd, earlier_usd)
    return usd_by_request


def _strategy_names(results: Sequence[ReplayResult]) -> dict[tuple[str, str], str]:
    """Each strategy's name under each model: its own where the run has one model, or none was
    asked.
    """
    asking_strategies = {result.strategy for result in results if result.asked}
    several = len({result.model for result in results if result.model}) > 1
    shown_names: dict[tuple[str, str], str] = {}
    plain_names: set[str] = set()
    for result in results:
        if result.strategy in asking_strategies and several and result.model:
            shown_names[result.strategy, result.model] = f"{result.strategy} ({result.model})"
        elif result.strategy not in plain_names or (result.strategy, result.model) in shown_names:
            shown_names[result.strategy, result.model] = result.strategy
            plain_names.add(result.strategy)
    return shown_names


def _unique(name: str, used_names: set[str]) -> str:
    unique_name = next(
        candidate
        for candidate in chain([name], (f"{name}~{n}" for n in count(2)))
        if candidate not in used_names
    )
    used_names.add(unique_name)
    return unique_name


def _scaled(scores: list[Row]) -> list[Row]:
    """One session's scores with the column `scaled`: 0 is the reference `null`, 1 is the
    reference `none`.
    """
    ends = {
        (row["strategy"], row["mode"], row["share"], row["metric"]): row["value"] for row in scores
    }
    for row in scores:
        place = (row["mode"], row["share"], row["metric"])
        floor, top, value = ends.get(("null", *place)), ends.get(("none", *place)), row["value"]
        row["scaled"] = None
        if (
            isinstance(floor, float)
            and isinstance(top, float)
            and isinstance(value, float)
            and top != floor
        ):
            row["scaled"] = (value - floor) / (top - floor)
    return scores


def _keep_finished(folder: RunFolder, sessions: Sequence[Row]) -> None:
    """Refuse to write a run of nothing over a finished one."""
    is_finished = (folder.path / "manifest.json").is_file()
    if is_finished and all(session["status"] != "ok" for session in sessions):
        reasons = "; ".join(str(session["reason"]) for session in sessions[:3])
        raise SettingError(
            f"no session could be read ({reasons}); the finished run in {folder.path} stays as it is"
        )


def _manifest(
    job: ReplayJob, sources: Sequence[SessionSource], seconds: float
) -> dict[str, object]:
    """How a run was made.

    Args:
        job: the run.
        sources: what it read.
        seconds: that it took.
    """
    command = ["workbench", *sys.argv[1:]] if Path(sys.argv[0]).name == "workbench" else []
    names = [
        str(source.path) if source.path else f"session {index}"
        for index, source in enumerate(sources)
    ]
    return {
        "schema": SCHEMA,
        "command": [job.masked(_without_secrets(word)) for word in command],
        "settings": job.spec.settings(),
        "presets": [described(preset) for preset in job.presets],
        "sources": [job.masked(name) for name in names],
        "code": code_of_replays(job.spec.redaction, {"": ()}, job.folder.path)[""],
        "python": platform.python_version(),
        "packages": {
            name: _version(name)
            for name in (DISTRIBUTION, "tiktoken", "litellm", "numpy", "pandas")
        },
        "jobs": job.spec.jobs,
        "seconds": round(seconds, 1),
        "created": round(time()),
    }


def _without_secrets(word: str) -> str:
    """A word of our own command line; the command line of a model may hold a key."""
    prefix, command, line = word.partition("command:")
    return prefix + recorded_name(command + line) if command else word


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
