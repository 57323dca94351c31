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


class NotSplit(ModelError):
    """A prompt does not fit in parts either, so that smaller ones do not help."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, overflow=True)


@dataclass(frozen=True, slots=True)
class SplittingModel(ModelWrapper):
    """Sends the request whole where the prompt fits, and else part by part, each with the summary
    so far.

    A conversation that does not fit is put to the model as a transcript. The model's own error says
    that the prompt does not fit where no window is known, and where a quota takes less than that.

    Nothing is left out, and the completion's `method` says in how many parts it came about.
    """

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The completion.

        Raises:
            ModelError: the model gave none, or the prompt does not fit and cannot be split.
        """
        if request.purpose == "question":
            return self.model.complete(request)
        window = self.window(request)
        bounded = _with_bound(request, window)
        if window is not None:
            room = window - (bounded.max_tokens or 0)
            if _size(sent_text(bounded)) > room:
                return self._split(request, room)
        try:
            completion = self.model.complete(bounded)
        except ModelError as error:
            if not error.overflow:
                raise
            return self._split(request, _size(sent_text(bounded)) // 2, error)
        if bounded.max_tokens != request.max_tokens:
            return replace(completion, method="bound lowered to fit the window")
        return completion

    def _split(
        self, request: SummaryRequest, room: int, refusal: ModelError | None = None
    ) -> Completion:
        """The completion of what does not fit.

        Args:
            request: as it was asked for.
            room: tokens of a part.
            refusal: of the whole; None where it was not sent.
        """
        if request.conversation:
            return self.complete(request.as_transcript())
        window = self.window(request)
        if not hasattr(request.write, "left_out"):  # it is not written from the messages
            raise refusal or ModelError(
                f"the prompt does not fit into {self.name}, which takes {window} tokens, and it"
                " cannot be split",
                overflow=True,
            )
        bounded = _with_bound(request, window)
        return self._in_smaller_parts(bounded, room, refusal)

    def _in_smaller_parts(
        self, request: SummaryRequest, room: int, refusal: ModelError | None
    ) -> Completion:
        """The completion in parts of so many tokens, or of as many as an error says; half as large
        after each further error.
        """
        for _ in range(MOST_HALVINGS):
            if refusal is not None and refusal.limit is not None:
                bounded = _with_bound(request, refusal.limit)
                stated_room = int(refusal.limit * (1 - LARGEST_COMPLETION))
                room = min(room, stated_room)
                if bounded.max_tokens != request.max_tokens:
                    room = stated_room  # it may have counted the answer that was asked for
                request = bounded
            try:
                return self._in_parts(request, room)
            except NotSplit as error:
                raise refusal or error from error
            except ModelError as error:
                if not error.overflow:
                    raise
                refusal = error
                room //= 2
        raise refusal or NotSplit(f"the prompt does not fit into {self.name}")

    def _in_parts(self, request: SummaryRequest, room: int) -> Completion:
        messages, so_far = list(request.messages), request.previous
        completions: list[Completion] = []
        while messages:
            if len(completions) == MOST_PARTS:
                raise NotSplit(
                    f"the prompt does not fit into {self.name}, not even in {MOST_PARTS} parts"
                )
            part, messages = _next_part(request, messages, so_far, room)
            partial = _partial(request, part, so_far)
            completions.append(replace(self.model.complete(partial), left_out=partial.left_out))
            so_far = completions[-1].text
            if not so_far.strip():
                break  # an empty part would lose what came before: the whole is no answer
        return replace(
            with_total_cost(completions[-1], completions),
            method=_in_so_many(len(completions)),
            left_out=sum(completion.left_out or 0 for completion in completions),
        )


def _with_bound(request: SummaryRequest, window: int | None) -> SummaryRequest:
    """The request, which asks for no larger a completion than a window leaves room for."""
    if window is None or request.max_tokens is None:
        return request
    max_completion = int(LARGEST_COMPLETION * window)
    return replace(request, max_tokens=min(request.max_tokens, max_completion))


def _in_so_many(parts: int) -> str:
    if parts == 1:
        return "bound lowered to fit a quota"
    return f"in {parts} parts"


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
        NotSplit: not even a few words fit.
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
    raise NotSplit("the prompt does not fit into the model's window, not even without the record")


def _with_text(message: Message, text: str) -> Message:
    if isinstance(message, Summary):
        return replace(message, text=text)
    return replace(message, blocks=(Text(text),))
