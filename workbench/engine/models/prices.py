"""Windows and prices by model name, from the table in litellm's package; litellm itself is not
imported.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from workbench.base.errors import SettingError, SetupError

TABLE = "model_prices_and_context_window_backup.json"
MILLION = 1_000_000

_TIER = re.compile(r"_above_(\d+)k_tokens")
_INPUT_TIER = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")
_TIERS_NOT_REQUESTED = ("_priority", "_flex", "_batches", "_above_1hr")
_READ = ("input_cost_per_token", "cache_creation_input_token", "cache_read_input_token")
_WROTE = ("output_cost_per_token", "output_cost_per_reasoning")
_MODES = ("chat", "responses", "completion")
"""Of the models that are asked here."""
_OWN_PRICES = ("input", "output", "cache_read", "cache_write", "cache_write_long")
_REGION_AND_MAKER = re.compile(
    r"^(?:(?:global|us|eu|au|jp|apac)\.)?(?:(?:anthropic|openai|google|meta|mistral|amazon|cohere|deepseek|qwen|xai)\.)?"
)
_VERSION = re.compile(r"-v\d+(?::\d+)?$")
_DATE = re.compile(r"[-@](?:\d{8}|\d{4}-\d{2}-\d{2})$|-latest$")
_DOT = re.compile(r"(?<=\d)\.(?=\d)")


@dataclass(frozen=True, slots=True)
class Rates:
    """USD a token.

    Attributes:
        cache_read, cache_write: the price of `input` where the provider names none.
        cache_write_long: for a part of the cache that is kept for an hour; `cache_write` where none
            is named.
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
        row: the name under which the prices are listed in the table; `given` for your own prices.
        rates: for short prompts.
        longer: for prompts of more than so many tokens, smallest bound first; the whole prompt pays
            the tier's rates.
        cache_minimum: tokens under which the provider caches nothing; None where the table does not
            say.
        provider: the table's own word for the provider.
    """

    row: str
    rates: Rates
    longer: tuple[tuple[int, Rates], ...] = ()
    cache_minimum: int | None = None
    provider: str = ""

    def at(self, prompt: int) -> Rates:
        """The rates for a prompt of so many tokens."""
        rates = self.rates
        for bound, tier_rates in self.longer:
            if prompt > bound:
                rates = tier_rates
        return rates


class Dearest(NamedTuple):
    """The most that a model can cost, in USD: a token of the prompt, one of the answer, and each
    request besides.
    """

    input: float
    output: float
    request: float = 0.0


def window(model: str) -> int | None:
    """The most tokens that the model takes as input; None if unknown."""
    return _limit(model, "max_input_tokens")


def most_output(model: str) -> int | None:
    """The most tokens of one completion; None if unknown."""
    return _limit(model, "max_output_tokens")


def tariff(model: str) -> Tariff | None:
    """What the model costs; None if the table has no price for it."""
    table_row = row(model)
    if table_row is None:
        return None
    entry = _table()[table_row]
    if "input_cost_per_token" not in entry or "output_cost_per_token" not in entry:
        return None
    base = _rates(entry)
    longer: list[tuple[int, Rates]] = []
    for thousands in _tier_bounds(entry):
        rates = _tier_rates(entry, f"_above_{thousands}k_tokens", base)
        longer.append((1_000 * thousands, rates))
    return Tariff(
        table_row,
        base,
        tuple(longer),
        entry.get("prompt_cache_min_tokens"),
        entry.get("litellm_provider") or "",
    )


def _tier_bounds(entry: Mapping[str, Any]) -> list[int]:
    """Thousands of tokens above which an entry has other prices, ascending."""
    bounds: list[int] = []
    for name in entry:
        match = _INPUT_TIER.fullmatch(name)
        if match:
            bounds.append(int(match[1]))
    return sorted(bounds)


def stem_tariff(model: str) -> Tariff | None:
    """What the model costs from whose name this one goes on by a word, as `gpt-5.3-codex-spark`;
    None if unknown.
    """
    return tariff(model.rpartition("-")[0])


def is_of_named_provider(table_row: str, model: str) -> bool:
    """Whether the model's name has the provider of a row, if the row has any: `x-ai/grok-4` has
    that of `xai/grok-4`, and not that of `oci/xai.grok-4`.
    """
    provider = table_row.rpartition("/")[0]
    return _letters(provider) in _letters(model)


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def given_tariff(text: str) -> Tariff:
    """Your own prices.

    Args:
        text: USD a million tokens, such as `input=3,output=15,cache_read=0.3,cache_write=3.75`; the
            last two, and `cache_write_long`, are optional.

    Raises:
        SettingError: a word is no price, or one of the two required prices is missing.
    """
    prices: dict[str, float] = {}
    for part in text.split(","):
        word = part.strip()
        if not word:
            continue
        name, _, amount = map(str.strip, word.partition("="))
        if name not in _OWN_PRICES:
            raise SettingError(
                f"{word!r} is not a price; known prices are {', '.join(_OWN_PRICES)}"
            )
        if not re.fullmatch(r"(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?", amount):
            raise SettingError(
                f"the price {word!r} has no amount; write USD a million tokens, such as input=3"
            )
        prices[name] = float(amount) / MILLION
    missing = [name for name in ("input", "output") if name not in prices]
    if missing:
        raise SettingError(
            f"the prices {text!r} have no {' and no '.join(missing)}; write input=3,output=15"
        )
    read = prices["input"]
    write = prices.get("cache_write", read)
    rates = Rates(
        input=read,
        output=prices["output"],
        cache_read=prices.get("cache_read", read),
        cache_write=write,
        cache_write_long=prices.get("cache_write_long", write),
    )
    return Tariff("given", rates)


def dearest(model: str, read: int) -> Dearest | None:
    """The most that a request of so many prompt tokens can cost; None if unknown.

    Tiers that must be requested (priority, flex, batches, an hour's cache) are left out, since we
    never request them.
    """
    table_row = row(model)
    if table_row is None or tariff(model) is None:
        return None
    entry = _table()[table_row]
    costs = {name: cost for name, cost in entry.items() if _can_apply(name, read)}
    of_request = costs.get("input_cost_per_request", 0.0)
    if "sonar" in table_row or "search" in table_row:
        of_searches = entry.get("search_context_cost_per_query") or {}
        of_request += max(of_searches.values(), default=0.0)
    return Dearest(
        max(cost for name, cost in costs.items() if name.startswith(_READ)),
        max(cost for name, cost in costs.items() if name.startswith(_WROTE)),
        of_request,
    )


def _can_apply(name: str, read: int) -> bool:
    """Whether the price of this name can be that of a prompt of so many tokens."""
    if any(tier in name for tier in _TIERS_NOT_REQUESTED):
        return False
    tier = _TIER.search(name)
    return tier is None or read > 1_000 * int(tier[1])


@lru_cache(maxsize=1_024)
def row(model: str) -> str | None:
    """The table's name for a model that is written with a provider (`openai/gpt-4.1`,
    `openai:gpt-4.1`), a date or other signs.
    """
    parts = model.strip().split("/")
    names = ["/".join(parts[start:]) for start in range(len(parts))]
    names += [name.partition(":")[2] for name in names]
    names = [name for name in names if name]
    for name in names:
        if name in _table():
            return name
    for name in names:
        table_row = _bare_names().get(_bare(name))
        if table_row:
            return table_row
    return None


def _limit(model: str, name: str) -> int | None:
    table_row = row(model)
    if table_row is None:
        return None
    limit = _table()[table_row].get(name)
    if isinstance(limit, int) and limit > 0:
        return limit
    return None


def _rates(entry: Mapping[str, Any]) -> Rates:
    """The rates for short prompts."""
    read, wrote = entry["input_cost_per_token"], entry["output_cost_per_token"]
    write = entry.get("cache_creation_input_token_cost") or read
    long = entry.get("cache_creation_input_token_cost_above_1hr") or write
    return Rates(read, wrote, entry.get("cache_read_input_token_cost") or read, write, long)


def _tier_rates(entry: Mapping[str, Any], tier: str, base: Rates) -> Rates:
    """The rates of a tier; what it does not name is dearer by the same factor as its input."""
    read = entry[f"input_cost_per_token{tier}"]
    factor = read / base.input if base.input else 1.0
    cache_read = entry.get(f"cache_read_input_token_cost{tier}") or base.cache_read * factor
    wrote = entry.get(f"output_cost_per_token{tier}", base.output)
    return Rates(read, wrote, cache_read, base.cache_write * factor, base.cache_write_long * factor)


def _bare(name: str) -> str:
    """The bare model: no provider, region, date or revision, and dashes for dots."""
    bare = name.rsplit("/", 1)[-1].lower()
    for pattern in (_REGION_AND_MAKER, _VERSION, _DATE):
        bare = pattern.sub("", bare)
    return _DOT.sub("-", bare)


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Mapping[str, Any]]:
    spec = find_spec("litellm")
    folders = (spec and spec.submodule_search_locations) or ()
    for folder in folders:
        file = Path(folder) / TABLE
        if file.is_file():
            entries = json.loads(file.read_text(encoding="utf-8"))
            return {name: entry for name, entry in entries.items() if entry.get("mode") in _MODES}
    raise SetupError(
        f"the price table {TABLE} is missing; install litellm: pip install"
        " 'compaction-workbench[litellm]'"
    )


@lru_cache(maxsize=1)
def _bare_names() -> Mapping[str, str]:
    """The entry for each bare name: the one with the fewest providers before it, then the
    shortest, then the first.
    """

    def order(name: str) -> tuple[int, int, int, str]:
        return name.count("/"), name.count("."), len(name), name

    names: dict[str, str] = {}
    for name in sorted(_table(), key=order):
        names.setdefault(_bare(name), name)
    return names
