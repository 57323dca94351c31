"""The files of a run, from what its workers did: merged tables and a manifest."""

import platform
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import time

from workbench.base.errors import SettingError
from workbench.base.registry import DISTRIBUTION
from workbench.engine.models import recorded_name
from workbench.evaluation.experiment.keys import described
from workbench.evaluation.experiment.replay_rows import NAMES, Row, Value
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
    replays: Sequence[ReplayResult],
    names: Mapping[tuple[str, str], str],
    bill: dict[str, float | None],
    job: ReplayJob,
) -> None:
    """Add the rows of a session's replays, under the session's name in the run."""
    scores: list[Row] = []
    baseline_model = job.model_settings.model(job.spec.model[0]).name
    for replay in replays:
        strategy = names.get((replay.strategy, replay.model))
        if strategy is None:
            continue
        stored_tables = None if replay.reason else job.folder.replay(replay.key)
        row = _replay_row(replay, stored_tables is not None)
        row |= {"session": session, "strategy": strategy, "usd": _take_cost(bill, replay.paid)}
        tables["replays"].append(row)
        if stored_tables is None:
            continue
        for table in NAMES:
            rows = stored_tables[table]
            for row in rows:
                row["session"] = session
                if row.get("strategy") == replay.strategy:
                    row["strategy"] = strategy
                if "baseline" in row:
                    baseline = row["baseline"]
                    row["baseline"] = names.get((baseline, baseline_model), baseline)
            if table == "scores":
                scores += rows
            else:
                tables[table] += rows
    tables["scores"] += _scaled(scores)


def _replay_row(replay: ReplayResult, is_here: bool) -> Row:
    """The row of the table `replays`, without the session, the strategy and the cost."""
    reason = replay.reason
    if not reason and not is_here:
        reason = NOT_HERE
    status = "failed" if reason else "ok"
    if replay.pending:
        status = "pending"
    return {
        "model": replay.model if replay.asked else "",
        "status": status,
        "reason": reason,
        "summaries": replay.summaries.requested,
        "written": replay.summaries.written,
        "useless": replay.summaries.useless,
    }


def _take_cost(bill: dict[str, float | None], requests: Iterable[str]) -> float | None:
    """What these requests have cost, each of which is taken out of the bill; None if one is
    unknown.
    """
    total = 0.0
    is_known = True
    for request in requests:
        usd = bill.pop(request, 0.0)
        if usd is None:
            is_known = False
        else:
            total += usd
    return total if is_known else None


def _bill(replays: Iterable[ReplayResult]) -> dict[str, float | None]:
    """What each request has cost, as the last who looked knew; replays that send the same one
    pay once.
    """
    bill: dict[str, float | None] = {}
    for replay in replays:
        for request, usd in replay.paid.items():
            earlier_usd = bill.get(request, 0.0)
            if usd is None or earlier_usd is None:
                bill[request] = None
            else:
                bill[request] = max(usd, earlier_usd)
    return bill


def _strategy_names(replays: Sequence[ReplayResult]) -> dict[tuple[str, str], str]:
    """Each strategy's name under each model: its own where the run has one model, or none was
    asked.
    """
    asking_strategies = {replay.strategy for replay in replays if replay.asked}
    has_several_models = len({replay.model for replay in replays if replay.model}) > 1
    names: dict[tuple[str, str], str] = {}
    plain_names: set[str] = set()
    for replay in replays:
        place = replay.strategy, replay.model
        if replay.strategy in asking_strategies and has_several_models and replay.model:
            names[place] = f"{replay.strategy} ({replay.model})"
        elif replay.strategy not in plain_names or place in names:
            names[place] = replay.strategy
            plain_names.add(replay.strategy)
    return names


def _unique(name: str, used_names: set[str]) -> str:
    """The name, or one with a number behind it where it is used already."""
    unique_name = name
    number = 2
    while unique_name in used_names:
        unique_name = f"{name}~{number}"
        number += 1
    used_names.add(unique_name)
    return unique_name


def _scaled(scores: list[Row]) -> list[Row]:
    """One session's scores with the column `scaled`: 0 is the reference `null`, 1 is the
    reference `none`.
    """
    values: dict[tuple[Value, ...], Value] = {}
    for row in scores:
        values[row["strategy"], row["mode"], row["share"], row["metric"]] = row["value"]
    for row in scores:
        place = (row["mode"], row["share"], row["metric"])
        row["scaled"] = _share_of_way(
            row["value"], values.get(("null", *place)), values.get(("none", *place))
        )
    return scores


def _share_of_way(value: Value, floor: Value, top: Value) -> float | None:
    """How far a value is on the way from the floor to the top; None where there is no way."""
    if not isinstance(value, float) or not isinstance(floor, float) or not isinstance(top, float):
        return None
    if top == floor:
        return None
    return (value - floor) / (top - floor)


def _keep_finished(folder: RunFolder, sessions: Sequence[Row]) -> None:
    """Refuse to write a run of nothing over a finished one."""
    is_finished = (folder.local / "manifest.json").is_file()
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
        source.name if source.path else f"session {index}" for index, source in enumerate(sources)
    ]
    return {
        "schema": SCHEMA,
        "command": [job.masked(_without_secrets(word)) for word in command],
        "settings": job.spec.settings(),
        "presets": [described(preset) for preset in job.presets],
        "sources": [job.masked(name) for name in names],
        "code": code_of_replays(job.spec.redaction, {"": ()}, job.folder.local)[""],
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
