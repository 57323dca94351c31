"""How large a session's messages are in its own provider's tokens, and how large a window it is
replayed in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from workbench.engine.models.prices import window as catalog_window
from workbench.engine.transcript.calibration import TokenCalibration, calibrate
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


@dataclass(frozen=True, slots=True)
class Sizing:
    """The sizes of a session's messages, each counted once.

    Attributes:
        sizes: one for each of the session's messages, in the provider's tokens where it is
            calibrated.
        overhead: tokens of every request that no message holds; 0 if unknown.
        count: the counter for new messages, on the same scale.
        calibration: how the session's reported usage was matched; None if it has none to match.
        counted: the sizes before that, as our own counter gives them; empty if they were not kept.
    """

    sizes: tuple[int, ...]
    overhead: int
    count: TokenCounter
    calibration: TokenCalibration | None = None
    counted: tuple[int, ...] = ()

    @classmethod
    def of(cls, session: Session, counted: Sequence[int], count: TokenCounter) -> Sizing:
        """Calibrate the sizes that `count` gives the session's messages with its reported usage."""
        fitted = calibrate(session, counted, count)
        if fitted is None:
            return cls(tuple(counted), 0, count, counted=tuple(counted))
        sizes = tuple(scaled(size, fitted.scale) for size in counted)
        return cls(sizes, fitted.overhead, Scaled(count, fitted.scale), fitted, tuple(counted))

    def window(self, requested: int) -> int:
        """The window for the replay: the one requested, widened so that the overhead takes half of
        it at most.

        In a window that barely holds system prompt and tools any strategy would compact at every
        request.
        """
        return max(requested, 2 * self.overhead)

    def history(self, messages: Sequence[Message], boundary: int) -> Context:
        """The context of `messages[:boundary]`, whole."""
        sizes = self.sizes[:boundary]
        return Context(tuple(messages[:boundary]), sizes, self.overhead, self.count)


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
