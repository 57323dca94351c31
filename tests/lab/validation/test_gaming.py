from __future__ import annotations

from collections.abc import Iterator

import pytest
from recorded_files import bundled_files

from builders import remembering, rules
from workbench import Prepared, Session, load, prepared
from workbench.evaluation.metrics.index import Index
from workbench.lab.validation.gaming import filled, gaming


@pytest.fixture(scope="module")
def session() -> Prepared:
    return prepared(load(next(path for path in bundled_files() if "poolside" in str(path)))[0])


def test_the_gamers_stay_near_the_floor(session: Prepared) -> None:
    check = gaming([session])
    assert check.outcome == "passed"
    assert all(name in check.found for name in ("entity_list", "word_soup", "marker_copy"))


def test_a_context_that_wins_without_being_of_use_fails(session: Prepared) -> None:
    def later(index: Index, at: int) -> Iterator[str]:
        return (need.evidence_text for need in index.demand(at).needs)

    check = gaming([session], {"later": later})
    assert check.failed
    assert "later at 10%" in check.where[0]


def test_a_session_with_few_things_is_not_judged_beside_others(
    session: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    def later(index: Index, at: int) -> Iterator[str]:
        return (
            (need.evidence_text for need in index.demand(at).needs)
            if index is small.index
            else iter(())
        )

    small = prepared(Session.of([rules("be brief"), *remembering(40)]))
    assert len(small.index.entities) < len(session.index.entities)
    monkeypatch.setattr(
        "workbench.lab.validation.gaming.FEW_ENTITIES", len(small.index.entities) + 1
    )
    check = gaming([session, small], {"later": later})
    assert check.outcome == "passed"
    assert "not judged: 1 with fewer than" in check.found
    assert gaming([small], {"later": later}).failed, "alone it is judged all the same"


def test_a_session_that_needs_nothing_is_skipped() -> None:
    assert gaming([prepared(Session.of([rules("be brief"), *remembering(3)]))]).outcome == "skipped"


def test_each_budget_gets_the_lines_that_fit() -> None:
    assert filled(["aa", "bb", "cc"], len, [2, 3, 6, 99]) == ["", "aa", "aa\nbb", "aa\nbb\ncc"]
