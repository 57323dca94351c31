"""A model that is given no more than its window holds: what is longer is summarised part by part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Protocol

from workbench.errors import ModelError
from workbench.models.model import Completion, Model, SummaryRequest, bears_several
from workbench.models.tokenizer import TiktokenCounter
from workbench.transcript.message import Message, Summary, Text, counted_text

MARGIN = 1.25
"""How many of the model's own tokens there may be for one of ours."""

LEAST = 0.25
"""The part of a window that an answer may ask for; more leaves too little for what is read."""

MOST_PARTS = 64


class Windowed(Model, Protocol):
    """A model that knows how much it takes."""

    def window(self, request: SummaryRequest, /) -> int | None:
        """Tokens that the model takes, its answer included; None if nobody knows."""
        ...


@dataclass(frozen=True, slots=True)
class InParts:
    """Asks the model in one piece where the prompt fits, and else part by part, each with the summary so far.

    Nothing is left out, and the answer's `method` says in how many parts it came about.
    """

    model: Windowed

    @property
    def name(self) -> str:
        """What stands in reports."""
        return self.model.name

    @property
    def at_once(self) -> bool:
        """Whether several questions may be asked at the same time."""
        return bears_several(self.model)

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The answer.

        Raises:
            ModelError: the model gave none, or the prompt does not fit and cannot be taken apart.
        """
        window = self.model.window(request)
        if window is None or request.purpose == "question":
            return self.model.complete(request)
        lowered = _bounded(request, window)
        room = window - (lowered.max_tokens or 0)
        if _size(lowered.prompt) <= room:
            try:
                return _told(
                    self.model.complete(lowered), "" if lowered is request else "bound lowered to fit the window"
                )
            except ModelError as error:
                if not error.overflow:
                    raise
                room = int(0.6 * room)  # its tokens are smaller than they were thought to be
        if not _can_be_parted(lowered.write):
            raise ModelError(
                f"the prompt does not fit into {self.name}, which takes {window} tokens, and cannot be taken apart",
                overflow=True,
            )
        return self._in_parts(lowered, room)

    def _in_parts(self, request: SummaryRequest, room: int) -> Completion:
        left, so_far = list(request.messages), request.previous
        answers: list[Completion] = []
        while left:
            part, left = _next(request, left, so_far, room)
            if len(answers) == MOST_PARTS:
                raise ModelError(
                    f"the prompt does not fit into {self.name}, not even in {MOST_PARTS} parts", overflow=True
                )
            asked = _request(request, part, so_far)
            answer = self.model.complete(asked)
            answers.append(replace(answer, left_out=asked.left_out))
            so_far = answer.text
            if not so_far.strip():
                break  # an empty part would lose what came before: the whole is no answer
        usd = [answer.usd for answer in answers]
        return replace(
            answers[-1],
            input_tokens=sum(answer.input_tokens for answer in answers),
            output_tokens=sum(answer.output_tokens for answer in answers),
            cached_tokens=sum(answer.cached_tokens for answer in answers),
            usd=None if None in usd else sum(one for one in usd if one is not None),
            seconds=sum(answer.seconds for answer in answers),
            counted=any(answer.counted for answer in answers),
            method=f"in {len(answers)} parts",
            left_out=sum(answer.left_out or 0 for answer in answers),
        )


def _bounded(request: SummaryRequest, window: int) -> SummaryRequest:
    most = int(LEAST * window)
    return request if request.max_tokens is None or request.max_tokens <= most else replace(request, max_tokens=most)


def _told(answer: Completion, method: str) -> Completion:
    return replace(answer, method=method) if method else answer


def _size(text: str) -> int:
    return int(MARGIN * TiktokenCounter().count_text(text)) + 64


def _can_be_parted(write: Callable[[], str]) -> bool:
    """Whether the prompt can be written for other messages: it is a value with a field for them."""
    return is_dataclass(write) and not isinstance(write, type) and "messages" in {f.name for f in fields(write)}


def _request(request: SummaryRequest, part: Sequence[Message], so_far: str) -> SummaryRequest:
    """The question about some of the messages, with the summary of those before."""
    letter: Any = request.write
    names = {field.name for field in fields(letter)}
    said = tuple(part)
    purpose = "update" if request.purpose == "summary" and so_far and "previous" in names else request.purpose
    if "previous" in names:
        change: dict[str, object] = {"previous": so_far}
        if "purpose" in names:
            change["purpose"] = purpose
    else:
        change = {}
        said = (Summary(id="", text=so_far), *said) if so_far else said
    return replace(
        request, purpose=purpose, messages=tuple(part), previous=so_far, write=replace(letter, messages=said, **change)
    )


def _next(request: SummaryRequest, left: list[Message], so_far: str, room: int) -> tuple[list[Message], list[Message]]:
    """As many messages as fit, at least one or the beginning of one, and the rest."""
    low, high = 0, len(left)
    while low < high:  # the longest beginning that fits
        middle = (low + high + 1) // 2
        if _size(_request(request, left[:middle], so_far).prompt) <= room:
            low = middle
        else:
            high = middle - 1
    if low:
        return left[:low], left[low:]
    first, second = _halves(left[0], request, so_far, room)
    return [first], [second, *left[1:]]


def _halves(message: Message, request: SummaryRequest, so_far: str, room: int) -> tuple[Message, Message]:
    """The longest beginning of a message that fits, halving it, and the rest as a message of its own.

    Raises:
        ModelError: not even a few words fit.
    """
    text = counted_text(message)
    length = len(text) // 2
    while length >= 40:
        beginning = _with_text(message, text[:length])
        if _size(_request(request, [beginning], so_far).prompt) <= room:
            return beginning, _with_text(message, text[length:])
        length //= 2
    raise ModelError("the prompt does not fit into the model's window, not even without the record", overflow=True)


def _with_text(message: Message, text: str) -> Message:
    if isinstance(message, Summary):
        return replace(message, text=text)
    return replace(message, blocks=(Text(text),))
