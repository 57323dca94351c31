"""The prices and the cache rules that a session's replays are priced with."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.errors import SettingError
from workbench.models.cache_rules import NO_CACHE, CacheRules, rules_for
from workbench.models.prices import Tariff, given_tariff, tariff
from workbench.transcript.message import AssistantMessage, Usage
from workbench.transcript.session import Session

ASSUMED = "claude-sonnet-4-5"
"""Whose prices stand in where nobody knows those of a recording's model; tables and reports say so."""


@dataclass(frozen=True, slots=True)
class Pricing:
    """Prices and cache rules.

    Attributes:
        model: whose they are.
        tariff: None where nobody knows.
        rules: what its provider's cache serves.
        head: tokens that the recording reads from the cache after a break (system prompt and tools); None if unknown.
        why: why this is not the recording's own model; empty where it is.
    """

    model: str
    tariff: Tariff | None
    rules: CacheRules = NO_CACHE
    head: int | None = None
    why: str = ""


def pricing(session: Session, model: str = "", prices: str = "") -> Pricing:
    """The prices for a session.

    Args:
        session: its own model is priced unless another is named; `ASSUMED` where that has no price.
        model: the model to price it as; empty for its own.
        prices: prices of one's own, see `given_tariff`; empty for those of the table.

    Raises:
        SettingError: the model has no price, or the prices make no sense.
    """
    usages = [m.usage for m in session.messages if isinstance(m, AssistantMessage) and m.usage is not None]
    hour = _for_an_hour(usages)
    if prices:
        given = given_tariff(prices)
        name = model or session.model
        return Pricing(name, given, rules_for(given, name, hour=hour), _head(usages), "the prices were given")
    if model:
        found = known_tariff(model)
        why = "" if model == session.model else "the model was named"
        return Pricing(model, found, rules_for(found, model, hour=hour), None if why else _head(usages), why)
    own = tariff(session.model)
    if own is not None:
        return Pricing(session.model, own, rules_for(own, session.model, hour=hour), _head(usages))
    assumed = known_tariff(ASSUMED)
    whose = f"the model {session.model!r}" if session.model else "a recording that names no model"
    return Pricing(ASSUMED, assumed, rules_for(assumed, ASSUMED), None, f"no price is known for {whose}")


def known_tariff(model: str) -> Tariff:
    """The model's prices.

    Raises:
        SettingError: the table has none.
    """
    found = tariff(model)
    if found is None:
        raise SettingError(
            f"no price is known for the model {model!r}; name one of litellm's table, such as {ASSUMED}, or give prices"
        )
    return found


def _for_an_hour(usages: list[Usage]) -> bool:
    """Whether the recording wrote more to the hour's cache than to the other."""
    return 2 * sum(usage.cache_write_long for usage in usages) > sum(usage.cache_write for usage in usages)


def _head(usages: list[Usage]) -> int | None:
    """The least that was ever read from the cache: what a request finds there although all behind it has changed."""
    return min((usage.cache_read for usage in usages if usage.cache_read), default=None)
