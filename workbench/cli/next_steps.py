"""The commands that a page offers to type next."""

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.cli.output import say
from workbench.evaluation.replays.boundaries import filled_twice
from workbench.recordings.importers.agent_folders import SessionFiles, beside

NAME = "workbench"
CANDIDATES = 8
"""Candidates that are tried in minutes."""
ADVICE = "the settings that fit your sessions, to paste"
IN_A_SMALLER_WINDOW = "compare strategies in a window that these sessions fill"
TOO_SHORT = "the bundled sessions: these are too short to be compacted"


def next_for(
    paths: Sequence[str], *, largest: int | None = None, has_settings: bool = False
) -> dict[str, str]:
    """What to do with recordings that were read: where it is a session of an agent that can be set,
    first what that agent is to be set to.

    Args:
        paths: of the recordings.
        largest: tokens of the largest request, where it is too small for any strategy to compact
            in the recordings' own windows; None where one may.
        has_settings: whether the agent that recorded them has settings that can be measured.
    """
    advice = {advice_on(paths): ADVICE}
    files = agent_files(paths)
    has_others = files is not None and files.count > 1
    is_advised_first = has_settings and files is not None and (largest is None or has_others)
    if largest is None:
        compare = typed_line(["workbench", "compare", *paths])
        compared = {compare: "compare strategies on this"}
        is_long = True
    else:
        window = filled_twice(largest)
        compared = in_a_smaller_window(paths, window)
        is_long = window is not None
    if is_advised_first or not is_long:
        return advice | compared
    return compared | advice


def in_a_smaller_window(paths: Sequence[str], window: int | None) -> dict[str, str]:
    """The comparison where nothing is compacted in the recordings' own windows.

    Args:
        paths: of the recordings.
        window: that they fill; None where they are too short for any.
    """
    if window is None:
        return {"workbench compare": TOO_SHORT}
    words = ["workbench", "compare", *paths, "--window", str(window)]
    return {typed_line(words): IN_A_SMALLER_WINDOW}


def advice_on(paths: Sequence[str], window: int | None = None) -> str:
    """The command that advises on recordings: where one file was asked for, on its agent's others
    too, since one project says nothing of the next.

    Args:
        paths: of the recordings.
        window: that was asked for; the others have their own.
    """
    files = agent_files(paths)
    if files is not None and files.count > 1:
        return advice_on_files(files)
    words = ["workbench", "advise", *paths]
    if window is not None:
        words += ["--window", str(window)]
    return typed_line([*words, "--candidates", str(CANDIDATES)])


def advice_on_files(files: SessionFiles) -> str:
    """The command that advises on an agent's sessions, in minutes: on as many of the newest."""
    words = ["workbench", "advise", str(files.place)]
    if files.few < files.count:
        words += ["--newest", str(files.few)]
    return typed_line([*words, "--candidates", str(CANDIDATES)])


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
