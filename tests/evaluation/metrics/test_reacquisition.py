from __future__ import annotations

from builders import called, result, said, told
from workbench.engine.transcript.message import Message
from workbench.evaluation.metrics.demand import Retention
from workbench.evaluation.metrics.index import Index

MESSAGES: list[Message] = [
    said("keep burstSize"),
    called("read", "c1", path="one"),
    result("retryLimit and maxDelay", "c1"),
    called("read", "c2", path="two"),
    result("retryLimit again", "c2"),
    told("retryLimit, maxDelay and burstSize"),
]


def retention(kept: list[int], texts: tuple[str, ...] = ()) -> Retention:
    return Index(MESSAGES).demand(5).retained(kept, texts)


def test_a_source_counts_once_and_serves_all_that_it_holds() -> None:
    lost = retention([])
    assert lost.sources_to_fetch() == (2,)


def test_the_latest_source_is_fetched() -> None:
    assert retention([], ("maxDelay",)).sources_to_fetch() == (4,)


def test_nothing_is_fetched_for_what_is_there_or_cannot_be_fetched() -> None:
    assert retention([2]).sources_to_fetch() == ()
    assert retention([], ("retryLimit, maxDelay",)).sources_to_fetch() == ()
