"""What a request costs by model: dearer tiers for long prompts included, prices of one's own accepted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite

from workbench.errors import SettingError
from workbench.models.catalog import Row, entry, row

MILLION = 1_000_000
_TIER = re.compile(r"input_cost_per_token_above_(\d+)k_tokens$")


@dataclass(frozen=True, slots=True)
class Rates:
    """USD a token.

    Attributes:
        cache_read: the price of `input` where the provider names none; `cache_write` likewise.
        cache_write_long: for a part of the cache that is kept for an hour; `cache_write` where none is named.
    """

    input: float
    output: float
    cache_read: float
    cache_write: float
    cache_write_long: float


@dataclass(frozen=True, slots=True)
class Tariff:
    """A model's rates.

    Attributes:
        row: the name under which the prices stand in the table; `given` for prices of one's own.
        rates: for short prompts.
        longer: for prompts of more than so many tokens, smallest bound first; the whole prompt pays the tier's rates.
        cache_minimum: tokens under which the provider caches nothing; None where the table does not say.
        provider: the table's own word for who sells it.
    """

    row: str
    rates: Rates
    longer: tuple[tuple[int, Rates], ...] = ()
    cache_minimum: int | None = None
    provider: str = ""

    def at(self, prompt: int) -> Rates:
        """The rates for a prompt of so many tokens."""
        found = self.rates
        for bound, rates in self.longer:
            if prompt > bound:
                found = rates
        return found


def tariff(model: str) -> Tariff | None:
    """What the model costs; None if the table has no price for it."""
    found = row(model)
    given = entry(model)
    if found is None or given is None:
        return None
    base = _rates(given, "")
    if base is None:
        return None
    bounds = sorted(int(match[1]) for name in given if (match := _TIER.match(name)))
    longer = tuple(
        (1_000 * bound, tier)
        for bound in bounds
        if (tier := _rates(given, f"_above_{bound}k_tokens", base)) is not None
    )
    least = given.get("prompt_cache_min_tokens")
    provider = given.get("litellm_provider")
    return Tariff(found, base, longer, least if isinstance(least, int) else None, str(provider or ""))


def given_tariff(text: str) -> Tariff:
    """Prices of one's own.

    Args:
        text: USD a million tokens, such as `input=3,output=15,cache_read=0.3,cache_write=3.75`; the last two, and
            `cache_write_long`, may be left out.

    Raises:
        SettingError: a word is no price, or one of the two that are needed is missing.
    """
    found: dict[str, float] = {}
    for word in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = word.partition("=")
        found[_known(name.strip(), word)] = _price(value.strip(), word)
    missing = [name for name in ("input", "output") if name not in found]
    if missing:
        raise SettingError(f"the prices {text!r} name no {' and no '.join(missing)}; write input=3,output=15")
    read = found.get("cache_read", found["input"])
    wrote = found.get("cache_write", found["input"])
    long = found.get("cache_write_long", wrote)
    return Tariff("given", Rates(found["input"], found["output"], read, wrote, long))


def _known(name: str, word: str) -> str:
    known = ("input", "output", "cache_read", "cache_write", "cache_write_long")
    if name not in known:
        raise SettingError(f"the price {word!r} is of nothing known; prices are {', '.join(known)}")
    return name


def _price(value: str, word: str) -> float:
    try:
        price = float(value)
    except ValueError:
        price = -1.0
    if not (isfinite(price) and price >= 0):
        raise SettingError(f"the price {word!r} has no amount; write USD a million tokens, such as input=3")
    return price / MILLION


def _rates(given: Row, tier: str, base: Rates | None = None) -> Rates | None:
    """The rates of a tier; what the tier does not name is dearer by the same factor as its input."""
    read, wrote = _number(given, f"input_cost_per_token{tier}"), _number(given, f"output_cost_per_token{tier}")
    if read is None or (wrote is None and base is None):
        return None
    if base is None:
        kept = _number(given, "cache_read_input_token_cost") or read
        write = _number(given, "cache_creation_input_token_cost") or read
        long = _number(given, "cache_creation_input_token_cost_above_1hr") or write
        return Rates(read, wrote or 0.0, kept, write, long)
    factor = read / base.input if base.input else 1.0
    dearer = Rates(
        read, base.output if wrote is None else wrote, base.cache_read * factor, base.cache_write * factor,
        base.cache_write_long * factor,
    )  # fmt: skip
    kept = _number(given, f"cache_read_input_token_cost{tier}") or dearer.cache_read
    return replace(dearer, cache_read=kept)


def _number(given: Mapping[str, object], name: str) -> float | None:
    value = given.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
