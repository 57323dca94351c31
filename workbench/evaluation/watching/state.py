"""How large the context of a running session is, what it consists of, and when its next
compaction is due.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.transcript.log import CompactionEntry
from workbench.engine.transcript.message import AssistantMessage, Message, TokenCounter
from workbench.engine.transcript.session import Session
from workbench.evaluation.analysis.composition import UNEXPLAINED, RecordedContexts
from workbench.evaluation.analysis.message_sources import MessagePart, Source, parts_of
from workbench.evaluation.replays.agents import AGENTS, Sized, limit_of, recorded_limits
from workbench.evaluation.replays.reports import checked_reports
from workbench.evaluation.replays.sized_session import SizedSession
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
        parts: tokens of the next request by who put them there, under the names of `composition`
            and as `inspect` shows them, the largest first.
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
    _parted: dict[str, tuple[Sequence[object], list[MessagePart]]] = field(default_factory=dict)

    def state(self, session: Session, format: str) -> SessionState:
        """The session as it is now."""
        sizes = list(map(self._size, session.messages))
        checked = checked_reports(session, sizes, self._size)
        session = checked.session
        sizing = Sizing.of(session, sizes, self._size)
        newest_messages = _since_last_compaction(session)
        sized = SizedSession(session, tuple(checked.left_out), sizing)
        sources = RecordedContexts(sized, self._parts).next_request()
        context = _context_size(sources, newest_messages, sizing)
        limit = self._limit(session, format)
        room = limit.tokens - context.tokens
        newest_sizes = list(map(sizing.count, newest_messages))
        growth = _growth(newest_sizes, newest_messages)
        requests_left = _requests_left(room, growth)
        return SessionState(
            session=session.id,
            requests=len(session.requests),
            compactions=_compaction_count(session),
            tokens=context.tokens,
            size_from=context.source,
            parts=context.parts,
            growth=growth,
            limit=limit.tokens,
            limit_from=limit.source,
            requests_left=requests_left,
            minutes_left=_minutes_left(requests_left, newest_messages),
            reports_left_out=checked.left_out,
        )

    def _size(self, message: Message, /) -> int:
        """Tokens of a message; counted again only where its blocks have changed."""
        if message.id in self._sizes:
            blocks, size = self._sizes[message.id]
            if blocks == message.blocks:
                return size
        size = self._count(message)
        self._sizes[message.id] = message.blocks, size
        return size

    def _parts(
        self, message: Message, tools: Mapping[str, str], count: TokenCounter
    ) -> list[MessagePart]:
        """Who put what share of a message into the context; found again only where its blocks
        have changed.
        """
        if message.id in self._parted:
            blocks, parts = self._parted[message.id]
            if blocks == message.blocks:
                return parts
        parts = parts_of(message, tools, count)
        self._parted[message.id] = message.blocks, parts
        return parts

    def _limit(self, session: Session, format: str) -> Sized:
        """Where the agent compacts: by the named window, its recorded compactions, or its rule."""
        origin = replace(session.origin, format=format)
        session = replace(session, origin=origin)
        window = window_of(session, self.window).tokens
        recorded = limit_of(session, window)
        is_named = bool(self.window)
        if recorded is not None and not is_named and recorded_limits(session):
            return recorded
        agent = AGENTS[format]
        limit = agent.limit(window)
        source = f"the agent's rule in a window of {window:,}"
        return Sized(limit, source)


@dataclass(frozen=True, slots=True)
class _ContextSize:
    """How large the next request is.

    Attributes:
        tokens: the request as a whole.
        source: what that is taken from, see `SessionState.size_from`.
        parts: tokens by who said it.
    """

    tokens: int
    source: str
    parts: dict[str, int]


def _context_size(
    sources: Mapping[Source, float], newest_messages: Sequence[Message], sizing: Sizing
) -> _ContextSize:
    """The size of the next request: as reported since the last compaction, else as counted."""
    parts = Counter[str]()
    for source, size in sources.items():
        parts[source.who] += round(size)
    size_from = "count"
    if sizing.calibration:
        size_from = "calibrated count"
    tokens = _reported_tokens(newest_messages, sizing)
    if tokens is not None:
        size_from = "reported usage"
        parts[UNEXPLAINED] = tokens - parts.total()
    largest_first: dict[str, int] = {}
    for who, size_of_part in parts.most_common():
        if size_of_part:
            largest_first[who] = size_of_part
    return _ContextSize(parts.total(), size_from, largest_first)


def _since_last_compaction(session: Session) -> Sequence[Message]:
    """The messages since the context was last made smaller."""
    if not session.recorded:
        return session.messages
    newest = session.recorded[-1]
    return session.messages[newest.at :]


def _minutes_left(requests_left: int | None, messages: Sequence[Message]) -> float | None:
    """How long so many requests take at the pace of these messages; None where it is unknown."""
    pace = _pace(messages)
    if requests_left is None or pace is None:
        return None
    seconds_left = requests_left * pace
    return seconds_left / 60


def _compaction_count(session: Session) -> int:
    count = 0
    for recorded in session.recorded:
        if isinstance(recorded.entry, CompactionEntry):
            count += 1
    return count


def _reported_tokens(messages: Sequence[Message], sizing: Sizing) -> int | None:
    """The size of the next request by the newest report; None without a report."""
    later_tokens = 0
    for message in reversed(messages):
        later_tokens += sizing.count(message)
        prompt = _prompt(message)
        if prompt:
            return prompt + later_tokens
    return None


def _prompt(message: Message) -> int:
    """The reported size of the prompt that a message answered; 0 where none is reported."""
    if isinstance(message, AssistantMessage) and message.usage is not None:
        return message.usage.prompt
    return 0


def _requests_left(room: int, growth: float | None) -> int | None:
    """How many requests fit into so many tokens; None where the context does not grow."""
    if growth is None or growth <= 0:
        return None
    tokens_a_request = max(int(growth), 1)
    requests = -(-room // tokens_a_request)
    return max(requests, 0)


def _growth(sizes: Sequence[int], messages: Sequence[Message]) -> float | None:
    """Tokens between neighbouring requests, over the newest ones."""
    answers: list[int] = []
    for index, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            answers.append(index)
    newest = answers[-RECENT - 1 :]
    growths = len(newest) - 1
    if growths < 1:
        return None
    start = newest[0]
    stop = newest[-1]
    tokens_between = sum(sizes[start:stop])
    return tokens_between / growths


def _pace(messages: Sequence[Message]) -> float | None:
    """Seconds between neighbouring requests, a mean over the newest ones without pauses."""
    times: list[float] = []
    for message in messages:
        if isinstance(message, AssistantMessage) and message.time is not None:
            times.append(message.time)
    newest = times[-RECENT - 1 :]
    gaps: list[float] = []
    for earlier, later in pairwise(newest):
        gap = later - earlier
        if 0 <= gap <= PAUSE:
            gaps.append(gap)
    if not gaps:
        return None
    return sum(gaps) / len(gaps)
