"""A run split into shards for workers, and its tables from what they did."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, count

from workbench.engine.compaction.strategy import Preset
from workbench.evaluation.experiment.prepared import Unreadable
from workbench.evaluation.experiment.replay_rows import NAMES, Row
from workbench.evaluation.experiment.sources import SessionSource
from workbench.evaluation.experiment.work import ReplayResult, Shard, ShardResult, Task, work
from workbench.evaluation.experiment.workers import Workers

DIED = "memory ran out or its worker process died each time, also while nothing else ran"
NOT_HERE = "its file is not here; all workers must see the run's folder"


def shards(sources: Sequence[SessionSource], presets: Sequence[Preset], jobs: int) -> list[Shard]:
    """One a source, or several where there are fewer sources than workers (`jobs`); the largest
    first.
    """
    shares = min(len(presets), -(-jobs // max(len(sources), 1)))
    found = [
        Shard(source, tuple(presets[first::shares]))
        for source in sources
        for first in range(shares)
    ]
    return sorted(found, key=lambda shard: -shard.source.bytes)


def run_shards(
    todo: Sequence[Shard],
    task: Task,
    workers: Workers,
    tell: Callable[[float, ShardResult], object],
) -> list[ShardResult]:
    """Do all shards.

    A shard whose worker died is done again, one preset at a time; a replay fails whose worker also
    dies while nothing else runs. `tell` gets the part of a source that was done, in (0, 1], and
    what it gave.
    """
    found: list[ShardResult] = []
    again: list[Shard] = []
    do = partial(work, task)
    for place, result in workers.each(do, todo):
        shard = todo[place]
        if result is None:
            again += [replace(shard, presets=(one,)) for one in shard.presets]
            continue
        found.append(result)
        tell(len(shard.presets) / len(task.presets), result)
    for place, result in workers.surely(do, again):
        found.append(_died(again[place], task) if result is None else result)
        tell(1 / len(task.presets), found[-1])
    return found


def _died(shard: Shard, task: Task) -> ShardResult:
    """The result of a shard that killed its workers: all its replays failed, and its sessions
    are unknown.
    """
    models = [task.model_settings.model(wanted).name for wanted in task.spec.model]
    replays = tuple(
        ReplayResult(one.name, reason=DIED, model=model, asked=False)
        for one in shard.presets
        for model in models
    )
    unreadable = (Unreadable(task.masked(shard.source.name), DIED),)
    return ShardResult(shard.source.number, unreadable=unreadable, died=replays)


def merged_tables(
    worked: Sequence[ShardResult], task: Task, named: Collection[int]
) -> dict[str, list[Row]]:
    """All rows of the run, in the order of its sources, sessions and presets.

    Args:
        worked: the results of the shards.
        task: the run.
        named: numbers of the sources that the user named; prose is left out silently elsewhere.
    """
    tables: dict[str, list[Row]] = {name: [] for name in ("sessions", "replays", *NAMES)}
    order = {preset.name: place for place, preset in enumerate(task.presets)}
    parts: dict[int, list[ShardResult]] = {}
    for one in sorted(worked, key=lambda one: (one.number, bool(one.died))):
        parts.setdefault(one.number, []).append(one)
    every_replay = [
        done for one in worked for done in (*chain(*(own for _, own in one.sessions)), *one.died)
    ]
    names, bill = _strategy_names(every_replay), _bill(every_replay)
    taken: set[str] = set()
    for number, (first, *rest) in parts.items():
        for place, (row, replays) in enumerate(first.sessions):
            session = _unique(str(row["session"]), taken)
            tables["sessions"].append({**row, "session": session})
            every = chain(replays, *(part.died or part.sessions[place][1] for part in rest))
            _add_replays(
                tables,
                session,
                sorted(every, key=lambda done: order[done.strategy]),
                names,
                bill,
                task,
            )
        tables["sessions"] += [
            {"session": bad.path, "path": bad.path, "status": "unreadable", "reason": bad.reason}
            for bad in first.unreadable
            if not bad.is_prose or number in named
        ]
    return tables


def _add_replays(
    tables: dict[str, list[Row]],
    session: str,
    replays: Iterable[ReplayResult],
    names: Mapping[tuple[str, str], str],
    bill: dict[str, float | None],
    task: Task,
) -> None:
    scores: list[Row] = []
    first = task.model_settings.model(task.spec.model[0]).name
    for done in replays:
        strategy = names.get((done.strategy, done.model))
        if strategy is None:
            continue
        found = None if done.reason else task.folder.replay(done.key)
        reason = done.reason or (NOT_HERE if found is None else "")
        costs = [bill.pop(request) for request in done.paid if request in bill]
        tables["replays"].append(
            {
                "session": session,
                "strategy": strategy,
                "model": done.model if done.asked else "",
                "status": "pending" if done.pending else "failed" if reason else "ok",
                "reason": reason,
                "summaries": done.summaries,
                "written": done.written,
                "useless": done.useless,
                "usd": None if None in costs else sum(cost for cost in costs if cost is not None),
            }
        )
        for table in NAMES:
            rows = found[table] if found else ()
            for row in rows:
                row["session"] = session
                if row.get("strategy") == done.strategy:
                    row["strategy"] = strategy
                if "baseline" in row:
                    row["baseline"] = names.get((row["baseline"], first), row["baseline"])
            (scores if table == "scores" else tables[table]).extend(rows)
    tables["scores"] += _scaled(scores)


def _bill(every: Iterable[ReplayResult]) -> dict[str, float | None]:
    """What each request has cost, as the last who looked knew; replays that send the same one
    pay once.
    """
    found: dict[str, float | None] = {}
    for name, usd in (item for done in every for item in done.paid.items()):
        before = found.get(name, 0.0)
        found[name] = None if usd is None or before is None else max(usd, before)
    return found


def _strategy_names(every: Sequence[ReplayResult]) -> dict[tuple[str, str], str]:
    """Each strategy's name under each model: its own where the run has one model, or none was
    asked.
    """
    asked = {done.strategy for done in every if done.asked}
    several = len({done.model for done in every if done.model}) > 1
    found: dict[tuple[str, str], str] = {}
    taken: set[str] = set()
    for done in every:
        if done.strategy in asked and several and done.model:
            found[done.strategy, done.model] = f"{done.strategy} ({done.model})"
        elif done.strategy not in taken or (done.strategy, done.model) in found:
            found[done.strategy, done.model] = done.strategy
            taken.add(done.strategy)
    return found


def _unique(name: str, taken: set[str]) -> str:
    found = next(
        one for one in chain([name], (f"{name}~{n}" for n in count(2))) if one not in taken
    )
    taken.add(found)
    return found


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
