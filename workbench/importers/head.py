"""What the first 64 KB of a file tell about its format, even where they end in the middle of a value."""

from __future__ import annotations

import re
from dataclasses import dataclass

from workbench.importers.decoding import decode_or
from workbench.transcript.message import Json

_TOKEN = re.compile(r'"((?:[^"\\]++|\\.)*+)"(\s*:)?|[{}\[\]]', re.DOTALL)
_LINES = 40


@dataclass(frozen=True, slots=True)
class Head:
    """The start of a file.

    Attributes:
        text: its first 64 KB, whatever they hold.
        is_list: whether it is a JSON list.
        keys: the keys of the first object: the document, the list's first element or the first line.
        records: the objects that are whole on one of the first lines.
    """

    text: str
    is_list: bool
    keys: frozenset[str]
    records: tuple[dict[str, Json], ...]

    @classmethod
    def of(cls, text: str) -> Head:
        """What can be said about this start of a file."""
        start = text.lstrip("\ufeff \t\r\n")
        while start.startswith("//"):
            start = start.partition("\n")[2].lstrip()
        return cls(text, start.startswith("["), _keys(start), _records(start))

    def is_object_with(self, *keys: str) -> bool:
        """Whether it starts with a JSON object that has all these keys."""
        return not self.is_list and self.keys.issuperset(keys)


def _keys(start: str) -> frozenset[str]:
    if not start.startswith(("{", "[")):
        return frozenset()
    depth, wanted = 0, 2 if start.startswith("[") else 1
    keys: set[str] = set()
    for found in _TOKEN.finditer(start):
        if found[0] in "{[":
            depth += 1
        elif found[0] in "}]":
            depth -= 1
            if depth < wanted:
                break
        elif found[2] and depth == wanted:
            keys.add(found[1])
    return frozenset(keys)


def _records(start: str) -> tuple[dict[str, Json], ...]:
    lines = start.split("\n", _LINES)[:_LINES]
    values = (decode_or(line) for line in lines if line.startswith("{") and line.rstrip().endswith("}"))
    return tuple(value for value in values if isinstance(value, dict))
