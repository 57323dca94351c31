"""What fills the context of a recorded agent, request by request, in tokens and dollars.

A prompt holds what the recording shows, and what no message holds: the system prompt and the tools, as they follow
from the reported prompts (`engine.transcript.calibration`). What is left of a reported prompt has a row of its own, so
that the rows of a request add up to what its provider reported.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import pandas as pd

from workbench.base.errors import SettingError
from workbench.base.markup import clipped
from workbench.engine.models.prices import Tariff, tariff
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.transcript.log import MessageEntry
from workbench.engine.transcript.message import AssistantMessage, Message, TokenCounter, ToolResult, Usage, said_text
from workbench.engine.transcript.recorded_requests import SentContext
from workbench.engine.transcript.session import Session
from workbench.evaluation.metrics.costs.reconciliation import reported_usd
from workbench.evaluation.replays.reports import checked_reports
from workbench.evaluation.replays.sizing import Sizing

MEASURED = "system prompt and tools"
"""What every request holds beside its messages: measured from the reported prompts, not read."""
UNEXPLAINED = "not in the recording"
"""What a reported prompt holds beside all that; negative where a client left out more than the recording says."""
SUMMARY = "summary"
COLUMNS = {
    "request": "int64",
    "message": "int64",
    "source": "str",
    "name": "str",
    "tokens": "float64",
    "share": "float64",
    "usd": "float64",
    "reported": "Int64",
}
_MCP = re.compile(r"mcp__(?P<server>.+?)__")


@dataclass(frozen=True, slots=True)
class Source:
    """Who put something into the context.

    Attributes:
        kind: `rules` (a recorded system prompt), `user`, `client` (what the program said in the user's name),
            `assistant`, `thinking`, `call`, `result`, `MCP call`, `MCP result`, `picture`, `summary`, `MEASURED` or
            `UNEXPLAINED`.
        name: the tool's, or the MCP server's; empty for all others.
    """

    kind: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class _Part:
    """A share of one message, and who put it there."""

    source: Source
    share: float


@dataclass(frozen=True, slots=True)
class _Request:
    """One recorded request.

    Attributes:
        message: index of its answer.
        tokens: by who put them there, in the provider's tokens.
        messages: likewise the size of each message in the context, by its id.
        usage: what the provider reported.
    """

    message: int
    tokens: Mapping[Source, float]
    messages: Mapping[str, float]
    usage: Usage | None

    @property
    def prompt(self) -> float:
        """Tokens of the whole prompt."""
        return sum(self.tokens.values())


def composition(session: Session) -> pd.DataFrame:
    """What filled the context of each recorded request of the main path, by who put it there.

    Returns:
        One row a request and source, requests in their order, the largest source first. `request` counts from 0;
        `message` is the index of its answer; `source` and `name` say who put it there, `name` being the tool's or the
        MCP server's; `tokens` are the provider's where its reports could be matched; `share` is that of the prompt;
        `usd` is the source's part of what the prompt cost, not a number where the model has no listed price or the
        request no report; `reported` is the prompt as its provider reported it, which the rows add up to.
    """
    rates = tariff(session.model)
    rows: list[tuple[object, ...]] = []
    for number, request in enumerate(_Reader(session).requests()):
        rows += _rows(number, request, rates)
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def largest_messages(session: Session, request: int | None = None, count: int = 10) -> pd.DataFrame:
    """The largest messages in the context of one request.

    Args:
        session: the recording.
        request: counted from 0; None is the one with the largest prompt.
        count: how many messages.

    Returns:
        One row a message, the largest first: `message`, its index; `source` and `name`, who put most of it there;
        `tokens`; `share` of the prompt; `begins`, its first words.

    Raises:
        SettingError: the session has no such request.
    """
    reader = _Reader(session)
    requests = list(reader.requests())
    if request is None and requests:
        request = max(range(len(requests)), key=lambda number: requests[number].prompt)
    if request is None or not 0 <= request < len(requests):
        raise SettingError(f"request {request} does not exist: the session has {len(requests)} requests, from 0")
    chosen = requests[request]
    largest = sorted(chosen.messages, key=lambda message_id: -chosen.messages[message_id])[:count]
    rows = []
    for message_id in largest:
        message = session.messages[session.index_of[message_id]]
        source = max(reader.parts_of[message_id], key=lambda part: part.share).source
        tokens = chosen.messages[message_id]
        row = {
            "message": session.index_of[message_id],
            "source": source.kind,
            "name": source.name,
            "tokens": tokens,
            "share": tokens / chosen.prompt,
            "begins": " ".join(clipped(said_text(message)).split()),
        }
        rows.append(row)
    return pd.DataFrame(rows, columns=["message", "source", "name", "tokens", "share", "begins"])


def _rows(number: int, request: _Request, rates: Tariff | None) -> Iterator[tuple[object, ...]]:
    """A row a source, the largest first."""
    reported: int | None = None
    usd = float("nan")
    if request.usage is not None and request.usage.prompt:
        reported = request.usage.prompt
        if rates is not None:
            usd = reported_usd(request.usage, rates)
    for source, tokens in sorted(request.tokens.items(), key=lambda item: -item[1]):
        share = tokens / max(request.prompt, 1.0)
        yield number, request.message, source.kind, source.name, tokens, share, share * usd, reported


class _Reader:
    """Goes through a session, and says what each request held.

    Attributes:
        parts_of: who put what share of each message into the context, by the message's id.
    """

    def __init__(self, session: Session) -> None:
        self._count = TiktokenCounter()
        counted = self._count.sizes(session.messages)
        self._session = checked_reports(session, counted, self._count).session
        self._sizing = Sizing.of(self._session, counted, self._count)
        tools = {
            call.id: call.name
            for message in session.messages
            if isinstance(message, AssistantMessage)
            for call in message.calls
        }
        self.parts_of = {message.id: _parts(message, tools, self._count) for message in session.messages}

    def requests(self) -> Iterator[_Request]:
        """Each request of the main path."""
        scale = 1.0
        if self._sizing.calibration is not None:
            scale = self._sizing.calibration.scale
        sent = SentContext(self._session, self._sizing.counted, self._count)
        for entry in self._session.path:
            answer = entry.message if isinstance(entry, MessageEntry) else None
            if isinstance(answer, AssistantMessage):
                messages = {message_id: size * scale for message_id, size in sent.messages().items()}
                tokens = self._tokens(messages, sent.summary * scale, answer.usage)
                yield _Request(self._session.index_of[answer.id], tokens, messages, answer.usage)
            sent.take(entry)

    def _tokens(self, messages: Mapping[str, float], summary: float, usage: Usage | None) -> dict[Source, float]:
        """A request's tokens by who put them there."""
        tokens: defaultdict[Source, float] = defaultdict(float)
        for message_id, size in messages.items():
            for part in self.parts_of[message_id]:
                tokens[part.source] += part.share * size
        if summary:
            tokens[Source(SUMMARY)] += summary
        if self._sizing.overhead:
            tokens[Source(MEASURED)] += self._sizing.overhead
        if usage is not None and usage.prompt:
            tokens[Source(UNEXPLAINED)] = usage.prompt - sum(tokens.values())
        return dict(tokens)


def _parts(message: Message, tools: Mapping[str, str], count: TokenCounter) -> list[_Part]:
    """Who put what share of a message into the context; `tools` are the names of the tools by their calls' ids."""
    if isinstance(message, ToolResult):
        return [_Part(_of_tool("result", message.name or tools.get(message.call_id, "")), 1.0)]
    sources = [_source(message, block.type, getattr(block, "name", "")) for block in message.blocks]
    if len(set(sources)) <= 1:
        return [_Part(sources[0] if sources else _source(message, "text", ""), 1.0)]
    sizes = [count(replace(message, blocks=(block,))) for block in message.blocks]  # type: ignore[arg-type]
    whole = sum(sizes) or 1
    return [_Part(source, size / whole) for source, size in zip(sources, sizes, strict=True)]


def _source(message: Message, block: str, tool: str) -> Source:
    """Who put a block of a message into the context."""
    if block == "image":
        return Source("picture")
    if block == "tool_call":
        return _of_tool("call", tool)
    if block == "thinking":
        return Source("thinking")
    if message.role == "user":
        return Source("client" if message.synthetic else "user")
    return Source("rules" if message.role == "system" else message.role)


def _of_tool(kind: str, tool: str) -> Source:
    """A call or a result, under its tool's name or under its MCP server's."""
    server = _MCP.match(tool)
    if server:
        return Source(f"MCP {kind}", server["server"])
    return Source(kind, tool)
