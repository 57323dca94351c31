"""Each check is seen to fail on the defect that it is for."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from builders import remembering, rules
from workbench import Prepared, Session, prepared
from workbench.engine.transcript.message import Message
from workbench.evaluation.metrics.background import BACKGROUND
from workbench.evaluation.metrics.demand import Demand
from workbench.evaluation.metrics.index import Index
from workbench.lab.validation.checks import placebo, planted
from workbench.recordings.datasets.generator import Generated, generate


@pytest.fixture(scope="module")
def made() -> list[Generated]:
    return [generate(20_000, seed) for seed in (0, 1, 2)]


def session(project: str) -> Prepared:
    return prepared(Session.of([rules("be brief"), *remembering(40)], id=project, project=project))


def test_planted_dependencies_are_found(made: Sequence[Generated]) -> None:
    assert planted(made).outcome == "passed"


def test_an_extractor_that_overlooks_a_kind_fails(made: Sequence[Generated]) -> None:
    def blind(messages: Sequence[Message]) -> Index:
        numbers = {entity for entity in Index(messages).entities if entity.kind in ("number", "id")}
        return Index(messages, background=BACKGROUND | numbers)

    check = planted(made, blind)
    assert check.failed
    assert check.where


def test_an_extractor_that_asks_about_another_history_fails(made: Sequence[Generated]) -> None:
    class Late(Index):
        def demand(self, at: int) -> Demand:
            return super().demand(at + 25)

    assert planted(made, Late).failed


def test_sessions_of_one_project_say_nothing_about_placebos() -> None:
    assert placebo([session("a"), session("a")]).outcome == "skipped"


def test_a_foreign_future_that_needs_the_history_fails() -> None:
    assert placebo([session("a"), session("b")]).failed  # the same conversation under two names


def test_an_unrelated_future_needs_nothing(made: Sequence[Generated]) -> None:
    assert placebo([prepared(made[0].session), session("b")]).outcome == "passed"
