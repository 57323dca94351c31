"""How full the window is: what was counted, what providers reported, and which windows their errors stated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from workbench.compaction.trigger import Moment, Situation
from workbench.live.memory import Memory
from workbench.models.provider_errors import Diagnosis, classify_answer
from workbench.transcript.message import Json, SystemMessage, Text, Usage
from workbench.transcript.tokens import TokenCounter

LIMIT_SECONDS = 3_600.0
"""How long a window that an error stated is believed: gateways word plan quotas as overflows.

Source:
    headroom keeps a learned limit for an hour.
"""


NOTHING_REPORTED = Usage()


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request that was handed out, with the history's version, our count of its tokens, and the reported usage."""

    version: int
    model: str
    tokens: int
    usage: Usage = NOTHING_REPORTED

    @property
    def unexplained(self) -> int:
        """Tokens of the reported prompt that our count of the messages does not explain."""
        return max(self.usage.prompt - self.tokens, 0)


class Gauge:
    """Weighs the request that would be sent now.

    Right after a report the estimate is the reported prompt and our count of what came later. A compaction makes the
    report stale: then the overhead is what was declared, or the least that any report left unexplained.

    Attributes:
        request: the newest request, unless the history or the model changed since.
    """

    def __init__(
        self, memory: Memory, count: TokenCounter, clock: Callable[[], float], host_window: Callable[[], int]
    ) -> None:
        self.memory, self.count, self.clock, self.host_window = memory, count, clock, host_window
        self.model = ""
        self.request: SentRequest | None = None
        self._reported: SentRequest | None = None
        self._limits: dict[str, tuple[int, float]] = {}  # by model, with the time until which it is believed
        self._declared: tuple[Json, Json] = (None, None)
        self._overhead = 0
        self._least: int | None = None

    @property
    def tokens(self) -> int:
        """Tokens of the messages that would be sent, by our count."""
        sent = self.memory.state.sent
        return sent.tokens - sent.overhead

    @property
    def window(self) -> int:
        """The window of the present model: as the host says, or less where an error said so lately."""
        window = self.host_window()
        limit, until = self._limits.get(self.model, (window, 0.0))
        return min(limit, window) if self.clock() < until else window

    def learn(self, limit: int | None) -> int | None:
        """Remember the limit that an error stated if it is below the host's window; else None."""
        if limit is None or not 0 < limit < self.host_window():
            return None
        self._limits[self.model] = limit, self.clock() + LIMIT_SECONDS
        return limit

    def declare(self, system: Json, tools: Json, model: str) -> None:
        """Take in what is sent beside the messages, and to which model."""
        if (system, tools) != self._declared:
            text = "\n".join(str(one) for one in (system, tools) if one is not None)
            self._overhead = self.count(SystemMessage(id="", blocks=(Text(text),))) if text else 0
            self._declared = (system, tools)
        if model != self.model:
            self.model, self.request, self._reported, self._least = model, None, None, None
        self.weigh()

    def hand_out(self) -> None:
        """The messages are about to be sent."""
        self.weigh()
        self.request = SentRequest(self.memory.version, self.model, self.tokens)

    def stale(self, model: str) -> str:
        """Why a report by that model says nothing about the newest request; empty if it does."""
        if self.request is None:
            return "no request was handed out since the history or the model changed"
        if self.request.version != self.memory.version:
            return "the history was compacted or taken back since that request"
        if model and self.model and model != self.model:
            return f"the report is by {model!r}, the request was for {self.model!r}"
        return ""

    def take(self, usage: Usage, *, refused: bool = False) -> None:
        """Take in a report for the newest request; one about a refused request says nothing about others."""
        if self.request is None or not usage.prompt:
            return
        self._reported = replace(self.request, usage=usage)
        if not refused:
            left = self._reported.unexplained
            self._least = left if self._least is None else min(self._least, left)
        self.weigh()

    def judge(self, usage: Usage | None, stop: str) -> Diagnosis | None:
        """Whether the answer to the newest request hides an overflow."""
        report = self._valid_report()
        before = None if report is None else report.usage
        grown = 0 if report is None or self.request is None else self.request.tokens - report.tokens
        return classify_answer(usage, stop, self.window, before, grown)

    def forget(self) -> None:
        """The history changed: what was sent and reported says nothing any more."""
        self.request = self._reported = None
        self.weigh()

    def weigh(self) -> None:
        """Update the overhead of the contexts."""
        report = self._valid_report()
        self.memory.state.weigh(max(self._overhead, self._least or 0) if report is None else report.unexplained)

    def situation(self, moment: Moment, requested: bool = False) -> Situation:
        """The situation that a trigger decides on."""
        self.weigh()
        sent, report = self.memory.state.sent, self._valid_report()
        return Situation(
            tokens=sent.tokens, window=self.window, overhead=sent.overhead, moment=moment,
            messages=len(sent.messages), reported=None if report is None else report.usage,
            since=0 if report is None else max(self.tokens - report.tokens, 0), requested=requested,
        )  # fmt: skip

    def _valid_report(self) -> SentRequest | None:
        report = self._reported
        return report if report is not None and report.version == self.memory.version else None
