"""What one request costs by its tokens: those read from the provider's cache, those written to it,
plain input, and the answer.
"""

from typing import NamedTuple

from workbench.engine.models.cache_rules import CacheRules
from workbench.engine.models.prices import Tariff
from workbench.engine.transcript.message import Message


class Charge(NamedTuple):
    """One request, in tokens and USD.

    Attributes:
        prompt: tokens of the whole request.
        read, written: of those, read from the provider's cache and written to it; the rest is plain
            input.
        output: tokens of the recorded answer.
        usd_input, usd_read, usd_write, usd_output: for each of these parts.
        usd_prompt: for the prompt alone.
        summaries: USD for the summaries that were written just before it.
        usd: all of it.
    """

    prompt: int
    read: int
    written: int
    output: int
    usd_input: float
    usd_read: float
    usd_write: float
    usd_output: float
    usd_prompt: float
    summaries: float
    usd: float


def charge(
    tariff: Tariff,
    rules: CacheRules,
    prompt: int,
    prefix: int,
    previous_prompt: int,
    head: int,
    waited: float | None,
    output: int = 0,
    summaries: float = 0.0,
) -> Charge:
    """One request; see `CacheRules.cached` for the arguments."""
    read = rules.cached(prompt, prefix, previous_prompt, head, waited)
    return charge_with(tariff, rules, prompt, read, output, summaries)


def charge_with(
    tariff: Tariff,
    rules: CacheRules,
    prompt: int,
    read: int,
    output: int = 0,
    summaries: float = 0.0,
) -> Charge:
    """One request of which so many tokens are read from the cache."""
    rates = tariff.at(prompt)
    new_tokens = prompt - read
    is_written = rules.writes and prompt >= rules.minimum
    cached_tokens = 0
    if is_written:
        cached_tokens = new_tokens
    usd_input = (new_tokens - cached_tokens) * rates.input
    usd_read = read * rates.cache_read
    write_rate = rates.cache_write
    if rules.hour:
        write_rate = rates.cache_write_long
    usd_write = cached_tokens * write_rate
    usd_output = output * rates.output
    usd_prompt = usd_input + usd_read + usd_write
    return Charge(
        prompt=prompt,
        read=read,
        written=cached_tokens,
        output=output,
        usd_input=usd_input,
        usd_read=usd_read,
        usd_write=usd_write,
        usd_output=usd_output,
        usd_prompt=usd_prompt,
        summaries=summaries,
        usd=usd_prompt + usd_output + summaries,
    )


def seconds_between(earlier: Message | None, later: Message) -> float | None:
    """Seconds between two messages; None where the recording has no times."""
    if earlier is None or earlier.time is None or later.time is None:
        return None
    return max(0.0, later.time - earlier.time)
