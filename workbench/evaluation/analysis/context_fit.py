"""How the contexts of a recorded agent add up to the prompts that its provider reported.

Three things stand between the text of a recording and a reported prompt: the provider's tokenizer,
the system prompt and the tools, and what answers held that is in no text. That is mostly thinking,
which newer models seal and some clients do not write down, and a little is how a provider writes
calls. The report of an answer tells how much it was. Whether a provider counts it again in later
prompts differs, so it is counted where the reports then fit better.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.engine.transcript.calibration import TokenCalibration, calibrate
from workbench.engine.transcript.message import AssistantMessage, TokenCounter
from workbench.engine.transcript.recorded_requests import (
    RecordedRequest,
    recorded_requests,
    usual_model,
)
from workbench.engine.transcript.session import Session

ROUNDS = 3
"""How often hidden parts are sized: each time by the scale that the last sizes gave."""


@dataclass(frozen=True, slots=True)
class ContextFit:
    """What turns counted messages into a reported prompt.

    Attributes:
        calibration: how the reports were matched; None where they do not tell.
        overheads: by model, tokens of each of its requests that no message holds, >= 0.
        hidden: by message id, counted tokens of an answer that its text does not show.
        missed: tokens by which all predicted prompts together miss the reports.
    """

    calibration: TokenCalibration | None
    overheads: Mapping[str, int]
    hidden: Mapping[str, int]
    missed: float

    @property
    def scale(self) -> float:
        """The provider's tokens to one of ours; 1 where the reports do not tell."""
        return _scale(self.calibration)

    def overhead(self, model: str) -> int:
        """Tokens of each request of a model that no message holds; 0 where nothing was reported."""
        if model in self.overheads:
            return self.overheads[model]
        if self.calibration is not None:
            return self.calibration.overhead
        return 0


def fit_contexts(session: Session, sizes: Sequence[int], count: TokenCounter) -> ContextFit:
    """How this session's contexts add up to its reports, with the hidden parts of answers or without.

    Args:
        session: the recording, without reports that cannot be true.
        sizes: tokens of each of its messages, as `count` gives them.
        count: the counter.
    """
    best = _fitted(session, sizes, count, {})
    scale = 1.0
    for _ in range(ROUNDS):
        hidden = _hidden_parts(session, sizes, scale)
        if not hidden:
            return best
        fit = _fitted(session, sizes, count, hidden)
        scale = fit.scale
        if fit.missed < best.missed:
            best = fit
    return best


def _fitted(
    session: Session, sizes: Sequence[int], count: TokenCounter, hidden: Mapping[str, int]
) -> ContextFit:
    """The fit where these hidden parts belong to their messages."""
    whole_sizes: list[int] = []
    for message, size in zip(session.messages, sizes, strict=True):
        hidden_size = hidden.get(message.id, 0)
        whole_sizes.append(size + hidden_size)
    requests: list[RecordedRequest] = []
    for request in recorded_requests(session, whole_sizes, count):
        if _reported(request):
            requests.append(request)
    calibration = calibrate(session, whole_sizes, count)
    scale = _scale(calibration)
    overheads = _smallest_remainders(requests, scale)
    if calibration:
        usual = usual_model(session)
        overheads[usual] = calibration.overhead
    missed = 0.0
    for request in requests:
        overhead = overheads[request.answer.model]
        predicted = overhead + scale * request.counted
        difference = _reported(request) - predicted
        missed += abs(difference)
    return ContextFit(calibration, overheads, hidden, missed)


def _scale(calibration: TokenCalibration | None) -> float:
    if calibration is None:
        return 1.0
    return calibration.scale


def _reported(request: RecordedRequest) -> int:
    """Tokens of the prompt as its provider reported it; 0 where it did not."""
    usage = request.answer.usage
    if usage is None:
        return 0
    return usage.prompt


def _smallest_remainders(requests: Sequence[RecordedRequest], scale: float) -> dict[str, int]:
    """By model, the least that any of its requests holds beside the messages: what only some of
    them hold is no part of system prompt and tools.
    """
    remainders: defaultdict[str, list[float]] = defaultdict(list)
    for request in requests:
        model = request.answer.model
        remainder = _reported(request) - scale * request.counted
        remainders[model].append(remainder)
    overheads: dict[str, int] = {}
    for model, remainders_of_model in remainders.items():
        smallest = round(min(remainders_of_model))
        overheads[model] = max(smallest, 0)
    return overheads


def _hidden_parts(session: Session, sizes: Sequence[int], scale: float) -> dict[str, int]:
    """By message id, what the report of an answer counts beyond its text."""
    hidden: dict[str, int] = {}
    for message, size in zip(session.messages, sizes, strict=True):
        if not isinstance(message, AssistantMessage):
            continue
        if message.usage is None:
            continue
        whole_size = round(message.usage.output / scale)
        if whole_size > size:
            hidden[message.id] = whole_size - size
    return hidden
