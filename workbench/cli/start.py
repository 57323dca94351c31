"""`workbench` alone: the sessions that agents keep on this machine, and what to type next."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from workbench.base.formats import joined
from workbench.cli.next_steps import ADVICE, advice_on_files, say_commands, typed
from workbench.cli.output import say, table, write
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
COMPARE = "compare strategies on"
FIRST_FILES = 20
"""Files that a first comparison takes."""
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
        say_commands(_next_commands(agents))
    else:
        names = ", ".join(dict.fromkeys(folder.agent for folder in AGENT_FOLDERS))
        write(f"No session was found in the folders of {names}.")
        say("\nTry next:\n")
        say_commands({"workbench compare": "compare strategies on the bundled sessions"})
    beside_work: list[str] = []
    for folder in AGENT_FOLDERS:
        if folder.is_beside_work:
            beside_work.append(folder.agent)
    if not any(files.folder.is_beside_work for files in agents):
        write(
            f"{joined(beside_work)} keep sessions in the folder of your project: type this command"
            " there to find them."
        )
    write(
        "Any file or folder of yours may stand in place of these; `workbench --help` lists all"
        " commands."
    )


def _row(files: SessionFiles) -> dict[str, str]:
    return {
        "agent": files.folder.agent,
        "files": f"{files.count:,}",
        "size": _size(files.size),
        "newest": datetime.fromtimestamp(files.written).strftime("%Y-%m-%d %H:%M"),
        "where": typed(_where(files)),
    }


def _where(files: SessionFiles) -> Path:
    """The folder of an agent's sessions; where other things lie there too, the sessions."""
    return files.folder.path if files.folder.below else files.place


def _next_commands(agents: Sequence[SessionFiles]) -> dict[str, str]:
    """What to type next, each with what it does."""
    newest = agents[0]
    recordings = typed(newest.place)
    commands = {f"workbench inspect {typed(newest.newest)}": "what the newest session holds"}
    for files in agents:
        if files.folder.agent in FOLLOWED:
            commands[f"workbench watch {typed(files.folder.path)}"] = (
                "follow the session that is written now"
            )
            break
    compare = f"workbench compare {recordings}"
    if newest.count > FIRST_FILES:
        commands[f"{compare} --limit {FIRST_FILES}"] = f"{COMPARE} {FIRST_FILES} of them"
    elif newest.count > 1:
        commands[compare] = f"{COMPARE} them"
    else:
        commands[compare] = f"{COMPARE} it"
    commands[advice_on_files(newest)] = ADVICE
    return commands


def _size(count: int) -> str:
    """Bytes in the largest unit that leaves at least one."""
    size = float(count)
    for unit in UNITS[:-1]:
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.0f} {UNITS[-1]}"
