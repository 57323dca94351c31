"""Says what a provider's refusal means for the context: whether to compact, and to what.

Half of the real overflow messages reach an agent as a plain bad request, and a good part of what looks like one is a
rate limit, an output cap, a picture or a broken history. Only errors are read here, never what a tool or a model said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from workbench.models.provider_quirks import BOUND, KINDS, PAIRS
from workbench.transcript.message import Json, Usage

ProviderError: TypeAlias = BaseException | str | Mapping[str, Json]
"""An exception of any client, an error as JSON, or its text."""
Kind: TypeAlias = Literal[
    "overflow", "mixed", "output_cap", "bytes", "media", "malformed", "rate", "rate_permanent", "other"
]
Action: TypeAlias = Literal["compact", "lower_output", "strip_media", "back_off", "repair", "leave_alone"]

LEAST_ROOM = 1_024
"""Tokens of output below which a smaller `max_tokens` is no remedy."""
PLAUSIBLE = range(1_024, 10_000_001)
"""Tokens that a stated limit can have; other numbers in an error are something else."""
GROWN = 64
"""Tokens by which a prompt must have grown before an unchanged report says that the provider cut it."""

_ACTIONS: Mapping[Kind, Action] = {
    "overflow": "compact", "mixed": "compact", "rate_permanent": "compact", "output_cap": "lower_output",
    "bytes": "strip_media", "media": "strip_media", "malformed": "repair", "rate": "back_off", "other": "leave_alone",
}  # fmt: skip
_WRAPPED = re.compile(r"^\s*litellm\.\w+:\s*(?:\w+Error:\s*)?(?:\w*Exception\s*[-:]\s*)?")
_CODE = re.compile(r"^Error code: (\d{3})\b")
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an error is and what helps.

    Attributes:
        kind: `overflow`; `mixed` where prompt and asked-for output are too much together; `rate_permanent` where a
            request alone is above a rate limit, so that waiting cannot help; `bytes` where the body is too large.
        action: `strip_media` asks for fewer bytes: pictures and documents first, then the largest results.
        limit: tokens that the provider takes, as the error says; for an output cap, of the answer. None if unsaid.
        used: tokens that the prompt had, as the error says.
        output: tokens of output that a smaller `max_tokens` may ask for; None where that is no remedy.
        text: the first line of what was read.
    """

    kind: Kind
    action: Action
    limit: int | None = None
    used: int | None = None
    output: int | None = None
    text: str = ""


def classify(error: ProviderError, status: int | None = None) -> Verdict:
    """What an error means for the context.

    Args:
        error: an exception of any client (litellm's wrapping is looked through), an error's JSON, or its text.
        status: the HTTP status, where it is known better than from the error.
    """
    text, found, names = _evidence(error)
    status = found if status is None else status
    kind = _kind(text, status)
    if kind == "other" and "ContextWindowExceededError" in names:
        kind = "overflow"
    limit, used, asked = _numbers(text, kind)
    text = text.strip().partition("\n")[0]
    if kind == "rate" and limit is not None and used is not None and used > limit:
        kind = "rate_permanent"
    if kind == "mixed":
        return _mixed(text, limit, used, asked)
    if kind in {"rate", "media", "malformed", "bytes", "other"}:
        return Verdict(kind, _ACTIONS[kind], text=text)
    return Verdict(kind, _ACTIONS[kind], limit, used, limit if kind == "output_cap" else None, text)


def classify_answer(
    usage: Usage | None, stop: str, window: int, previous: Usage | None = None, grown: int = 0
) -> Verdict | None:
    """An overflow that came without an error: a stop reason, usage above the window, or a prompt that was cut.

    Args:
        usage: what the provider reported; None if it did not.
        stop: its stop or finish reason.
        window: tokens.
        previous: the report before it, with no compaction in between.
        grown: tokens that were added to the prompt since `previous`.
    """
    if stop == "model_context_window_exceeded":
        return Verdict("overflow", "compact", used=usage.prompt if usage else None, text=stop)
    if usage is None or not usage.prompt:
        return None
    if usage.prompt > window > 0:
        why = f"{usage.prompt} tokens reported in a window of {window}"
        return Verdict("overflow", "compact", used=usage.prompt, text=why)
    if stop in {"length", "max_tokens"} and not usage.output and usage.prompt >= 0.99 * window:
        return Verdict("overflow", "compact", used=usage.prompt, text=f"{stop} with no output at a full window")
    if previous is not None and previous.prompt == usage.prompt and grown >= GROWN:
        why = f"{usage.prompt} tokens reported again although {grown} were added: the provider cut the prompt"
        return Verdict("overflow", "compact", usage.prompt, text=why)
    return None


def _kind(text: str, status: int | None) -> Kind:
    for kind, pattern in KINDS:
        if pattern.search(text) or (status, kind) == (429, "rate"):
            return kind
    return "bytes" if status == 413 else "other"


def _mixed(text: str, limit: int | None, used: int | None, asked: int | None) -> Verdict:
    room = limit - used if limit is not None and used is not None else 0
    if room >= LEAST_ROOM and (asked is None or room < asked):
        return Verdict("mixed", "lower_output", limit, used, room, text)
    return Verdict("mixed", "compact", limit, used, None, text)


def _numbers(text: str, kind: Kind) -> tuple[int | None, int | None, int | None]:
    """The limit, what was used, and the output that was asked for, each None where the text does not say it."""
    for pattern in PAIRS if kind != "output_cap" else ():
        found = pattern.search(text)
        if found is not None:
            stated = found.groupdict()
            return _plausible(stated.get("limit")), _count(stated.get("used")), _count(stated.get("asked"))
    bound = BOUND.search(text)
    return (_plausible(next(filter(None, bound.groups()), None)) if bound else None), None, None


def _count(digits: str | None) -> int | None:
    return int(re.sub(r"\D", "", digits)) if digits else None


def _plausible(digits: str | None) -> int | None:
    number = _count(digits)
    return number if number in PLAUSIBLE else None


def _evidence(error: ProviderError) -> tuple[str, int | None, set[str]]:
    """The text without its wrapping, the innermost HTTP status, and the names of the exceptions' classes."""
    if isinstance(error, str):
        return _unwrapped(error), _stated_status(error), set(re.findall(r"\w+Error\b", error[:200]))
    if isinstance(error, Mapping):
        return _json(error), _status(error.get("status_code", error.get("status"))), set()
    texts: list[str] = []
    status: int | None = None
    names: set[str] = set()
    for one in _chain(error):
        stated = _texts(one)
        texts += [text for text in stated if text and text not in texts]
        status = _own_status(one) or _stated_status(" ".join(stated[:1])) or status
        names.update(cls.__name__ for cls in type(one).__mro__)
    return "\n".join(texts), status, names


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and the API errors that it was made from, outermost first."""
    at: BaseException | None = error
    for n in range(_DEEPEST):
        if at is None or (n and _own_status(at) is None and not getattr(at, "body", None)):
            return
        yield at
        at = at.__cause__ or at.__context__


def _texts(error: BaseException) -> list[str]:
    body: Json = getattr(error, "body", None)
    message: Json = getattr(error, "message", None)
    code: Json = getattr(error, "code", None)
    found = [_unwrapped(str(error))]
    found.append(_unwrapped(message) if isinstance(message, str) else "")
    found.append(body if isinstance(body, str) else _json(body) if isinstance(body, Mapping) else "")
    found.append(code if isinstance(code, str) else "")
    return found


def _own_status(error: BaseException) -> int | None:
    own = _status(getattr(error, "status_code", None))
    return _status(getattr(getattr(error, "response", None), "status_code", None)) if own is None else own


def _status(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 100 <= value < 600 else None


def _stated_status(text: str) -> int | None:
    found = _CODE.match(_unwrapped(text))
    return int(found.group(1)) if found else None


def _unwrapped(text: str) -> str:
    """The text without the class names that litellm put before it: `RateLimitError` there is its guess."""
    while (wrapped := _WRAPPED.match(text)) is not None:
        text = text[wrapped.end() :]
    return text


def _json(value: Mapping[str, Json]) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return str(value)
