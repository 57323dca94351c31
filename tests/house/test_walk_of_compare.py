"""A reader who follows a comparison from its specification to its verdict seldom turns back, and
meets one word for one thing.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from house.walk_of_compare import IS_STATION, Walk, small_comparison, traced, walk_of

ROOM = Path(__file__).parents[2] / "workbench" / "evaluation" / "experiment"


@pytest.fixture(scope="module")
def walk() -> Walk:
    return walk_of(traced(small_comparison))


def test_the_walk_comes_by_every_station(walk: Walk) -> None:
    functions = {function for _, functions in walk.stays for function in functions}
    assert functions >= IS_STATION


def test_a_reader_comes_back_to_a_file_at_most_ten_times(walk: Walk) -> None:
    assert walk.returns <= 10, str(walk)


def test_what_is_carried_has_at_most_25_names(walk: Walk) -> None:
    assert len(walk.names) <= 25, str(walk)


def test_the_room_says_what_each_of_these_names_means(walk: Walk) -> None:
    words = (ROOM / "__init__.py").read_text("utf-8")
    assert [name for name in walk.names if f"`{name}`" not in words] == []
