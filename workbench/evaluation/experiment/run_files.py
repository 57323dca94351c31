"""The tables of a run, from what its workers did."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, count

from workbench.evaluation.experiment.replay_rows import NAMES, Row
from workbench.evaluation.experiment.shards import ShardResult
from workbench.evaluation.experiment.work import ReplayJob, ReplayResult

NOT_HERE = "its file is not here; all workers must see the run's folder"


def merged_tables(
    worked: Sequence[ShardResult], job: ReplayJob, named: Collection[int]
) -> dict[str, list[Row]]:
    """All rows of the run, in the order of its sources, sessions and presets.

    Args:
        worked: the results of the shards.
        job: the run.
        named: numbers of the sources that the user named; prose is left out silently elsewhere.
    """
    tables: dict[str, list[Row]] = {name: [] for name in ("sessions", "replays", *NAMES)}
    order = {preset.name: place for place, preset in enumerate(job.presets)}
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
                job,
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
    job: ReplayJob,
) -> None:
    scores: list[Row] = []
    first = job.model_settings.model(job.spec.model[0]).name
    for done in replays:
        strategy = names.get((done.strategy, done.model))
        if strategy is None:
            continue
        found = None if done.reason else job.folder.replay(done.key)
        reason = done.reason or (NOT_HERE if found is None else "")
        costs = [bill.pop(request) for request in done.paid if request in bill]
        tables["replays"].append(
            {
                "session": session,
                "strategy": strategy,
                "model": done.model if done.asked else "",
                "status": "pending" if done.pending else "failed" if reason else "ok",
                "reason": reason,
                "summaries": done.summaries.requested,
                "written": done.summaries.written,
                "useless": done.summaries.useless,
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
