"""What an error says, in words and as an HTTP status."""

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from workbench.engine.models.error_bodies import words_of
from workbench.engine.transcript.message import Json

ProviderError: TypeAlias = BaseException | str | Mapping[str, Json]
"""An exception of any client, an error as JSON, or its text."""
LITELLM_OVERFLOW = "ContextWindowExceededError"
_WRAPPED = re.compile(r"^(?:\s*litellm\.\w+:\s*(?:\w+Error:\s*)?(?:\w*Exception\s*[-:]\s*)?)+")
_CODE = re.compile(r"^Error code: (\d{3})\b")
_DEEPEST = 8


def evidence(error: ProviderError) -> tuple[str, int | None]:
    """What an error says without litellm's class names, which are a guess, and its innermost
    HTTP status.
    """
    texts: list[str] = []
    status: int | None = None
    for cause in _chain(error):
        if isinstance(cause, Mapping):
            texts.append(words_of(cause))
        else:
            texts.append(words_of(str(cause)))
        for name in ("message", "body", "code"):
            part = getattr(cause, name, None)
            if isinstance(part, str | Mapping):
                texts.append(words_of(part))
        if LITELLM_OVERFLOW in f"{type(cause).__mro__} {str(cause)[:200]}":
            texts.append(LITELLM_OVERFLOW)
        status = _status(cause) or status
    distinct_texts = dict.fromkeys(text for text in texts if text)
    return "\n".join(distinct_texts), status


def _chain(error: ProviderError) -> Iterator[ProviderError]:
    """The error and the API errors that it was made from, outermost first."""
    yield error
    for _ in range(_DEEPEST):
        if not isinstance(error, BaseException):
            return
        cause = error.__cause__ or error.__context__
        if cause is None:
            return
        has_status = getattr(cause, "status_code", None) is not None
        if not has_status and not getattr(cause, "body", None):
            return
        yield cause
        error = cause


def _status(error: ProviderError) -> int | None:
    """The HTTP status of an exception, of an error's JSON, or at the beginning of its text."""
    if isinstance(error, Mapping):
        candidates = [error.get("status_code"), error.get("status")]
    else:
        response = getattr(error, "response", None)
        candidates = [
            getattr(error, "status_code", None),
            getattr(response, "status_code", None),
        ]
        match = _CODE.match(_WRAPPED.sub("", str(error)))
        if match:
            candidates.append(int(match[1]))
    for status in candidates:
        if isinstance(status, int) and 100 <= status < 600:
            return status
    return None
