"""What the first 64 KB of a file tell about its format, even where they end in the middle of a value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from workbench.importers.decoding import BadJson, decode
from workbench.transcript.message import Json

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\]:,]', re.DOTALL)
_LINES = 40


@dataclass(frozen=True, slots=True)
class Head:
    """The start of a file.

    Attributes:
        is_list: whether it is a JSON list.
        keys: the keys of the first object: the document, the list's first element or the first line.
        records: the objects that stand whole on one of the first lines.
    """

    is_list: bool
    keys: frozenset[str]
    records: tuple[dict[str, Json], ...]


@lru_cache(maxsize=2)
def seen(head: str) -> Head:
    """What can be said about this start of a file."""
    start = head.lstrip("\ufeff \t\r\n")
    while start.startswith("//"):
        start = start.partition("\n")[2].lstrip()
    return Head(start.startswith("["), _keys(start), tuple(_records(start)))


def _keys(start: str) -> frozenset[str]:
    if not start.startswith(("{", "[")):
        return frozenset()
    depth, wanted = 0, 2 if start.startswith("[") else 1
    keys: set[str] = set()
    last = ""
    for found in _TOKEN.finditer(start):
        token = found[0]
        if token in "{[":
            depth += 1
        elif token in "}]":
            depth -= 1
            if depth < wanted:
                break
        elif token == ":" and depth == wanted:
            keys.add(last[1:-1])
        last = token
    return frozenset(keys)


def _records(start: str) -> list[dict[str, Json]]:
    records = []
    for line in start.split("\n", _LINES)[:_LINES]:
        if line.startswith("{") and line.rstrip().endswith("}"):
            try:
                value = decode(line)
            except BadJson:
                continue
            if isinstance(value, dict):
                records.append(value)
    return records
