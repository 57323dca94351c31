"""When a compaction pays: by the prices of the cache, its lifetime, the growth of the context,
and pauses.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from workbench.base.errors import SetupError
from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.strategy import Situation
from workbench.engine.models.cache_rules import rules_for
from workbench.engine.models.prices import Tariff, stem_tariff, tariff


@dataclass(frozen=True, slots=True)
class CachePrices:
    """What tokens cost, relative to those of a prompt without any cache.

    Attributes:
        read: read from the cache.
        write: not found in the cache, and written to it where that has a price.
        output: written by the model.
        seconds: how long the cache lives after its last use; 0 where nothing is cached.
    """

    read: float = 0.1
    write: float = 1.25
    output: float = 5.0
    seconds: float = 300.0


@lru_cache(maxsize=256)
def prices_of(model: str) -> CachePrices:
    """Those of a model; the defaults (Anthropic's) where its price is unknown."""
    price = _tariff(model)
    if price is None or not price.rates.input:
        return CachePrices()
    rates = price.rates
    rules = rules_for(price, model)
    read = rates.cache_read if rules.seconds else rates.input
    write = rates.cache_write if rules.writes else rates.input
    return CachePrices(
        read=read / rates.input,
        write=write / rates.input,
        output=rates.output / rates.input,
        seconds=rules.seconds,
    )


def _tariff(model: str) -> Tariff | None:
    """What the model costs; None where that is unknown."""
    if not model:
        return None
    try:
        return tariff(model) or stem_tariff(model)
    except SetupError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ByPrice:
    """Due when a compaction pays: while the cache is cold anyway, or where it breaks even before
    the expected end.

    A compaction costs the summary of a model, and what is kept must be written to the cache again;
    from then on each request reads less: until the end, or until the window would have been full.
    As many requests are expected as there have been. After a pause longer than the cache lives all
    must be written again in any case. It also waits until as much goes as is cheapest in the long
    run: the root of twice the fixed cost times the growth, over the price of reading. It looks at
    what was said and paid so far, never ahead.

    Attributes:
        target: share of the room (window less overhead) that the messages may take afterwards.
        most: share of the window at which it is due whatever it costs; the rest is for the answer.
        summary: the part of the room under the target that a model's summary takes; 0 where no
            model writes.
        prices: None takes those of the agent's model.
    """

    target: float = 0.4
    most: float = 0.95
    summary: float = 0.5
    prices: CachePrices | None = None

    def check(self, situation: Situation, /) -> Budget | None:
        """Due at `most` of the window, and where it pays."""
        room = max(situation.window - situation.overhead, 0)
        target = situation.overhead + int(self.target * room)
        full = situation.tokens >= self.most * situation.window > 0
        pays = situation.tokens > target and self._pays(situation, target)
        if full or pays:
            return situation.budget(target, reason="threshold" if full else "price")
        return None

    def _pays(self, situation: Situation, target: int) -> bool:
        """Whether it does, in units of the price of a plain token."""
        prices = self.prices or prices_of(situation.model)
        kept_tokens = target - situation.overhead
        removed_tokens = situation.tokens - target
        is_cold = situation.idle is not None and situation.idle > prices.seconds
        summary_cost = self.summary * kept_tokens * prices.output
        rewrite_cost = 0.0 if is_cold else kept_tokens * (prices.write - prices.read)
        fixed_cost = summary_cost + rewrite_cost
        reading_cost = removed_tokens * (self.summary > 0)
        spared_cost = removed_tokens * prices.write if is_cold else 0.0
        growth = max(situation.said / max(situation.requests, 1), 1.0)
        requests_until_full = (self.most * situation.window - situation.tokens) / growth
        requests_ahead = min(situation.requests, requests_until_full)
        saved_cost = requests_ahead * removed_tokens * prices.read
        breaks_even = fixed_cost + reading_cost - spared_cost <= saved_cost
        is_cheapest = removed_tokens**2 * prices.read / (2 * growth) >= fixed_cost - spared_cost
        return breaks_even and is_cheapest
