from __future__ import annotations

from builders import called, result, said, told
from workbench.metrics.demand import Retention
from workbench.metrics.index import Index
from workbench.metrics.reacquisition import reacquisition_tokens, sources_to_fetch

MESSAGES = [
    said("keep burstSize"),
    called("read", "c1", path="one"),
    result("retryLimit and maxDelay", "c1"),
    called("read", "c2", path="two"),
    result("retryLimit again", "c2"),
    told("retryLimit, maxDelay and burstSize"),
]
SIZES = [1, 10, 100, 1_000, 10_000, 100_000]


def retention(kept: list[int], texts: tuple[str, ...] = ()) -> Retention:
    return Index(MESSAGES).demand(5).retained(kept, texts)


def test_a_source_counts_once_and_serves_all_that_it_holds() -> None:
    lost = retention([])
    assert sources_to_fetch(lost) == (2,)
    assert reacquisition_tokens(lost, SIZES) == 100


def test_the_latest_source_is_fetched() -> None:
    assert sources_to_fetch(retention([], ("maxDelay",))) == (4,)


def test_nothing_is_fetched_for_what_is_there_or_cannot_be_fetched() -> None:
    assert reacquisition_tokens(retention([2]), SIZES) == 0
    assert reacquisition_tokens(retention([], ("retryLimit, maxDelay",)), SIZES) == 0
