"""Windows and prices by model name, from the table that stands in litellm's package; litellm is not imported for it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

from workbench.errors import SetupError

TABLE = "model_prices_and_context_window_backup.json"

Row: TypeAlias = Mapping[str, Any]
"""One model's entry as litellm wrote it; only the fields used here are looked at."""

_DATE = re.compile(r"[-@](?:\d{8}|\d{4}-\d{2}-\d{2})$|-latest$")
_VERSION = re.compile(r"-v\d+(?::\d+)?$")
_REGION = re.compile(r"^(?:global|us|eu|au|jp|apac)\.")
_MAKER = re.compile(r"^(?:anthropic|openai|google|meta|mistral|amazon|cohere|deepseek|qwen|xai)\.")
_DIGITS = re.compile(r"(?<=\d)\.(?=\d)")
_TIER = re.compile(r"_above_(\d+)k_tokens")
_READ = ("input_cost_per_token", "cache_creation_input_token", "cache_read_input_token")
_WROTE = ("output_cost_per_token", "output_cost_per_reasoning")
_TIERS_NOT_ASKED_FOR = ("_priority", "_flex", "_batches", "_above_1hr")


@dataclass(frozen=True, slots=True)
class Prices:
    """What a model costs, in USD a token at its first tier; dearer tiers for long prompts are not in it.

    Attributes:
        cache_read, cache_write: the price of `input` where the table names none.
        cache_minimum: tokens under which the provider caches nothing.
        row: the name under which the prices stand in the table, to be shown beside every sum.
    """

    input: float
    output: float
    cache_read: float
    cache_write: float
    cache_minimum: int = 1_024
    row: str = ""


@dataclass(frozen=True, slots=True)
class Dearest:
    """The most that a model can cost, in USD.

    Attributes:
        input, output: a token of the prompt and of the answer, over all rates that can apply.
        call: what each question costs besides.
    """

    input: float
    output: float
    call: float = 0.0


def window(model: str) -> int | None:
    """The most tokens that the model takes as input; None if nobody knows."""
    found = row(model)
    limit = None if found is None else _table()[found].get("max_input_tokens")
    return limit if isinstance(limit, int) and limit > 0 else None


def prices(model: str) -> Prices | None:
    """What the model costs; None if the table has no price for it."""
    found = row(model)
    if found is None:
        return None
    entry = _table()[found]
    read, wrote = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if not isinstance(read, int | float) or not isinstance(wrote, int | float):
        return None
    return Prices(
        input=float(read),
        output=float(wrote),
        cache_read=float(entry.get("cache_read_input_token_cost") or read),
        cache_write=float(entry.get("cache_creation_input_token_cost") or read),
        cache_minimum=int(entry.get("prompt_cache_min_tokens") or 1_024),
        row=found,
    )


def dearest(model: str, read: int) -> Dearest | None:
    """The most that a question of so many tokens can cost; None if unknown.

    Tiers that must be asked for (priority, flex, batches, an hour's cache) are left out, since we never ask for them.
    """
    found = row(model)
    if found is None or prices(model) is None:
        return None
    given = _table()[found]
    costs = {
        name: float(value)
        for name, value in given.items()
        if isinstance(value, int | float) and not any(tier in name for tier in _TIERS_NOT_ASKED_FOR)
        and _applies(name, read)
    }  # fmt: skip
    return Dearest(
        max(costs[name] for name in costs if name.startswith(_READ)),
        max(costs[name] for name in costs if name.startswith(_WROTE)),
        costs.get("input_cost_per_request", 0.0) + _searching(found, given),
    )


def _applies(name: str, read: int) -> bool:
    """Whether a price can apply to a prompt of that many tokens at most."""
    tier = _TIER.search(name)
    return tier is None or read > 1_000 * int(tier[1])


def _searching(found: str, given: Row) -> float:
    """What a model costs besides that searches the web at every question."""
    costs = given.get("search_context_cost_per_query")
    if not isinstance(costs, dict) or not any(word in found for word in ("sonar", "search")):
        return 0.0
    return max((float(cost) for cost in costs.values() if isinstance(cost, int | float)), default=0.0)


def most_output(model: str) -> int | None:
    """The most tokens that the model gives as an answer; None if nobody knows."""
    found = row(model)
    limit = None if found is None else _table()[found].get("max_output_tokens")
    return limit if isinstance(limit, int) and limit > 0 else None


def entry(model: str) -> Row | None:
    """The model's whole row as litellm wrote it; None if it has none."""
    found = row(model)
    return None if found is None else _table()[found]


@lru_cache(maxsize=1_024)
def row(model: str) -> str | None:
    """The table's own name for a model that may be written with a provider, a date or another punctuation."""
    table = _table()
    for name in _spellings(model.strip()):
        if name in table:
            return name
    return next((found for name in _spellings(model.strip()) if (found := _plain_names().get(_plain(name)))), None)


def table_version() -> str:
    """The version of litellm that the table came with: prices differ between versions, so runs record it."""
    try:
        return version("litellm")
    except PackageNotFoundError:
        return ""


def _spellings(model: str) -> Iterator[str]:
    """The name as it is, then without its providers one by one."""
    parts = model.split("/")
    for i in range(len(parts)):
        name = "/".join(parts[i:])
        if name:
            yield name


def _plain(name: str) -> str:
    """The bare model: no provider, region, date or revision, and dashes for the dots of a version."""
    bare = name.rsplit("/", 1)[-1].lower()
    bare = _MAKER.sub("", _REGION.sub("", bare))
    return _DIGITS.sub("-", _DATE.sub("", _VERSION.sub("", bare)))


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Row]:
    spec = find_spec("litellm")
    for folder in (spec and spec.submodule_search_locations) or ():
        file = Path(folder) / TABLE
        if file.is_file():
            entries = json.loads(file.read_text(encoding="utf-8"))
            return {name: entry for name, entry in entries.items() if _speaks(entry)}
    raise SetupError(f"the price table {TABLE} is missing; it comes with the package litellm: pip install litellm")


def _speaks(entry: Row) -> bool:
    return entry.get("mode") in ("chat", "responses", "completion")


@lru_cache(maxsize=1)
def _plain_names() -> Mapping[str, str]:
    """The entry for each bare name: the one with the fewest providers before it, then the shortest, then the first."""
    names: dict[str, str] = {}
    for name in sorted(_table(), key=lambda name: (name.count("/"), name.count("."), len(name), name)):
        names.setdefault(_plain(name), name)
    return names
