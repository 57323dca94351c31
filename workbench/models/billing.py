"""What a request can cost at most, known before it is sent, and what its response says that it did cost."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from workbench.models.model import Completion
from workbench.models.prices import MILLION, Rates, dearest, tariff, window
from workbench.models.provider_options import ProviderOptions
from workbench.models.tokenizer import TiktokenCounter

FRAME = 256
"""Tokens that a provider may add to the words of a prompt."""

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
        own: whether these are the user's prices, and not the table's.
        usd: what the request may cost; None if unknown.
    """

    read: int
    wrote: int | None
    rates: Rates | None
    own: bool
    usd: float | None

    def exceeded(self, read: int, wrote: int) -> bool:
        """Whether a provider reports more tokens than there can be."""
        return read > self.read or (self.wrote is not None and wrote > self.wrote)


@dataclass(frozen=True, slots=True)
class BoundedRequest:
    """One request as it is sent, and the most that it may read, write and cost."""

    model: str
    call: Mapping[str, Any]
    most: Bound


def bound(model: str, options: ProviderOptions, texts: Sequence[str], most: int | None) -> Bound:
    """The most that a request can cost.

    Every token of the prompt counts at the dearest rate that can apply to it (a cache write, a tier for long prompts),
    and every token of the completion at the dearest of a completion. The prompt may have a token a byte (UTF-8):
    tokenizers go back to bytes and no finer, and runs of digits, blanks or marks may well be cut so fine.

    `most` are the tokens of the completion; None for no bound.
    """
    read = FRAME + sum(len(text.encode("utf-8", "replace")) for text in texts)
    if options.input_usd is not None and options.output_usd is not None:
        each, out = options.input_usd / MILLION, options.output_usd / MILLION
        usd = None if most is None else read * each + most * out
        return Bound(read, most, Rates(each, out, each, each, each), True, usd)
    paid = min(read, window(model) or read)  # a prompt beyond the window is refused, and costs nothing
    dear, known = dearest(model, paid), tariff(model)
    usd = None if dear is None or most is None else paid * dear.input + most * dear.output + dear.request
    return Bound(read, most, None if known is None else known.rates, False, usd)


def read_response(response: Response, sent: BoundedRequest) -> tuple[Completion, float | None]:
    """The completion in a response, its tokens as reported or, where that cannot be true, as counted; its dollars.

    The dollars are what the ledger counts: at least what the provider reported. None stands for all that was set aside.

    Raises:
        ValueError: the response holds no completion.
    """
    choices = getattr(response, "choices", None) or ()
    if not choices:
        raise ValueError("it holds no choice")
    text = THOUGHT.sub("", _text(getattr(choices[0].message, "content", None))).strip()
    called = (getattr(choices[0].message, "tool_calls", None) or ()) if "tools" in sent.call else ()
    calls = tuple((str(one.function.name), str(one.function.arguments)) for one in called)
    finish = str(choices[0].finish_reason or "")
    usage = getattr(response, "usage", None)
    read, wrote = _tokens(usage, "prompt_tokens"), _tokens(usage, "completion_tokens")
    cached = _tokens(getattr(usage, "prompt_tokens_details", None), "cached_tokens")
    reported, exceeded = (read, wrote), sent.most.exceeded(read, wrote)
    counted = read <= 0 or wrote < 0 or not 0 <= cached <= read or bool(text and wrote == 0) or exceeded
    if counted:
        count = TiktokenCounter().count_text
        read, wrote, cached = sum(count(_text(one.get("content"))) for one in sent.call["messages"]), count(text), 0
    completion = Completion(
        text=text,
        model=f"litellm:{getattr(response, 'model', None) or sent.model}",
        input_tokens=read,
        output_tokens=wrote,
        cached_tokens=cached,
        usd=_usd(response, sent.most, read, wrote, cached, counted),
        cut=finish == "length",
        counted=counted,
        why="" if text or calls else f"it ended with {finish!r}",
        logprobs=_logprobs(choices[0]),
        calls=calls,
    )
    return completion, _in_full(sent.most, *reported, completion.usd) if exceeded else completion.usd


def _logprobs(choice: Response) -> tuple[tuple[str, dict[str, float]], ...]:
    content = getattr(getattr(choice, "logprobs", None), "content", None) or ()
    return tuple((one.token, {other.token: other.logprob for other in one.top_logprobs or ()}) for one in content)


def _text(content: object) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _tokens(usage: object, name: str) -> int:
    value = getattr(usage, name, None)
    return value if isinstance(value, int) else 0


def _usd(response: Response, most: Bound, read: int, wrote: int, cached: int, counted: bool) -> float | None:
    """What litellm says it cost, else what its tokens cost; None if the price is unknown."""
    reported = (getattr(response, "_hidden_params", None) or {}).get("response_cost")
    if isinstance(reported, int | float) and reported > 0 and not counted and not most.own:
        return float(reported)
    rates = most.rates
    if rates is None:
        return None
    return (read - cached) * rates.input + cached * rates.cache_read + wrote * rates.output


def _in_full(most: Bound, read: int, wrote: int, usd: float | None) -> float | None:
    """What a report of more tokens than there can be counts as: all of it, and no less than was set aside."""
    if most.rates is None:
        return usd
    reported = max(read, 0) * most.rates.input + max(wrote, 0) * most.rates.output
    return max(reported, usd or 0.0, most.usd or 0.0)


def was_free(error: BaseException) -> bool:
    """Whether a failed request surely cost nothing: the provider refused it, or was never reached."""
    seen: BaseException | None = error
    while seen is not None:
        module, name = type(seen).__module__, type(seen).__name__
        if module.startswith("openai") and getattr(seen, "status_code", 0) >= 400:
            return True
        if module.startswith("httpx") and name in ("ConnectError", "ConnectTimeout", "HTTPStatusError"):
            return True
        seen = seen.__cause__ or seen.__context__
    return False
