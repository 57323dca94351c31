"""A request that does not fit into its model's window, in parts."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.base.errors import ModelError, SetupError
from workbench.engine.models.conversation import sent_text
from workbench.engine.models.model import Completion, Purpose, SummaryRequest
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.models.wrappers import ModelWrapper, with_total_cost
from workbench.engine.transcript.message import Message, Summary, Text, counted_text

MARGIN = 1.25  # the model's own tokens that there may be for one of ours
# the share of a window that a completion may ask for; more leaves too little to read
LARGEST_COMPLETION = 0.25
MOST_PARTS = 64
MOST_HALVINGS = 5
FEWEST_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class SplittingModel(ModelWrapper):
    """Sends the request whole where the prompt fits, and else part by part, each with the summary
    so far.

    A conversation that does not fit is put to the model as a transcript. Where no window is known,
    the model's own error says that the prompt does not fit.

    Nothing is left out, and the completion's `method` says in how many parts it came about.
    """

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The completion.

        Raises:
            ModelError: the model gave none, or the prompt does not fit and cannot be split.
        """
        window = self.window(request)
        if request.purpose == "question":
            return self.model.complete(request)
        if window is None:
            return self._in_unknown_window(request)
        max_completion = int(LARGEST_COMPLETION * window)
        is_lowered = (request.max_tokens or 0) > max_completion
        lowered = replace(request, max_tokens=max_completion) if is_lowered else request
        room = window - (lowered.max_tokens or 0)
        if _size(sent_text(lowered)) <= room:
            try:
                completion = self.model.complete(lowered)
                if is_lowered:
                    return replace(completion, method="bound lowered to fit the window")
                return completion
            except ModelError as error:
                if not error.overflow:
                    raise
                room = int(0.6 * room)  # its tokens are smaller than estimated
        if request.conversation:
            return self.complete(request.as_transcript())
        if not hasattr(lowered.write, "left_out"):  # it is not written from the messages
            raise ModelError(
                f"the prompt does not fit into {self.name}, which takes {window} tokens, and it"
                " cannot be split",
                overflow=True,
            )
        return self._in_parts(lowered, room)

    def _in_unknown_window(self, request: SummaryRequest) -> Completion:
        """The completion of a model that says only by its error how much it takes.

        Then parts are as large as the error allows, and half as large after each further error.
        """
        try:
            return self.model.complete(request)
        except ModelError as error:
            if error.overflow and request.conversation:
                return self.complete(request.as_transcript())
            if not error.overflow or not hasattr(request.write, "left_out"):
                raise
            refusal = error
        room = _size(request.prompt) // 2
        if refusal.limit is not None:
            room = min(room, int(refusal.limit * (1 - LARGEST_COMPLETION)))
        for _ in range(MOST_HALVINGS):
            try:
                return self._in_parts(request, room)
            except ModelError as error:
                if not error.overflow:
                    raise
                refusal, room = error, room // 2
        raise refusal

    def _in_parts(self, request: SummaryRequest, room: int) -> Completion:
        messages, so_far = list(request.messages), request.previous
        completions: list[Completion] = []
        while messages:
            if len(completions) == MOST_PARTS:
                raise ModelError(
                    f"the prompt does not fit into {self.name}, not even in {MOST_PARTS} parts",
                    overflow=True,
                )
            part, messages = _next_part(request, messages, so_far, room)
            partial = _partial(request, part, so_far)
            completions.append(replace(self.model.complete(partial), left_out=partial.left_out))
            so_far = completions[-1].text
            if not so_far.strip():
                break  # an empty part would lose what came before: the whole is no answer
        return replace(
            with_total_cost(completions[-1], completions),
            method=f"in {len(completions)} parts",
            left_out=sum(completion.left_out or 0 for completion in completions),
        )


def _size(text: str) -> int:
    try:
        tokens = TiktokenCounter().count_text(text)
    except (ImportError, SetupError):  # only the engine is installed
        tokens = len(text.encode("utf-8", "surrogatepass")) // 4
    return int(MARGIN * tokens) + 64


def _partial(request: SummaryRequest, part: Sequence[Message], so_far: str) -> SummaryRequest:
    """The request about some of the messages, with the summary of those before."""
    purpose: Purpose = "update" if request.purpose == "summary" and so_far else request.purpose
    return replace(request, purpose=purpose, messages=tuple(part), previous=so_far)


def _next_part(
    request: SummaryRequest, remaining: list[Message], so_far: str, room: int
) -> tuple[list[Message], list[Message]]:
    """As many messages as fit, at least one or the beginning of one, and the rest.

    Raises:
        ModelError: not even a few words fit.
    """

    def size(messages: Sequence[Message]) -> int:
        return _size(_partial(request, messages, so_far).prompt)

    counts = range(1, len(remaining) + 1)
    fit = bisect_right(counts, room, key=lambda count: size(remaining[:count]))
    if fit:
        return remaining[:fit], remaining[fit:]
    oldest, *others = remaining
    text = counted_text(oldest)
    length = len(text) // 2
    while length >= FEWEST_CHARACTERS:
        beginning = _with_text(oldest, text[:length])
        if size([beginning]) <= room:
            end = _with_text(oldest, text[length:])
            return [beginning], [end, *others]
        length //= 2
    raise ModelError(
        "the prompt does not fit into the model's window, not even without the record",
        overflow=True,
    )


def _with_text(message: Message, text: str) -> Message:
    if isinstance(message, Summary):
        return replace(message, text=text)
    return replace(message, blocks=(Text(text),))
