"""What providers report for one request, in tokens: one table of field names a provider, read in one way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.importers.values import count
from workbench.transcript.message import Json, Usage


@dataclass(frozen=True, slots=True)
class UsageFields:
    """Where a record has its figures; of several names, the first that is not 0 counts. `a/b` is `b` inside `a`.

    Attributes:
        cache_in_input: whether the input figure includes what was read from the cache and written to it.
    """

    input: tuple[str, ...] = ()
    output: tuple[str, ...] = ()
    cache_read: tuple[str, ...] = ()
    cache_write: tuple[str, ...] = ()
    reasoning: tuple[str, ...] = ()
    cache_write_long: tuple[str, ...] = ()
    cache_in_input: bool = False

    def read(self, record: Mapping[str, Json]) -> Usage | None:
        """The figures of a record; None where none is given or all are 0."""
        prompt, output = count(record, *self.input), count(record, *self.output)
        read, written = count(record, *self.cache_read), count(record, *self.cache_write)
        if self.cache_in_input:
            read = min(read, prompt)
            written = min(written, prompt - read)
            prompt -= read + written
        long = min(count(record, *self.cache_write_long), written)
        usage = Usage(prompt, read, written, output, count(record, *self.reasoning), long)
        return usage if usage != Usage() else None


ANTHROPIC_USAGE = UsageFields(
    input=("input_tokens",),
    output=("output_tokens",),
    cache_read=("cache_read_input_tokens",),
    cache_write=("cache_creation_input_tokens",),
    cache_write_long=("cache_creation/ephemeral_1h_input_tokens",),
)
OPENAI_USAGE = UsageFields(
    input=("prompt_tokens", "input_tokens"),
    output=("completion_tokens", "output_tokens"),
    cache_read=(
        "prompt_tokens_details/cached_tokens", "input_tokens_details/cached_tokens", "cached_input_tokens",
    ),
    reasoning=(
        "completion_tokens_details/reasoning_tokens", "output_tokens_details/reasoning_tokens",
        "reasoning_output_tokens",
    ),
    cache_in_input=True,
)  # fmt: skip
"""OpenAI's figures of either API."""
GEMINI_USAGE = UsageFields(
    input=("prompt_token_count", "promptTokenCount"),
    output=("candidates_token_count", "candidatesTokenCount"),
    cache_read=("cached_content_token_count", "cachedContentTokenCount"),
    reasoning=("thoughts_token_count", "thoughtsTokenCount"),
    cache_in_input=True,
)
