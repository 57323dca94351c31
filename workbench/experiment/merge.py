"""The tables of a run from what its workers did, in the order of its sessions and strategies."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain, count
from typing import Any

from workbench.experiment.replay_rows import NAMES, Row
from workbench.experiment.store import RunFolder
from workbench.experiment.work import Worked

NOT_HERE = "its file is not here; all workers must share the run's folder"


def merged(worked: Sequence[Worked], folder: RunFolder, named: Collection[int]) -> dict[str, list[Row]]:
    """All rows of the run.

    Args:
        worked: what came of each source.
        folder: with the finished replays.
        named: numbers of the sources that somebody named; prose is left out silently elsewhere.
    """
    tables: dict[str, list[Row]] = {name: [] for name in ("sessions", "replays", *NAMES)}
    taken: set[str] = set()
    names = _strategy_names(worked)
    for one in worked:
        for row, replays in one.sessions:
            session = _unique(str(row["session"]), taken)
            tables["sessions"].append({**row, "session": session})
            scores: list[Row] = []
            for done in replays:
                strategy = names.get((done.strategy, done.model))
                if strategy is None:
                    continue
                found: dict[str, Any] | None = None if done.reason else folder.replay(done.key)
                reason = done.reason or (NOT_HERE if found is None else "")
                tables["replays"].append(
                    {
                        "session": session, "strategy": strategy, "model": done.model if done.asked else "",
                        "status": "failed" if reason else "ok", "reason": reason,
                    }
                )  # fmt: skip
                for table, rows in (found or {}).items():
                    for own in rows:
                        own["session"] = session
                        if own.get("strategy") == done.strategy:
                            own["strategy"] = strategy
                    (scores if table == "scores" else tables[table]).extend(rows)
            tables["scores"] += _scaled(scores)
        tables["sessions"] += [
            {"session": bad.path, "path": bad.path, "status": "unreadable", "reason": bad.reason}
            for bad in one.unreadable
            if not bad.is_prose or one.number in named
        ]
    return tables


def _strategy_names(worked: Sequence[Worked]) -> dict[tuple[str, str], str]:
    """Each strategy's name under each model: its own where the run has one model, or none was asked."""
    every = [done for one in worked for _, replays in one.sessions for done in replays]
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
    names = chain([name], (f"{name}~{n}" for n in count(2)))
    found = next(one for one in names if one not in taken)
    taken.add(found)
    return found


def _scaled(scores: list[Row]) -> list[Row]:
    """One session's scores with the column `scaled`: 0 is the reference `null`, 1 is the reference `none`."""
    ends = {(row["strategy"], row["mode"], row["share"], row["metric"]): row["value"] for row in scores}
    for row in scores:
        place = (row["mode"], row["share"], row["metric"])
        floor, top, value = ends.get(("null", *place)), ends.get(("none", *place)), row["value"]
        row["scaled"] = None
        if isinstance(floor, float) and isinstance(top, float) and isinstance(value, float) and top != floor:
            row["scaled"] = (value - floor) / (top - floor)
    return scores
