"""How large a session's messages are in its own provider's tokens, and how large a window it is
replayed in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import add
from typing import TypeAlias

from workbench.engine.models.prices import window as catalog_window
from workbench.engine.transcript.calibration import TokenCalibration
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.message import (
    AssistantMessage,
    Message,
    Scaled,
    TokenCounter,
    scaled,
)
from workbench.engine.transcript.session import Session
from workbench.evaluation.replays.agents import Sized, agent_of, agent_window, recorded_limits
from workbench.evaluation.replays.context_fit import fit_contexts


@dataclass(frozen=True, slots=True)
class Sizing:
    """The sizes of a session's messages, each counted once.

    Attributes:
        sizes: one for each of the session's messages, in the provider's tokens where it is
            calibrated, with what an answer held beyond its text.
        overhead: tokens of every request that no message holds; 0 if unknown.
        count: the counter for new messages, on the same scale.
        calibration: how the session's reported usage was matched; None if it has none to match.
        counted: the text of each message, as our own counter gives it; empty if that was not kept.
        hidden: what each held beyond its text, on the scale of `counted`; less than 0 where the
            thinking in its text is not sent again; empty if nothing.
        leaving: what of each is sent only until the user speaks again, on the scale of `counted`;
            empty if nothing.
        overheads: by model, tokens of each of its requests that no message holds, measured without
            a calibration too.
    """

    sizes: tuple[int, ...]
    overhead: int
    count: TokenCounter
    calibration: TokenCalibration | None = None
    counted: tuple[int, ...] = ()
    hidden: tuple[int, ...] = ()
    leaving: tuple[int, ...] = ()
    overheads: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, session: Session, counted: Sequence[int], count: TokenCounter) -> Sizing:
        """Calibrate the sizes that `count` gives the session's messages with its reported usage.

        Raises:
            SettingError: there are more or fewer sizes than messages.
        """
        fit = fit_contexts(session, counted, count)
        calibration = fit.calibration
        hidden = _by_message(session, fit.thinking.hidden)
        leaving = _by_message(session, fit.thinking.leaving)
        full_sizes = tuple(counted)
        if hidden:
            full_sizes = tuple(map(add, counted, hidden))
        if hidden and not leaving:
            count = WithHidden.of(session.messages, fit.thinking.hidden, count)
        overhead = 0
        if calibration is not None:
            overhead = calibration.overhead
            full_sizes = tuple(scaled(size, calibration.scale) for size in full_sizes)
            count = Scaled(count, calibration.scale)
        return cls(
            sizes=full_sizes,
            overhead=overhead,
            count=count,
            calibration=calibration,
            counted=tuple(counted),
            hidden=hidden,
            leaving=leaving,
            overheads=fit.overheads,
        )

    @property
    def scale(self) -> float:
        """The provider's tokens to one of ours; 1 where the reports do not tell."""
        if self.calibration is None:
            return 1.0
        return self.calibration.scale

    @property
    def text_sizes(self) -> Sequence[int]:
        """The size of each message's text alone, on the scale of `sizes`: what a transcript of it
        takes.
        """
        if not self.hidden:
            return self.sizes
        return tuple(scaled(size, self.scale) for size in self.counted)

    def overhead_of(self, model: str) -> int:
        """Tokens of each request of a model that no message holds; 0 where nothing was reported."""
        return self.overheads.get(model, self.overhead)

    def window(self, requested: int) -> int:
        """The window for the replay: the one requested, widened so that the overhead takes half of
        it at most.

        In a window that barely holds system prompt and tools any strategy would compact at every
        request.
        """
        return max(requested, 2 * self.overhead)

    def after_turn(self, index: int) -> int:
        """The size of a message once the user has spoken again."""
        size = self.sizes[index]
        if not self.leaving:
            return size
        leaving = self.leaving[index]
        tokens = scaled(leaving, self.scale)
        return max(size - tokens, 0)

    def sizes_before(self, messages: Sequence[Message], boundary: int) -> tuple[int, ...]:
        """The sizes of `messages[:boundary]` in the request that is sent then."""
        if not self.leaving:
            return self.sizes[:boundary]
        start = turn_start(messages[:boundary])
        sizes: list[int] = []
        for index in range(start):
            size = self.after_turn(index)
            sizes.append(size)
        sizes += self.sizes[start:boundary]
        return tuple(sizes)

    def history_tokens(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """Tokens of the request that would send `messages[:boundary]` whole, by boundary."""
        tokens = self.overhead
        tokens_by_boundary = [tokens]
        start = 0
        for index, message in enumerate(messages):
            if message.role == "user" and self.leaving:
                for earlier in range(start, index):
                    size_in_turn = self.sizes[earlier]
                    size_after_turn = self.after_turn(earlier)
                    tokens -= size_in_turn - size_after_turn
                start = index
            tokens += self.sizes[index]
            tokens_by_boundary.append(tokens)
        return tuple(tokens_by_boundary)

    def turn_prefixes(self, messages: Sequence[Message]) -> Mapping[int, int]:
        """By the index of a message of the user, tokens that the requests before it and behind it
        have in common: those before the first answer of which something is sent no more. Only of
        messages at which something goes.
        """
        if not self.leaving:
            return {}
        tokens_by_boundary = self.history_tokens(messages)
        prefixes: dict[int, int] = {}
        start = 0
        for index, message in enumerate(messages):
            if message.role != "user":
                continue
            for earlier in range(start, index):
                if self.after_turn(earlier) < self.sizes[earlier]:
                    prefixes[index] = tokens_by_boundary[earlier]
                    break
            start = index
        return prefixes

    def history(self, messages: Sequence[Message], boundary: int) -> Context:
        """The context of `messages[:boundary]`, whole."""
        sizes = self.sizes_before(messages, boundary)
        return Context(tuple(messages[:boundary]), sizes, self.overhead, self.count)


def _by_message(session: Session, tokens: Mapping[str, int]) -> tuple[int, ...]:
    """The tokens of each message, by whose id they are; empty if there are none."""
    if not tokens:
        return ()
    tokens_in_order: list[int] = []
    for message in session.messages:
        tokens_of_message = tokens.get(message.id, 0)
        tokens_in_order.append(tokens_of_message)
    return tuple(tokens_in_order)


def turn_start(messages: Sequence[Message]) -> int:
    """The index of the newest message of a user; 0 if there is none."""
    for index in reversed(range(len(messages))):
        if messages[index].role == "user":
            return index
    return 0


@dataclass(frozen=True, slots=True)
class WithHidden:
    """A counter that knows what answers held beyond their text.

    A client sends that back with the answer. It goes with the answer's thinking where a strategy
    takes that out; where the recording shows no thinking, it stays with the answer.

    Attributes:
        text_count: the counter of texts.
        hidden: by message id, tokens beyond the text.
        thoughtful: the ids of those of these messages that show thinking.
    """

    text_count: TokenCounter
    hidden: Mapping[str, int]
    thoughtful: frozenset[str]

    @classmethod
    def of(
        cls, messages: Iterable[Message], hidden: Mapping[str, int], text_count: TokenCounter
    ) -> WithHidden:
        """The counter of a session with these messages."""
        thoughtful: set[str] = set()
        for message in messages:
            if message.id in hidden and _shows_thinking(message):
                thoughtful.add(message.id)
        return cls(text_count, hidden, frozenset(thoughtful))

    def __call__(self, message: Message, /) -> int:
        """Tokens of the text, and of what is hidden if it is still there."""
        size = self.text_count(message)
        if message.id not in self.hidden or message.role != "assistant":
            return size
        if message.id in self.thoughtful and not _shows_thinking(message):
            return size
        return size + self.hidden[message.id]


def _shows_thinking(message: Message) -> bool:
    return any(block.type == "thinking" for block in message.blocks)


DEFAULT_WINDOW = 200_000
"""Tokens; for a session that gives no evidence of any window."""


Window: TypeAlias = Sized
"""A window in tokens, and what it was taken from."""


def window_of(session: Session, requested: int | None = None) -> Window:
    """The window of a session, the same in every command.

    It is the one that is asked for; else, in this order: that which the recording names; that in
    which its agent works (`replays.agents`), where the agent is known; the most tokens before one
    of its automatic compactions; its largest reported prompt; its model's, from a price table,
    since agents rarely use all of the window that their model has.
    """
    limits = recorded_limits(session)
    prompts = _reported_prompts(session)
    agent = agent_of(session)
    if requested:
        return Sized(requested, "the window asked for")
    if session.window:
        return Sized(session.window, "the window that the recording names")
    if agent is not None:
        of_agent = agent_window(agent, session, [*prompts, *limits])
        if of_agent is not None and of_agent.tokens:
            return of_agent
    if limits:
        return Sized(max(limits), "its recorded compactions")
    if prompts:
        return Sized(max(prompts), "its largest prompt")
    of_model = catalog_window(session.model)
    if of_model:
        return Sized(of_model, "its model")
    return Sized(DEFAULT_WINDOW, "no evidence")


def _reported_prompts(session: Session) -> list[int]:
    """The sizes of the prompts that a session reports, in tokens."""
    prompts: list[int] = []
    for message in session.messages:
        if isinstance(message, AssistantMessage) and message.usage and message.usage.prompt:
            prompts.append(message.usage.prompt)
    return prompts
