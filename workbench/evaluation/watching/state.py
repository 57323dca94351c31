"""How large the context of a running session is, what it consists of, and when its next
compaction is due.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.transcript.log import CompactionEntry, fold
from workbench.engine.transcript.message import AssistantMessage, Message, ToolResult
from workbench.engine.transcript.session import Session
from workbench.evaluation.replays.agents import AGENTS, Sized, limit_of, recorded_limits
from workbench.evaluation.replays.reports import checked_reports
from workbench.evaluation.replays.sizing import Sizing, window_of

RECENT = 10
"""Requests over which growth and pace are taken."""
PAUSE = 300.0
"""Seconds between two requests above which the agent waited for its user, which says nothing of
its pace.
"""


@dataclass(frozen=True, slots=True)
class SessionState:
    """A session at one moment; all sizes in tokens.

    Attributes:
        session: its id.
        requests, compactions: how many there were so far.
        tokens: the next request as a whole.
        size_from: `reported usage` where the newest answer has it, `calibrated count` where earlier
            ones have, `count`.
        parts: tokens by who said it: `system`, `user`, `assistant`, `summary`, `tool NAME`, and
            `overhead`, which no message holds (system prompt and tools).
        growth: tokens a request adds, a mean over the newest ten since the last compaction; None
            before the second.
        limit, limit_from: where the agent compacts, and what that is taken from.
        reports_left_out: what the session reports of itself that cannot be true, a sentence each.
        requests_left, minutes_left: to the next compaction at this growth and pace; None where they
            are unknown.
    """

    session: str
    requests: int
    compactions: int
    tokens: int
    size_from: str
    parts: dict[str, int]
    growth: float | None
    limit: int
    limit_from: str
    requests_left: int | None
    minutes_left: float | None
    reports_left_out: tuple[str, ...] = ()


@dataclass(slots=True)
class SessionMeter:
    """Measures one session again and again, and counts each message once.

    Attributes:
        window: the model's window that the user names; None takes what the session or its model
            says.
    """

    window: int | None = None
    _count: TiktokenCounter = field(default_factory=TiktokenCounter)
    _sizes: dict[str, tuple[Sequence[object], int]] = field(default_factory=dict)

    def state(self, session: Session, format: str) -> SessionState:
        """The session as it is now."""
        sizes = [self._size(message) for message in session.messages]
        checked = checked_reports(session, sizes, self._size)
        session = checked.session
        found = Sizing.of(session, sizes, self._size)
        context = fold(session.path)
        sizes = [found.count(one) for one in context]
        parts = Counter({"overhead": found.overhead})
        for message, size in zip(context, sizes, strict=True):
            parts[_part(message)] += size
        tokens, size_from = parts.total(), "calibrated count" if found.calibration else "count"
        # its context was made smaller
        since = session.messages[session.recorded[-1].at if session.recorded else 0 :]
        for at in range(len(since) - 1, -1, -1):
            if prompt := _prompt(since[at]):
                tokens, size_from = prompt + sum(map(found.count, since[at:])), "reported usage"
                parts["overhead"] = max(tokens - parts.total() + parts["overhead"], 0)
                break
        compacts = self._limit(session, format)
        growth = _growth([found.count(one) for one in since], since)
        left = (
            None
            if growth is None or growth <= 0
            else max(0, -(-(compacts.tokens - tokens) // max(int(growth), 1)))
        )
        compactions = sum(isinstance(one.entry, CompactionEntry) for one in session.recorded)
        pace = _pace(one.time for one in since if isinstance(one, AssistantMessage))
        return SessionState(
            session=session.id,
            requests=len(session.requests),
            compactions=compactions,
            tokens=tokens,
            size_from=size_from,
            parts=dict(parts.most_common()),
            growth=growth,
            limit=compacts.tokens,
            limit_from=compacts.source,
            requests_left=left,
            minutes_left=None if left is None or pace is None else left * pace / 60,
            reports_left_out=checked.left_out,
        )

    def _size(self, message: Message, /) -> int:
        """Tokens of a message; counted again only where its blocks have changed."""
        known = self._sizes.get(message.id)
        if known is None or known[0] != message.blocks:
            known = self._sizes[message.id] = message.blocks, self._count(message)
        return known[1]

    def _limit(self, session: Session, format: str) -> Sized:
        """Where the agent compacts: by a window that is named, by its recorded compactions, by
        its known rule.
        """
        window = window_of(session, self.window).tokens
        recorded = limit_of(session, window)
        if recorded is not None and not self.window and recorded_limits(session):
            return recorded
        return Sized(AGENTS[format].limit(window), f"the agent's rule in a window of {window:,}")


def _part(message: Message) -> str:
    return f"tool {message.name or 'unknown'}" if isinstance(message, ToolResult) else message.role


def _prompt(message: Message) -> int:
    """The reported size of the prompt that a message answered; 0 where none is reported."""
    return (
        message.usage.prompt
        if isinstance(message, AssistantMessage) and message.usage is not None
        else 0
    )


def _growth(sizes: Sequence[int], messages: Sequence[Message]) -> float | None:
    """Tokens between neighbouring requests, over the newest ones."""
    places = [i for i, one in enumerate(messages) if isinstance(one, AssistantMessage)][
        -RECENT - 1 :
    ]
    if len(places) < 2:
        return None
    return sum(sizes[places[0] : places[-1]]) / (len(places) - 1)


def _pace(times: Iterable[float | None]) -> float | None:
    """Seconds between neighbouring requests, a mean over the newest ones without pauses."""
    known = [time for time in times if time is not None][-RECENT - 1 :]
    gaps = [later - time for time, later in pairwise(known) if 0 <= later - time <= PAUSE]
    return sum(gaps) / len(gaps) if gaps else None
