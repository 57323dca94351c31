"""What providers report for one request, in tokens: one table of field names a provider, read in
one way.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from workbench.engine.transcript.message import Usage
from workbench.recordings.importers.values import Record, count


@dataclass(frozen=True, slots=True)
class Counting:
    """What a provider's figures include.

    Attributes:
        cache_in_input: whether the input has what was read from the cache and written to it.
        reasoning_in_output: whether the output has what the model thought.
    """

    cache_in_input: bool
    reasoning_in_output: bool


@dataclass(frozen=True, slots=True)
class UsageFields:
    """Where a record has its figures. Names are separated by spaces, and `a/b` is `b` inside `a`.

    Of several names, the first whose figure is not 0 counts. One program often writes the figures
    of several providers as they come, so `cache_in_input` and `reasoning_in_output` are what is
    usual. The figures decide otherwise where `total` is the sum of the other reading, or where a
    part is larger than its whole. What the total has beyond all others was thought: Gemini reports
    so by OpenAI's names.

    Attributes:
        tool_input: what the provider's own tools added to the input, which `input` lacks.
        total: of all tokens of the request, each counted once.
        cache_in_input: as in `Counting`: Anthropic's input is without the cache, OpenAI's with it.
        reasoning_in_output: likewise: Gemini's output is without the thoughts, OpenAI's with them.
        output_is_all: whether the output is all that the model wrote by the program's definition,
            so that a larger figure of the thoughts is another counter's.
    """

    input: str
    output: str
    cache_read: str = ""
    cache_write: str = ""
    reasoning: str = ""
    cache_write_long: str = ""
    tool_input: str = ""
    total: str = ""
    cache_in_input: bool = False
    reasoning_in_output: bool = True
    output_is_all: bool = False

    def read(self, record: Record) -> Usage | None:
        """The figures of a record; None if it has none or all are 0."""
        own_input = count(record, *self.input.split())
        tool_input = count(record, *self.tool_input.split())
        reported = Usage(
            input=own_input + tool_input,
            cache_read=count(record, *self.cache_read.split()),
            cache_write=count(record, *self.cache_write.split()),
            output=count(record, *self.output.split()),
            reasoning=count(record, *self.reasoning.split()),
        )
        total = count(record, *self.total.split())
        counting = self._counting(reported, total)
        hidden = total - _sum(reported, counting)
        if hidden > 0 and reported.input and reported.output and not reported.reasoning:
            reported = replace(reported, reasoning=hidden)
            counting = replace(counting, reasoning_in_output=False)
        uncached = reported.input
        if counting.cache_in_input:
            uncached -= reported.cache_read + reported.cache_write
        output = reported.output
        reasoning = reported.reasoning
        if counting.reasoning_in_output:
            reasoning = min(reasoning, output)
        else:
            output += reasoning
        long_written = count(record, *self.cache_write_long.split())
        usage = Usage(
            input=uncached,
            cache_read=reported.cache_read,
            cache_write=reported.cache_write,
            output=output,
            reasoning=reasoning,
            cache_write_long=min(long_written, reported.cache_write),
        )
        return usage if usage != Usage() else None

    def _counting(self, reported: Usage, total: int) -> Counting:
        """What these figures include: the usual, unless the figures speak against it. A total
        decides about thoughts even where more are told than the output has: another counter's.
        """
        possible = [counting for counting in self._countings() if _has_cache(reported, counting)]
        for counting in possible:
            if self.output_is_all or _sum(reported, counting) == total:
                return counting
        return next(counting for counting in possible if _has_thoughts(reported, counting))

    def _countings(self) -> Iterator[Counting]:
        """Each way of counting, the usual first."""
        usual_cache = self.cache_in_input
        usual_reasoning = self.reasoning_in_output
        yield Counting(usual_cache, usual_reasoning)
        yield Counting(not usual_cache, usual_reasoning)
        yield Counting(usual_cache, not usual_reasoning)
        yield Counting(not usual_cache, not usual_reasoning)


def _has_cache(reported: Usage, counting: Counting) -> bool:
    """Whether the input is as large as what it includes of the cache."""
    cached = reported.cache_read + reported.cache_write
    return not counting.cache_in_input or cached <= reported.input


def _has_thoughts(reported: Usage, counting: Counting) -> bool:
    """Whether the output is as large as what it includes of the thoughts."""
    return not counting.reasoning_in_output or reported.reasoning <= reported.output


def _sum(reported: Usage, counting: Counting) -> int:
    """All tokens of the request."""
    tokens = reported.input + reported.output
    if not counting.cache_in_input:
        tokens += reported.cache_read + reported.cache_write
    if not counting.reasoning_in_output:
        tokens += reported.reasoning
    return tokens


ANTHROPIC_USAGE = UsageFields(
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    cache_write_long="cache_creation/ephemeral_1h_input_tokens",
)
OPENAI_USAGE = UsageFields(
    "prompt_tokens input_tokens",
    "completion_tokens output_tokens",
    "prompt_tokens_details/cached_tokens input_tokens_details/cached_tokens cached_input_tokens "
    "cache_read_input_tokens prompt_cache_hit_tokens",
    "cache_write_input_tokens cache_creation_input_tokens prompt_tokens_details/cache_write_tokens",
    reasoning=(
        "completion_tokens_details/reasoning_tokens output_tokens_details/reasoning_tokens "
        "reasoning_output_tokens"
    ),
    total="total_tokens",
    cache_in_input=True,
)
"""OpenAI's figures of either API, with the names that LiteLLM, OpenRouter and DeepSeek add."""
GEMINI_USAGE = UsageFields(
    "prompt_token_count promptTokenCount",
    "candidates_token_count candidatesTokenCount",
    "cached_content_token_count cachedContentTokenCount",
    reasoning="thoughts_token_count thoughtsTokenCount",
    tool_input="tool_use_prompt_token_count toolUsePromptTokenCount",
    total="total_token_count totalTokenCount",
    cache_in_input=True,
    reasoning_in_output=False,
)
_ANTHROPIC_CACHE = frozenset({"cache_read_input_tokens", "cache_creation_input_tokens"})


def provider_fields(figures: Record) -> UsageFields:
    """The fields of OpenAI's report or of Anthropic's, as its names tell. LiteLLM gives Anthropic's
    names of the cache beside OpenAI's of the prompt.
    """
    if "prompt_tokens" in figures or _ANTHROPIC_CACHE.isdisjoint(figures):
        return OPENAI_USAGE
    return ANTHROPIC_USAGE
