"""Where tokens left the context of a recorded agent, and no record says why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import pandas as pd

from workbench.engine.transcript.message import AssistantMessage
from workbench.engine.transcript.session import Session
from workbench.evaluation.analysis.composition import UNEXPLAINED

LEAST_TOKENS = 2_000
"""Tokens below which a smaller prompt says nothing: so much may be counted amiss."""
LEAST_SHARE = 0.05
"""Likewise, as a share of the prompt before."""


@dataclass(frozen=True, slots=True)
class UnrecordedLoss:
    """A prompt that was smaller than the one before, where nothing is recorded between them.

    Attributes:
        message: index of the answer to the smaller prompt.
        tokens: about how many left: what the recording holds beside what was sent rose by these.
        prompt_before, prompt_after: both prompts, as they were reported.
    """

    message: int
    tokens: int
    prompt_before: int
    prompt_after: int


@dataclass(frozen=True, slots=True)
class _Request:
    """What a request held beside the recording, less than 0 where it held less than that."""

    message: int
    model: str
    prompt: int
    unexplained: float


def unrecorded_losses(session: Session, table: pd.DataFrame) -> Iterator[UnrecordedLoss]:
    """The prompts that fell without a record, in their order.

    Args:
        session: the recording.
        table: its `composition`.
    """
    requests = _reported_requests(session, table)
    for earlier, later in pairwise(requests):
        if earlier.model != later.model or later.prompt >= earlier.prompt:
            continue
        if _is_recorded_between(session, earlier, later):
            continue
        tokens = round(earlier.unexplained - later.unexplained)
        smallest = max(LEAST_TOKENS, LEAST_SHARE * earlier.prompt)
        if tokens >= smallest:
            yield UnrecordedLoss(
                message=later.message,
                tokens=tokens,
                prompt_before=earlier.prompt,
                prompt_after=later.prompt,
            )


def _is_recorded_between(session: Session, earlier: _Request, later: _Request) -> bool:
    """Whether the agent compacted or cleared its context between two requests, and said so."""
    place = later.message + 1
    for recorded in session.recorded:
        if recorded.at > earlier.message:
            place = min(place, recorded.at)
    return place <= later.message


def _reported_requests(session: Session, table: pd.DataFrame) -> Iterator[_Request]:
    """The requests whose prompt was reported."""
    rows = table[table["source"] == UNEXPLAINED]
    for row in rows.sort_values("request").to_dict("records"):
        answer = session.messages[row["message"]]
        if isinstance(answer, AssistantMessage):
            yield _Request(row["message"], answer.model, row["reported"], row["tokens"])
