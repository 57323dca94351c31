"""Looks in a shared copy for texts of the run that it was made from, also where they are written
in another way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd

from workbench.base.package import PACKAGE
from workbench.engine.transcript.encodings import readings
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.table_columns import COLUMNS

LONG = 8
"""Characters from which on a text is looked for: shorter ones come about by chance."""


@dataclass(frozen=True, slots=True)
class Leak:
    """A text of a run in its shared copy; the text itself is not said.

    Attributes:
        path: the file of the copy.
        column: the table and column of the run that hold the text.
    """

    path: Path
    column: str


def leak(run: Results, copy: Path) -> Leak | None:
    """The first text of a run that its shared copy holds as it is, or in base64, an address, JSON
    or HTML.

    Texts shorter than eight characters tell nothing, nor do those that the package holds, such as
    names of strategies.
    """
    places = _hidden(run)
    files = [path for path in copy.rglob("*") if path.is_file()]
    for path in sorted(files):
        all_readings = readings(_text(path))
        text = "\n".join(all_readings)
        for hidden_text, column in places.items():
            if hidden_text in text:
                return Leak(path, column)
    return None


def _hidden(run: Results) -> dict[str, str]:
    """Each text that a copy may not hold, with its place."""
    places: dict[str, str] = {}
    public_text = _public()
    for name, columns in COLUMNS.items():
        for column, kind in columns.items():
            if kind not in ("session", "text", "lines"):
                continue
            for line in _lines_of(run, name, column):
                if len(line) < LONG or line in public_text:
                    continue
                if line not in places:
                    places[line] = f"{name}.{column}"
    return places


def _lines_of(run: Results, name: str, column: str) -> Iterator[str]:
    """The lines of a column, without the spaces around them."""
    values = run.table(name)[column].dropna()
    for text in values.unique():
        for line in str(text).split("\n"):
            yield line.strip()


@cache
def _public() -> str:
    """What the package itself holds."""
    kinds = (".py", ".j2", ".html", ".json", ".toml", ".css", ".js")
    texts: list[str] = []
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix in kinds:
            texts.append(path.read_text("utf-8"))
    return "\n".join(texts)


def _text(path: Path) -> str:
    if path.suffix == ".parquet":
        table = pd.read_parquet(path)
        return str(table.to_csv())
    content = path.read_bytes()
    return content.decode("utf-8", "replace")
