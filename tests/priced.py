"""Prices and cache rules as metrics see them, taken from recordings by well-known models."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from builders import said, told
from workbench import MetricInput, Session, metric_input, prepared, replay
from workbench.engine.transcript.message import Usage


@cache
def priced_as(model: str, *, hour: bool = False) -> MetricInput:
    """A short replay whose `priced` has the prices and the cache rules of this model.

    Args:
        model: of the recording.
        hour: whether its client wrote to the cache for an hour.
    """
    usage = Usage(input=1, cache_write=5, cache_write_long=5) if hour else None
    ready = prepared(Session.of([said("go on"), told("done", usage=usage)], model=model))
    return metric_input(ready, replay(ready, "none"))


_SONNET = priced_as("claude-sonnet-4-5").priced
assert _SONNET.tariff is not None
TARIFF = replace(_SONNET.tariff, longer=())
"""3 USD a million tokens of input, 15 of output, 0.3 read from the cache, 3.75 written to it, and 6
written for an hour.
"""
_USUAL = replace(_SONNET, tariff=TARIFF)
PRICED = {
    "anthropic": _USUAL,
    "anthropic, 1 hour": replace(
        _USUAL, rules=priced_as("claude-sonnet-4-5", hour=True).priced.rules
    ),
    "openai": replace(_USUAL, rules=priced_as("gpt-5.4").priced.rules),
    "openai, writes": replace(_USUAL, rules=replace(priced_as("gpt-5.6").priced.rules, block=128)),
    "no cache": replace(_USUAL, rules=priced_as("gpt-4").priced.rules),
}
"""By the provider's cache, all at `TARIFF`."""
