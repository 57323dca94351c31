"""docker-agent's session: items that are only ever appended, and what a compaction does with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from workbench.compaction.presets.docker_agent.asking import AgentModelSettings, cloned, fitted, summary_request
from workbench.compaction.presets.docker_agent.generation import FIRST, Generation
from workbench.compaction.presets.docker_agent.tail import split_index_for_keep
from workbench.compaction.presets.docker_agent.wording import LEAD, left_out
from workbench.compaction.tracking import file_ops
from workbench.errors import SettingError
from workbench.models.model import Completion, Model, SummaryRequest
from workbench.transcript.message import AssistantMessage, Message, Summary, SystemMessage, plain_text


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


@dataclass(frozen=True, slots=True)
class Gathered:
    """The messages that would be sent, without system messages.

    Attributes:
        indices: of each message among the items; not ascending where a summary stands first.
        items: how many items there are.
    """

    messages: tuple[Message, ...]
    indices: tuple[int, ...]
    items: int

    def entry(self, split: int) -> int:
        """The item of a message; behind the last message the number of items, which keeps nothing."""
        return self.indices[split] if split < len(self.indices) else self.items


def gathered(items: Sequence[Item]) -> Gathered:
    """The newest summary as a user's message, what it kept, and what came after it; without a summary everything."""
    at = next((i for i in range(len(items) - 1, -1, -1) if isinstance(items[i], SummaryItem)), None)
    found: list[tuple[int, Message]] = []
    start = 0
    if at is not None and isinstance(item := items[at], SummaryItem):
        found.append((at, Summary(id=f"item-{at}", text=item.summary, lead=LEAD)))
        start = item.first_kept_entry if 0 < item.first_kept_entry < at else at + 1
    for i in range(start, len(items)):
        one = items[i]
        if not isinstance(one, SummaryItem | SubSession | SystemMessage):
            found.append((i, one))
    return Gathered(tuple(message for _, message in found), tuple(i for i, _ in found), len(items))


def compute_first_kept_entry(items: Sequence[Item], limit: int = 0, generation: Generation = FIRST) -> int:
    """The first item that stays, for summaries of the model and for those that a hook supplies.

    Args:
        items: of the session.
        limit: tokens of the window; 0 where it is not known.
        generation: of docker-agent.
    """
    return _kept(gathered(items), limit, generation)[1]


def _kept(said: Gathered, limit: int, generation: Generation) -> tuple[int, int]:
    split = split_index_for_keep(said.messages, generation.sizes(said.messages), generation.keep(limit))
    return split, said.entry(split)


def own_tokens(items: Sequence[Item], generation: Generation = FIRST) -> int:
    """Tokens of the session's own messages; what another agent said in a session of its own is not sent."""
    return sum(generation.sizes(gathered(items).messages))


@dataclass(frozen=True, slots=True, kw_only=True)
class LLMArgs:
    """What a compaction by a model needs.

    Attributes:
        session: its items; not changed.
        agent: how the agent's model is called; it is cloned.
        additional_prompt: stands below the question.
        context_limit: tokens of the window.
        run_agent: who is asked.
        dedicated: the name of a model for summaries alone.
    """

    session: Sequence[Item]
    agent: AgentModelSettings | None
    context_limit: int
    run_agent: Model | None
    additional_prompt: str = ""
    dedicated: str = ""
    generation: Generation = FIRST


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be asked, with which settings, and what follows from the answer.

    Attributes:
        dropped: messages that are neither summarised nor kept, since the summariser's window has no room for them.
    """

    request: SummaryRequest
    model: AgentModelSettings
    first_kept_entry: int
    dropped: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Result:
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


def request(args: LLMArgs) -> Request | None:
    """What to ask; None where no conversation is left to summarise, which compacts nothing.

    Raises:
        SettingError: a field without which it cannot work is missing.
    """
    for name, missing in (
        ("RunAgent", args.run_agent is None), ("Agent", args.agent is None), ("ContextLimit", args.context_limit <= 0),
    ):  # fmt: skip
        if missing:
            raise SettingError(f"{name} is missing or not positive; the compaction needs it")
    assert args.agent is not None
    said = gathered(args.session)
    split, first_kept = _kept(said, args.context_limit, args.generation)
    shown = fitted(said.messages[:split], args.context_limit, args.generation, args.additional_prompt)
    if not shown.messages:
        return None
    settings = cloned(args.agent, args.context_limit, args.generation, args.dedicated)
    most = args.generation.cap(args.context_limit)
    files = file_ops([*shown.earlier, *shown.messages])
    question = summary_request(shown, most, args.generation, files, args.additional_prompt, args.dedicated)
    return Request(question, settings, first_kept, shown.dropped)


def result(asked: Request, answer: Completion) -> Result | None:
    """The compaction with that answer; None for an empty one, which compacts nothing."""
    text = answer.text.strip()
    if not text:
        return None
    return Result(text + left_out(asked.dropped), asked.first_kept_entry, answer.usd, answer.output_tokens)


def supplied(items: Sequence[Item], summary: str, limit: int = 0, generation: Generation = FIRST) -> Result:
    """A compaction with a hook's summary, word for word: no model is asked, the same tail stays."""
    tokens = generation.count(Summary(id="", text=summary))
    return Result(summary, compute_first_kept_entry(items, limit, generation), 0.0, tokens)


def applied(items: Sequence[Item], finished: Result) -> tuple[Item, ...]:
    """The items with the compaction behind them; none is taken away."""
    return (*items, SummaryItem(finished.summary, finished.first_kept_entry, finished.cost))


def rebuilt(items: Sequence[Item]) -> tuple[Message, ...]:
    """What is sent: system messages, and what is gathered."""
    return (*(item for item in items if isinstance(item, SystemMessage)), *gathered(items).messages)


def last_answer(messages: Sequence[Message], seeded: int) -> str:
    """What the model said last, trimmed: not what was put in front of it, and no blank answer.

    Args:
        messages: of the throw-away session.
        seeded: how many of them were there before the model was asked.
    """
    said = (
        plain_text(message).strip() for message in reversed(messages[seeded:]) if isinstance(message, AssistantMessage)
    )
    return next((text for text in said if text), "")
