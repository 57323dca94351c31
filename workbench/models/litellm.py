"""Asks any provider through litellm: the only file that imports it, and only when a question is asked."""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any, TypeAlias

from workbench.errors import ModelError, SetupError
from workbench.models.catalog import prices
from workbench.models.model import Answer, Ask

API_BASE = "WORKBENCH_API_BASE"
"""The variable that holds the address of an OpenAI-compatible server, where none is given to the model."""

LONGEST_WAIT = 60.0
"""Seconds; a provider that asks for more than this is not waited for."""

Response: TypeAlias = Any
"""litellm's own object, whose classes differ from version to version."""

_OVERFLOW = re.compile(
    r"context_length_exceeded|context_window_exceeded|max_prompt_tokens_exceeded|input_too_large|request_too_large|"
    r"(?:prompt|input)[^.\n]{0,60}too (?:long|large)|"
    r"exceed\w*[^.\n]{0,60}context (?:window|length|size|limit)|context (?:window|length|size|limit)[^.\n]{0,40}exceed|"
    r"(?:longer|greater|larger) than the (?:model'?s? )?(?:maximum )?(?:context|model) (?:length|window)|"
    r"maximum (?:context|prompt|model) length|too large for model with|model token limit|"
    r"(?:input|prompt)[^.\n]{0,30}tokens?(?: count)?[^.\n]{0,40}exceed|prompt exceeds max|"
    r"reduce (?:the|your) (?:length|size) of|input length should be|current length is \d+ while limit|"
    r"request entity too large|payload too large",
    re.IGNORECASE,
)
"""What providers say of a prompt that does not fit; litellm knows about half of these as such.

Applied to refused requests only. Source: our own list of providers' messages.
"""

_CAPPED = re.compile(r"max_(?:completion_|output_)?tokens[^.]{0,40}(?:too large|must be (?:less|<))", re.IGNORECASE)
_HOPELESS = re.compile(r"insufficient_quota|exceeded your current quota|billing", re.IGNORECASE)
_NO_KEY = re.compile(r"missing credentials|missing \w+ api key|api_key client option must be set", re.IGNORECASE)
_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class LiteLLM:
    """A model by litellm's name for it. Keys stand in the variables that litellm reads for each provider.

    Attributes:
        model: such as `gpt-4o-mini`, `anthropic/claude-haiku-4-5` or `openai/<any>` with an `api_base`.
        timeout: seconds for one try.
        tries: how often a question is asked when the provider is busy, fails, or cannot be reached.
        first_wait: seconds before the second try, doubled each time; a provider's own wish goes before.
        api_base: address of the server; `WORKBENCH_API_BASE` if none is given.
        temperature: left out for models that take none.
    """

    model: str
    timeout: float = 120.0
    tries: int = 4
    first_wait: float = 1.0
    api_base: str | None = None
    temperature: float | None = 0.0

    @property
    def name(self) -> str:
        """What stands in reports."""
        return f"litellm:{self.model}"

    def answer(self, ask: Ask, /) -> Answer:
        """The model's words. No tools are offered, and what it thought before is dropped.

        Raises:
            ModelError: no usable answer; `overflow` if the prompt was too large, `retryable` if it might work later.
            SetupError: the provider's key is missing.
        """
        litellm = _litellm()
        model = ask.model or self.model
        call = self._call(ask, model)
        if not call.get("api_base"):
            _check_key(litellm, model)
        started = time.monotonic()
        wait = self.first_wait
        for left in range(max(self.tries, 1) - 1, -1, -1):
            try:
                response = litellm.completion(**call)
                break
            except litellm.exceptions.openai.OpenAIError as error:
                fault = _fault(litellm, model, error)
                asked = _asked_wait(error)
                pause = wait if asked is None else asked
            except (ValueError, TypeError, KeyError, AttributeError) as error:  # litellm could not read the answer
                fault = ModelError(f"{model} gave an answer that cannot be read: {_short(error)}", retryable=True)
                pause = wait
            if not fault.retryable or not left or pause > LONGEST_WAIT:
                raise fault
            time.sleep(pause)
            wait *= 2
        return _answer(response, model, time.monotonic() - started)

    def _call(self, ask: Ask, model: str) -> dict[str, Any]:
        messages = [{"role": "system", "content": ask.system}] if ask.system else []
        messages.append({"role": "user", "content": ask.prompt})
        call: dict[str, Any] = {
            "model": model, "messages": messages, "timeout": self.timeout, "drop_params": True,
            "num_retries": 0, "max_retries": 0,
        }  # fmt: skip
        if ask.max_tokens is not None:
            call["max_tokens"] = ask.max_tokens
        if self.temperature is not None:
            call["temperature"] = self.temperature
        if base := self.api_base or os.environ.get(API_BASE):
            call["api_base"] = base
            if not os.environ.get("OPENAI_API_KEY"):
                call["api_key"] = "none"  # a server of one's own asks for no key, but the client does
        return call


@lru_cache(maxsize=1)
def _litellm() -> ModuleType:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else the import fetches a price list
    import litellm

    litellm.suppress_debug_info = True
    return litellm


def _check_key(litellm: ModuleType, model: str) -> None:
    missing = litellm.validate_environment(model).get("missing_keys") or ()
    if missing:
        raise SetupError(f"{model} needs the environment variable {' and '.join(missing)}")


def _fault(litellm: ModuleType, model: str, error: Exception) -> ModelError:
    """What an error of litellm means for the one who asked.

    Raises:
        SetupError: it means that a key is missing.
    """
    said = _short(error)
    if _NO_KEY.search(said):
        raise SetupError(f"{model} has no key: {said}") from error
    status = getattr(error, "status_code", None)
    refused = isinstance(error, litellm.BadRequestError) or status == 413
    if isinstance(error, litellm.ContextWindowExceededError) or (refused and _OVERFLOW.search(str(error))):
        capped = bool(_CAPPED.search(str(error)))
        return ModelError(f"the prompt does not fit into {model}: {said}", overflow=not capped)
    if status == 413:
        return ModelError(f"the prompt does not fit into {model}: {said}", overflow=True)
    passing = (
        litellm.Timeout, litellm.RateLimitError, litellm.InternalServerError, litellm.ServiceUnavailableError,
        litellm.BadGatewayError, litellm.APIConnectionError,
    )  # fmt: skip
    retryable = isinstance(error, passing) or (isinstance(status, int) and status >= 500)
    if retryable and isinstance(error, litellm.RateLimitError) and _HOPELESS.search(str(error)):
        retryable = False
    return ModelError(f"{model} gave no answer: {said}", retryable=retryable)


def _asked_wait(error: Exception) -> float | None:
    """Seconds that the provider asks to wait; None if it does not say."""
    headers = getattr(error, "litellm_response_headers", None) or getattr(
        getattr(error, "response", None), "headers", None
    )
    value = headers.get("retry-after") if headers else None
    try:
        return None if value is None else max(float(value), 0.0)
    except ValueError:
        return None


def _answer(response: Response, model: str, seconds: float) -> Answer:
    choices = getattr(response, "choices", None) or ()
    message = choices[0].message if choices else None
    text = _THOUGHT.sub("", getattr(message, "content", None) or "").strip()
    if not text:
        reason = choices[0].finish_reason if choices else "no choice"
        raise ModelError(f"{model} answered with an empty text (it ended with {reason!r})")
    usage = getattr(response, "usage", None)
    read, wrote = int(getattr(usage, "prompt_tokens", 0) or 0), int(getattr(usage, "completion_tokens", 0) or 0)
    details = getattr(usage, "prompt_tokens_details", None)
    cached = int(getattr(details, "cached_tokens", 0) or 0)
    return Answer(
        text=text,
        model=f"litellm:{getattr(response, 'model', None) or model}",
        input_tokens=read,
        output_tokens=wrote,
        cached_tokens=cached,
        usd=_usd(response, model, read, wrote, cached),
        seconds=seconds,
    )


def _usd(response: Response, model: str, read: int, wrote: int, cached: int) -> float | None:
    """What litellm says it cost, else what the catalog says; None if neither knows the price."""
    told = (getattr(response, "_hidden_params", None) or {}).get("response_cost")
    if isinstance(told, int | float) and told > 0:
        return float(told)
    price = prices(model)
    if price is None:
        return None
    return (read - cached) * price.input + cached * price.cache_read + wrote * price.output


def _short(error: Exception) -> str:
    """An error on one line."""
    text = " ".join(str(error).split())
    return text if len(text) <= 300 else text[:300] + "..."
