"""docker-agent's session: items that are only ever appended, what a compaction does with them, hooks and overflows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from workbench.compaction.presets.docker_agent.compact import (
    LEAD,
    docker_summary,
    dropped_note,
    split_index_for_keep,
)
from workbench.compaction.presets.docker_agent.generations import FIRST, DockerGeneration
from workbench.compaction.presets.host import UNLIMITED, FixedCut, mentions
from workbench.compaction.span_selection import Span
from workbench.compaction.stage import Budget
from workbench.errors import SettingError
from workbench.models.model import Completion, Model, SummaryRequest
from workbench.transcript.context import Context
from workbench.transcript.message import AssistantMessage, Json, Message, Summary, SystemMessage, plain_text

PATTERNS = (
    "prompt is too long", "maximum context length", "context length exceeded", "context_length_exceeded",
    "max_tokens must be greater than", "maximum number of tokens", "content length exceeds", "request too large",
    "payload too large", "input is too long", "exceeds the model's max token", "token limit", "reduce your prompt",
    "reduce the length",
)  # fmt: skip
"""The texts by which an overflow is known. As in the original, nothing is excluded."""


@dataclass(frozen=True, slots=True)
class SummaryItem:
    """A compaction among the items.

    Attributes:
        first_kept_entry: index of the first item that stays; 0 for none.
        cost: dollars; None if nobody knows.
    """

    summary: str
    first_kept_entry: int = 0
    cost: float | None = 0.0


@dataclass(frozen=True, slots=True)
class SubSession:
    """Another agent's session, run from within this one; its content is not sent."""

    items: tuple[Item, ...]


Item: TypeAlias = Message | SummaryItem | SubSession


def gathered(items: Sequence[Item]) -> tuple[tuple[Message, ...], tuple[int, ...]]:
    """The messages that would be sent, without system messages, and the item of each.

    The newest summary stands first as a user's message, then what it kept and what came after it. Behind the items of
    the messages stands the number of all items, which keeps nothing.
    """
    found: dict[int, Message] = {}
    start = 0
    for at, item in enumerate(items):
        if isinstance(item, SummaryItem):
            found = {at: Summary(id=f"item-{at}", text=item.summary, lead=LEAD)}
            start = item.first_kept_entry if 0 < item.first_kept_entry < at else at + 1
    for i in range(start, len(items)):
        item = items[i]
        if not isinstance(item, SummaryItem | SubSession | SystemMessage):
            found[i] = item
    return tuple(found.values()), (*found, len(items))


def rebuilt(items: Sequence[Item]) -> tuple[Message, ...]:
    """What is sent: system messages, and what is gathered."""
    return (*(item for item in items if isinstance(item, SystemMessage)), *gathered(items)[0])


def own_tokens(items: Sequence[Item], generation: DockerGeneration = FIRST) -> int:
    """Tokens of the session's own messages; what another agent said in a session of its own is not sent."""
    return sum(generation.sizes(gathered(items)[0]))


def split_of(messages: Sequence[Message], limit: int, generation: DockerGeneration) -> int:
    """Where the kept tail of these messages begins, in a window of `limit` tokens; 0 where the window is not known."""
    return split_index_for_keep(messages, generation.sizes(messages), generation.keep(limit))


@dataclass(frozen=True, slots=True)
class AgentModel:
    """How an agent's model is called."""

    model: str = ""
    max_tokens: int | None = None
    structured_output: Mapping[str, Json] | None = None
    temperature: float | None = None

    def cloned(self, limit: int, generation: DockerGeneration, dedicated: str = "") -> AgentModel:
        """The same for a summary: without structured output, and with the cap; a dedicated model goes before."""
        return replace(self, model=dedicated or self.model, max_tokens=generation.cap(limit), structured_output=None)


@dataclass(frozen=True, slots=True)
class SessionRequest:
    """What is to be asked, with which settings, and what follows from the answer.

    Attributes:
        dropped: messages that are neither summarised nor kept, since the summariser's window has no room for them.
    """

    request: SummaryRequest
    model: AgentModel
    first_kept_entry: int
    dropped: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class SessionCompaction:
    """A finished compaction.

    Attributes:
        summary: the text that stands for the compacted messages.
        first_kept_entry: the first item that stays.
        cost: dollars; 0 where no model was asked, None if nobody knows.
        input_tokens: the session's new tally; that of its output is 0 again.
    """

    summary: str
    first_kept_entry: int
    cost: float | None
    input_tokens: int


def session_request(
    session: Sequence[Item], agent: AgentModel | None, context_limit: int, run_agent: Model | None, *,
    additional_prompt: str = "", dedicated: str = "", generation: DockerGeneration = FIRST,
) -> SessionRequest | None:  # fmt: skip
    """What to ask; None where no conversation is left to summarise, which compacts nothing.

    Args:
        session: its items.
        agent: how the agent's model is called; it is cloned.
        context_limit: tokens of the window.
        run_agent: the model that is asked.
        additional_prompt: stands below the question.
        dedicated: the name of a model for summaries alone.
        generation: of docker-agent.

    Raises:
        SettingError: a field without which it cannot work is missing.
    """
    needed = {"RunAgent": run_agent is not None, "Agent": agent is not None, "ContextLimit": context_limit > 0}
    for name, present in needed.items():
        if not present:
            raise SettingError(f"{name} is missing or not positive; the compaction needs it")
    assert agent is not None
    messages, entries = gathered(session)
    split = split_of(messages, context_limit, generation)
    context = Context.of(messages[:split], generation.count)
    stage = replace(
        docker_summary(generation, dedicated), cut=FixedCut(Span(tuple(range(split)), split)), limits=UNLIMITED
    )
    plan = stage.plan(context, Budget(target=0, window=context_limit, instructions=additional_prompt))
    if plan is None:
        return None
    model = agent.cloned(context_limit, generation, dedicated)
    request = replace(plan.requests[0], max_tokens=model.max_tokens)
    new = [message for message in context.messages if not isinstance(message, Summary)]
    return SessionRequest(request, model, entries[split], tuple(new[: len(new) - len(request.messages)]))


def finished(asked: SessionRequest, completion: Completion) -> SessionCompaction | None:
    """The compaction with that answer; None for an empty one, which compacts nothing."""
    text = completion.text.strip()
    if not text:
        return None
    return SessionCompaction(
        text + dropped_note(len(asked.dropped)), asked.first_kept_entry, completion.usd, completion.output_tokens
    )


def supplied(
    items: Sequence[Item], summary: str, limit: int = 0, generation: DockerGeneration = FIRST
) -> SessionCompaction:
    """A compaction with a hook's summary, word for word: no model is asked, the same tail stays."""
    messages, entries = gathered(items)
    first_kept = entries[split_of(messages, limit, generation)]
    return SessionCompaction(summary, first_kept, 0.0, generation.count(Summary(id="", text=summary)))


def applied(items: Sequence[Item], done: SessionCompaction) -> tuple[Item, ...]:
    """The items with the compaction behind them; none is taken away."""
    return (*items, SummaryItem(done.summary, done.first_kept_entry, done.cost))


def outcome(done: SessionCompaction | None, error: str = "") -> Literal["applied", "skipped", "failed"]:
    """How a compaction ended: with an error, with nothing to do, or applied."""
    if error:
        return "failed"
    return "skipped" if done is None else "applied"


def last_answer(messages: Sequence[Message], seeded: int) -> str:
    """What the model said last, trimmed: none of the seeded first messages, and no blank answer."""
    answers = [plain_text(message).strip() for message in messages[seeded:] if isinstance(message, AssistantMessage)]
    return next((text for text in reversed(answers) if text), "")


class ContextOverflow(Exception):
    """An overflow that was recognised before, around the provider's error."""


def context_overflow(error: object) -> bool:
    """Whether an error, or one that it was made from, says that the prompt was too long; never for no error."""
    while error is not None:
        if isinstance(error, ContextOverflow) or mentions(error, PATTERNS):
            return True
        error = error.__cause__ if isinstance(error, BaseException) else None
    return False


def prompted(replies: Iterable[str | None], additional: str = "") -> str | None:
    """The instruction with what hooks add to it; None where the reply of one is None, which skips the compaction."""
    parts = [additional, *replies]
    return None if None in parts else "\n\n".join(part for part in parts if part)
