"""How providers cache prompts: what a request finds in the cache, and what it pays for writing
to it.
"""

from dataclasses import dataclass, replace

from workbench.engine.models.prices import Tariff

MINUTE, HOUR = 60.0, 3_600.0


@dataclass(frozen=True, slots=True)
class CacheRules:
    """What a provider's prompt cache serves.

    Attributes:
        name: shown in reports.
        minimum: tokens under which nothing is cached.
        block: tokens; a cached prefix is a multiple of it.
        seconds: how long a prefix lives after its last use; 0 where nothing is cached.
        writes: whether writing has a price of its own; else unread tokens pay the input price.
        marked: whether a prefix is found only where an earlier request ended or at the end of the
            head (system prompt and tools), since clients mark those two places; else it is found
            wherever the two prompts part.
        hour: whether what is written is kept for an hour, at the price for that.
        forgets: whether the thinking of a turn leaves the prompt when the user speaks again. What
            stood behind it has then moved, and no more is found than the prompt that began that
            turn.
    """

    name: str
    minimum: int = 0
    block: int = 1
    seconds: float = 0.0
    writes: bool = False
    marked: bool = False
    hour: bool = False
    forgets: bool = False

    def cached(
        self, prompt: int, prefix: int, previous_prompt: int, head: int, seconds_since: float | None
    ) -> int:
        """Tokens of a prompt that are read from the cache.

        Args:
            prompt: tokens of the whole request.
            prefix: tokens that it has in common with the request before it; 0 for the first.
            previous_prompt: tokens of the request before it; 0 for the first.
            head: tokens of system prompt and tools, which stand first and never change.
            seconds_since: seconds since the request before; None if unknown, then nothing has expired.
        """
        is_expired = seconds_since is not None and seconds_since > self.seconds
        if not self.seconds or is_expired:
            return 0
        if self.marked and prefix < previous_prompt:
            prefix = min(prefix, head)
        cached_tokens = min(prefix, prompt) // self.block * self.block
        if cached_tokens < max(self.minimum, 1):
            return 0
        return cached_tokens


ANTHROPIC = CacheRules("Anthropic, 5 minutes", 1_024, 1, 5 * MINUTE, writes=True, marked=True)
"""Four marked places at most, looked up 20 blocks back; clients mark the head and the end of the
conversation.

Source:
    Anthropic's guide to prompt caching. In eleven recordings of Claude Code, each request after a
    compaction or a clearing reads the head alone, each after a pause longer than the lifetime reads
    nothing, and all others read the whole prompt of the request before.
"""
ANTHROPIC_HOUR = replace(ANTHROPIC, name="Anthropic, 1 hour", seconds=HOUR, hour=True)
"""The same, kept for an hour, which costs twice the input price."""
OPENAI = CacheRules("OpenAI, automatic", 1_024, 128, 30 * MINUTE, forgets=True)
"""Automatic from 1,024 tokens on, in steps of 128; writing is free. Reasoning is dropped after its
turn.

Source:
    OpenAI's guide to prompt caching: 5 to 10 minutes as a rule, an hour at most. Half an hour is
    what ten recordings of gpt-5.4 and gpt-5.5 show: seven of nine pauses of 10 to 30 minutes hit,
    no longer one did. OpenAI's guide to reasoning: the reasoning of a turn is not carried into the
    next. reports/studies/bills says how well that fits.
"""
OPENAI_WRITES = CacheRules("OpenAI, writes charged", 1_024, 128, 30 * MINUTE, writes=True)
"""From GPT-5.6 on: a lifetime of 30 minutes at least, and writing costs 1.25 times the input price.
Reasoning stays.

Source:
    OpenAI's guide to prompt caching; the end of each request is marked by the provider itself.
"""
GEMINI = CacheRules("Gemini, implicit", 4_096, 1, 10 * MINUTE, forgets=True)
"""Automatic and not promised; 1,024 to 4,096 tokens at least, by model. Nobody publishes the
lifetime.

Of three recordings of Gemini 3, the requests in which the user speaks find about the prompt that
began the turn before. The three pauses of more than five minutes in them, 347 to 581 seconds long,
were all survived.

Source:
    Google's guide to context caching; resellers report a lifetime of three to five minutes.
"""
DEEPSEEK = CacheRules("DeepSeek, on disk", 64, 64, 4 * HOUR)
"""Automatic in units of 64 tokens, kept for hours to days.

Source:
    DeepSeek's guide to context caching.
"""
AUTOMATIC = CacheRules("automatic, rules not published", 1_024, 128, 5 * MINUTE)
"""For a provider whose table row has a price for cached input, and of whose cache no more is
known.
"""
BLOCKS = {"gpt-5.5": 512, "gpt-5.6": 1_024, "gemini-3.1-pro": 7_800, "gemini-3-flash": 2_048}
"""The block of models whose cache reads are multiples of more than their provider's rules say, in
reported tokens.

Source:
    Recordings. All 1,004 reads of gpt-5.5 in six sessions of two clients lie whole multiples of 512
    apart, all 359 of gpt-5.6 of 1,024, and those of gpt-5.4 of 128. Those of Gemini 3.1 Pro in two
    sessions are multiples of about 7,800, which are 8,192 of its own. googleapis/python-genai issue
    2064 tells of steps of 2,048 and 8,192 of Gemini 3 Flash; three recordings of it fit no one
    size, and fall short by less with 2,048 than with none.
"""
NO_CACHE = CacheRules("no cache")
"""For a model without a price for cached input."""
NOT_ASKED_FOR = CacheRules("no cache asked for")
"""For a provider that caches what its client marks, and a recording whose client reports no
cache read or write.
"""


def rules_for(tariff: Tariff, model: str = "", *, hour: bool = False) -> CacheRules:
    """The rules of this model's provider, with the model's own minimum where the table has it, and
    its own block.

    Args:
        tariff: its prices.
        model: its name; the tariff's row if none is given.
        hour: whether an Anthropic cache is kept for an hour.
    """
    rates = tariff.rates
    if rates.cache_read >= rates.input:
        return NO_CACHE
    name = f"{tariff.row} {model}".lower()
    charges_writes = rates.cache_write > rates.input
    if "claude" in name:
        rules = ANTHROPIC_HOUR if hour else ANTHROPIC
    elif "gemini" in name:
        rules = GEMINI
    elif "deepseek" in name:
        rules = DEEPSEEK
    elif "gpt" in name or tariff.provider in ("openai", "azure", "chatgpt"):
        rules = OPENAI_WRITES if charges_writes else OPENAI
    elif charges_writes:
        rules = ANTHROPIC
    else:
        rules = AUTOMATIC
    if tariff.cache_minimum is not None:
        rules = replace(rules, minimum=tariff.cache_minimum)
    for model_name, size in BLOCKS.items():
        if model_name in name:
            return replace(rules, block=size)
    return rules
