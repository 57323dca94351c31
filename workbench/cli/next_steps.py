"""The commands that a page offers to type next."""

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.cli.output import say
from workbench.recordings.importers.agent_folders import SessionFiles, beside

NAME = "workbench"
CANDIDATES = 8
"""Candidates that are tried in minutes."""
ADVICE = "the settings that fit your sessions, to paste"


def next_for(paths: Sequence[str]) -> dict[str, str]:
    """What to do with recordings that were read."""
    advised = typed_line(advised_paths(paths))
    return {
        f"workbench compare {typed_line(paths)}": "compare strategies on this",
        f"workbench advise {advised} --candidates {CANDIDATES}": ADVICE,
    }


def advised_paths(paths: Sequence[str]) -> Sequence[str]:
    """The recordings that an advice needs: where one file was asked for, its agent's others too,
    since one project says nothing of the next.
    """
    files = agent_files(paths)
    if files is None or files.count == 1:
        return paths
    return [str(files.few)]


def agent_files(paths: Sequence[str]) -> SessionFiles | None:
    """All sessions of the agent that keeps the one that was asked for; None where it is not one
    file in the folder of an agent.
    """
    if len(paths) != 1 or not Path(paths[0]).is_file():
        return None
    return beside(Path(paths[0]))


def say_commands(commands: Mapping[str, str]) -> None:
    """Print each command below its purpose, so that a long path breaks no column; as the shell
    finds this program.
    """
    program = program_typed()
    for command, purpose in commands.items():
        say(f"  # {purpose}")
        say(f"  {program}{command.removeprefix(NAME)}")


def program_typed() -> str:
    """How this program is called again: by its name where the shell finds it, else by its place,
    such as `.venv/bin/workbench`.
    """
    called = Path(sys.argv[0])
    if called.parts[-2:] == (NAME, "__main__.py"):
        return f"{typed(sys.executable)} -m {NAME}"
    if called.name != NAME or not called.is_file():
        return NAME
    folders: list[str] = []
    for folder in os.get_exec_path():
        # uvx finds it in a folder that the shell does not know
        is_of_uvx = "UV" in os.environ and Path(folder) == called.parent
        if not is_of_uvx:
            folders.append(folder)
    program = shutil.which(NAME, path=os.pathsep.join(folders))
    if program is not None and called.samefile(program):
        return NAME
    return typed(called)


def say_next(commands: Mapping[str, str]) -> None:
    """Print what to type next, below what was shown."""
    if commands:
        say("\nNext:\n")
        say_commands(commands)


def typed(path: str | Path) -> str:
    """A path as a shell takes it, short where it lies in this folder or the home folder."""
    folder = f"{Path.cwd()}/"
    if str(path).startswith(folder) and Path.cwd() != Path.home():
        return shlex.quote(str(path).removeprefix(folder))
    quoted = shlex.quote(str(path))
    home = f"{Path.home()}/"
    is_plain = quoted == str(path)
    if is_plain and quoted.startswith(home):
        return f"~/{quoted.removeprefix(home)}"
    return quoted


def typed_line(words: Sequence[str]) -> str:
    """A command of these words, as a shell takes it."""
    return " ".join(map(typed, words))
