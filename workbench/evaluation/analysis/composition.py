"""What fills the context of a recorded agent, request by request, in tokens and dollars.

A prompt holds what the recording shows, and what no message holds: the system prompt and the tools,
and what answers held beyond their text, as they follow from the reports. What is left of a reported
prompt has a row of its own, so that the rows of a request add up to what its provider reported.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from workbench.base.errors import SettingError
from workbench.base.formats import some
from workbench.engine.models.prices import Tariff, is_of_named_provider, stem_tariff, tariff
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.transcript.log import ClearingEntry, CompactionEntry, MessageEntry
from workbench.engine.transcript.message import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolResult,
    argument_texts,
    said_text,
)
from workbench.engine.transcript.sent_context import SentContext
from workbench.engine.transcript.session import Session
from workbench.evaluation.analysis.filled_request import FilledRequest
from workbench.evaluation.analysis.measured_parts import MeasuredParts
from workbench.evaluation.analysis.message_sources import (
    THINKING,
    MessagePart,
    PartMessage,
    Source,
    parts_of,
)
from workbench.evaluation.replays.sized_session import SizedSession

MEASURED = "system prompt and tools"
"""What every request holds beside its messages: measured from the reported prompts, not read."""
HIDDEN = "hidden in answers"
"""What answers held beyond their text, mostly thinking that is sealed or in no file: measured."""
UNEXPLAINED = "not in the recording"
"""What a reported prompt holds beside all that; negative where a client left out more than the
recording says.
"""
SURPLUS = "counted beyond the report"
"""What a reader is told where that is negative: the counts together exceed the report by it."""
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
LEAST = 0.5
"""Tokens of a source below which nothing is left of it but what was rounded."""
BEGINNING = 120
"""Characters of a text that stand for it."""
ARGUMENT = 60
"""Characters of one argument of a call."""


@dataclass(frozen=True, slots=True)
class _Context:
    """What is sent in a request, while the recording is walked.

    Attributes:
        answer: what it was answered by; None of the next request.
        tokens: of its messages, by who put them there; valid until the walk goes on.
        summary: counted tokens of the summary in it.
        compaction: the newest compaction before it; None where there was none.
    """

    answer: AssistantMessage | None
    tokens: Mapping[Source, float]
    summary: int
    compaction: CompactionEntry | None


def composition(session: Session) -> pd.DataFrame:
    """What filled the context of each recorded request of the main path, by who put it there.

    Returns:
        One row a request and source, requests in their order, the largest source first. `request`
        counts from 0; `message` is the index of its answer; `source` and `name` say who put it
        there, `name` being the tool's or the MCP server's; `tokens` are the provider's where its
        reports could be matched; `share` is that of the prompt; `usd` is the source's part of what
        the prompt cost, not a number where the model has no listed price or the request no report;
        `reported` is the prompt as its provider reported it, which the rows add up to.
    """
    return RecordedContexts(session).composition()


class RecordedContexts:
    """The contexts that a recorded agent sent, request by request.

    Args:
        session: the recording, counted already or not.
        parted: what parts messages; one that remembers saves time where a session is read again.

    Attributes:
        sized: the recording, without reports that cannot be true, and the sizes of its messages.
    """

    def __init__(self, session: Session | SizedSession, parted: PartMessage = parts_of) -> None:
        self._parted = parted
        if not isinstance(session, SizedSession):
            session = SizedSession.of(session)
        self.sized = session
        self._session = self.sized.session
        self._sizing = self.sized.sizing
        self._count = TiktokenCounter()

    @property
    def priced_as(self) -> str:
        """Whose prices its dollars are at, where they are not the model's own: a row of the table
        for another provider, or the model from whose name its own goes on; else empty.
        """
        model = self._session.model
        rates = tariff(model) or self._stem
        if rates is None or (tariff(model) and is_of_named_provider(rates.row, model)):
            return ""
        return rates.row

    @property
    def _stem(self) -> Tariff | None:
        return stem_tariff(self._session.model)

    def composition(self) -> pd.DataFrame:
        """As `composition` of the session."""
        rates = tariff(self._session.model) or self._stem
        rows: list[tuple[object, ...]] = []
        for number, request in enumerate(self._requests()):
            rows += request.rows(number, rates)
        table = pd.DataFrame(rows, columns=list(COLUMNS))
        return table.astype(COLUMNS)

    def next_request(self) -> dict[Source, float]:
        """What fills the request that the agent sends next, as far as the recording goes: tokens
        by who put them there, on the provider's scale.
        """
        model = ""
        agent = ""
        measured = MeasuredParts()
        tokens: dict[Source, float] = {}
        for context in self._contexts():
            answer = context.answer
            if answer is None:
                tokens = self._with_overhead(context, model)
                tokens.update(measured.parts(context.compaction, agent))
                continue
            model = answer.model
            agent = answer.name
            if answer.usage is not None and answer.usage.prompt:
                explained = sum(self._with_overhead(context, model).values())
                measured.take(context.compaction, agent, answer.usage.prompt - explained)
        return tokens

    def largest_messages(self, request: int, count: int = 10) -> pd.DataFrame:
        """The largest messages in the context of one request.

        Args:
            request: counted from 0.
            count: how many messages.

        Returns:
            One row a message, the largest first: `message`, its index; `source` and `name`, who put
            most of it there; `tokens`; `begins`, its first words, behind the arguments of its call
            where a tool put it there.

        Raises:
            SettingError: the session has no such request.
        """
        sizes = self._sizes_in(request)
        largest_first = sorted(sizes, key=lambda message_id: -sizes[message_id])
        rows = []
        for message_id in largest_first[:count]:
            index = self._session.index_of[message_id]
            message = self._session.messages[index]
            parts = self._parts_of[message_id]
            largest_part = max(parts, key=lambda part: part.share)
            source = largest_part.source
            row = {
                "message": index,
                "source": source.kind,
                "name": source.name,
                "tokens": sizes[message_id] * self._sizing.scale,
                "begins": self._beginning(message, source),
            }
            rows.append(row)
        columns = ["message", "source", "name", "tokens", "begins"]
        return pd.DataFrame(rows, columns=columns)

    def _sizes_in(self, request: int) -> Mapping[str, int]:
        """The size of each message in the context of a request, by the message's id."""
        requests = self._session.requests
        if not 0 <= request < len(requests):
            raise SettingError(
                f"request {request} does not exist: the session has"
                f" {some(len(requests), 'request')}, from 0"
            )
        answer_index = requests[request]
        answer = self._session.messages[answer_index]
        sent = self._nothing_sent()
        for entry in self._session.path:
            if entry.id == answer.id:
                break
            sent.take(entry)
        return sent.messages()

    def _beginning(self, message: Message, source: Source) -> str:
        """What a message is known by: the arguments of its call, such as a path, and its first
        words.
        """
        call = self._call_of(message, source)
        if call is None:
            return _first_words(said_text(message), BEGINNING)
        arguments: list[str] = []
        for text in argument_texts(call.arguments):
            is_path = "/" in text and " " not in text
            if is_path:
                text = _end_of_path(text)
            words = _first_words(text, ARGUMENT)
            arguments.append(words)
        all_arguments = ", ".join(arguments)
        if isinstance(message, ToolResult):
            all_arguments = f"{all_arguments[:BEGINNING]}: {said_text(message)}"
        return _first_words(all_arguments, 2 * BEGINNING)

    def _call_of(self, message: Message, source: Source) -> ToolCall | None:
        """The call that a message answers, or the longest that it makes."""
        if isinstance(message, ToolResult):
            return self._calls.get(message.call_id)
        if isinstance(message, AssistantMessage) and source.kind.endswith("call"):
            return max(message.calls, key=lambda call: len(call.arguments_json()))
        return None

    @cached_property
    def _calls(self) -> Mapping[str, ToolCall]:
        """Each call of a tool by its id."""
        calls: dict[str, ToolCall] = {}
        for message in self._session.messages:
            if not isinstance(message, AssistantMessage):
                continue
            for call in message.calls:
                calls[call.id] = call
        return calls

    @cached_property
    def _parts_of(self) -> Mapping[str, list[MessagePart]]:
        """Who put what share of each message into the context, by the message's id."""
        tools: dict[str, str] = {}
        for call_id, call in self._calls.items():
            tools[call_id] = call.name
        parts: dict[str, list[MessagePart]] = {}
        for message in self._session.messages:
            parts[message.id] = self._parted(message, tools, self._count)
        return parts

    def _nothing_sent(self) -> SentContext:
        """The context before the first message."""
        return SentContext(self._session, self._sizing.counted, self._count)

    def _requests(self) -> Iterator[FilledRequest]:
        """Each request of the main path."""
        measured = MeasuredParts()
        for context in self._contexts():
            answer = context.answer
            if answer is None or answer.id in self._session.copied.answers:
                continue
            tokens = self._with_overhead(context, answer.model)
            usage = answer.usage
            if usage is not None and usage.prompt:
                unexplained = usage.prompt - sum(tokens.values())
                measured.take(context.compaction, answer.name, unexplained)
                parts = measured.parts(context.compaction, answer.name)
                tokens.update(parts)
                tokens[Source(UNEXPLAINED)] = unexplained - sum(parts.values())
            yield FilledRequest(self._session.index_of[answer.id], tokens, usage)

    def _contexts(self) -> Iterator[_Context]:
        """The context of each request of the main path, and behind them that of the next."""
        sent = self._nothing_sent()
        tokens: defaultdict[Source, float] = defaultdict(float)
        turn: list[str] = []
        earlier_turns: set[str] = set()
        compaction: CompactionEntry | None = None
        for entry in self._session.path:
            answer = entry.message if isinstance(entry, MessageEntry) else None
            if isinstance(answer, AssistantMessage):
                yield _Context(answer, tokens, sent.summary, compaction)
                turn.append(answer.id)
            sent.take(entry)
            if isinstance(entry, MessageEntry):
                if entry.message.role == "user":
                    for answer_id in turn:
                        if sent.holds(answer_id):
                            self._leave(tokens, answer_id)
                    earlier_turns.update(turn)
                    turn.clear()
                index = self._session.index_of[entry.id]
                size = self._sizing.counted[index]
                self._add(tokens, entry.id, size)
            elif isinstance(entry, CompactionEntry | ClearingEntry):
                if isinstance(entry, CompactionEntry):
                    compaction = entry
                tokens.clear()
                sizes = sent.messages()
                for message_id, size in sizes.items():
                    self._add(tokens, message_id, size)
                for answer_id in earlier_turns.intersection(sizes):
                    self._leave(tokens, answer_id)
        yield _Context(None, tokens, sent.summary, compaction)

    def _add(self, tokens: defaultdict[Source, float], message_id: str, size: int) -> None:
        """Add a message of this counted size to the tokens of a context."""
        for part in self._parts_of[message_id]:
            tokens_of_part = part.share * size * self._sizing.scale
            tokens[part.source] += tokens_of_part
        hidden = self._hidden(message_id)
        if hidden > 0:
            tokens[Source(HIDDEN)] += hidden
        elif hidden < 0:
            tokens[Source(THINKING)] += hidden

    def _leave(self, tokens: defaultdict[Source, float], answer_id: str) -> None:
        """Take out what is sent of an answer only until the user speaks again."""
        if not self._sizing.leaving:
            return
        index = self._session.index_of[answer_id]
        hidden = self._hidden(answer_id)
        leaving = self._sizing.leaving[index] * self._sizing.scale
        thinking = leaving - hidden
        tokens[Source(HIDDEN)] -= hidden
        tokens[Source(THINKING)] -= thinking

    def _hidden(self, message_id: str) -> float:
        """What a message held beyond its text, in the provider's tokens; less than 0 where the
        thinking in its text is not sent again.
        """
        if not self._sizing.hidden:
            return 0.0
        index = self._session.index_of[message_id]
        hidden = self._sizing.hidden[index]
        return hidden * self._sizing.scale

    def _with_overhead(self, context: _Context, model: str) -> dict[Source, float]:
        """A context's tokens by who put them there: those of its messages, its summary, and what
        no message holds in a request of this model.
        """
        tokens: dict[Source, float] = {}
        for source, tokens_of_source in context.tokens.items():
            if tokens_of_source > LEAST:
                tokens[source] = tokens_of_source
        if context.summary:
            tokens[Source(SUMMARY)] = context.summary * self._sizing.scale
        overhead = self._sizing.overhead_of(model)
        if overhead:
            tokens[Source(MEASURED)] = overhead
        return tokens


def _first_words(text: str, longest: int) -> str:
    """The beginning of a text on one line."""
    words = " ".join(text[: 4 * longest].split())
    if len(words) <= longest:
        return words
    return f"{words[: longest - 1]}…"


def _end_of_path(path: str) -> str:
    """The end of a path, which names the file."""
    if len(path) <= ARGUMENT:
        return path
    return f"…{path[1 - ARGUMENT :]}"
