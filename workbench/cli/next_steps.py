"""The commands that a page offers to type next."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.cli.output import say

CANDIDATES = 8
"""Candidates that are tried in minutes."""
ADVICE = "the settings that fit your sessions, to paste"


def next_for(paths: Sequence[str]) -> dict[str, str]:
    """What to do with recordings that were read."""
    words = typed_line(paths)
    return {
        f"workbench compare {words}": "compare strategies on this",
        f"workbench advise {words} --candidates {CANDIDATES}": ADVICE,
    }


def say_commands(commands: Mapping[str, str]) -> None:
    """Print each command below its purpose, so that a long path breaks no column."""
    for command, purpose in commands.items():
        say(f"  # {purpose}")
        say(f"  {command}")


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
