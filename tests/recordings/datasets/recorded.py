"""Scripted tasks, and the sessions that `workbench lab dataset record` writes of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from workbench import Session, load
from workbench.cli import main


def recorded(task: Path, out: Path) -> Session:
    """The session that is written when the task in a folder is played."""
    assert main(["lab", "dataset", "record", str(task), "--out", str(out)]) == 0
    (session,) = load(out)
    return session


def played(
    folder: Path, script: str, *, files: Mapping[str, str] | None = None, more: str = ""
) -> Session:
    """The session of a task of this script.

    Args:
        folder: an empty one.
        script: of the task.
        files: of its project, by name.
        more: further lines of `task.toml`.
    """
    task = folder / "task"
    write_task(task, script, more)
    for name, text in (files or {}).items():
        (task / "files" / name).write_text(text)
    return recorded(task, folder / "session.jsonl")


def write_task(task: Path, script: str, more: str = "") -> None:
    """A task's folder with this script."""
    (task / "files").mkdir(parents=True)
    about = 'title = "A title"\nproject = "shop"\nstart = "1970-01-12T13:46:40Z"\n'
    (task / "task.toml").write_text(about + more)
    (task / "system.md").write_text("Be brief.")
    (task / "script.md").write_text(script)
