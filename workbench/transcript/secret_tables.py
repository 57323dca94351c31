"""Secrets in the columns of tables whose header has a telling name: CSV, Markdown, the output of a database."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from workbench.transcript.secret_names import Strength, name_strength
from workbench.transcript.secret_values import is_secret


class Cell(NamedTuple):
    """A cell of a table: where its text is, half-open."""

    start: int
    stop: int


_HEADER = re.compile(
    r"^[^\n]{0,300}(?:pass|pwd|secret|token|key|credential)[^\n]{0,300}$", re.IGNORECASE | re.MULTILINE
)
_SEPARATORS = (",", "\t", "|", ";", "  ")
_TITLE = re.compile(r"[\"']?[^\W\d_][\w .()#/-]{0,40}[\"']?")
_RULE = re.compile(r"[-+|:=\s]*")
_CELL = {sign: re.compile(rf"[^{re.escape(sign)}\n]+") for sign in ",\t|;"} | {"  ": re.compile(r"\S+(?: \S+)*")}


def table_values(text: str) -> Iterator[tuple[Cell, Strength]]:
    """The secrets in columns with a telling header."""
    stop = 0
    for header in _HEADER.finditer(text):
        if header.start() < stop:
            continue
        for sign in _SEPARATORS:
            titles = _cells(text, header.start(), header.end(), sign)
            if len(titles) > 1 and all(_TITLE.fullmatch(text[cell.start : cell.stop]) for cell in titles):
                stop = _end_of_table(text, header.end() + 1, sign, len(titles))
                yield from _column_values(text, header.end() + 1, stop, sign, titles)
                break


def _end_of_table(text: str, start: int, sign: str, columns: int) -> int:
    """Where the last row ends that has as many cells as the header."""
    while start < len(text):
        stop = text.find("\n", start)
        stop = len(text) if stop < 0 else stop
        if not _RULE.fullmatch(text, start, stop) and len(_cells(text, start, stop, sign)) != columns:
            return start
        start = stop + 1
    return len(text)


def _column_values(text: str, start: int, stop: int, sign: str, titles: list[Cell]) -> Iterator[tuple[Cell, Strength]]:
    names = [name_strength(text[cell.start : cell.stop]) for cell in titles]
    while any(names) and start < stop:
        end = text.find("\n", start)
        end = stop if end < 0 else end
        for cell, strength in zip(_cells(text, start, end, sign), names, strict=False):
            if strength and is_secret(text[cell.start : cell.stop], strength, quoted=True, sure=True):
                yield cell, strength
        start = end + 1


def _cells(text: str, start: int, stop: int, sign: str) -> list[Cell]:
    cells = []
    for match in _CELL[sign].finditer(text, start, stop):
        bare = match.group().strip(" \t\r\"'")
        if bare:
            begin = match.start() + match.group().index(bare[0])
            cells.append(Cell(begin, begin + len(bare)))
    return cells
