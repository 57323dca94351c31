"""Whether a run may take the place of the finished one in its folder: the same run again may, and one
with more strategies or sessions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.base.errors import SettingError
from workbench.base.formats import joined, some
from workbench.base.remote import name_of
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.run_copies import fetched_where_there
from workbench.evaluation.experiment.run_folder import RunFolder
from workbench.evaluation.experiment.sources import SessionSource, limited
from workbench.evaluation.experiment.spec import chosen_baseline

COMPARED_APART = frozenset({"strategies", "baseline", "replicates"})
"""Settings that are not simply equal or different."""
ONLY_WHERE_SET = "unmasked"
"""A setting that a run names only where it has it. Others that it does not name are of a later
version, and do not count.
"""
MOST_NAMES = 3
"""Strategies or sessions that the sentence names."""
_IN_MEMORY = re.compile(r"session \d+")
"""What a manifest calls a session that was given in memory."""
_NUMBER = re.compile(r"~\d+$")
"""What stands behind the name of a session where several have the same."""


@dataclass(frozen=True, slots=True)
class NewRun:
    """A run before it begins.

    Attributes:
        settings: as its manifest will have them.
        sources: what it reads.
        masked: hides what a manifest may not have.
        limit: most sessions.
        free: settings that may differ.
        growing: settings that may have more than the finished run: a larger number, or further
            values.
    """

    settings: Mapping[str, object]
    sources: Sequence[SessionSource]
    masked: Callable[[str], str]
    limit: int | None = None
    free: Collection[str] = ()
    growing: Collection[str] = ()

    def session_ids_and_places(self) -> tuple[set[str], set[Path]]:
        """The ids of its sessions in memory, and the files of all."""
        ids: set[str] = set()
        places: set[Path] = set()
        for source in limited(self.sources, self.limit):
            name = source.name
            if source.session is not None:
                ids.add(self.masked(source.session.id))
                name = source.session.origin.path
            if name:
                places.add(_place(self.masked(name)))
        return ids, places


@dataclass(frozen=True, slots=True)
class FinishedSession:
    """A recording of a finished run.

    Attributes:
        path: as the run names it.
        folder: where the run was begun, to which the path may be relative; empty where unknown.
        id: only where it was given in memory.
    """

    path: str
    folder: str
    id: str = ""

    @property
    def name(self) -> str:
        """What a sentence calls it."""
        return self.id or self.path

    @property
    def is_here(self) -> bool:
        """Whether it can still be read."""
        return bool(self.id) or self.place.exists()

    @property
    def place(self) -> Path:
        """Where it was read, whatever the current folder."""
        return _place(self.path, self.folder)


@dataclass(frozen=True, slots=True)
class Finished:
    """What a finished run was made of.

    Attributes:
        settings: as its manifest has them.
        sessions: what it read.
    """

    settings: Mapping[str, object]
    sessions: Sequence[FinishedSession]


def check_replaceable(folder: RunFolder, new_run: NewRun) -> None:
    """Refuse a run that would take figures of a finished one away.

    Recordings that are gone may be missing, as long as some are left.

    Raises:
        SettingError: the folder holds a finished run with strategies, sessions or settings that the
            new one lacks.
    """
    local = fetched_where_there(folder.path)
    if not (local / "manifest.json").is_file():
        return
    try:
        results = Results.open(local)
        stored = results.manifest
    except SettingError:  # of another version, or damaged: its command is to be run again
        return
    finished = Finished(stored.get("settings") or {}, _sessions(results))
    difference = what_is_missing(finished, new_run)
    if difference:
        place = name_of(folder.path)
        raise SettingError(
            f"{place} holds a finished run, which this one would replace: {difference}; name another"
            f" folder with `out`, or delete that run first: `workbench runs delete {place}`"
        )


def what_is_missing(finished: Finished, new_run: NewRun) -> str:
    """The first strategy, setting or recording of a finished run that the new one lacks, in words;
    empty where it has all.
    """
    difference = _difference_of_settings(finished.settings, new_run)
    if difference:
        return difference
    return _missing_sessions(finished.sessions, new_run)


def _difference_of_settings(stored: Mapping[str, object], new_run: NewRun) -> str:
    """The first setting that the finished run has and the new one lacks, in words; empty where
    there is none.
    """
    new_settings = json.loads(json.dumps(new_run.settings))
    if "strategies" not in new_run.free:
        new_names = _names(new_settings)
        missing: list[str] = []
        for name in _names(stored):
            if name not in new_names:
                missing.append(name)
        if missing:
            return f"it has {_some_of(missing, 'strategy', 'strategies')}, and this one has not"
        old_baseline = _baseline(stored)
        new_baseline = _baseline(new_settings)
        is_other = old_baseline is not None and old_baseline != new_baseline
        if is_other and "baseline" not in new_run.free:
            return _two_values("baseline", old_baseline, new_baseline)
    old_count = _replicates(stored)
    new_count = _replicates(new_settings)
    if old_count > new_count:
        return _two_values("replicates", old_count, new_count)
    free = COMPARED_APART.union(new_run.free)
    for name in (*stored, ONLY_WHERE_SET):
        if name in free:
            continue
        old_value = stored.get(name)
        new_value = new_settings.get(name)
        may_grow = name in new_run.growing
        if old_value != new_value and not (may_grow and _has_grown(old_value, new_value)):
            return _two_values(name, old_value, new_value)
    return ""


def _has_grown(old_value: object, new_value: object) -> bool:
    """Whether a number is larger than it was, or a list has all that it had."""
    if isinstance(old_value, list) and isinstance(new_value, list):
        return all(value in new_value for value in old_value)
    if isinstance(old_value, int) and isinstance(new_value, int):
        return old_value <= new_value
    return False


def _names(settings: Mapping[str, object]) -> list[str]:
    """The strategies of a run."""
    names = settings.get("strategies")
    if not isinstance(names, list):
        return []
    return list(map(str, names))


def _baseline(settings: Mapping[str, object]) -> str | None:
    """What the strategies of a run are compared with."""
    named = settings.get("baseline") or ""
    return chosen_baseline(str(named), _names(settings))


def _replicates(settings: Mapping[str, object]) -> int:
    count = settings.get("replicates")
    if not isinstance(count, int):
        return 1
    return count


def _two_values(name: str, old_value: object, new_value: object) -> str:
    """A setting of both runs in words."""
    return f"`{name}` is {_shown(old_value)} there, and {_shown(new_value)} in this one"


def _shown(value: object) -> str:
    if value is None or value == "":
        return "not set"
    return json.dumps(value)


def _missing_sessions(sessions: Sequence[FinishedSession], new_run: NewRun) -> str:
    """The sessions of the finished run that the new one lacks, in words; empty where it has all."""
    session_ids, places = new_run.session_ids_and_places()
    missing_names: list[str] = []
    gone_names: list[str] = []
    has_common = False
    for session in sessions:
        if session.id in session_ids or session.place in places:
            has_common = True
        elif session.is_here:
            missing_names.append(session.name)
        else:
            gone_names.append(session.name)
    if not has_common:
        missing_names += gone_names
    if not missing_names:
        return ""
    return f"it has {_some_of(missing_names, 'recording', 'recordings')}, and this one has not"


def _sessions(results: Results) -> list[FinishedSession]:
    """What a finished run has read."""
    sources = results.manifest.get("sources") or ()
    folder = str(results.manifest.get("folder") or "")
    sessions: list[FinishedSession] = []
    for source in map(str, sources):
        if not _IN_MEMORY.fullmatch(source):
            sessions.append(FinishedSession(source, folder))
    if sessions or not sources:
        return sessions
    for row in results.sessions.itertuples():
        session_id = _NUMBER.sub("", str(row.session))
        sessions.append(FinishedSession(str(row.path), folder, session_id))
    return sessions


def _place(name: str, folder: str = "") -> Path:
    return Path(folder, name).resolve()


def _some_of(names: Sequence[str], singular: str, plural: str) -> str:
    """The names behind what they are of, the first few of many."""
    shown_names = list(names[:MOST_NAMES])
    further = len(names) - len(shown_names)
    if further:
        shown_names.append(some(further, "other"))
    if len(names) == 1:
        plural = singular
    return f"the {plural} {joined(shown_names)}"
