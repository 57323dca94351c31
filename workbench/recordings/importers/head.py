"""The start of a recording, by which its format is recognised."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from workbench.recordings.importers.json_text import decodable, objects_of_line
from workbench.recordings.importers.printed_series import is_printed_series, joined
from workbench.recordings.importers.values import JsonObject, Record

_TOKEN = re.compile(r'"((?:[^"\\]++|\\.)*+)"(\s*:)?|[{}\[\]]', re.DOTALL)
_LINES = 40


@dataclass(frozen=True, slots=True)
class Head:
    """The start of a file.

    Attributes:
        text: its first 64 KB, whatever they hold, or where these tell too little, 16 MB; of a
            database, the statements that made its tables.
        is_list: whether it is a JSON list.
        keys: the keys of the first object: the document, the list's first element or the first
            line.
        records: the objects that are whole on one of the first lines, or printed over several.
        is_all: whether nothing more of the file can be looked at.
    """

    text: str
    is_list: bool
    keys: frozenset[str]
    records: tuple[JsonObject, ...]
    is_all: bool = True

    @classmethod
    def of(cls, text: str, *, is_all: bool = True) -> Head:
        """What can be said about this start of a file."""
        start = text.lstrip("\ufeff \t\r\n")
        while start.startswith("//"):
            start = start.partition("\n")[2].lstrip()
        return cls(text, start.startswith("["), _keys(start), _records(start), is_all)

    @property
    def is_enough(self) -> bool:
        """Whether what follows can hardly change what it looks like: all is there, or whole
        lines of records are.
        """
        return self.is_all or bool(self.records)

    @property
    def first_record(self) -> Record:
        """The first of its records; empty where there is none."""
        return self.records[0] if self.records else {}

    def is_object_with(self, *keys: str) -> bool:
        """Whether it starts with a JSON object that has all these keys."""
        return not self.is_list and self.keys.issuperset(keys)


def _keys(start: str) -> frozenset[str]:
    """The keys of the first object, also where the text breaks off inside it."""
    if not start.startswith(("{", "[")):
        return frozenset()
    depth = 0
    key_depth = 2 if start.startswith("[") else 1
    keys: set[str] = set()
    for token in _TOKEN.finditer(start):
        if token[0] in "{[":
            depth += 1
        elif token[0] in "}]":
            depth -= 1
            if depth < key_depth:
                break
        elif token[2] and depth == key_depth:
            keys.add(token[1])
    return frozenset(keys)


def _records(start: str) -> tuple[JsonObject, ...]:
    """The objects that are whole on one of the first lines, or printed over several."""
    lines = start.split("\n", _LINES)[:_LINES]
    if is_printed_series(start):
        numbered_lines = enumerate(start.split("\n"))
        lines = [text for _, text in islice(joined(numbered_lines), _LINES)]
    records: list[JsonObject] = []
    for line in lines:
        if not line.startswith("{") or not line.rstrip().endswith("}"):
            continue
        for record_text in objects_of_line(line):
            value = decodable(record_text)
            if isinstance(value, dict):
                records.append(value)
    return tuple(records)
