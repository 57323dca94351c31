"""Columns and ragged tables grow, and what was read of them stays as it was."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from workbench.ragged import Column, Table

ROWS = st.lists(st.lists(st.integers(-100, 100), max_size=5), max_size=20)


@given(st.lists(ROWS, max_size=6))
def test_a_table_that_was_filled_in_pieces_gives_each_row_back(pieces: list[list[list[int]]]) -> None:
    table = Table(np.int8)
    for rows in pieces:
        row = np.array([at for at, items in enumerate(rows) for _ in items], dtype=np.int64)
        table.add(row, np.array([item for items in rows for item in items], dtype=np.int64), len(rows))
    every = [items for rows in pieces for items in rows]
    assert len(table) == len(every)
    wanted = np.arange(len(every))[::-1]
    owner, place, items = table.rows(wanted)
    expected = [(at, i, one) for at, number in enumerate(wanted.tolist()) for i, one in enumerate(every[number])]
    assert list(zip(owner.tolist(), place.tolist(), items.tolist(), strict=True)) == expected


def test_a_column_grows_while_somebody_holds_what_it_was() -> None:
    column = Column(np.int32, 7)
    before = column.values
    for number in range(100):
        column.extend(np.array([number, -number]))
    assert before.tolist() == [7]
    assert column.values.tolist() == [7, *(one for number in range(100) for one in (number, -number))]


def test_an_empty_column_and_an_empty_table_have_nothing() -> None:
    assert Column(np.int32).values.tolist() == []
    owner, place, items = Table(np.int32).rows(np.zeros(0, dtype=np.int64))
    assert (owner.tolist(), place.tolist(), items.tolist()) == ([], [], [])
