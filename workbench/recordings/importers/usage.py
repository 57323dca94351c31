"""What providers report for one request, in tokens: one table of field names a provider, read in
one way.
"""

from dataclasses import dataclass

from workbench.engine.transcript.message import Usage
from workbench.recordings.importers.values import Record, count


@dataclass(frozen=True, slots=True)
class UsageFields:
    """Where a record has its figures. Names are separated by spaces, and `a/b` is `b` inside `a`.

    Of several names, the first whose figure is not 0 counts.

    Attributes:
        cache_in_input: whether the input figure includes what was read from the cache and written
            to it. Where more was read than the figure, it does not: Cline reports 19 beside 10,386
            with Anthropic's models.
    """

    input: str
    output: str
    cache_read: str = ""
    cache_write: str = ""
    reasoning: str = ""
    cache_write_long: str = ""
    cache_in_input: bool = False

    def read(self, record: Record) -> Usage | None:
        """The figures of a record; None if it has none or all are 0."""
        prompt = count(record, *self.input.split())
        cache_read = count(record, *self.cache_read.split())
        cache_written = count(record, *self.cache_write.split())
        output = count(record, *self.output.split())
        reasoning = count(record, *self.reasoning.split())
        cache_written_long = count(record, *self.cache_write_long.split())
        if self.cache_in_input and cache_read <= prompt:
            cache_written = min(cache_written, prompt - cache_read)
            prompt -= cache_read + cache_written
        usage = Usage(
            input=prompt,
            cache_read=cache_read,
            cache_write=cache_written,
            output=output,
            reasoning=reasoning,
            cache_write_long=min(cache_written_long, cache_written),
        )
        return usage if usage != Usage() else None


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
    "prompt_tokens_details/cached_tokens input_tokens_details/cached_tokens cached_input_tokens",
    "cache_write_input_tokens",
    reasoning=(
        "completion_tokens_details/reasoning_tokens output_tokens_details/reasoning_tokens "
        "reasoning_output_tokens"
    ),
    cache_in_input=True,
)
"""OpenAI's figures of either API."""
GEMINI_USAGE = UsageFields(
    "prompt_token_count promptTokenCount",
    "candidates_token_count candidatesTokenCount",
    "cached_content_token_count cachedContentTokenCount",
    reasoning="thoughts_token_count thoughtsTokenCount",
    cache_in_input=True,
)
