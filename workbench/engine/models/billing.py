"""What a request can cost at most, known before it is sent, and what its response says that it
did cost.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from workbench.base.errors import ModelError
from workbench.engine.models.model import Completion
from workbench.engine.models.prices import MILLION, Rates, dearest, tariff, window
from workbench.engine.models.provider_options import ProviderOptions
from workbench.engine.models.tokenizer import TiktokenCounter

BYTES_PER_TOKEN = 4
"""Of usual text, for an estimate."""
FRAME = 256
"""Tokens that a provider may add to the words of a prompt."""

LONGER = 4
"""So many times its bound an answer may be by our count: tokenizers differ, and a provider
counts by its own.
"""
LONGEST_TOKEN = 32
"""Characters of a token, on average over an answer: more are no text."""
TINY = 1e-9
"""USD of rounding."""
UNREACHED = ("ConnectError", "ConnectTimeout", "HTTPStatusError")
"""httpx's errors of a request that no model has read."""

Response: TypeAlias = Any
"""litellm's own object, whose classes differ from version to version."""

THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>\s*|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Bound:
    """The most that a request may read, write and cost.

    Attributes:
        read: tokens of the prompt.
        wrote: tokens of the completion; None if it has no bound.
        rates: what its tokens cost; None if unknown.
        has_own_prices: whether these are the user's prices, and not the table's.
        usd: what the request may cost; None if unknown.
    """

    read: int
    wrote: int | None
    rates: Rates | None
    has_own_prices: bool
    usd: float | None

    def why_exceeded(self, read: int, wrote: int, usd: float | None = None) -> str:
        """What a provider reports more of than there can be, in words; empty where it does not."""
        if read > self.read:
            return (
                f"a prompt of {read:,} tokens, where {self.read:,} are the most that there can be"
            )
        if self.wrote is not None and wrote > self.wrote:
            return f"an answer of {wrote:,} tokens, where it was asked for {self.wrote:,} at most"
        if usd is not None and self.usd is not None and usd > self.usd + TINY:
            return f"a cost of ${usd:,.4f}, where ${self.usd:,.4f} is the most that it can be"
        return ""


@dataclass(frozen=True, slots=True)
class BoundedRequest:
    """One request as it is sent, the most that it may read, write and cost, and whether a
    spending limit covers it.
    """

    model: str
    call: Mapping[str, Any]
    bound: Bound
    is_limited: bool = False

    @property
    def tokens(self) -> int:
        """About so many are in the prompt."""
        return self.bound.read // BYTES_PER_TOKEN


def bound(
    model: str, options: ProviderOptions, texts: Sequence[str], max_output: int | None
) -> Bound:
    """The most that a request can cost.

    Every token of the prompt counts at the dearest rate that can apply to it (a cache write, a tier
    for long prompts), and every token of the completion at the dearest of a completion. The prompt
    may have a token a byte (UTF-8): tokenizers go back to bytes and no finer, and runs of digits,
    blanks or marks may well be cut so fine.

    `max_output` are the tokens of the completion; None for no bound.
    """
    read = FRAME
    for text in texts:
        read += len(text.encode("utf-8", "replace"))
    if options.input_usd is not None and options.output_usd is not None:
        input_usd = options.input_usd / MILLION
        output_usd = options.output_usd / MILLION
        own_rates = Rates(input_usd, output_usd, input_usd, input_usd, input_usd)
        usd = None
        if max_output is not None:
            usd = read * input_usd + max_output * output_usd
        return Bound(read, max_output, own_rates, has_own_prices=True, usd=usd)
    # a prompt beyond the window is refused, and costs nothing
    paid_tokens = min(read, window(model) or read)
    dearest_rates = dearest(model, paid_tokens)
    usd = None
    if dearest_rates is not None and max_output is not None:
        usd = paid_tokens * dearest_rates.input + max_output * dearest_rates.output
        usd += dearest_rates.request
    rates = None
    listed = tariff(model)
    if listed is not None:
        rates = listed.rates
    return Bound(read, max_output, rates, has_own_prices=False, usd=usd)


def read_response(response: Response, sent: BoundedRequest) -> tuple[Completion, float | None]:
    """The completion in a response, its tokens as reported or, where that cannot be true, as
    counted; its dollars.

    The dollars are what the ledger counts. None stands for all that was set aside, which is what a
    report of more than there can be counts as: what was really paid is unknown, and a report alone
    must not end a run.

    Raises:
        ValueError: the response holds no completion.
    """
    choices = getattr(response, "choices", None) or ()
    if not choices:
        raise ValueError("it holds no choice")
    choice = choices[0]
    content = _text(getattr(choice.message, "content", None))
    calls: tuple[tuple[str, str], ...] = ()
    if "tools" in sent.call:
        calls = _calls(choice)
    whole_text = content
    for _, arguments in calls:
        whole_text += arguments
    _check_length(whole_text, sent)
    text = THOUGHT.sub("", content).strip()
    finish = str(choice.finish_reason or "")
    usage = _reported(response)
    reported_usd = _reported_usd(response)
    too_much = sent.bound.why_exceeded(usage.read, usage.wrote, reported_usd)
    misreport = too_much or usage.why_impossible
    has_no_usage = usage.read == 0 or (text != "" and usage.wrote == 0)
    is_counted = has_no_usage or misreport != ""
    usd = reported_usd
    if is_counted:
        usage = _counted(sent, text)
        usd = None
    completion = Completion(
        text=text,
        model=f"litellm:{getattr(response, 'model', None) or sent.model}",
        input_tokens=usage.read,
        output_tokens=usage.wrote,
        cached_tokens=usage.cached,
        usd=_usd(sent.bound, usage, usd),
        cut=finish == "length",
        counted=is_counted,
        misreport=f"{sent.model} reported {misreport}" if misreport else "",
        why="" if text or calls else f"it ended with {finish!r}",
        logprobs=_logprobs(choice),
        calls=calls,
    )
    if too_much and sent.bound.usd is not None:
        return completion, None
    return completion, completion.usd


def _calls(choice: Response) -> tuple[tuple[str, str], ...]:
    """The tools that an answer calls: each one's name and its arguments."""
    calls = getattr(choice.message, "tool_calls", None) or ()
    return tuple((str(call.function.name), str(call.function.arguments)) for call in calls)


@dataclass(frozen=True, slots=True)
class _Usage:
    """Tokens of one request: of its prompt, of its completion, and of the prompt from the
    provider's cache.
    """

    read: int
    wrote: int
    cached: int

    @property
    def why_impossible(self) -> str:
        """What contradicts itself in a report, in words; empty where nothing does."""
        if min(self.read, self.wrote, self.cached) < 0:
            return "fewer tokens than none"
        if self.read and self.cached > self.read:
            return f"{self.cached:,} tokens from its cache, for a prompt of {self.read:,}"
        return ""


def _counted(sent: BoundedRequest, answer: str) -> _Usage:
    """The tokens of a request and its answer by our own count."""
    count = TiktokenCounter().count_text
    prompt_tokens = 0
    for message in sent.call["messages"]:
        prompt_tokens += count(_text(message.get("content")))
    return _Usage(prompt_tokens, count(answer), 0)


def _check_length(text: str, sent: BoundedRequest) -> None:
    """Refuse an answer that is far longer than a spending limit has covered.

    Raises:
        ModelError: its provider did not keep to the bound.
    """
    if not sent.is_limited or sent.bound.wrote is None:
        return
    allowed = LONGER * sent.bound.wrote + FRAME
    most_characters = LONGEST_TOKEN * allowed
    is_too_long = len(text) > most_characters
    if is_too_long or TiktokenCounter().count_text(text) > allowed:
        raise ModelError(
            f"{sent.model} answered with more than {allowed:,} tokens, though {sent.bound.wrote:,}"
            " were the most that it was asked for; the answer is not used, and counts as all that"
            " was set aside for it"
        )


def _logprobs(choice: Response) -> tuple[tuple[str, dict[str, float]], ...]:
    tokens = getattr(getattr(choice, "logprobs", None), "content", None) or ()
    return tuple((token.token, _alternatives(token)) for token in tokens)


def _alternatives(token: Response) -> dict[str, float]:
    """The log-probability of each token that could stand in the place of this one."""
    alternatives = token.top_logprobs or ()
    return {alternative.token: alternative.logprob for alternative in alternatives}


def _text(content: object) -> str:
    if isinstance(content, list):
        texts: list[str] = []
        for part in content:
            if isinstance(part, dict):
                texts.append(str(part.get("text") or ""))
        return "".join(texts)
    if isinstance(content, str):
        return content
    return ""


def _reported(response: Response) -> _Usage:
    usage = getattr(response, "usage", None)
    details = getattr(usage, "prompt_tokens_details", None)
    return _Usage(
        _tokens(usage, "prompt_tokens"),
        _tokens(usage, "completion_tokens"),
        _tokens(details, "cached_tokens"),
    )


def _tokens(usage: object, name: str) -> int:
    value = getattr(usage, name, None)
    return value if isinstance(value, int) else 0


def _reported_usd(response: Response) -> float | None:
    """What litellm says it cost; None where it says nothing."""
    hidden = getattr(response, "_hidden_params", None) or {}
    value = hidden.get("response_cost")
    if isinstance(value, int | float) and value > 0:
        return float(value)
    return None


def _usd(bound: Bound, usage: _Usage, reported: float | None) -> float | None:
    """What was reported, unless the user's own prices count, else what the tokens cost; None if
    that is unknown.
    """
    if reported is not None and not bound.has_own_prices:
        return reported
    rates = bound.rates
    if rates is None:
        return None
    uncached_usd = (usage.read - usage.cached) * rates.input
    cached_usd = usage.cached * rates.cache_read
    return uncached_usd + cached_usd + usage.wrote * rates.output


def was_free(error: BaseException) -> bool:
    """Whether a failed request surely cost nothing: it was refused, or reached no provider."""
    cause: BaseException | None = error
    while cause is not None:
        module, name = type(cause).__module__, type(cause).__name__
        if module.startswith("openai") and getattr(cause, "status_code", 0) >= 400:
            return True
        if module.startswith("httpx") and name in UNREACHED:
            return True
        cause = cause.__cause__ or cause.__context__
    return False
