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
from functools import cached_property

from workbench.engine.transcript.calibration import (
    ReportLine,
    TokenCalibration,
    line_of_reports,
)
from workbench.engine.transcript.message import AssistantMessage, TokenCounter
from workbench.engine.transcript.recorded_requests import (
    RecordedRequest,
    recorded_requests,
    usual_model,
)
from workbench.engine.transcript.session import Session

ROUNDS = 3
"""How often hidden parts are sized: each time by the scale that the last sizes gave. With
six rounds the prompts of 16 recordings are predicted no better.
"""
LEAST_HIDDEN = 0.02
"""The share of a session's text below which what answers held beyond theirs is no more than how
tokenizers differ.
"""


@dataclass(frozen=True, slots=True)
class ContextFit:
    """What turns counted messages into a reported prompt.

    Attributes:
        calibration: how the reports were matched; None where they do not tell.
        overheads: by model, tokens of each of its requests that no message holds, >= 0.
        hidden: by message id, counted tokens of an answer that its text does not show.
    """

    calibration: TokenCalibration | None
    overheads: Mapping[str, int]
    hidden: Mapping[str, int]


def fit_contexts(session: Session, sizes: Sequence[int], count: TokenCounter) -> ContextFit:
    """How this session's contexts add up to its reports, with the hidden parts of answers or without.

    Args:
        session: the recording, without reports that cannot be true.
        sizes: tokens of each of its messages, as `count` gives them.
        count: the counter.

    Raises:
        ValueError: there are more or fewer sizes than messages.
    """
    if len(sizes) != len(session.messages):
        raise ValueError(f"{len(session.messages)} messages but {len(sizes)} sizes")
    best = _Trial.of(session, sizes, count, {})
    least_hidden = LEAST_HIDDEN * sum(sizes)
    scale = 1.0
    for _ in range(ROUNDS):
        hidden = _hidden_parts(session, sizes, scale)
        if sum(hidden.values()) < least_hidden:
            break
        trial = _Trial.of(session, sizes, count, hidden)
        is_as_sure = trial.line is not None or best.line is None
        if is_as_sure and trial.missed < best.missed:
            best = trial
        scale = trial.scale
    calibration: TokenCalibration | None = None
    if best.line is not None:
        calibration = best.line.calibration(session, best.requests)
    return ContextFit(calibration, best.overheads, best.hidden)


@dataclass(frozen=True)
class _Trial:
    """A fit where these hidden parts belong to their messages.

    Attributes:
        line: of the reports; None where they do not tell.
        requests: all of the recording.
        usual: the model that reported most often.
        hidden: as in `ContextFit`.
    """

    line: ReportLine | None
    requests: Sequence[RecordedRequest]
    usual: str
    hidden: Mapping[str, int]

    @classmethod
    def of(
        cls, session: Session, sizes: Sequence[int], count: TokenCounter, hidden: Mapping[str, int]
    ) -> _Trial:
        """The fit of these hidden parts."""
        whole_sizes: list[int] = []
        for message, size in zip(session.messages, sizes, strict=True):
            hidden_size = hidden.get(message.id, 0)
            whole_sizes.append(size + hidden_size)
        line = line_of_reports(session, whole_sizes, count)
        requests = tuple(recorded_requests(session, whole_sizes, count))
        return cls(line, requests, usual_model(session), hidden)

    @property
    def scale(self) -> float:
        """The provider's tokens to one of ours; 1 where the reports do not tell."""
        if self.line is None:
            return 1.0
        return self.line.scale

    @cached_property
    def overheads(self) -> Mapping[str, int]:
        """By model, the least that any of its requests holds beside the messages: what only some
        of them hold is no part of system prompt and tools. Of the usual model, that of the line.
        """
        remainders: defaultdict[str, list[float]] = defaultdict(list)
        for request in self.requests:
            if _reported(request):
                remainder = _reported(request) - self.scale * request.counted
                remainders[request.answer.model].append(remainder)
        overheads: dict[str, int] = {}
        for model, remainders_of_model in remainders.items():
            smallest = round(min(remainders_of_model))
            overheads[model] = max(smallest, 0)
        if self.line is not None:
            overheads[self.usual] = self.line.overhead
        return overheads

    @cached_property
    def missed(self) -> float:
        """Tokens by which all predicted prompts together miss the reports."""
        missed = 0.0
        for request in self.requests:
            if _reported(request):
                predicted = self.overheads[request.answer.model] + self.scale * request.counted
                missed += abs(_reported(request) - predicted)
        return missed


def _reported(request: RecordedRequest) -> int:
    """Tokens of the prompt as its provider reported it; 0 where it did not."""
    usage = request.answer.usage
    if usage is None:
        return 0
    return usage.prompt


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
