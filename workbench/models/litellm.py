"""Asks any provider through litellm: the only file that imports it, and only when a question is asked."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from queue import Empty, SimpleQueue
from threading import Thread
from types import ModuleType
from typing import Any, ClassVar

from workbench.errors import ModelError, Refused, SetupError
from workbench.models.billing import Bill, Response, Sent, answered, billed, cost_nothing
from workbench.models.bound import bound
from workbench.models.catalog import most_output
from workbench.models.catalog import window as catalog_window
from workbench.models.ledger import Ledger
from workbench.models.model import Completion, SummaryRequest
from workbench.models.options import Options, options

UNBOUNDED = 16_000
"""Tokens of an answer that nobody bounded, where a spending limit needs a bound and the catalog has none."""

GRACE = 30.0
"""Seconds after its time-out for which a call still takes a place among those that may be open at once."""

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


@dataclass(frozen=True, slots=True)
class LiteLLM:
    """A model by litellm's name for it. Keys stand in the variables that litellm reads for each provider.

    Attributes:
        model: such as `gpt-4o-mini`, `anthropic/claude-haiku-4-5` or `openai/<any>` with an `api_base`.
        options: how it is asked; None reads the models file and the environment when a question is asked.
        ledger: keeps the limits of spending and of concurrent calls; None for no limits.
    """

    model: str
    options: Options | None = None
    ledger: Ledger | None = None
    at_once: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """What stands in reports."""
        return f"litellm:{self.model}"

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The model's words, empty if it has none. No tools are offered, and what it thought before is dropped.

        Raises:
            ModelError: no answer; `overflow` if the prompt was too large, `retryable` if it might work later.
            Refused: the spending limit could be passed, or cannot be kept.
            SetupError: the provider's key is missing.
        """
        litellm = _litellm()
        model = request.model or self.model
        how = self.options or options(model)
        bounded = self.ledger is not None and self.ledger.max_usd is not None
        sent = _sent(request, model, how, bounded=bounded)
        if bounded:
            _check_bound(litellm, model)
        if not sent.call.get("api_base"):
            _check_key(litellm, model, how)
        started = time.monotonic()
        wait = how.first_wait
        for left in range(how.tries - 1, -1, -1):
            tried = self._try(litellm, sent, how)
            if isinstance(tried, Completion):
                return replace(tried, seconds=time.monotonic() - started)
            pause = wait if tried.asked_wait is None else tried.asked_wait
            if not tried.fault.retryable or not left or pause > how.longest_wait:
                raise tried.fault
            time.sleep(pause)
            wait *= 2
        raise AssertionError("a question is asked at least once")

    def seal(self, request: SummaryRequest, /) -> Mapping[str, object]:
        """All that the answer depends on besides the prompt itself."""
        model = request.model or self.model
        how = self.options or options(model)
        return {
            "model": model, "api_base": how.api_base or _other_base(), "temperature": how.temperature,
            "thinking": how.thinking,
        }  # fmt: skip

    def window(self, request: SummaryRequest, /) -> int | None:
        """Tokens that the model takes, its answer included; None if nobody knows."""
        model = request.model or self.model
        return (self.options or options(model)).window or catalog_window(model)

    def limited(self, ledger: Ledger) -> LiteLLM:
        """The same model under the ledger's limits."""
        return replace(self, ledger=ledger)

    @property
    def patience(self) -> float:
        """Seconds after which an answer must have come or failed."""
        how = self.options or options(self.model)
        return how.tries * (how.timeout + how.longest_wait) + GRACE

    def _try(self, litellm: ModuleType, sent: Sent, how: Options) -> Completion | _Failed:
        """Ask once, and write down what that cost."""
        number = self.ledger.open(sent.model, sent.most.usd, how.timeout + GRACE) if self.ledger else 0
        bill = Bill(None)  # as long as nobody knows better, all that was set aside counts as spent
        try:
            response = _within(how.timeout, lambda: litellm.completion(**sent.call))
            answer = answered(response, sent)
            bill = billed(response, sent, answer)
            return answer
        except litellm.exceptions.openai.OpenAIError as error:
            bill = Bill(0.0 if cost_nothing(error) else None)
            return _Failed(_fault(litellm, sent.model, error), _asked_wait(error))
        except TimeoutError:
            return _Failed(ModelError(f"{sent.model} gave no answer in {how.timeout:g} seconds", retryable=True))
        except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:  # litellm could not read it
            said = f"{sent.model} gave an answer that cannot be read: {_short(error)}"
            return _Failed(ModelError(said, retryable=True))
        finally:
            if self.ledger:
                self.ledger.close(number, bill.usd, bill.excess)


@dataclass(frozen=True, slots=True)
class _Failed:
    """A try that came to nothing, and the seconds that the provider asks to wait if it says so."""

    fault: ModelError
    asked_wait: float | None = None


def _sent(request: SummaryRequest, model: str, how: Options, *, bounded: bool) -> Sent:
    texts = {"system": request.system, "user": request.prompt}
    messages = [
        {"role": role, "content": text.encode("utf-8", "replace").decode()}  # half a character cannot be sent
        for role, text in texts.items()
        if text
    ]
    call: dict[str, Any] = {
        "model": model, "messages": messages, "timeout": how.timeout, "drop_params": True,
        "num_retries": 0, "max_retries": 0,
    }  # fmt: skip
    most = request.max_tokens if request.max_tokens is not None else UNBOUNDED if bounded else None
    if most is not None:
        most += how.thinking
        call["max_tokens"] = most = min(most, most_output(model) or most)
    if how.temperature is not None:
        call["temperature"] = how.temperature
    if how.api_base:
        call["api_base"] = how.api_base
        if not os.environ.get("OPENAI_API_KEY"):
            call["api_key"] = "none"  # a server of one's own asks for no key, but the client does
    if how.key:
        call["api_key"] = os.environ.get(how.key) or call.get("api_key")
    words = [message["content"] for message in messages]
    return Sent(model, call, bound(model, how, words, most, own_server=bool(how.api_base or _other_base())))


def _within(seconds: float, call: Callable[[], Response]) -> Response:
    """What a call returns, if it returns in time. The clients' own time-outs begin anew with every byte that comes.

    Raises:
        TimeoutError: it did not; the call goes on in a thread of its own, and nobody listens.
    """
    came: SimpleQueue[Response | BaseException] = SimpleQueue()

    def run() -> None:
        try:
            came.put(call())
        except BaseException as error:  # noqa: BLE001 - handed on to the thread that waits
            came.put(error)

    Thread(target=run, daemon=True).start()
    try:
        found = came.get(timeout=seconds + 1.0)
    except Empty:
        raise TimeoutError from None
    if isinstance(found, BaseException):
        raise found
    return found


def _other_base() -> str | None:
    """The server that OpenAI's client would take from the environment by itself."""
    return os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE") or None


@lru_cache(maxsize=1)
def _litellm() -> ModuleType:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else the import fetches a price list
    import litellm

    litellm.suppress_debug_info = True
    return litellm


def _check_key(litellm: ModuleType, model: str, how: Options) -> None:
    if how.key:
        if not os.environ.get(how.key):
            raise SetupError(f"{model} needs the environment variable {how.key}")
        return
    missing = litellm.validate_environment(model).get("missing_keys") or ()
    if missing:
        raise SetupError(f"{model} needs the environment variable {' and '.join(missing)}")


def _check_bound(litellm: ModuleType, model: str) -> None:
    """Refuse a model whose answers cannot be bounded: litellm would leave the bound out without a word."""
    known = litellm.get_supported_openai_params(model=model)
    if known and not {"max_tokens", "max_completion_tokens"} & set(known):
        raise Refused(
            f"{model} was not asked: it takes no bound on the length of its answers, so the spending limit cannot "
            "be kept; without one it is asked"
        )


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
    """Seconds that the provider asks to wait, told as a number or a date; None if it does not say."""
    headers = getattr(error, "litellm_response_headers", None) or getattr(
        getattr(error, "response", None), "headers", None
    )
    value = headers.get("retry-after") if headers else None
    if value is None:
        return None
    try:
        return max(float(value), 0.0)
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max((until - datetime.now(UTC if until.tzinfo else None)).total_seconds(), 0.0)


def _short(error: Exception) -> str:
    """An error on one line."""
    text = " ".join(str(error).split())
    return text if len(text) <= 300 else text[:300] + "..."
