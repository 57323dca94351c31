"""How each provider words its errors, and where it states its numbers.

The wordings are facts of the providers' protocols. Rate limits, media and broken histories are looked for before
overflows, since their texts often speak of tokens and limits as well.

Source:
    Cohere: docs.cohere.com/reference/errors. Together: its message in BerriAI/litellm#4934; a shorter one is that of
    text-generation-inference, which it ran. Groq: OpenHands#1902; a request above the tokens of a minute is worded as
    a rate limit (413). Ollama: "the input length exceeds the context length" where it may not truncate, its cloud's
    "prompt too long", and `exceed_context_size_error` of the llama.cpp server that it runs; by default it cuts the
    prompt in silence, to half of the context and two (ollama/ollama#17427, #17944), which only the usage shows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

ErrorKind: TypeAlias = Literal["rate", "media", "malformed", "mixed", "overflow", "output_cap", "bytes"]

_WORDINGS: Final[Mapping[ErrorKind, tuple[str, ...]]] = {
    "rate": (
        r"rate[\s_-]*limit", r"too many requests", r"tokens? per (?:min|minute|hour|day)\b", r"\b(?:TPM|RPM|TPD|RPD)\b",
        r"throttl", r"\bquota\b", r"please wait before", r"service tier capacity", r"resource[_ ]?exhausted",
        r"\boverloaded\b|overloaded_error", r"requests? per (?:minute|second|day)",
    ),
    "media": (
        r"image exceeds", r"image[^.]{0,60}(?:too large|dimensions? exceed|exceeds? the max)", r"many-image",
        r"too many (?:images|media|documents)", r"maximum of \d+ (?:pdf )?pages", r"unsupported image",
    ),
    "malformed": (
        r"`?tool_use`? ids? were found without",
        r"unexpected `?tool_use_id`?",
        r"must be followed by tool messages",
        r"must be a response to a prece(?:e)?ding message with .?tool_calls",
        r"no tool (?:call|output) found for function call",
        r"thinking`? or `?redacted_thinking`? blocks?.{0,80}(?:cannot be modified|must remain)",
        r"invalid .?signature.? in .?thinking",
        r"expected .?thinking.? or .?redacted_thinking",
        r"no user query found",
        r"roles must alternate",
        r"first message must use the .?user.? role|conversation must start with a user",
        r"final assistant content cannot end with trailing whitespace",
        r"cannot contain reasoning content",
        r"function call turn comes immediately after",
        r"number of function response parts",
        r"thought_signature",
        r"minimum token count to start caching",
        r"invalid 'user'.*too long",
        r"tool call arguments as json",
    ),
    "mixed": (
        r"input length and [`']?max_tokens[`']? exceed context limit:?\s*\d+\s*\+\s*\d+\s*>\s*\d+",
        r"maximum context length is [\d,]+[^.]*\.\s*however,? (?:you|your)[^(]*\([\d,]+ in the messages[^)]*?[\d,]+ in "
        r"the completion",
        r"`inputs` tokens \+ `max_new_tokens` must be <= ?\d+",
    ),
    "overflow": (
        r"context_length_exceeded|context_window_exceeded|exceed_context_size|model_max_prompt_tokens_exceeded|input_too_large",
        r"prompt (?:is|was)?\s*too (?:long|large)|prompt too long|input (?:is )?too (?:long|large)",
        r"exceed(?:s|ed)?[^.\n]{0,60}(?:context (?:window|length|size|limit)|available context)",
        r"context (?:window|length|size|limit)[^.\n]{0,40}(?:exceed|overflow|too (?:long|large)|full|ran out)",
        r"ran out of room[^.\n]*context|context[^.\n]*ran out of room|context (?:window|length) limit",
        r"maximum (?:context|prompt|model|sequence) length (?:is|of|:)|maximum prompt length",
        r"maximum context limit|maximum model length",
        r"(?:longer|greater|larger) than the (?:model'?s? )?(?:maximum )?(?:context|model) (?:length|window)",
        r"too large for model with \d+ maximum context",
        r"(?:input|prompt)(?: token)? (?:token )?count[^.\n]{0,60}exceeds",
        r"(?:input|prompt|request)[^.\n]{0,40}tokens?[^.\n]{0,40}(?:exceed|cannot exceed)",
        r"(?:number of|too many) input tokens|exceeds the maximum number of (?:input )?tokens",
        r"prompt has too many tokens",
        r"too many tokens: (?:size|total|the total)|total tokens? exceed|must have less than \d+ tokens",
        r"input tokens exceed the configured limit",
        r"exceed(?:s|ed)? (?:the )?model token limit|model token limit: ?\d+",
        r"reduce (?:the|your) (?:length|size) of (?:the |your )?(?:messages|prompt|input)|reduce your message size",
        r"current length is \d+ while limit is \d+",
        r"range of input length should be|maximum (?:allowed )?input length",
        r"input length[^.\n]{0,40}(?:exceed|too long|should)|input text length should not exceed",
        r"prompt exceeds max length|\"?code\"?'?:? ?'?\"?1261",
        r"tokens in request more than max tokens",
        r"prompt has \d+ tokens, but the configured context size",
        r"slot context|n_ctx(?:_slot)?\b",
        r"number of tokens to keep from the initial prompt is greater",
        r"expected maxlength: ?\d+",
        r"max_tokens must be at least 1\b",
        r"length limit exceeded",
        r"超过[^，。]{0,12}(?:最大|长度|上下文)|上下文(?:长度|过长|窗口)",
    ),
    "output_cap": (
        r"range of max_tokens should be",
        r"max_(?:completion_|output_|new_)?tokens[^.]{0,60}"
        r"(?:is too large|must be (?:less|<)|exceeds? the (?:model|maximum)|larger than)",
        r"available_tokens",
        r"maximum (?:allowed )?(?:number of )?output tokens",
        r"max tokens must be less than or equal to",
    ),
    "bytes": (
        r"request_too_large|request (?:entity )?too large|payload too large",
        r"payload size exceeds",
        r"request exceeds the maximum size",
        r"string_above_max_length|string too long\. expected a string with maximum length",
    ),
}  # fmt: skip
KINDS: Final = {kind: re.compile("|".join(f"(?:{one})" for one in of), re.IGNORECASE) for kind, of in _WORDINGS.items()}
"""In the order in which they are tried."""

_N = r"\d[\d,_]*"
_USED, _LIMIT, _ASKED = rf"(?P<used>{_N})", rf"(?P<limit>{_N})", rf"(?P<asked>{_N})"

PAIRS: Final[tuple[re.Pattern[str], ...]] = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"context limit:?\s*{_USED}\s*\+\s*{_ASKED}\s*>\s*{_LIMIT}",
        rf"maximum context length is {_LIMIT}[^(]*\({_USED} (?:of text input|in the messages)[^)]*?{_ASKED} "
        r"(?:in the completion|in the output)",
        rf"must be <= ?{_LIMIT}\D{{1,30}}{_USED}\D{{1,40}}{_ASKED}",
        rf"{_USED}(?: tokens)?\s*>\s*{_LIMIT}",
        rf"(?:count|tokens?|length)\D{{1,24}}{_USED}\D{{0,24}}(?:exceeds?|longer than|larger than)\D{{1,60}}{_LIMIT}",
        rf"maximum (?:context|prompt|model|sequence) length (?:is|of) {_LIMIT}\D{{1,90}}{_USED} (?:input )?tokens",
        rf"(?:contains|has|current length is|too long:) {_USED}\D{{1,60}}{_LIMIT}",
        rf"limit[: ]+{_LIMIT}[^\d]{{1,40}}requested[: ]+{_USED}",
        rf"\({_USED} tokens?\)\D{{1,60}}\({_LIMIT} tokens?\)",
        rf"{_USED}\D{{1,12}}cannot exceed\D{{1,30}}{_LIMIT}",
        rf"(?:cannot exceed|must have less than) {_LIMIT}\D{{1,30}}(?:received|given:?) {_USED}",
        rf"n_prompt_tokens\D{{1,4}}{_USED}\D{{1,12}}n_ctx\D{{1,4}}{_LIMIT}",
    )
)
"""Where a text says both what was used and what the limit is."""

BOUND: Final = re.compile(
    rf"\[\d+, ?({_N})\]|<=? ?({_N})|at most ({_N})|maxlength: ({_N})|less than (?:or equal to )?({_N})"
    rf"|(?:maximum|max|limit)(?: (?:allowed|input|context|prompt|model|output|length|tokens?|number|is|of|the|for))*"
    rf"[: =(]+({_N})",
    re.IGNORECASE,
)
"""Where a text says a limit alone."""
