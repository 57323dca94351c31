"""Whether a table may take the place of the one in its folder: that of the same call may, and one
that has all of it. Notes beside the table say how it was made.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.errors import SettingError
from workbench.base.remote import name_of
from workbench.engine.compaction.strategy import Preset
from workbench.evaluation.experiment.atomic import write_atomically
from workbench.evaluation.experiment.bounded import text_of
from workbench.evaluation.experiment.checked_spec import Spec
from workbench.evaluation.experiment.replacement import (
    ONLY_WHERE_SET,
    Finished,
    FinishedSession,
    NewRun,
    what_is_missing,
)
from workbench.evaluation.experiment.run_copies import fetched_where_there
from workbench.evaluation.experiment.sources import limited
from workbench.evaluation.experiment.spec import Execution, model_name
from workbench.evaluation.experiment.table_folder import read_table

if TYPE_CHECKING:
    import pandas as pd

RECIPE = "made"
"""The note that says how a table was made."""
UNASKED = "unasked"
"""A note of a table that was made beside another one: any call may replace it."""
NO_FIGURE = frozenset({*Execution.model_fields, "limit", "no_references"})
"""Settings that are compared in another way, or on which no figure depends."""


def settings_of(
    spec: Spec, *free: str, presets: Sequence[Preset] | None = None
) -> dict[str, object]:
    """The settings that the figures of a table depend on, as plain JSON.

    Args:
        spec: all settings.
        free: further ones that no figure depends on.
        presets: all strategies, where there are more than the specification names.
    """
    settings: dict[str, object] = {}
    for name, value in dict(spec).items():
        if name in NO_FIGURE or name in free:
            continue
        is_usual = name == ONLY_WHERE_SET and not value
        if not is_usual:
            settings[name] = _plain(value)
    if presets is not None:
        settings["strategies"] = _plain(presets)
    return settings


def _plain(value: object) -> object:
    """A value as JSON has it: of a model or a strategy its name, without secrets."""
    if isinstance(value, str):
        return model_name(value)
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if value is None or isinstance(value, int | float):
        return value
    return str(getattr(value, "name", value))


def how_made(new_run: NewRun) -> dict[str, object]:
    """The notes that `check_table_replaceable` reads."""
    paths: list[str] = []
    ids: list[str] = []
    for source in limited(new_run.sources, new_run.limit):
        if source.session is not None:
            session_id = new_run.masked(source.session.id)
            ids.append(session_id)
        else:
            path = new_run.masked(source.name)
            paths.append(path)
    present_folder = str(Path.cwd())
    recipe = {
        "settings": dict(new_run.settings),
        "sources": paths,
        "sessions": ids,
        "folder": new_run.masked(present_folder),
    }
    return {RECIPE: recipe}


def write_notes(table: Path, notes: Mapping[str, object]) -> None:
    """Write the notes of a table beside it."""
    text = json.dumps(notes, indent=2)
    write_atomically(_notes_file(table), text + "\n")


def check_table_replaceable(table: Path, new_run: NewRun) -> None:
    """Refuse a call that would take rows of a finished table away.

    Recordings that are gone may be missing, as long as some are left.

    Args:
        table: its file, which may not be there.
        new_run: the call.

    Raises:
        SettingError: the table has strategies, sessions or settings that the new one lacks.
    """
    local = fetched_where_there(table.parent) / table.name
    if not local.is_file():
        return
    notes = _notes_of(local)
    if notes.get(UNASKED):
        return
    try:
        rows = read_table(local)
    except SettingError:  # damaged: its command is to be run again
        return
    if _has_failed(rows):
        return
    finished = _finished(rows, notes, new_run)
    # which strategy the others are compared with stands in no table
    free = {*new_run.free, "baseline"}
    difference = what_is_missing(finished, replace(new_run, free=free))
    if difference:
        place = name_of(table.parent)
        raise SettingError(
            f"{place} holds a finished table `{table.stem}`, which this one would replace:"
            f" {difference}; name another folder with `out`, or delete {name_of(table)} first"
        )


def _has_failed(rows: pd.DataFrame) -> bool:
    """Whether all rows of a table say that something went wrong."""
    if "status" not in rows:
        return False
    is_ok = rows["status"] == "ok"
    return not is_ok.any()


def _finished(rows: pd.DataFrame, notes: Mapping[str, object], new_run: NewRun) -> Finished:
    """How a table was made: of one whose notes do not say it, its strategies, and what they say."""
    recipe = notes.get(RECIPE)
    if not isinstance(recipe, dict):
        recipe = {}
    settings = recipe.get("settings")
    if not isinstance(settings, dict):
        settings = {}
        for name in new_run.settings:
            if name in notes:
                settings[name] = notes[name]
        if "strategy" in rows:
            strategies = rows["strategy"].unique()
            settings["strategies"] = list(map(str, strategies))
    folder = str(recipe.get("folder") or "")
    sessions: list[FinishedSession] = []
    for path in _words(recipe.get("sources")):
        sessions.append(FinishedSession(path, folder))
    for session_id in _words(recipe.get("sessions")):
        sessions.append(FinishedSession("", "", session_id))
    return Finished(settings, sessions)


def _words(value: object) -> list[str]:
    """A list of words in the notes; empty where they have something else."""
    if not isinstance(value, list):
        return []
    return list(map(str, value))


def _notes_of(table: Path) -> dict[str, object]:
    """The notes beside a table; nothing where there are none that can be read."""
    try:
        notes = json.loads(text_of(_notes_file(table)))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(notes, dict):
        return {}
    return notes


def _notes_file(table: Path) -> Path:
    return table.with_suffix(".json")
