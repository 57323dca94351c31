"""The prices and the cache rules that a session's replays are priced with."""

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.base.errors import SettingError
from workbench.engine.models.cache_rules import NO_CACHE, NOT_ASKED_FOR, CacheRules, rules_for
from workbench.engine.models.prices import Tariff, given_tariff, stem_tariff, tariff
from workbench.engine.transcript.message import AssistantMessage, Usage
from workbench.engine.transcript.session import Session

ASSUMED = "claude-sonnet-4-5"
"""Whose prices are used where those of a recording's model are unknown."""


@dataclass(frozen=True, slots=True)
class Pricing:
    """Prices and cache rules.

    Attributes:
        model: whose they are.
        tariff: None if unknown.
        rules: what its provider's cache serves.
        head: the least that the recording ever read from the cache, which is what it finds after a
            break (system prompt and tools), in tokens; None if unknown.
        why: why this is not the recording's own model; empty where it is.
    """

    model: str
    tariff: Tariff | None
    rules: CacheRules = NO_CACHE
    head: int | None = None
    why: str = ""


def pricing(session: Session, model: str = "", prices: str = "") -> Pricing:
    """The prices for a session: those given (`given_tariff`), of the model named, of its own model,
    or of `ASSUMED`.

    Before `ASSUMED` comes the model whose name its own goes on from by a word.

    Raises:
        SettingError: the model has no price, or the prices make no sense.
    """
    usages: list[Usage] = []
    cache_reads: list[int] = []
    for message in session.messages:
        if isinstance(message, AssistantMessage) and message.usage is not None:
            usages.append(message.usage)
            if message.usage.cache_read:
                cache_reads.append(message.usage.cache_read)
    head = min(cache_reads, default=None)
    name = model or session.model
    if prices:
        rates = given_tariff(prices)
        reason = "the prices were given"
    elif model:
        rates = known_tariff(model)
        reason = "" if model == session.model else "the model was named"
        head = None if reason else head
    elif (own_tariff := tariff(session.model)) is not None:
        rates = own_tariff
        reason = ""
    elif (stem := stem_tariff(session.model)) is not None:
        rates = stem
        name = stem.row
        reason = f"no price is known for the model {session.model!r}; it is priced as {name}"
    else:
        return _assumed(session)
    rules = _rules(rates, name, usages)
    is_uncached = not head and _is_uncached(usages, rules)
    if rules.marked and is_uncached and name == session.model:
        rules = NOT_ASKED_FOR
    return Pricing(name, rates, rules, head, reason)


def _rules(rates: Tariff, model: str, usages: Sequence[Usage]) -> CacheRules:
    """The cache rules of a model, with the time that most of the reported writes asked for."""
    written_for_hour = sum(usage.cache_write_long for usage in usages)
    written_tokens = sum(usage.cache_write for usage in usages)
    return rules_for(rates, model, hour=2 * written_for_hour > written_tokens)


def _is_uncached(usages: Sequence[Usage], rules: CacheRules) -> bool:
    """Whether nothing was written to a cache, though some prompts are long enough for one."""
    if any(usage.cache_write for usage in usages):
        return False
    return any(usage.prompt > rules.minimum for usage in usages)


def _assumed(session: Session) -> Pricing:
    """The prices of `ASSUMED`, for a session whose model has none."""
    whose = "a recording that names no model"
    if session.model:
        whose = f"the model {session.model!r}"
    rates = known_tariff(ASSUMED)
    rules = rules_for(rates, ASSUMED)
    reason = f"no price is known for {whose}"
    return Pricing(ASSUMED, rates, rules, head=None, why=reason)


def known_tariff(model: str) -> Tariff:
    """The model's prices.

    Raises:
        SettingError: the table has none.
    """
    rates = tariff(model)
    if rates is None:
        raise SettingError(
            f"no price is known for the model {model!r}; name one of litellm's table, such as"
            f" {ASSUMED}, or give prices"
        )
    return rates
