"""The recorded sessions that ship with the package: their files, what their cards say, and the
sessions themselves.
"""

import tomllib
from filecmp import cmp
from pathlib import Path
from typing import Any

from workbench.recordings.importers.importer import load
from workbench.base.package import shipped_folder
from workbench.engine.transcript.session import Session


def folder() -> Path:
    """Where the bundled sessions lie."""
    return shipped_folder("recorded")


def tasks_folder() -> Path:
    """Where the tasks lie with which they were recorded."""
    return shipped_folder("tasks")


def hard_tasks_folder() -> Path:
    """Where tasks lie that fail without what was said at their start; they have no recordings."""
    return shipped_folder("tasks-hard")


def bundled_files() -> tuple[Path, ...]:
    """The bundled session files, by name."""
    return tuple(sorted(folder().glob("*/session.jsonl.gz")))


def is_bundled_file(path: Path) -> bool:
    """Whether a file is a bundled session, wherever it lies."""
    if not path.is_file():
        return False
    for bundled_file in bundled_files():
        if cmp(path, bundled_file, shallow=False):
            return True
    return False


def is_bundled_session(session: Session) -> bool:
    """Whether a session in memory says that it was recorded for this package."""
    if session.origin.format != "recorded":
        return False
    return (folder() / session.origin.path / "session.jsonl.gz").is_file()


def bundled() -> list[Session]:
    """The bundled recorded sessions, smallest file first."""
    sessions: list[Session] = []
    smallest_first = sorted(bundled_files(), key=lambda path: path.stat().st_size)
    for path in smallest_first:
        sessions += load(path)
    return sessions


def card(session: Path) -> dict[str, Any]:
    """What is known about a bundled session: name, title, project, licence, size, and how it was
    recorded.
    """
    return tomllib.loads((session.parent / "card.toml").read_text("utf-8"))
