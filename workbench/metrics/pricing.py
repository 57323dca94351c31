"""Whose prices and whose cache a session's replays are reckoned with."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.models.caching import NO_CACHE, CacheRules, rules_for
from workbench.models.tariff import Tariff, given_tariff, tariff
from workbench.transcript.message import AssistantMessage, Usage
from workbench.transcript.session import Session


@dataclass(frozen=True, slots=True)
class Pricing:
    """Prices and cache rules.

    Attributes:
        model: whose they are.
        tariff: None where nobody knows; `why` then says so.
        rules: what its provider's cache serves.
        assumed: whether that is another model than the recording's.
        head: tokens that the recording reads from the cache after a break (system prompt and tools); None if unknown.
    """

    model: str
    tariff: Tariff | None
    rules: CacheRules = NO_CACHE
    assumed: bool = False
    head: int | None = None
    why: str = ""


def pricing(session: Session, model: str = "", prices: str = "") -> Pricing:
    """The prices for a session.

    Args:
        session: its own model is priced unless another is named.
        model: the model to price it as; empty for its own.
        prices: prices of one's own, see `given_tariff`; empty for those of the table.

    Raises:
        SettingError: the prices make no sense.
    """
    name = model or session.model
    found = given_tariff(prices) if prices else tariff(name)
    assumed = bool(model) and model != session.model
    if found is None:
        whose = f"the model {name!r}" if name else "a recording that names no model"
        return Pricing(name, None, assumed=assumed, why=f"no price is known for {whose}; --price-model assumes another")
    usages = [m.usage for m in session.messages if isinstance(m, AssistantMessage) and m.usage is not None]
    rules = rules_for(found, name, hour=_for_an_hour(usages))
    return Pricing(name, found, rules, assumed, None if assumed else _head(usages))


def _for_an_hour(usages: list[Usage]) -> bool:
    """Whether the recording wrote more to the hour's cache than to the other."""
    return 2 * sum(usage.cache_write_long for usage in usages) > sum(usage.cache_write for usage in usages)


def _head(usages: list[Usage]) -> int | None:
    """The least that was ever read from the cache: what a request finds there although all behind it has changed."""
    return min((usage.cache_read for usage in usages if usage.cache_read), default=None)
