"""What an error of litellm, or an answer that is one, means for the caller."""

import json
import math
import re
import time
from collections.abc import Sequence
from email.utils import mktime_tz, parsedate_tz
from types import ModuleType

from workbench.base.errors import ModelError, SetupError
from workbench.engine.models.billing import was_free
from workbench.engine.models.keys import without_keys
from workbench.engine.models.provider_errors import classify, reason_in_answer
from workbench.engine.models.provider_options import ProviderOptions
from workbench.engine.models.refused_request import RefusedRequest

READ, SHOWN = 4_000, 300
"""Characters of a provider's error that are looked at, and that are shown."""
_LISTED_ERROR = re.compile(r"\berror=(\{.*?\})\)")
"""How litellm prints an error that came in a list."""
MOST_SHOWN = 300
"""Characters of an error that are shown."""
_HOPELESS = re.compile(r"insufficient_quota|exceeded your current quota|billing", re.IGNORECASE)
_CONTENT = re.compile(
    r"content.?(?:filter|policy|management policy)|safety system|responsible ?ai", re.IGNORECASE
)
_NO_KEY = re.compile(
    r"missing credentials|missing \w+ api key|api_key client option must be set", re.IGNORECASE
)


def model_error(
    litellm: ModuleType, model: str, error: Exception, text: str, tokens: int
) -> ModelError:
    """What an error of litellm means for the caller.

    Args:
        litellm: the module.
        model: what was asked.
        error: what it raised.
        text: what may be shown of it.
        tokens: of the request, by our own count.

    Raises:
        SetupError: a key is missing.
    """
    if _NO_KEY.search(text):
        raise SetupError(f"{model} has no key: {text}") from error
    status = getattr(error, "status_code", None)
    refused = isinstance(error, litellm.BadRequestError) or status == 413
    diagnosis = classify(error, request=RefusedRequest(tokens=tokens))
    is_above_quota = diagnosis.kind == "rate_permanent"
    if diagnosis.is_too_large and (refused or is_above_quota):
        return ModelError(
            f"the prompt does not fit into {model}: {text}",
            overflow=True,
            limit=diagnosis.limit,
            outage=is_above_quota,
        )
    is_about_content = refused and _CONTENT.search(str(error)) is not None
    if is_about_content or isinstance(error, litellm.ContentPolicyViolationError):
        return ModelError(f"{model} refused the prompt: {text}")
    passing = (
        litellm.Timeout,
        litellm.RateLimitError,
        litellm.InternalServerError,
        litellm.APIConnectionError,
    )
    retryable = isinstance(error, passing) or (isinstance(status, int) and status >= 500)
    if isinstance(error, litellm.RateLimitError) and _HOPELESS.search(str(error)):
        retryable = False
    problem = f"{model} gave no answer: {text}{_network(error)}"
    return ModelError(problem, retryable=retryable, retry_after=_retry_after(error), outage=True)


def error_in_answer(
    model: str, error: Exception, answers: Sequence[object], options: ProviderOptions, tokens: int
) -> ModelError | None:
    """What an answer with the status of success tells of a failure; None where the failure is
    another.

    A server may answer 200 with an error, a page of HTML, or nothing; litellm then tells the shape
    that it missed.
    """
    if was_free(error):
        return None
    listed = _LISTED_ERROR.search(str(error))
    reason = ""
    for answer in answers:
        reason = reason or reason_in_answer(answer)
    if not reason and listed:
        reason = listed[1]
    reason = reason or _reason_in_text(error)
    if not reason:
        return None
    one_line = " ".join(reason[:READ].split())
    shown_reason = without_keys(one_line, options.key or "", options.api_base or "")[:MOST_SHOWN]
    diagnosis = classify(reason, request=RefusedRequest(tokens=tokens))
    if diagnosis.is_too_large:
        return ModelError(
            f"the prompt does not fit into {model}: {shown_reason}",
            overflow=True,
            limit=diagnosis.limit,
            outage=diagnosis.kind == "rate_permanent",
        )
    hopeless = _HOPELESS.search(reason) is not None
    return ModelError(
        f"{model} gave no answer: {shown_reason}", retryable=not hopeless, outage=True
    )


def _reason_in_text(error: BaseException) -> str:
    """What stands in an answer that is no JSON; empty where no answer was."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, json.JSONDecodeError):
            if not cause.doc.strip():
                return "its answer is empty"
            return f"its answer is no JSON: {cause.doc}"
        cause = cause.__cause__ or cause.__context__
    return ""


def _network(error: BaseException) -> str:
    """What the operating system says of a connection that failed, in brackets; often empty."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return f" ({cause.strerror})"
        cause = cause.__cause__ or cause.__context__
    return ""


def _retry_after(error: Exception) -> float | None:
    """Seconds that the provider asks to wait, as a number or a date; None if it does not say."""
    headers = getattr(error, "litellm_response_headers", None)
    if not headers:
        response = getattr(error, "response", None)
        headers = getattr(response, "headers", None) or {}
    value = headers.get("retry-after", "")
    try:
        seconds = float(value)
    except ValueError:
        until = parsedate_tz(value)
        if until is None:
            return None
        seconds = mktime_tz(until) - time.time()
    if math.isnan(seconds):
        return None
    return max(seconds, 0.0)


def short_error(error: Exception, options: ProviderOptions) -> str:
    """What may be shown of an error: one line without keys. Every text of a provider's error
    passes here.
    """
    line = " ".join(str(error)[:READ].split())
    text = without_keys(line, options.key or "", options.api_base or "")
    if len(text) <= SHOWN:
        return text
    return text[:SHOWN] + "..."
