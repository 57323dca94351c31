"""The prices and the cache rules that a session's replays are priced with."""

from dataclasses import dataclass

from workbench.base.errors import SettingError
from workbench.engine.models.cache_rules import NO_CACHE, NOT_ASKED_FOR, CacheRules, rules_for
from workbench.engine.models.prices import Tariff, given_tariff, stem_tariff, tariff
from workbench.engine.transcript.message import AssistantMessage
from workbench.engine.transcript.session import Session

ASSUMED = "claude-sonnet-4-5"
"""Whose prices are used where those of a recording's model are unknown; tables and reports say
so.
"""


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
    usages = [
        m.usage for m in session.messages if isinstance(m, AssistantMessage) and m.usage is not None
    ]
    long, wrote = (
        sum(getattr(usage, name) for usage in usages)
        for name in ("cache_write_long", "cache_write")
    )
    head = min((usage.cache_read for usage in usages if usage.cache_read), default=None)
    name = model or session.model
    if prices:
        found, why = given_tariff(prices), "the prices were given"
    elif model:
        found, why = known_tariff(model), "" if model == session.model else "the model was named"
        head = None if why else head
    elif (own := tariff(session.model)) is not None:
        found, why = own, ""
    elif (stem := stem_tariff(session.model)) is not None:
        name, found = stem.row, stem
        why = f"no price is known for the model {session.model!r}; it is priced as {name}"
    else:
        whose = (
            f"the model {session.model!r}" if session.model else "a recording that names no model"
        )
        assumed = known_tariff(ASSUMED)
        return Pricing(
            ASSUMED, assumed, rules_for(assumed, ASSUMED), None, f"no price is known for {whose}"
        )
    rules = rules_for(found, name, hour=2 * long > wrote)
    uncached = not head and not wrote and any(usage.prompt > rules.minimum for usage in usages)
    if rules.marked and uncached and name == session.model:
        rules = NOT_ASKED_FOR
    return Pricing(name, found, rules, head, why)


def known_tariff(model: str) -> Tariff:
    """The model's prices.

    Raises:
        SettingError: the table has none.
    """
    found = tariff(model)
    if found is None:
        raise SettingError(
            f"no price is known for the model {model!r}; name one of litellm's table, such as"
            f" {ASSUMED}, or give prices"
        )
    return found
