"""Says what a provider's error means for the context: whether to compact, and to what.

Half of the real overflow messages reach an agent as a plain bad request, and many errors that look
like an overflow are a rate limit, an output cap, a picture or a broken history. Only errors are
read here, never tools' or models' words. How each provider words its errors is in
`provider_errors.toml`.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from workbench.engine.models.error_numbers import error_numbers, token_numbers
from workbench.engine.models.error_wordings import WORDINGS, Kind, compiled
from workbench.engine.models.keys import without_keys
from workbench.engine.transcript.message import Json, Usage

ProviderError: TypeAlias = BaseException | str | Mapping[str, Json]
"""An exception of any client, an error as JSON, or its text."""
Action: TypeAlias = Literal[
    "compact", "lower_output", "strip_media", "back_off", "repair", "leave_alone"
]
READ = 4_000
"""Characters of an error's first line that are shown."""
LEAST_ROOM = 1_024
"""Tokens of output below which a smaller `max_tokens` is no remedy."""
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
_KINDS: Mapping[Kind, re.Pattern[str]] = {
    kind: compiled("|".join(patterns)) for kind, patterns in WORDINGS["kinds"].items()
}
REFUSED = (None, 400, 404, 413, 415, 422, 429, 500)
"""HTTP statuses of errors that the general rules are for: a request was refused for what is in
it.
"""
_SIZE = re.compile("token|jeton|context|window", re.IGNORECASE)
NEAR = 2
"""A number is that of our own count if neither is so many times the other."""


@dataclass(frozen=True, slots=True)
class GeneralRule:
    """What an error speaks of where no provider's own wording fits."""

    kind: Kind
    about: str
    fault: str = ""
    size: str = ""
    unless: str = ""

    def matches(self, text: str) -> bool:
        """Whether the text speaks of all that is wanted, and of nothing else."""
        if self.unless and re.search(self.unless, text, re.IGNORECASE):
            return False
        patterns = (self.about, self.fault, self.size)
        return all(re.search(pattern, text, re.IGNORECASE) for pattern in patterns)


_GENERAL = [GeneralRule(**rule) for rule in WORDINGS["general"]]
_REASONS = ("error", "message", "detail", "msg", "reason")
"""Fields in which servers say why they failed."""
_WRAPPED = re.compile(r"^(?:\s*litellm\.\w+:\s*(?:\w+Error:\s*)?(?:\w*Exception\s*[-:]\s*)?)+")
_CODE = re.compile(r"^Error code: (\d{3})\b")
_LITELLM_OVERFLOW = "ContextWindowExceededError"
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What an error is and what helps.

    Attributes:
        kind: `overflow`; `mixed` where prompt and requested output are too much together;
            `rate_permanent` where a request alone is above a rate limit, so that waiting cannot
            help; `bytes` where the body is too large.
        action: `strip_media` asks for fewer bytes: pictures and documents first, then the largest
            results.
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


def classify(
    error: ProviderError,
    status: int | None = None,
    overflow: re.Pattern[str] | None = None,
    prompt: int = 0,
) -> Diagnosis:
    """What an error means for the context.

    Args:
        error: what was raised or answered.
        status: its HTTP status, where that is known from elsewhere.
        overflow: texts that mark an overflow where no provider's own wording says what the error
            is.
        prompt: tokens of the refused request by our own count; 0 if unknown.
    """
    text, stated_status = _evidence(error)
    if status is None:
        status = stated_status
    kind = _stated_kind(text, status)
    if kind is None and overflow is not None and overflow.search(text):
        kind = "overflow"
    kind = kind or _general_kind(text, status, prompt)
    numbers = error_numbers(text, kind)
    limit = numbers.limit
    used = numbers.used
    requested = numbers.requested
    first_line, _, _ = text.strip().partition("\n")
    text = without_keys(first_line[:READ])
    is_above_limit = limit is not None and used is not None and used > limit
    if kind == "rate" and is_above_limit:
        kind = "rate_permanent"
    if kind in {"rate", "media", "malformed", "bytes", "other"}:
        return Diagnosis(kind, _ACTIONS[kind], text=text)
    if kind == "output_cap":
        return Diagnosis(kind, _ACTIONS[kind], limit, used, limit, text)
    is_sum = kind == "mixed" or requested is not None
    if is_sum and limit is not None and used is not None:
        room = limit - used
        if room >= LEAST_ROOM and (requested is None or room < requested):
            return Diagnosis(kind, "lower_output", limit, used, room, text)
    return Diagnosis(kind, "compact", limit, used, None, text)


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


def _stated_kind(text: str, status: int | None) -> Kind | None:
    """The kind of an error in words that are known, or of a status that says it alone."""
    for kind, pattern in _KINDS.items():
        if pattern.search(text) or (kind == "rate" and status == 429):
            return kind
    if _LITELLM_OVERFLOW in text:
        return "overflow"
    return None


def _general_kind(text: str, status: int | None, prompt: int) -> Kind:
    """The kind of an error in other words, by its status, what it speaks of, and the tokens of
    the refused prompt.
    """
    if status in REFUSED:
        for rule in _GENERAL:
            if rule.matches(text):
                return rule.kind
        if _states_size(text, prompt):
            return "overflow"
    if status == 413:
        return "bytes"
    return "other"


def _states_size(text: str, prompt: int) -> bool:
    """Whether a text in words that no rule knows says that a request of about so many tokens is
    above a limit.
    """
    numbers = token_numbers(text)
    if len(numbers) != 2 or not _SIZE.search(text):
        return False
    return prompt / NEAR <= max(numbers) <= prompt * NEAR


def _evidence(error: ProviderError) -> tuple[str, int | None]:
    """What an error says without litellm's class names, which are a guess, and its innermost
    HTTP status.
    """
    texts: list[str] = []
    status: int | None = None
    for cause in _chain(error):
        texts.append(_unwrapped(str(cause)))
        for name in ("message", "body", "code"):
            part = getattr(cause, name, None)
            if isinstance(part, str | Mapping):
                texts.append(_unwrapped(part))
        if _LITELLM_OVERFLOW in f"{type(cause).__mro__} {str(cause)[:200]}":
            texts.append(_LITELLM_OVERFLOW)
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
        match = _CODE.match(_unwrapped(str(error)))
        if match:
            candidates.append(int(match[1]))
    for status in candidates:
        if isinstance(status, int) and 100 <= status < 600:
            return status
    return None


def _unwrapped(text: str | Mapping[str, Json]) -> str:
    return _WRAPPED.sub("", str(text))
