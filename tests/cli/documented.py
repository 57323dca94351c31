"""The commands that the page of commands documents, which the tests of docs hold to the program."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "commands.md"


@dataclass(frozen=True)
class DocumentedCommand:
    """The names of a command's arguments, and the long names of its options."""

    arguments: frozenset[str]
    options: frozenset[str]


def documented_commands() -> Mapping[str, DocumentedCommand]:
    """Each command by the words that call it."""
    commands = {}
    for section in PAGE.read_text("utf-8").split("\n### `workbench ")[1:]:
        heading, _, body = section.partition("`\n")
        path = re.sub(r" \[.*", "", heading)
        rows = re.findall(r"^\| (.+?) \| ", body, re.MULTILINE)
        arguments = {row.lower() for row in rows if row.isupper()}
        options = set(re.findall(r"`(--[\w-]+)`", " ".join(rows)))
        commands[path] = DocumentedCommand(frozenset(arguments), frozenset(options))
    return commands
