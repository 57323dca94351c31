"""How full the window is: what was counted, what providers reported, and which windows their errors taught."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from workbench.compaction.trigger import Moment, Situation
from workbench.live.memory import Memory
from workbench.models.provider_errors import Verdict, classify_answer
from workbench.transcript.message import Json, SystemMessage, Text, Usage
from workbench.transcript.tokens import TokenCounter

LIFE = 3_600.0
"""Seconds. Gateways word plan quotas as overflows, so what one error said must not hold for ever.

Source:
    headroom keeps a learned limit for an hour.
"""


@dataclass(frozen=True, slots=True)
class Learned:
    """A limit in tokens and the time until which it is believed."""

    limit: int
    until: float


@dataclass(slots=True)
class LearnedLimits:
    """What was learned, by model. Time is handed in, in seconds of any clock that does not go back.

    Attributes:
        life: seconds for which a limit is believed.
    """

    life: float = LIFE
    known: dict[str, Learned] = field(default_factory=dict)

    def learn(self, model: str, limit: int | None, window: int, now: float) -> bool:
        """Remember a stated limit if it is below the present window; whether it was."""
        if limit is None or not 0 < limit < window:
            return False
        self.known[model] = Learned(limit, now + self.life)
        return True

    def window(self, model: str, window: int, now: float) -> int:
        """The window to use: the learned one while it is believed, else the one that is assumed."""
        learned = self.known.get(model)
        if learned is None:
            return window
        if now >= learned.until:
            del self.known[model]
            return window
        return min(learned.limit, window)


@dataclass(frozen=True, slots=True)
class Request:
    """What was handed out to be sent: version of the history, model, and tokens of the messages by our count."""

    version: int
    model: str
    spoken: int


@dataclass(frozen=True, slots=True)
class Report:
    """A provider's usage for one request."""

    request: Request
    usage: Usage

    @property
    def unexplained(self) -> int:
        """Tokens of the prompt that our count of the messages does not explain."""
        return max(self.usage.prompt - self.request.spoken, 0)


class Gauge:
    """Weighs the request that would be sent now.

    Right after a report the estimate is the reported prompt and our count of what came later. A compaction makes the
    report stale: then the overhead is what was declared, or the least that any report left unexplained.
    """

    def __init__(self, memory: Memory, count: TokenCounter, clock: Callable[[], float]) -> None:
        self.memory, self.count, self.clock = memory, count, clock
        self.limits = LearnedLimits()
        self.model = ""
        self.request: Request | None = None
        self.report: Report | None = None
        self._declared: tuple[Json, Json] = (None, None)
        self._overhead = 0
        self._least: int | None = None

    @property
    def spoken(self) -> int:
        """Tokens of the messages that would be sent, by our count."""
        sent = self.memory.state.sent
        return sent.tokens - sent.overhead

    def window(self, assumed: int) -> int:
        """The window to use for the present model."""
        return self.limits.window(self.model, assumed, self.clock())

    def learn(self, limit: int | None, assumed: int) -> int | None:
        """Remember the limit that an error stated; the limit if it is new, else None."""
        return limit if self.limits.learn(self.model, limit, assumed, self.clock()) else None

    def declare(self, system: Json, tools: Json, model: str) -> None:
        """Take in what is sent beside the messages, and to whom."""
        if (system, tools) != self._declared:
            text = "\n".join(one if isinstance(one, str) else str(one) for one in (system, tools) if one is not None)
            self._overhead = self.count(SystemMessage(id="", blocks=(Text(text),))) if text else 0
            self._declared = (system, tools)
        if model != self.model:
            self.model, self.request, self.report, self._least = model, None, None, None
        self.weigh()

    def handed_out(self) -> None:
        """The messages are about to be sent."""
        self.request = Request(self.memory.version, self.model, self.spoken)

    def stale(self, model: str) -> str:
        """Why a report by that model says nothing of the request that was handed out last; empty if it does."""
        if self.request is None:
            return "no request was handed out since the history or the model changed"
        if self.request.version != self.memory.version:
            return "the history was compacted or taken back since that request"
        if model and self.model and model != self.model:
            return f"the report is by {model!r}, the request was for {self.model!r}"
        return ""

    def take(self, usage: Usage, *, refused: bool = False) -> None:
        """Take in a report for the request that was handed out last; one that was refused says nothing of others."""
        if self.request is None or not usage.prompt:
            return
        self.report = Report(self.request, usage)
        if not refused:
            left = self.report.unexplained
            self._least = left if self._least is None else min(self._least, left)
        self.weigh()

    def judge(self, usage: Usage | None, stop: str, assumed: int) -> Verdict | None:
        """Whether the answer to the request that was handed out last hides an overflow."""
        report, request = self._valid(), self.request
        before = report.usage if report is not None else None
        grown = request.spoken - report.request.spoken if report is not None and request is not None else 0
        return classify_answer(usage, stop, self.window(assumed), before, grown)

    def forget(self) -> None:
        """The history changed: what was sent and reported says nothing any more."""
        self.request = self.report = None
        self.weigh()

    def weigh(self) -> None:
        """Update the overhead of the contexts."""
        report = self._valid()
        self.memory.weigh(max(self._overhead, self._least or 0) if report is None else report.unexplained)

    def situation(self, moment: Moment, assumed: int, requested: bool = False) -> Situation:
        """The situation that a trigger decides on."""
        self.weigh()
        sent, report = self.memory.state.sent, self._valid()
        return Situation(
            tokens=sent.tokens, window=self.window(assumed), overhead=sent.overhead, moment=moment,
            messages=len(sent.messages), reported=None if report is None else report.usage,
            since=0 if report is None else max(self.spoken - report.request.spoken, 0), requested=requested,
        )  # fmt: skip

    def _valid(self) -> Report | None:
        report = self.report
        return report if report is not None and report.request.version == self.memory.version else None
