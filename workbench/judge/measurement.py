"""A finished measurement with real models on disk: a table, and notes of how it was made."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Self, TypeVar

import pandas as pd
from tqdm.auto import tqdm

from workbench.analysis.over_target import evenly, over_target
from workbench.errors import SettingError
from workbench.experiment.replay_rows import Row
from workbench.experiment.store import write_atomically

Item = TypeVar("Item")
PLACE_COLUMNS = {
    "session": "string", "project": "string", "strategy": "string", "share": "Float64", "at": "Int64",
    "tokens": "Int64", "reason": "string",
}  # fmt: skip
"""The columns of every such table: which context a row is about, and why it has no figure."""


@dataclass(frozen=True)
class Measurement:
    """A folder with the table (see docs/tables.md) and the notes of one kind of measurement.

    `columns` are those besides `PLACE_COLUMNS`; `missing` names what a folder without the table lacks, and which
    command makes it.
    """

    path: Path
    file: ClassVar[str]
    columns: ClassVar[dict[str, str]]
    missing: ClassVar[str]

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """The measurement in this folder; a `SettingError` where there is none."""
        if not (Path(folder) / cls.file).is_file():
            raise SettingError(f"{folder} holds no {cls.missing}")
        return cls(Path(folder))

    @classmethod
    def write(cls, folder: str | Path, rows: Sequence[Row], notes: Mapping[str, object]) -> Self:
        """The measurement, written into this folder: the table first, so that notes belong to one that is there."""
        where = Path(folder)
        where.mkdir(parents=True, exist_ok=True)
        kinds = PLACE_COLUMNS | cls.columns
        table = pd.DataFrame({name: pd.array([row.get(name) for row in rows], dtype=kinds[name]) for name in kinds})
        table.to_parquet(part := where / f".{cls.file}.{os.getpid()}.part", index=False)
        part.replace(where / cls.file)
        write_atomically((where / cls.file).with_suffix(".json"), json.dumps(notes, indent=2) + "\n")
        return cls(where)

    @cached_property
    def table(self) -> pd.DataFrame:
        """The documented columns."""
        return pd.read_parquet(self.path / self.file)

    @cached_property
    def notes(self) -> dict[str, object]:
        """Who was asked, with which settings."""
        return dict(json.loads((self.path / self.file).with_suffix(".json").read_text(encoding="utf-8")))


def each(rows: Callable[[Item], Iterable[Row]], items: Sequence[Item], word: str, quiet: bool) -> Iterator[Row]:
    """The rows that are found for every context, with a progress bar."""
    hidden = quiet or not sys.stderr.isatty()
    for one in tqdm(items, desc=word, unit="context", disable=hidden, leave=False):
        yield from rows(one)


def even_choice(items: Sequence[Item], most: int) -> Sequence[Item]:
    """All items, or at most so many of them at even distances; the first is among them."""
    return items if len(items) <= most else [items[i * len(items) // most] for i in range(most)]


def by_strategy(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame, int]]:
    """Each strategy, its rows that may be compared, and in how many sessions it stays larger than the size."""
    even, large = evenly(table), over_target(table)
    for name in dict.fromkeys(map(str, table["strategy"])):
        yield name, even[even["strategy"] == name], len(large[name].inside) if name in large else 0


def in_common(table: pd.DataFrame, column: str, place: Sequence[str]) -> pd.DataFrame:
    """The rows with a value where every compared strategy has one at the same place.

    The reference `none` may lack it: the whole history is often larger than a model's window.
    """
    rows = evenly(table)
    rows = rows[rows[column].notna()]
    apart = {"none", *(name for name, one in over_target(table).items() if not one.compared)}
    inner = set(table["strategy"]) - apart
    compared = rows["strategy"].where(rows["strategy"].isin(inner))
    return rows[compared.groupby([rows[one] for one in place]).transform("nunique") == len(inner)]
