"""The order of contexts in future-reference recall, on real recordings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from benchmarks.recall_boundaries import SIZES, Ready, recordings

from profiles import FULL
from workbench import load

KINDS = ("newest messages", "newest texts without tool results", "half newest, half best lines")
"""In the order in which they hold more and more of what is needed."""


@pytest.fixture(scope="module")
def bound(corpora: Path) -> Mapping[tuple[float, str], float]:
    """The mean bound share of each context at each size, over all boundaries of the table's eight
    recordings.

    In the short profile over every other recording: five seconds less.
    """
    found: dict[tuple[float, str], list[float]] = {}
    for file in recordings(corpora)[:: 1 if FULL else 2]:
        for session in load(file, lenient=True):
            for boundary in Ready.of(session).matched():
                for size in SIZES:
                    for kind, retention in boundary.contexts(boundary.tokens * size).items():
                        found.setdefault((size, kind), []).append(retention.mean("bound"))
    return {key: sum(values) / len(values) for key, values in found.items()}


@pytest.mark.parametrize("size", SIZES)
def test_a_random_list_of_entities_is_worth_next_to_nothing(
    bound: Mapping[tuple[float, str], float], size: float
) -> None:
    assert bound[size, "random list of entities"] < 0.1


@pytest.mark.parametrize("size", SIZES)
def test_contexts_rank_as_they_do_in_practice(
    bound: Mapping[tuple[float, str], float], size: float
) -> None:
    order = (
        "random list of entities",
        "newest messages",
        "newest texts without tool results",
        "half newest, half best lines",
    )
    values = [bound[size, kind] for kind in order]
    assert values == sorted(values)


@pytest.mark.parametrize(
    "kind", ["newest messages", "newest texts without tool results", "half newest, half best lines"]
)
def test_a_larger_context_holds_more(bound: Mapping[tuple[float, str], float], kind: str) -> None:
    values = [bound[size, kind] for size in SIZES]
    assert values == sorted(values)
