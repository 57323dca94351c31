"""The reader's own error is part of every interval that rests on it."""

from collections.abc import Mapping
from typing import Literal

import pytest

from workbench.evaluation.metrics.work_exam.fitted_reader import shipped_reader
from workbench.evaluation.metrics.work_exam.reader_error import (
    PredictedContext,
    ReaderErrors,
)

TextKind = Literal["model", "rule", "mixed", "cut"]
Errors = tuple[Mapping[TextKind, float], ...]
"""By kind of text, the error on each project."""

EXACT = ReaderErrors(({"model": 0.0, "rule": 0.0, "cut": 0.0},), context=0.0)
SHARED = ReaderErrors(
    tuple({"model": error, "rule": error} for error in (-0.2, -0.1, 0.1, 0.2)), context=0.0
)
EASY: Errors = tuple([{"model": -0.3, "rule": -0.3}] * 3)
"""The errors on the questions of somebody who asks what is easy."""
BIASED = ReaderErrors(tuple([{"model": -0.1, "rule": 0.1}] * 3), context=0.0)


def contexts(kind: TextKind, *chances: float) -> list[PredictedContext]:
    """One context a project."""
    return [PredictedContext(f"p{number}", kind, chance) for number, chance in enumerate(chances)]


def test_a_reader_without_error_is_as_sure_as_its_projects_are_alike() -> None:
    sure = EXACT.score(contexts("model", 0.7, 0.7))
    assert (sure.mean, sure.low, sure.high) == pytest.approx((0.7, 0.7, 0.7))
    spread = EXACT.score(contexts("model", 0.5, 0.9))
    assert (spread.low, spread.high) == (0.5, 0.9)


def test_the_error_of_the_reader_widens_the_interval_of_alike_projects() -> None:
    interval = SHARED.score(contexts("model", 0.5, 0.5, 0.5, 0.5))
    assert interval.low < 0.4
    assert interval.high > 0.6


def test_more_projects_make_it_narrower() -> None:
    few, many = (SHARED.score(contexts("rule", *[0.5] * count)) for count in (2, 20))
    assert many.high - many.low < (few.high - few.low) / 2


def test_an_error_that_both_kinds_share_is_none_of_their_difference() -> None:
    lead = SHARED.lead(contexts("model", 0.6, 0.6), contexts("rule", 0.5, 0.5))
    assert lead.low == pytest.approx(0.1)
    assert lead.high == pytest.approx(0.1)


def test_who_asks_adds_to_the_error_of_a_level_and_more_projects_do_not_help() -> None:
    reader = ReaderErrors(SHARED.by_project, context=0.0, by_asker=(EASY,))
    many = contexts("model", *[0.5] * 40)
    narrow, wide = SHARED.score(many), reader.score(many)
    assert wide.high - wide.low > 3 * (narrow.high - narrow.low)
    assert wide.high > 0.8, "questions may be as easy as those"
    assert wide.low < 0.2, "or as hard: nobody knows to which side the next asker will be off"


def test_who_asks_adds_nothing_to_a_lead_where_both_kinds_are_off_alike() -> None:
    reader = ReaderErrors(SHARED.by_project, context=0.0, by_asker=(EASY,))
    assert reader.lead_bound("model", "rule", projects=10) == pytest.approx(0.0)


def test_an_asker_that_is_off_for_one_kind_alone_adds_to_the_bound() -> None:
    uneven: Errors = tuple([{"model": -0.3, "rule": 0.0}] * 3)
    reader = ReaderErrors(SHARED.by_project, context=0.0, by_asker=(uneven,))
    assert reader.lead_bound("model", "rule", projects=10) > 0.3


def test_askers_that_lie_apart_as_projects_do_by_chance_add_nothing() -> None:
    usual: Errors = (
        {"model": -0.1, "rule": -0.1},
        {"model": 0.2, "rule": 0.2},
    )
    reader = ReaderErrors(SHARED.by_project, context=0.0, by_asker=(usual,))
    assert reader.score(contexts("model", 0.5, 0.5)) == SHARED.score(contexts("model", 0.5, 0.5))


def test_an_asker_without_a_kind_says_nothing_of_it() -> None:
    one_kind: Errors = tuple([{"rule": -0.3}] * 3)
    reader = ReaderErrors(SHARED.by_project, context=0.0, by_asker=(one_kind,))
    assert reader.score(contexts("model", 0.5)) == SHARED.score(contexts("model", 0.5))


def test_a_bias_against_one_kind_is_part_of_the_bound() -> None:
    assert BIASED.lead_bound("model", "rule", projects=10) == pytest.approx(0.2)
    assert BIASED.lead_bound("model", "model", projects=10) == 0.0


def test_where_a_rule_wrote_a_part_the_error_is_that_of_both_each_by_its_share() -> None:
    shares = (0.0, 0.5, 1.0)
    bounds = [BIASED.lead_bound("mixed", "rule", projects=10, rule_share=s) for s in shares]
    assert bounds == pytest.approx([BIASED.lead_bound("model", "rule", projects=10), 0.1, 0.0])
    same = BIASED.lead_bound("mixed", "mixed", projects=10, rule_share=0.3, other_rule_share=0.3)
    assert same == pytest.approx(0.0)
    mixed = [
        PredictedContext(predicted_context.project, "mixed", predicted_context.chance, 1.0)
        for predicted_context in contexts("model", 0.5, 0.7, 0.6)
    ]
    assert BIASED.score(mixed) == BIASED.score(contexts("rule", 0.5, 0.7, 0.6))


def test_two_contexts_of_a_project_are_no_two_projects() -> None:
    same = [PredictedContext("p", "model", 0.5)] * 8
    apart = contexts("model", *[0.5] * 8)
    narrow, wide = SHARED.score(apart), SHARED.score(same)
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)


def test_the_reader_that_ships_knows_its_errors() -> None:
    check = shipped_reader().left_out
    assert check is not None
    assert set(check.kinds) == {"model", "rule", "cut"}
    interval = check.errors.score(contexts("model", 0.8, 0.8, 0.8))
    assert interval.low < 0.8 < interval.high


def test_the_bias_of_a_kind_of_context_is_what_is_promised_too_much() -> None:
    left_out = shipped_reader().left_out
    assert left_out is not None
    for kind in left_out.kinds.values():
        assert kind.bias == pytest.approx(kind.promised - kind.real)
    assert min(kind.bias for kind in left_out.kinds.values()) < 0
