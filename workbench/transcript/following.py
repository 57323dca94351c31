"""Predicts each recorded prompt before its report is looked at, and learns from the report what nothing else shows.

A recording rarely shows all that was sent: old results are cleared without a record, files are attached behind a
summary, a session goes on from one that is in another file. Reports show it: a prompt that became smaller, or grew by
more than twice what was said. From there on the difference is carried along.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from workbench.transcript.message import AssistantMessage
from workbench.transcript.sent import Change, Request, requests
from workbench.transcript.session import Session
from workbench.transcript.tokens import TokenCounter

Turn: TypeAlias = Literal["", "compaction", "clearing", "shrunk", "grown", "unseen start"]
"""What changed the prompt otherwise than by what was said: recorded, or seen from the report alone."""

DROP = 0.02
"""A prompt that shrinks by more than this share, while nothing says why, was cut by the client unrecorded."""
FACTOR = 2.0
"""A prompt that grows by more than so many times what was said holds something that the recording does not show."""
MIDDLE = 1.5
"""A first prompt so many times as large as what the recording shows goes on from something before it."""


@dataclass(frozen=True, slots=True)
class Followed:
    """One request with the prompt that was predicted before its report was looked at.

    Attributes:
        request: what was asked and answered.
        predicted: tokens.
        turn: what changed the prompt here; `shrunk`, `grown` and `unseen start` are known only after the report.
        begins_with: place in the sequence of the newest request whose whole prompt this one begins with; None if none.
    """

    request: Request
    predicted: float
    turn: Turn
    begins_with: int | None

    @property
    def reported(self) -> int:
        """Tokens of the whole prompt, as the provider said."""
        usage = self.request.answer.usage
        return usage.prompt if usage is not None else 0

    @property
    def settled(self) -> float:
        """Tokens of the prompt as taken once the report is known: the report itself where it taught something."""
        return self.reported if self.turn else self.predicted

    @property
    def error(self) -> float:
        """The share of the report by which the prediction misses it."""
        return abs(self.predicted - self.reported) / self.reported


def followed(
    session: Session, sizes: Sequence[int], count: TokenCounter, overhead: float, scale: float
) -> tuple[Followed, ...]:
    """Each request that the session's usual model reported on, in the order of sending.

    Args:
        session: the recording.
        sizes: tokens of each of `session.messages`, as `count` gives them.
        count: the counter.
        overhead: tokens of every request that no message holds.
        scale: the provider's tokens to one of `count`.
    """
    usual = usual_model(session)
    found: list[Followed] = []
    places: dict[int, int] = {}
    trail = _Trail(overhead, scale)
    change: Change = ""
    for number, request in enumerate(requests(session, sizes, count)):
        usage = request.answer.usage
        change = request.change or change
        begins = None if request.begins_with is None else places.get(request.begins_with)
        if usage is None or not usage.prompt or request.answer.model != usual:
            if begins is not None:
                places[number] = begins  # what follows begins with what this one began with
            continue
        predicted, turn = trail.step(replace(request, change=change), usage.prompt)
        places[number], change = len(found), ""
        found.append(Followed(request, predicted, turn, begins))
    return tuple(found)


def usual_model(session: Session) -> str:
    """The model that reported most often; empty if none did."""
    models = Counter(
        message.model for message in session.messages if isinstance(message, AssistantMessage) and message.usage
    )
    return models.most_common(1)[0][0] if models else ""


class _Trail:
    """The law of the session, and by how much the prompts are off it at present."""

    def __init__(self, overhead: float, scale: float) -> None:
        self.overhead, self.scale = overhead, scale
        self.off = 0.0
        self.reported: int | None = None
        self.counted = 0

    def step(self, request: Request, reported: int) -> tuple[float, Turn]:
        """The prediction for this request, then what its report teaches."""
        law = self.overhead + self.scale * request.counted
        if request.change == "compaction":
            self.off = 0.0
        predicted = max(law + self.off, 0.0)
        turn = self._turn(request, law, reported)
        if turn:
            self.off = reported - law
        self.reported, self.counted = reported, request.counted
        return predicted, turn

    def _turn(self, request: Request, law: float, reported: int) -> Turn:
        if request.change:
            return request.change
        if self.reported is None:
            return "unseen start" if reported > MIDDLE * law else ""
        said = self.scale * (request.counted - self.counted)
        if reported < self.reported + min(0.0, said) - DROP * self.reported:
            return "shrunk"
        if reported > self.reported + FACTOR * max(0.0, said) + DROP * reported:
            return "grown"
        return ""
