"""What a provider's answer says and what it cost, held against what the question could cost at most."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from workbench.models.bound import Bound
from workbench.models.model import Completion
from workbench.models.tokenizer import TiktokenCounter

Response: TypeAlias = Any
"""litellm's own object, whose classes differ from version to version."""

_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>\s*|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Sent:
    """One request as it goes out, and the most that it may read, write and cost."""

    model: str
    call: Mapping[str, Any]
    most: Bound


@dataclass(frozen=True, slots=True)
class Bill:
    """What a call counts as in the ledger.

    Attributes:
        usd: dollars; None for all that was set aside.
        excess: what the provider reports beyond what was thought possible, in words.
    """

    usd: float | None
    excess: str = ""


def answered(response: Response, sent: Sent) -> Completion:
    """The answer in a response: its words, and its tokens as reported or, where that cannot be true, as counted.

    Raises:
        ValueError: it holds none.
    """
    choices = getattr(response, "choices", None) or ()
    if not choices:
        raise ValueError("it holds no choice")
    message = choices[0].message
    text = _THOUGHT.sub("", _words(getattr(message, "content", None))).strip()
    finish = str(choices[0].finish_reason or "")
    why = "" if text else f"it ended with {finish!r}"
    usage = getattr(response, "usage", None)
    read, wrote = _tokens(usage, "prompt_tokens"), _tokens(usage, "completion_tokens")
    cached = _tokens(getattr(usage, "prompt_tokens_details", None), "cached_tokens")
    counted = _impossible(read, wrote, cached, sent, text)
    if counted:
        count = TiktokenCounter().count_text
        read, wrote, cached = sum(count(one["content"]) for one in sent.call["messages"]), count(text), 0
    return Completion(
        text=text,
        model=f"litellm:{getattr(response, 'model', None) or sent.model}",
        input_tokens=read,
        output_tokens=wrote,
        cached_tokens=cached,
        usd=_usd(response, sent, read, wrote, cached, counted),
        cut=finish == "length",
        counted=counted,
        why=why,
    )


def _words(content: object) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _tokens(usage: object, name: str) -> int:
    value = getattr(usage, name, None)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _impossible(read: int, wrote: int, cached: int, sent: Sent, text: str) -> bool:
    """Whether the reported usage cannot be true, or is missing."""
    if read <= 0 or wrote < 0 or not 0 <= cached <= read or (text and wrote == 0):
        return True
    return bool(sent.most.exceeded(read, wrote, None))


def _usd(response: Response, sent: Sent, read: int, wrote: int, cached: int, counted: bool) -> float | None:
    """What litellm says it cost, else what its tokens cost; None if nobody knows the price."""
    told = (getattr(response, "_hidden_params", None) or {}).get("response_cost")
    if isinstance(told, int | float) and told > 0 and not counted and not sent.most.own:
        return float(told)
    price = sent.most.price
    if price is None:
        return None
    return (read - cached) * price.input + cached * price.cache_read + wrote * price.output


def billed(response: Response, sent: Sent, answer: Completion) -> Bill:
    """What counts as spent: the answer's cost, and where a provider reports more than it can have used, all of that."""
    usage = getattr(response, "usage", None)
    read, wrote = _tokens(usage, "prompt_tokens"), _tokens(usage, "completion_tokens")
    excess = sent.most.exceeded(read, wrote, answer.usd)
    price = sent.most.price
    if not excess or price is None:
        return Bill(answer.usd)
    told = max(read, 0) * price.input + max(wrote, 0) * price.output
    return Bill(max(told, answer.usd or 0.0, sent.most.usd or 0.0), excess if told else "")


def cost_nothing(error: BaseException) -> bool:
    """Whether a failed request surely cost nothing: the provider refused it, or was never reached."""
    seen: BaseException | None = error
    while seen is not None:
        kind = type(seen)
        if kind.__module__.startswith("openai") and getattr(seen, "status_code", 0) >= 400:
            return True
        if kind.__module__.startswith("httpx") and kind.__name__ in (
            "ConnectError",
            "ConnectTimeout",
            "HTTPStatusError",
        ):
            return True
        seen = seen.__cause__ or seen.__context__
    return False
