"""How the contexts of a recorded agent add up to the prompts that its provider reported.

Three things stand between the text of a recording and a reported prompt: the provider's tokenizer,
the system prompt and the tools, and what answers held that is in no text. That is mostly thinking,
which newer models seal and some clients do not write down, and a little is how a provider writes
calls. The report of an answer tells how much it was. What later prompts hold of it differs: all of
it, all of it until the user speaks again, or none, not even the thinking that the recording shows.
The way is taken by which the reports fit best.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from workbench.engine.transcript.calibration import (
    ReportLine,
    TokenCalibration,
    line_of_reports,
)
from workbench.engine.transcript.context import check_sizes
from workbench.engine.transcript.message import AssistantMessage, TokenCounter
from workbench.engine.transcript.recorded_requests import (
    RecordedRequest,
    counted_prompts,
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
MUCH_BETTER = 0.9
"""Thinking is taken to be left out of later prompts where they are missed by less than this share
of what they are missed by otherwise.
"""


@dataclass(frozen=True, slots=True)
class Thinking:
    """What later prompts hold of answers, other than their text.

    Attributes:
        hidden: by message id, counted tokens that an answer held beyond its text; less than 0 where
            the thinking in its text is not sent again.
        leaving: by message id, counted tokens of an answer, text or hidden, that are sent until the
            user speaks again.
    """

    hidden: Mapping[str, int] = field(default_factory=dict)
    leaving: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ContextFit:
    """What turns counted messages into a reported prompt.

    Attributes:
        calibration: how the reports were matched; None where they do not tell.
        overheads: by model, tokens of each of its requests that no message holds, >= 0.
        thinking: what later prompts hold of answers beside their text.
    """

    calibration: TokenCalibration | None
    overheads: Mapping[str, int]
    thinking: Thinking


def fit_contexts(session: Session, sizes: Sequence[int], count: TokenCounter) -> ContextFit:
    """How this session's contexts add up to its reports, whatever later prompts hold of answers.

    Args:
        session: the recording, without reports that cannot be true.
        sizes: tokens of each of its messages, as `count` gives them.
        count: the counter.

    Raises:
        SettingError: there are more or fewer sizes than messages.
    """
    check_sizes(session.messages, sizes)
    trials = _Trials(session, sizes, count)
    best = trials.best()
    calibration: TokenCalibration | None = None
    if best.line is not None:
        requests: list[RecordedRequest] = []
        for request, size in zip(trials.requests, best.prompt_sizes, strict=True):
            if request.counted != size:
                request = replace(request, counted=size)
            requests.append(request)
        calibration = best.line.calibration(session, requests)
    return ContextFit(calibration, best.overheads, best.thinking)


@dataclass(frozen=True, slots=True)
class _Report:
    """What the request of an answer reports.

    Attributes:
        answer_id: the answer's.
        model: that answered.
        prompt: tokens; 0 where nothing was reported.
    """

    answer_id: str
    model: str
    prompt: int


@dataclass(frozen=True)
class _Trial:
    """A fit where later prompts hold so much of the answers.

    Attributes:
        line: of the reports; None where they do not tell.
        reports: of all requests of the recording.
        prompt_sizes: the counted tokens of each of them.
        usual: the model that reported most often.
        thinking: as in `ContextFit`.
    """

    line: ReportLine | None
    reports: Sequence[_Report]
    prompt_sizes: Sequence[int]
    usual: str
    thinking: Thinking

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
        scale = self.scale
        for report, size in zip(self.reports, self.prompt_sizes, strict=True):
            if report.prompt:
                remainder = report.prompt - scale * size
                remainders[report.model].append(remainder)
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
        scale = self.scale
        for report, size in zip(self.reports, self.prompt_sizes, strict=True):
            if report.prompt:
                predicted = self.overheads[report.model] + scale * size
                missed += abs(report.prompt - predicted)
        return missed

    def is_better_than(self, other: _Trial, share: float = 1.0) -> bool:
        """Whether its prompts are missed by less than this share of the other's, as surely."""
        is_as_sure = self.line is not None or other.line is None
        return is_as_sure and self.missed < share * other.missed


class _Trials:
    """The fits of one recording.

    Attributes:
        requests: all of the recording, as its text counts them.
    """

    def __init__(self, session: Session, sizes: Sequence[int], count: TokenCounter) -> None:
        self.requests = tuple(recorded_requests(session, sizes, count))
        self._session = session
        self._sizes = sizes
        self._count = count
        self._usual = usual_model(session)
        self._least_hidden = LEAST_HIDDEN * sum(sizes)
        self._reports: list[_Report] = []
        self._text_sizes: list[int] = []
        for request in self.requests:
            report = _report(request.answer)
            self._reports.append(report)
            self._text_sizes.append(request.counted)

    def best(self) -> _Trial:
        """The one whose prompts miss the reports by least."""
        best = self._of_prompts(self._text_sizes, Thinking())
        scale = 1.0
        for trial in self._of_all_thinking():
            scale = trial.scale
            if trial.is_better_than(best):
                best = trial
        best_left_out = best
        left_out = chain(
            self._of_no_thinking(),
            self._of_thinking_in_turn(scale, best),
        )
        for trial in left_out:
            if trial.is_better_than(best_left_out):
                best_left_out = trial
        if best_left_out.is_better_than(best, MUCH_BETTER):
            return best_left_out
        return best

    def _of(self, thinking: Thinking) -> _Trial:
        """The fit where later prompts hold so much of the answers."""
        whole_sizes: list[int] = []
        for message, size in zip(self._session.messages, self._sizes, strict=True):
            hidden_size = thinking.hidden.get(message.id, 0)
            whole_sizes.append(size + hidden_size)
        prompt_sizes = counted_prompts(
            self._session,
            whole_sizes,
            self._count,
            thinking.leaving,
        )
        return self._of_prompts(list(prompt_sizes), thinking)

    def _of_prompts(self, prompt_sizes: Sequence[int], thinking: Thinking) -> _Trial:
        """The fit of prompts that count so much."""
        size_by_answer: dict[str, int] = {}
        for report, size in zip(self._reports, prompt_sizes, strict=True):
            size_by_answer[report.answer_id] = size
        return _Trial(
            line=line_of_reports(self._session, size_by_answer),
            reports=self._reports,
            prompt_sizes=prompt_sizes,
            usual=self._usual,
            thinking=thinking,
        )

    def _of_all_thinking(self) -> Iterator[_Trial]:
        """All that an answer held is sent again."""
        scale = 1.0
        for _ in range(ROUNDS):
            hidden = self._hidden(scale)
            if sum(hidden.values()) < self._least_hidden:
                break
            trial = self._of(Thinking(hidden))
            yield trial
            scale = trial.scale

    def _of_no_thinking(self) -> Iterator[_Trial]:
        """Not even the thinking that the recording shows is sent again."""
        if sum(self._shown.values()) < self._least_hidden:
            return
        hidden: dict[str, int] = {}
        for answer_id, tokens in self._shown.items():
            hidden[answer_id] = -tokens
        yield self._of(Thinking(hidden))

    def _of_thinking_in_turn(self, scale: float, best: _Trial) -> Iterator[_Trial]:
        """Thinking is sent again until the user speaks: as long as this beats `best`."""
        for _ in range(ROUNDS):
            hidden = self._hidden(scale)
            leaving = dict(self._shown)
            for answer_id, tokens in hidden.items():
                leaving[answer_id] = leaving.get(answer_id, 0) + tokens
            sent_again = 0
            for answer_id in self._continued:
                sent_again += leaving.get(answer_id, 0)
            if sent_again < self._least_hidden:
                break
            trial = self._of(Thinking(hidden, leaving))
            if not trial.is_better_than(best):
                break
            yield trial
            scale = trial.scale

    @cached_property
    def _continued(self) -> Sequence[str]:
        """The ids of the answers that another one follows before the user speaks again."""
        continued: list[str] = []
        newest_answer: str | None = None
        for message in self._session.messages:
            if message.role == "user":
                newest_answer = None
            elif message.role == "assistant":
                if newest_answer is not None:
                    continued.append(newest_answer)
                newest_answer = message.id
        return continued

    def _hidden(self, scale: float) -> dict[str, int]:
        """By message id, what the report of an answer counts beyond its text."""
        hidden: dict[str, int] = {}
        for answer, size in self._answers:
            if answer.usage is None:
                continue
            whole_size = round(answer.usage.output / scale)
            if whole_size > size:
                hidden[answer.id] = whole_size - size
        return hidden

    @cached_property
    def _shown(self) -> Mapping[str, int]:
        """By message id, the tokens of the thinking in its text."""
        shown: dict[str, int] = {}
        for answer, size in self._answers:
            blocks = tuple(block for block in answer.blocks if block.type != "thinking")
            if len(blocks) == len(answer.blocks):
                continue
            unthinking = replace(answer, blocks=blocks)
            shown[answer.id] = size - self._count(unthinking)
        return shown

    @cached_property
    def _answers(self) -> Sequence[tuple[AssistantMessage, int]]:
        """The answers of the main path with their sizes."""
        answers: list[tuple[AssistantMessage, int]] = []
        for message, size in zip(self._session.messages, self._sizes, strict=True):
            if isinstance(message, AssistantMessage):
                answers.append((message, size))
        return answers


def _report(answer: AssistantMessage) -> _Report:
    prompt = 0
    if answer.usage is not None:
        prompt = answer.usage.prompt
    return _Report(answer.id, answer.model, prompt)
