"""What each table of a run holds and what its columns mean, as `columns.md` beside this file
says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from workbench.base.errors import UnknownName

SOURCE = Path(__file__).with_name("columns.md")
_SECTION = re.compile(r"^## `(\w+)`\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[([^]]+)\]\([^)]+\)")
_SENTENCE = re.compile(r".*?\.(?=\s|$)", re.DOTALL)


@dataclass(frozen=True)
class TableText:
    """The description of one table.

    Attributes:
        name: the table.
        row: what one row is, in a sentence.
        text: the whole description, in Markdown without links.
    """

    name: str
    row: str
    text: str


@cache
def table_texts() -> dict[str, TableText]:
    """The description of every table, by its name."""
    sections = _SECTION.findall(SOURCE.read_text(encoding="utf-8"))
    return {
        name: _table_text(name, _LINK.sub(r"\1", section).strip()) for name, section in sections
    }


def table_text(name: str) -> TableText:
    """The description of one table."""
    texts = table_texts()
    if name not in texts:
        raise UnknownName("table", name, texts)
    return texts[name]


def _table_text(name: str, text: str) -> TableText:
    sentence = _SENTENCE.match(text)
    return TableText(name, sentence[0] if sentence else text, text)
