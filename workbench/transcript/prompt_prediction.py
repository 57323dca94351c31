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

from workbench.transcript.recorded_requests import Change, RecordedRequest, recorded_requests
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
class PredictedRequest:
    """One request with the prompt that was predicted before its report was looked at.

    Attributes:
        predicted: tokens.
        turn: what changed the prompt here; `shrunk`, `grown` and `unseen start` are known only after the report.
        begins_with: place in the sequence of the newest request whose whole prompt this one begins with; None if none.
    """

    request: RecordedRequest
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
        """Tokens of the prompt once the report is known: the report itself where it taught something."""
        return self.reported if self.turn else self.predicted

    @property
    def error(self) -> float:
        """The share of the report by which the prediction misses it."""
        return abs(self.predicted - self.reported) / self.reported


def predicted_requests(
    session: Session, sizes: Sequence[int], count: TokenCounter, overhead: float, scale: float
) -> tuple[PredictedRequest, ...]:
    """Each request that the session's usual model reported on, in the order of sending.

    `sizes` are the tokens of the session's messages by `count`; `overhead` and `scale` are those of its calibration.
    """
    usual = usual_model(session)
    found: list[PredictedRequest] = []
    places: dict[int, int] = {}
    off = 0.0
    change: Change = ""
    for number, request in enumerate(recorded_requests(session, sizes, count)):
        usage = request.answer.usage
        change = request.change or change
        begins = None if request.begins_with is None else places.get(request.begins_with)
        if usage is None or not usage.prompt or request.answer.model != usual:
            if begins is not None:
                places[number] = begins  # what follows begins with what this one began with
            continue
        request = replace(request, change=change)
        law = overhead + scale * request.counted
        off = 0.0 if change == "compaction" else off
        turn = _turn(request, found[-1] if found else None, law, scale)
        places[number] = len(found)
        found.append(PredictedRequest(request, max(law + off, 0.0), turn, begins))
        off, change = usage.prompt - law if turn else off, ""
    return tuple(found)


def _turn(request: RecordedRequest, before: PredictedRequest | None, law: float, scale: float) -> Turn:
    reported = request.answer.usage.prompt if request.answer.usage is not None else 0
    if request.change:
        return request.change
    if before is None:
        return "unseen start" if reported > MIDDLE * law else ""
    said = scale * (request.counted - before.request.counted)
    if reported < before.reported + min(0.0, said) - DROP * before.reported:
        return "shrunk"
    if reported > before.reported + FACTOR * max(0.0, said) + DROP * reported:
        return "grown"
    return ""


def usual_model(session: Session) -> str:
    """The model that reported most often; empty if none did."""
    models = Counter(message.model for message in session.messages if message.role == "assistant" and message.usage)
    return models.most_common(1)[0][0] if models else ""
