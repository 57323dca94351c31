"""Secrets in the columns of tables whose title is a telling name."""

from collections.abc import Iterator

from workbench.engine.transcript.secret_names import Strength, name_strength
from workbench.engine.transcript.secret_values import is_secret
from workbench.engine.transcript.tables import Cell, columns


def table_values(text: str) -> Iterator[tuple[Cell, Strength]]:
    """The secrets in columns with a telling title."""
    for column in columns(text, _is_telling):
        strength = name_strength(column.title)
        if column.title.lower() == "pass":
            strength = Strength.PASSWORD
        if strength is None:
            continue
        for cell in column.cells:
            value = text[cell.start : cell.stop]
            if is_secret(value, strength, quoted=column.certain, sure=column.certain):
                yield cell, strength


def _is_telling(title: str) -> bool:
    return name_strength(title) is not None
