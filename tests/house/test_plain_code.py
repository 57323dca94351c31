"""No room of the package gets denser than it was."""

from __future__ import annotations

import tomllib

import pytest
from house.plain_code import STORED, CodeCounts, rooms

FIGURES = tomllib.loads(STORED.read_text("utf-8"))


@pytest.fixture(scope="module")
def counts_by_room() -> dict[str, CodeCounts]:
    """The counts of each room. They take seconds, so only who runs these tests makes them."""
    return rooms()


def test_every_room_has_stored_figures(counts_by_room: dict[str, CodeCounts]) -> None:
    assert sorted(FIGURES) == sorted(counts_by_room), "`python tests/house/plain_code.py --store`"


@pytest.mark.parametrize("room", sorted(FIGURES))
def test_a_room_is_at_least_as_plain_as_before(
    room: str, counts_by_room: dict[str, CodeCounts]
) -> None:
    figures = counts_by_room[room].figures
    worse = {
        name: (round(figures[name], 2), bound)
        for name, bound in FIGURES[room].items()
        if figures[name] > bound
    }
    assert not worse, (
        f"{room} got denser (now, before): {worse}; vague names:"
        f" {counts_by_room[room].vague_names.most_common(5)}"
    )


def test_packed_code_has_worse_figures_than_plain_code() -> None:
    packed = CodeCounts.of(
        "found = [one if one else 0 for one in parts if one.kept and one.known]\n"
    )
    plain = CodeCounts.of(
        "lengths = []\nfor part in parts:\n    if part.kept:\n        lengths.append(part.length)\n"
    )
    for name, value in plain.figures.items():
        assert value < packed.figures[name]


def test_docstrings_and_comments_count_as_no_code() -> None:
    counts = CodeCounts.of('"""One\nof\nmany."""\n\n# a comment\nlength = 3\n')
    assert counts.lines == 1
    assert counts.tokens == 3
