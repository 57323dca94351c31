"""The tables of a run from its finished replays: ranges of sessions, one after another, or each by
a worker, so that never all rows are in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from workbench.evaluation.experiment.job import Crew
from workbench.evaluation.experiment.replay_rows import NAMES, Row, Value
from workbench.evaluation.experiment.run_folder import RunFolder
from workbench.evaluation.experiment.table_columns import frame
from workbench.evaluation.experiment.table_files import GrowingTables, to_arrow

RANGE_REPLAYS = 200
"""Replays in a range, about: what is in memory at a time."""


@dataclass(frozen=True, slots=True)
class StoredReplay:
    """A finished replay of a session.

    Attributes:
        key: under which it is kept.
        preset: the name of its strategy.
        strategy: what the strategy is called in the run.
    """

    key: str
    preset: str
    strategy: str


@dataclass(frozen=True, slots=True)
class StoredSession:
    """The finished replays of a session, and the session's name in the run."""

    session: str
    replays: tuple[StoredReplay, ...]


@dataclass(frozen=True, slots=True)
class SessionRange:
    """Some sessions that follow one another, and the place of the range in the run."""

    number: int
    sessions: tuple[StoredSession, ...]


@dataclass(frozen=True, slots=True)
class Merging:
    """What is known of a run when its replays are put together.

    Attributes:
        baselines: what each strategy is called in the run as a baseline.
    """

    folder: RunFolder
    baselines: Mapping[str, str]

    def tables(self, sessions: Iterable[StoredSession], absent: set[str]) -> dict[str, list[Row]]:
        """The rows of sessions by table; keys of replays that are not there are added to
        `absent`.
        """
        tables: dict[str, list[Row]] = {name: [] for name in NAMES}
        for session in sessions:
            scores: list[Row] = []
            for replay in session.replays:
                stored_tables = self.folder.replay(replay.key)
                if stored_tables is None:
                    absent.add(replay.key)
                    continue
                for name in NAMES:
                    rows = stored_tables[name]
                    self._name(rows, session.session, replay)
                    if name == "scores":
                        scores += rows
                    else:
                        tables[name] += rows
            tables["scores"] += _scaled(scores)
        return tables

    def _name(self, rows: Sequence[Row], session: str, replay: StoredReplay) -> None:
        """Give rows the names that the session and the strategies have in the run."""
        for row in rows:
            row["session"] = session
            if row.get("strategy") == replay.preset:
                row["strategy"] = replay.strategy
            if "baseline" in row:
                baseline = str(row["baseline"])
                row["baseline"] = self.baselines.get(baseline, baseline)


def merge(
    merging: Merging,
    sessions: Sequence[StoredSession],
    tables: GrowingTables,
    crew: Crew | None,
) -> set[str]:
    """Add the rows of all sessions to the tables, in the order of the sessions.

    Args:
        merging: the run.
        sessions: in the order in which they stand in the tables.
        tables: of the run.
        crew: its workers read the replays, and write each range's tables beside them; None reads
            them here.

    Returns:
        The keys of replays that are not there.
    """
    absent: set[str] = set()
    ranges = _ranges(sessions)
    if crew is None:
        for session_range in ranges:
            tables_of_range = merging.tables(session_range.sessions, absent)
            for name, rows in tables_of_range.items():
                table = frame(name, rows)
                tables.add(name, to_arrow(table))
        return absent
    write_range = partial(_write_range, merging)
    for place, absent_keys in crew.workers.surely(write_range, ranges):
        if absent_keys is None:
            absent_keys = write_range(ranges[place])
        absent |= absent_keys
    for session_range in ranges:
        for name in NAMES:
            part = merging.folder.table_part(name, session_range.number)
            tables.add(name, part)
    merging.folder.remove_table_parts(NAMES, len(ranges))
    return absent


def _ranges(sessions: Sequence[StoredSession]) -> list[SessionRange]:
    """The sessions in ranges of about equally many replays."""
    ranges: list[SessionRange] = []
    waiting: list[StoredSession] = []
    replay_count = 0
    for session in sessions:
        waiting.append(session)
        replay_count += len(session.replays)
        if replay_count >= RANGE_REPLAYS:
            ranges.append(SessionRange(len(ranges), tuple(waiting)))
            waiting = []
            replay_count = 0
    if waiting:
        ranges.append(SessionRange(len(ranges), tuple(waiting)))
    return ranges


def _write_range(merging: Merging, session_range: SessionRange) -> set[str]:
    """Write the tables of a range beside the replays; keys of replays that are not there."""
    absent: set[str] = set()
    tables = merging.tables(session_range.sessions, absent)
    for name, rows in tables.items():
        part = frame(name, rows)
        merging.folder.keep_table_part(name, session_range.number, part)
    return absent


def _scaled(scores: list[Row]) -> list[Row]:
    """One session's scores with the column `scaled`: 0 is the reference `null`, 1 is the
    reference `none`.
    """
    values: dict[tuple[Value, ...], Value] = {}
    for row in scores:
        full_place = (row["strategy"], row["mode"], row["share"], row["metric"])
        values[full_place] = row["value"]
    for row in scores:
        place = (row["mode"], row["share"], row["metric"])
        floor = values.get(("null", *place))
        top = values.get(("none", *place))
        row["scaled"] = _share_of_way(row["value"], floor, top)
    return scores


def _share_of_way(value: Value, floor: Value, top: Value) -> float | None:
    """How far a value is on the way from the floor to the top; None where there is no way."""
    if not isinstance(value, float):
        return None
    if not isinstance(floor, float) or not isinstance(top, float):
        return None
    if top == floor:
        return None
    return (value - floor) / (top - floor)
