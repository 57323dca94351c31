from __future__ import annotations

import pytest

from builders import result, said, told
from workbench.metrics.index import Index
from workbench.metrics.overclaim import overclaims

INDEX = Index(
    [
        said("maybe retryLimit is the culprit"),
        told("do not use maxDelay"),
        result("burstSize = 3"),
        told("perhaps burstSize matters"),
        told("windowSize is four"),
    ]
)


@pytest.mark.parametrize(
    ("text", "entity"), [("- retryLimit is the culprit", "retryLimit"), ("the code uses maxDelay", "maxDelay")]
)
def test_a_hedge_or_denial_that_is_dropped_is_an_overclaim(text: str, entity: str) -> None:
    (found,) = overclaims(INDEX, 4, [text, text])
    assert (found.entity.text, found.claimed) == (entity, text)
    assert entity in found.said


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
    assert overclaims(INDEX, 4, [text]) == ()


def test_the_future_excuses_nothing() -> None:
    index = Index([told("maybe retryLimit"), told("retryLimit it is")])
    assert len(overclaims(index, 1, ["retryLimit"])) == 1
    assert overclaims(index, 2, ["retryLimit"]) == ()
