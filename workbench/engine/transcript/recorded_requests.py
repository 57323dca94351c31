"""What a recorded agent really sent, and each prompt predicted before its report is looked at.

The counted size of each request is known along the tree and through its compactions. But a
recording rarely shows all that was sent: old results are cleared without a record, files are
attached behind a summary, a session goes on from one that is in another file. Reports show it: a
prompt that became smaller, or grew by more than twice what was said. From there on the difference
is carried along.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from workbench.engine.transcript.log import (
    ClearingEntry,
    CompactionEntry,
    Entry,
    MessageEntry,
)
from workbench.engine.transcript.message import (
    AssistantMessage,
    Message,
    TokenCounter,
)
from workbench.engine.transcript.sent_context import NONE_LEAVES, SentContext
from workbench.engine.transcript.session import Session

Change: TypeAlias = Literal["", "compaction", "clearing"]


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """One recorded answer with the request that it answered.

    Attributes:
        answer: the recorded message.
        counted: tokens of what the recording shows was sent, without what no message holds.
        change: what the recorded agent did to its context since the request before on this branch.
        begins_with: number of the newest earlier request whose whole prompt this one begins with;
            None if none.
        by_user: whether a user's message stands last in the request, not a tool's result.
        turn_before: number of the request that began the turn before, if the model thought in that
            turn and ended it, and the user speaks now; None otherwise. A provider may drop that
            turn's thinking.
    """

    answer: AssistantMessage
    counted: int
    change: Change
    begins_with: int | None
    by_user: bool
    turn_before: int | None = None


def reported_prompts(session: Session) -> list[int]:
    """Tokens of each own prompt of the main path that its provider reported, in their order."""
    prompts: list[int] = []
    for index in session.requests:
        answer = session.messages[index]
        if not isinstance(answer, AssistantMessage):
            continue
        usage = answer.usage
        if usage is not None and usage.prompt:
            prompts.append(usage.prompt)
    return prompts


@dataclass(slots=True)
class Turns:
    """Follows the turns of a session: from a user's message to the answer after which the user
    speaks again.

    Attributes:
        before: what `take` was told of the answer that began the turn before, as
            `RecordedRequest.turn_before`.
    """

    before: Hashable = None
    _began: Hashable = None
    _thought: bool = False
    _ended: bool = False
    _begins: bool = True

    def take(self, message: Message, answer: Hashable) -> None:
        """Go on by one message; `answer` names it."""
        if message.role == "user":
            self.before = self._began if self._thought and self._ended else None
            self._begins = True
        elif message.role == "assistant":
            if self._begins:
                self._began = answer
                self._thought = False
            self._thought |= _has_thought(message)
            self._begins = False
            self._ended = True
            self.before = None
        elif message.role == "tool":
            self._ended = False


def _has_thought(answer: AssistantMessage) -> bool:
    """Whether a model thought before it answered."""
    if answer.usage is not None and answer.usage.reasoning > 0:
        return True
    return any(block.type == "thinking" for block in answer.blocks)


def recorded_requests(
    session: Session,
    sizes: Sequence[int],
    count: TokenCounter,
    leaving: Mapping[str, int] = NONE_LEAVES,
) -> Iterator[RecordedRequest]:
    """Each request of the recording in the order in which it was sent, those before a rewind
    included.

    Sub-agents, which begin a tree of their own, are left out.

    Args:
        session: the recording.
        sizes: tokens of each of its messages, as `count` gives them.
        count: the counter, also for summaries, cleared results, and messages off the main path.
        leaving: by message id, how many of an answer's tokens are sent no more once the user speaks
            again.
    """
    prompts = counted_prompts(session, sizes, count, leaving)
    following = _Following()
    numbers: dict[Hashable, int] = {}
    for entry, path in _entries(session):
        if path is not None:
            following = _Following()
            for earlier in path:
                following.take(earlier)
        if isinstance(entry, MessageEntry) and entry.message.role == "assistant":
            yield RecordedRequest(
                entry.message,
                next(prompts),
                following.change,
                numbers.get(following.answer),
                following.by_user,
                numbers.get(following.turns.before),
            )
            numbers[entry.id] = len(numbers)
        following.take(entry)


def counted_prompts(
    session: Session,
    sizes: Sequence[int],
    count: TokenCounter,
    leaving: Mapping[str, int] = NONE_LEAVES,
) -> Iterator[int]:
    """`RecordedRequest.counted` of each of `recorded_requests`, which has the same arguments."""
    sent = SentContext(session, sizes, count, leaving)
    for entry, path in _entries(session):
        if path is not None:
            sent = SentContext(session, sizes, count, leaving)
            for earlier in path:
                sent.take(earlier)
        if isinstance(entry, MessageEntry) and entry.message.role == "assistant":
            yield sent.tokens
        sent.take(entry)


def _entries(session: Session) -> Iterator[tuple[Entry, Sequence[Entry] | None]]:
    """The entries of the session's tree in the order of the log, each behind a rewind with the path
    to it.
    """
    family = {entry.id for entry in session.path[:1]}
    previous_id: str | None = None
    for entry in session.log:
        if entry.id not in family and entry.parent not in family:
            continue
        family.add(entry.id)
        path: Sequence[Entry] | None = None
        if entry.parent != previous_id:
            path = tuple(session.log.path(entry.parent))
        yield entry, path
        previous_id = entry.id


class _Following:
    """Follows what the recorded agent did to its context, entry by entry.

    Attributes:
        change: what it did since its newest answer.
        answer: id of the newest answer whose whole prompt the context begins with; None if none.
        by_user: whether a user's message stands last.
        turns: begun anew where the agent changed its context.
    """

    def __init__(self) -> None:
        self.change: Change = ""
        self.answer: str | None = None
        self.by_user = False
        self.turns = Turns()

    def take(self, entry: Entry) -> None:
        """Go on by one entry."""
        if isinstance(entry, MessageEntry):
            self.by_user = entry.message.role == "user"
            self.turns.take(entry.message, entry.id)
            if entry.message.role == "assistant":
                self.change = ""
                self.answer = entry.id
        elif isinstance(entry, CompactionEntry):
            self._begin_anew("compaction")
        elif isinstance(entry, ClearingEntry):
            self._begin_anew("clearing")

    def _begin_anew(self, change: Change) -> None:
        self.change = change
        self.answer = None
        self.turns = Turns()


def turns_before(session: Session) -> Mapping[int, int]:
    """By message number, each answer of the main path that has a `RecordedRequest.turn_before`,
    with that answer.
    """
    turns = Turns()
    turn_before: dict[int, int] = {}
    for index, message in enumerate(session.messages):
        if isinstance(message, AssistantMessage) and isinstance(turns.before, int):
            turn_before[index] = turns.before
        turns.take(message, index)
    return turn_before


Turn: TypeAlias = Literal["", "compaction", "clearing", "shrunk", "grown", "unseen start"]
"""What changed the prompt otherwise than by what was said: recorded, or seen from the report
alone.
"""

DROP = 0.02
"""A prompt that shrinks by more than this share, while nothing says why, was cut by the client
unrecorded.
"""
FACTOR = 2.0
"""A prompt that grows by more than so many times what was said holds something that the
recording does not show.
"""
MIDDLE = 1.5
"""A first prompt so many times as large as what the recording shows goes on from something
before it.
"""


@dataclass(frozen=True, slots=True)
class PredictedRequest:
    """One request with the prompt that was predicted before its report was looked at.

    Attributes:
        predicted: tokens.
        turn: what changed the prompt here; `shrunk`, `grown` and `unseen start` are known only
            after the report.
        begins_with: place in the sequence of the newest request whose whole prompt this one begins
            with; None if none.
        turn_before: place of the request that began the turn before, as
            `RecordedRequest.turn_before`; None if none.
    """

    request: RecordedRequest
    predicted: float
    turn: Turn
    begins_with: int | None
    turn_before: int | None = None

    @property
    def reported(self) -> int:
        """Tokens of the whole prompt, as the provider said."""
        usage = self.request.answer.usage
        if usage is None:
            return 0
        return usage.prompt

    @property
    def settled(self) -> float:
        """Tokens of the prompt: as reported where the report taught something, else predicted."""
        if self.turn:
            return self.reported
        return self.predicted

    @property
    def error(self) -> float:
        """The share of the report by which the prediction misses it."""
        return abs(self.predicted - self.reported) / self.reported


def predicted_requests(
    session: Session,
    sizes: Sequence[int],
    count: TokenCounter,
    overhead: float,
    scale: float,
    leaving: Mapping[str, int] = NONE_LEAVES,
) -> tuple[PredictedRequest, ...]:
    """Each request that the session's usual model reported on, in the order of sending.

    `sizes` are the tokens of the session's messages by `count`; `overhead` and `scale` are those of
    its calibration; `leaving` is that of `recorded_requests`.
    """
    requests = recorded_requests(session, sizes, count, leaving)
    return predictions(requests, usual_model(session), overhead, scale)


def predictions(
    requests: Iterable[RecordedRequest], usual: str, overhead: float, scale: float
) -> tuple[PredictedRequest, ...]:
    """The same of requests that are known already; `usual` is the session's usual model."""
    predicted_so_far: list[PredictedRequest] = []
    places: dict[int | None, int] = {}
    difference = 0.0
    change: Change = ""
    for number, request in enumerate(requests):
        usage = request.answer.usage
        change = request.change or change
        begins_with = places.get(request.begins_with)
        if usage is None or not usage.prompt or request.answer.model != usual:
            if begins_with is not None:
                places[number] = begins_with  # what follows begins with what this one began with
            continue
        if request.change != change:
            request = replace(request, change=change)
        if change == "compaction":
            difference = 0.0
        predicted_by_count = overhead + scale * request.counted
        previous = predicted_so_far[-1] if predicted_so_far else None
        turn = _turn(request, previous, predicted_by_count, scale)
        predicted = max(predicted_by_count + difference, 0.0)
        turn_before = places.get(request.turn_before)
        places[number] = len(predicted_so_far)
        prediction = PredictedRequest(request, predicted, turn, begins_with, turn_before)
        predicted_so_far.append(prediction)
        if turn:
            difference = usage.prompt - predicted_by_count
        change = ""
    return tuple(predicted_so_far)


def _turn(
    request: RecordedRequest, previous: PredictedRequest | None, predicted: float, scale: float
) -> Turn:
    if request.change:
        return request.change
    usage = request.answer.usage
    reported = usage.prompt if usage is not None else 0
    if previous is None:
        return "unseen start" if reported > MIDDLE * predicted else ""
    growth = scale * (request.counted - previous.request.counted)
    if reported < previous.reported + min(0.0, growth) - DROP * previous.reported:
        return "shrunk"
    if reported > previous.reported + FACTOR * max(0.0, growth) + DROP * reported:
        return "grown"
    return ""


def usual_model(session: Session) -> str:
    """The model that reported most often; empty if none did."""
    answers_of = Counter[str]()
    for message in session.messages:
        if message.role == "assistant" and message.usage:
            answers_of[message.model] += 1
    for model, _ in answers_of.most_common(1):
        return model
    return ""
