"""Splits a request that does not fit into the model's window: part by part, each with the summary so far."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.errors import ModelError
from workbench.models.model import Completion, Purpose, SummaryRequest
from workbench.models.tokenizer import TiktokenCounter
from workbench.models.wrapper import ModelWrapper, with_total_cost
from workbench.transcript.message import Message, Summary, Text, counted_text

MARGIN = 1.25  # the model's own tokens that there may be for one of ours
LARGEST_COMPLETION = 0.25  # the share of a window that a completion may ask for; more leaves too little to read
MOST_PARTS = 64
FEWEST_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class SplittingModel(ModelWrapper):
    """Sends the request whole where the prompt fits, and else part by part, each with the summary so far.

    Nothing is left out, and the completion's `method` says in how many parts it came about.
    """

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The completion.

        Raises:
            ModelError: the model gave none, or the prompt does not fit and cannot be split.
        """
        window = self.window(request)
        if window is None or request.purpose == "question":
            return self.model.complete(request)
        most = int(LARGEST_COMPLETION * window)
        lowered = request if (request.max_tokens or 0) <= most else replace(request, max_tokens=most)
        room = window - (lowered.max_tokens or 0)
        if _size(lowered.prompt) <= room:
            try:
                completion = self.model.complete(lowered)
                method = completion.method if lowered is request else "bound lowered to fit the window"
                return replace(completion, method=method)
            except ModelError as error:
                if not error.overflow:
                    raise
                room = int(0.6 * room)  # its tokens are smaller than estimated
        if not hasattr(lowered.write, "left_out"):  # it is not written from the messages
            raise ModelError(
                f"the prompt does not fit into {self.name}, which takes {window} tokens, and it cannot be split",
                overflow=True,
            )
        return self._in_parts(lowered, room)

    def _in_parts(self, request: SummaryRequest, room: int) -> Completion:
        left, so_far = list(request.messages), request.previous
        completions: list[Completion] = []
        while left:
            if len(completions) == MOST_PARTS:
                raise ModelError(
                    f"the prompt does not fit into {self.name}, not even in {MOST_PARTS} parts", overflow=True
                )
            part, left = _next_part(request, left, so_far, room)
            partial = _partial(request, part, so_far)
            completions.append(replace(self.model.complete(partial), left_out=partial.left_out))
            so_far = completions[-1].text
            if not so_far.strip():
                break  # an empty part would lose what came before: the whole is no answer
        return replace(
            with_total_cost(completions[-1], completions),
            method=f"in {len(completions)} parts",
            left_out=sum(one.left_out or 0 for one in completions),
        )


def _size(text: str) -> int:
    return int(MARGIN * TiktokenCounter().count_text(text)) + 64


def _partial(request: SummaryRequest, part: Sequence[Message], so_far: str) -> SummaryRequest:
    """The request about some of the messages, with the summary of those before."""
    purpose: Purpose = "update" if request.purpose == "summary" and so_far else request.purpose
    return replace(request, purpose=purpose, messages=tuple(part), previous=so_far)


def _next_part(
    request: SummaryRequest, left: list[Message], so_far: str, room: int
) -> tuple[list[Message], list[Message]]:
    """As many messages as fit, at least one or the beginning of one, and the rest.

    Raises:
        ModelError: not even a few words fit.
    """

    def size(messages: Sequence[Message]) -> int:
        return _size(_partial(request, messages, so_far).prompt)

    fit = bisect_right(range(1, len(left) + 1), room, key=lambda n: size(left[:n]))
    if fit:
        return left[:fit], left[fit:]
    text = counted_text(left[0])
    length = len(text) // 2
    while length >= FEWEST_CHARACTERS:
        beginning = _with_text(left[0], text[:length])
        if size([beginning]) <= room:
            return [beginning], [_with_text(left[0], text[length:]), *left[1:]]
        length //= 2
    raise ModelError("the prompt does not fit into the model's window, not even without the record", overflow=True)


def _with_text(message: Message, text: str) -> Message:
    return replace(message, text=text) if isinstance(message, Summary) else replace(message, blocks=(Text(text),))
