"""Says what a provider's error means for the context: whether to compact, and to what.

Half of the real overflow messages reach an agent as a plain bad request, and many errors that look
like an overflow are a rate limit, an output cap, a picture or a broken history. Only errors are
read here, never tools' or models' words. How each provider words its errors is in
`provider_errors.toml`.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from workbench.engine.models.error_evidence import ProviderError, evidence
from workbench.engine.models.error_kinds import kind_of
from workbench.engine.models.error_numbers import (
    ErrorNumbers,
    error_numbers,
    with_plain_numbers,
)
from workbench.engine.models.error_wordings import WORDINGS, Kind, compiled
from workbench.engine.models.keys import without_keys
from workbench.engine.models.refused_request import RefusedRequest
from workbench.engine.transcript.message import Usage

Action: TypeAlias = Literal[
    "compact", "lower_output", "strip_media", "back_off", "repair", "leave_alone"
]
READ = 4_000
"""Characters of an error's first line that are shown."""
LEAST_ROOM = 1_024
"""Tokens of output below which a smaller `max_tokens` is no remedy."""
LEAST_ROOM_SHARE = 0.25
"""Of a small window, so much is room enough."""
SMALL_OUTPUT = 4_096
"""Tokens of output that each model writes, to ask for where an error does not say how many it
takes.
"""
LONG_CONTEXT = 200_000
"""Tokens above which some subscriptions refuse a request as one with a long context."""
GROWN = 64
"""Tokens by which a prompt must have grown before an unchanged report says that the provider cut
it.
"""
HALF = 2
"""Tokens that Ollama leaves besides half of its context where it cuts a prompt in silence
(ollama/ollama#17427).
"""
_ACTIONS: Mapping[Kind, Action] = {
    "overflow": "compact", "mixed": "compact", "rate_permanent": "compact", "output_cap": "lower_output",
    "bytes": "strip_media", "media": "strip_media", "malformed": "repair", "rate": "back_off", "other": "leave_alone",
}  # fmt: skip
UNKNOWN_REQUEST = RefusedRequest()
_LONG_CONTEXT = compiled(WORDINGS["long_context"])
_TOTAL = compiled(WORDINGS["total"])
_SUM = compiled(WORDINGS["sum"])
_OUTPUT = compiled(WORDINGS["output"])
_REASONS = ("error", "message", "detail", "msg", "reason")
"""Fields in which servers say why they failed."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What an error is and what helps.

    Attributes:
        kind: `overflow`; `mixed` where prompt and requested output are too much together;
            `rate_permanent` where a request alone is above a rate limit, so that waiting cannot
            help; `bytes` where the body is too large.
        action: `strip_media` asks for fewer bytes: pictures and documents first, then the largest
            results; a body that is too large without any is compacted.
        limit: tokens that the provider takes, as the error says; for an output cap, of the answer.
            None if not stated.
        used: tokens that the prompt had, as the error says.
        output: tokens of output that a smaller `max_tokens` may ask for; None where that is no
            remedy.
        text: the first line of what was read, without keys.
    """

    kind: Kind
    action: Action
    limit: int | None = None
    used: int | None = None
    output: int | None = None
    text: str = ""

    @property
    def is_too_large(self) -> bool:
        """Whether a smaller request would be taken: by the model, its server, or a quota."""
        return self.kind in {"overflow", "mixed", "bytes", "rate_permanent"}


def classify(
    error: ProviderError,
    status: int | None = None,
    overflow: re.Pattern[str] | None = None,
    request: RefusedRequest = UNKNOWN_REQUEST,
) -> Diagnosis:
    """What an error means for the context.

    Args:
        error: what was raised or answered.
        status: its HTTP status, where that is known from elsewhere.
        overflow: texts that mark an overflow where no provider's own wording says what the error
            is.
        request: what was refused.
    """
    text, stated_status = evidence(error)
    if status is None:
        status = stated_status
    text = with_plain_numbers(text)
    kind = kind_of(text, status, overflow, request)
    numbers = error_numbers(text, kind)
    first_line, _, _ = text.strip().partition("\n")
    shown_text = without_keys(first_line[:READ])
    if kind == "rate" and numbers.is_above_limit:
        kind = "rate_permanent"
    if kind == "bytes" and request.media == 0:
        return Diagnosis(kind, "compact", text=shown_text)
    wants_subscription = _LONG_CONTEXT.search(text)
    if kind == "rate" and wants_subscription and request.tokens > LONG_CONTEXT:
        return Diagnosis("rate_permanent", "compact", LONG_CONTEXT, text=shown_text)
    if kind in {"rate", "media", "malformed", "bytes", "other"}:
        return Diagnosis(kind, _ACTIONS[kind], text=shown_text)
    if kind == "output_cap":
        cap = numbers.limit or SMALL_OUTPUT
        return Diagnosis(kind, _ACTIONS[kind], numbers.limit, numbers.used, cap, shown_text)
    if kind in {"overflow", "mixed"} and _may_be_output(text, numbers, request):
        kind = "mixed"
        used = request.tokens
        if numbers.used is not None and numbers.fits:
            used = numbers.used
        limit = numbers.limit or request.window
        numbers = replace(numbers, limit=limit, used=used)
    numbers = _with_output_apart(kind, numbers, request)
    if kind == "mixed" or numbers.requested is not None:
        output = _room_for_output(numbers)
        if output is not None:
            return Diagnosis(kind, "lower_output", numbers.limit, numbers.used, output, shown_text)
    return Diagnosis(kind, "compact", numbers.limit, numbers.used, None, shown_text)


def _may_be_output(text: str, numbers: ErrorNumbers, request: RefusedRequest) -> bool:
    """Whether the answer that was asked for explains that a request is too large: nothing says that
    the prompt alone is, and by our own count it is far from it.
    """
    if numbers.requested is not None:
        return False
    if numbers.fits:
        return _OUTPUT.search(text) is not None
    if numbers.used is not None and not numbers.is_above_limit:
        return False
    limit = numbers.limit or request.window
    says_limit_alone = numbers.limit is not None and numbers.used is None
    if says_limit_alone and request.fits_easily(limit):
        return True
    return _counts_output(text, limit, request)


def _with_output_apart(kind: Kind, numbers: ErrorNumbers, request: RefusedRequest) -> ErrorNumbers:
    """The numbers of an error with those of the prompt and of the answer apart."""
    used = numbers.used or 0
    is_above_quota = kind == "rate_permanent" and numbers.is_above_limit
    if is_above_quota and request.is_far_smaller(used):
        # a minute's limit counts the output that was asked for
        return replace(numbers, used=request.tokens, requested=used - request.tokens)
    requested = numbers.requested or 0
    limit = numbers.limit or 0
    fills_window = requested >= limit > 0
    if fills_window and request.leaves_room(limit):
        # the output alone fills the window, so that nothing said of the prompt is its size
        return replace(numbers, used=request.tokens)
    return numbers


def _room_for_output(numbers: ErrorNumbers) -> int | None:
    """Tokens that a smaller answer may have; None where that is no remedy."""
    if numbers.limit is None or numbers.used is None:
        return None
    room = numbers.limit - numbers.used
    if numbers.requested == room:
        room -= 1  # the sum is the limit, which it may not reach
    is_enough = room >= min(LEAST_ROOM, int(LEAST_ROOM_SHARE * numbers.limit))
    is_less = numbers.requested is None or room < numbers.requested
    if is_enough and is_less:
        return room
    return None


def _counts_output(text: str, limit: int, request: RefusedRequest) -> bool:
    """Whether what is above a limit is prompt and answer together, or the answer alone."""
    if _SUM.search(text):
        return request.leaves_some_room(limit)
    if _OUTPUT.search(text):
        return request.leaves_room(limit)
    is_total = _TOTAL.search(text) is not None
    if is_total and request.media == 0:
        return request.leaves_room(limit)
    return False


def reason_in_answer(answer: object) -> str:
    """Why a provider failed, as the body of an answer with the status of success says it; empty
    where it says nothing.

    Args:
        answer: decoded, or its JSON text; of a list, the first that has a reason.
    """
    if isinstance(answer, str | bytes):
        try:
            answer = json.loads(answer)
        except (ValueError, RecursionError):
            return ""
    if isinstance(answer, list):
        reasons = map(reason_in_answer, answer)
        return next(filter(None, reasons), "")
    if not isinstance(answer, Mapping) or answer.get("choices"):
        return ""
    for name in _REASONS:
        reason = answer.get(name)
        if isinstance(reason, Mapping):
            code = reason.get("code")
            words = reason_in_answer(reason) or json.dumps(reason, default=str)
            if isinstance(code, str | int) and str(code) not in words:
                return f"{words} ({code})"
            return words
        if isinstance(reason, str) and reason:
            return reason
    return ""


def classify_answer(
    usage: Usage | None, stop: str, window: int, previous: Usage | None = None, grown: int = 0
) -> Diagnosis | None:
    """An overflow that came without an error: a stop reason, usage above the window, or a prompt
    that was cut.

    Args:
        usage: what the provider reported; None if it did not.
        stop: its stop or finish reason.
        window: tokens.
        previous: the report before it, with no compaction in between.
        grown: tokens that were added to the prompt since `previous`.
    """
    used = usage.prompt if usage else None
    if stop == "model_context_window_exceeded":
        return Diagnosis("overflow", "compact", used=used, text=stop)
    if usage is None or not used:
        return None
    if used > window > 0:
        reason = f"{used} tokens reported in a window of {window}"
        return Diagnosis("overflow", "compact", used=used, text=reason)
    is_full = used >= 0.99 * window
    if stop in {"length", "max_tokens"} and not usage.output and is_full:
        reason = f"{stop} with no output at a full window"
        return Diagnosis("overflow", "compact", used=used, text=reason)
    if previous is None or grown < GROWN:
        return None
    is_halved = used < previous.prompt and (used - HALF) % 512 == 0
    if is_halved or previous.prompt == used:
        reason = (
            f"{used} tokens after {previous.prompt} reported although {grown} were added: the"
            " provider cut the prompt"
        )
        limit = used
        if is_halved:
            limit = 2 * (used - HALF)
        return Diagnosis("overflow", "compact", limit, text=reason)
    return None
