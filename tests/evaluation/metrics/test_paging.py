"""Visible, recoverable and lost: what a context shows, what its archive gives back, and what
neither has.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from priced import PRICED
from real_parts import with_steps

from workbench import MetricInput, Prepared, bundled, metric_input, prepared, replay
from workbench.engine.transcript.message import said_text
from workbench.evaluation.metrics.builtin import BUILTIN
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.paging import (
    Fault,
    PagedExam,
    distinct,
    paged_exam,
    paging,
    recall_cost,
)
from workbench.evaluation.metrics.view import view

TOOL = 160

CALL = 40


@cache
def ready() -> Prepared:
    return prepared(bundled()[0], window=8_000)


@cache
def scored(strategy: str) -> MetricInput:
    return metric_input(ready(), replay(ready(), strategy))


def figure(value: str | int | float | None) -> float:
    """A figure of a row; nothing is 0."""
    assert not isinstance(value, str)
    return value or 0.0


def sat(data: MetricInput, archive: dict[str, str] | None = None) -> list[PagedExam]:
    """The last exams of a replay with its archive, or with this one."""
    exams = Exams.of(data.index)
    found = []
    for one in data.examined[-3:]:
        exam, context = exams.at(one.snapshot.at), one.snapshot.context
        shot = (
            one.snapshot
            if archive is None
            else replace(one.snapshot, context=replace(context, archive=archive))
        )
        found.append(
            paged_exam(
                exam, exams.history, data.replay, shot, view(data.replay.session, shot.context)
            )
        )
    return found


def test_visible_recoverable_and_lost_are_all_that_was_needed() -> None:
    (row,) = paging(scored("truncate+recall"))
    assert row["visible"] == pytest.approx(
        BUILTIN["exam_recall"].score(scored("truncate+recall")).value
    )
    shares = [figure(row[name]) for name in ("visible", "recoverable", "lost")]
    assert sum(shares) == pytest.approx(1) and min(shares[1:]) > 0.02


def test_a_strategy_without_an_archive_has_no_row() -> None:
    assert not list(paging(scored("truncate")))
    assert not list(paging(scored("pipeline"))), "its own references are no recall"
    assert not list(paging(scored("none")))


def test_only_what_the_archive_holds_is_recoverable() -> None:
    other = {f"{n:08d}": said_text(message) for n, message in enumerate(bundled()[1].messages)}
    paged_exams, foreign, nothing = (
        sat(scored("truncate+recall"), texts) for texts in (None, other, {})
    )
    assert sum(one.recoverable for one in paged_exams) > 5 * sum(one.recoverable for one in foreign)
    assert all(
        one.recoverable == 0 and one.visible == mine.visible
        for one, mine in zip(nothing, paged_exams, strict=True)
    )


def test_a_query_has_no_word_that_the_context_lacks() -> None:
    data = scored("truncate+recall")
    for one, exam in zip(data.examined[-3:], sat(data), strict=True):
        context = " ".join(map(said_text, one.snapshot.context.messages)).lower().replace(",", "")
        words = [word for fault in exam.faults for word in fault.query.split()]
        assert words and all(word[:3] in context for word in words), "by its stem"


def test_a_call_never_names_what_it_looks_for() -> None:
    faults = [fault for exam in sat(scored("truncate+recall")) for fault in exam.faults]
    assert all(0 <= fault.tokens <= 1_500 for fault in faults), "an answer is bounded"
    assert faults and not any(fault.thing[0].lower() in fault.query.split() for fault in faults)


def fault(thing: str, used: int, tokens: int) -> Fault:
    return Fault("words", (thing, used), used, tokens, ("aaaaaaaa",), answered=True)


def test_a_thing_that_several_boundaries_ask_for_is_fetched_once() -> None:
    exams = [
        PagedExam(5, 0.5, 0.1, (fault("a", 3, 10), fault("b", 5, 10))),
        PagedExam(5, 0.5, 0.1, (fault("b", 5, 9),)),
    ]
    assert [one.thing[0] for one in distinct(exams)] == ["a", "b"]


@pytest.mark.parametrize(("cache", "carried"), [("no cache", 3.0), ("openai", 0.3)])
def test_a_call_is_one_more_request_and_stays_until_the_next_compaction(
    cache: str, carried: float
) -> None:
    sent = with_steps(scored("truncate+recall").replay, *[(12_800, 12_800, 0)] * 6).steps
    fifth = replace(sent[4], compaction=0)
    made = replace(scored("truncate+recall").replay, steps=(*sent[:4], fifth, sent[5]))
    usd = [recall_cost(made, PRICED[cache], faults) for faults in ((), [fault("a", 3, 960)])]
    tool = 6 * TOOL * carried
    first = 12_800 * carried + (CALL + 960) * 3 + CALL * 15
    rest = 2 * (CALL + 960) * carried
    assert usd[0] * 1e6 == pytest.approx(tool)
    assert (usd[1] - usd[0]) * 1e6 == pytest.approx(first + rest), (
        "requests 1 is sent again, 2 and 3 carry the answer"
    )


def test_what_recall_gives_back_need_not_be_fetched_again() -> None:
    data = scored("truncate+recall")
    (row,) = paging(data)
    assert data.bill is not None
    assert figure(row["usd_fetching"]) <= data.bill.reacquired
    saved = (
        data.bill.usd_plain
        - data.bill.usd
        - figure(row["usd_fetching"])
        - figure(row["usd_recall"])
    )
    assert row["net_saving"] == pytest.approx(saved)
