"""`workbench` alone: the sessions that agents keep on this machine, and what to type next."""

import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from workbench.cli.output import say, table
from workbench.recordings.importers.agent_folders import (
    AGENT_FOLDERS,
    CLAUDE_CODE,
    CODEX,
    PI,
    SessionFiles,
    agents_here,
)

FOLLOWED = (CLAUDE_CODE, CODEX, PI)
"""The agents whose sessions `workbench watch` follows."""
UNITS = ("B", "KB", "MB", "GB", "TB")
PROMISE = "Nothing leaves this machine, and no file was opened."


def start() -> None:
    """Show whose sessions are on this machine, with their number, size and date, and what to
    type next.
    """
    agents = agents_here()
    if agents:
        say("Sessions on this machine:\n")
        say(table(map(_row, agents)))
        say(f"\n{PROMISE} Try next:\n")
        _say_commands(_next_commands(agents))
    else:
        names = ", ".join(folder.agent for folder in AGENT_FOLDERS)
        say(f"No session was found in the folders of {names}.\n\nTry next:\n")
        _say_commands({"workbench compare": "compare strategies on the bundled sessions"})
    say(
        "\nAny file or folder of yours may stand in place of these; `workbench --help` lists all"
        " commands."
    )


def _row(files: SessionFiles) -> dict[str, str]:
    return {
        "agent": files.folder.agent,
        "files": f"{files.count:,}",
        "size": _size(files.size),
        "newest": datetime.fromtimestamp(files.written).strftime("%Y-%m-%d %H:%M"),
        "folder": _typed(files.folder.path),
    }


def _next_commands(agents: Sequence[SessionFiles]) -> dict[str, str]:
    """What to type next, each with what it does."""
    newest = agents[0]
    folder = _typed(newest.folder.path)
    commands = {f"workbench inspect {_typed(newest.newest)}": "what the newest session holds"}
    for files in agents:
        if files.folder.agent in FOLLOWED:
            commands[f"workbench watch {_typed(files.folder.path)}"] = (
                "follow the session that is written now"
            )
            break
    commands[f"workbench compare {folder} --limit 20"] = "compare strategies on 20 of them"
    commands[f"workbench advise {folder} --dry-run"] = "what finding the best settings would take"
    return commands


def _say_commands(commands: Mapping[str, str]) -> None:
    """Print each below its purpose, so that a long path breaks no column."""
    for command, purpose in commands.items():
        say(f"  # {purpose}")
        say(f"  {command}")


def _typed(path: Path) -> str:
    """A path as a shell takes it, short where it lies in the home folder."""
    quoted = shlex.quote(str(path))
    home = f"{Path.home()}/"
    is_plain = quoted == str(path)
    if is_plain and quoted.startswith(home):
        return f"~/{quoted.removeprefix(home)}"
    return quoted


def _size(count: int) -> str:
    """Bytes in the largest unit that leaves at least one."""
    size = float(count)
    for unit in UNITS[:-1]:
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.0f} {UNITS[-1]}"
