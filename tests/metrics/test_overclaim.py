from __future__ import annotations

import pytest

from builders import result, said, told
from workbench.metrics.index import Index

INDEX = Index(
    [
        said("maybe retryLimit is the culprit"),
        told("do not use maxDelay"),
        result("burstSize = 3"),
        told("perhaps burstSize matters"),
        told("windowSize is four"),
    ]
)


@pytest.mark.parametrize("text", ["- retryLimit is the culprit", "the code uses maxDelay"])
def test_a_hedge_or_denial_that_is_dropped_is_an_overclaim(text: str) -> None:
    assert INDEX.support.doubted(4, [text, text]) == (1, 1)


@pytest.mark.parametrize(
    "text",
    [
        "retryLimit may be the culprit",
        "avoid maxDelay",
        "burstSize matters",
        "windowSize is four",
        "newName is here",
        "nothing at all",
    ],
)
def test_what_stays_hedged_or_was_once_said_flatly_is_none(text: str) -> None:
    assert INDEX.support.doubted(4, [text])[0] == 0


def test_the_future_excuses_nothing() -> None:
    index = Index([told("maybe retryLimit"), told("retryLimit it is")])
    assert index.support.doubted(1, ["retryLimit"]) == (1, 1)
    assert index.support.doubted(2, ["retryLimit"]) == (0, 0)
