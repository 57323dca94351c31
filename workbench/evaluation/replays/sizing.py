"""How large a session's messages are in its own provider's tokens, and how large a window it is replayed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.engine.models.prices import window as catalog_window
from workbench.engine.transcript.calibration import TokenCalibration, calibrate
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.log import CompactionEntry
from workbench.engine.transcript.message import AssistantMessage, Message, Scaled, TokenCounter, scaled
from workbench.engine.transcript.session import Session


@dataclass(frozen=True, slots=True)
class Sizing:
    """The sizes of a session's messages, each counted once.

    Attributes:
        sizes: one for each of the session's messages, in the provider's tokens where it is calibrated.
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
        found = calibrate(session, counted, count)
        if found is None:
            return cls(tuple(counted), 0, count, counted=tuple(counted))
        sizes = tuple(scaled(size, found.scale) for size in counted)
        return cls(sizes, found.overhead, Scaled(count, found.scale), found, tuple(counted))

    def window(self, wanted: int) -> int:
        """The window for the replay: the one wanted, widened so that the overhead takes half of it at most.

        In a window that barely holds system prompt and tools any strategy would compact at every request.
        """
        return max(wanted, 2 * self.overhead)

    def history(self, messages: Sequence[Message], at: int) -> Context:
        """The context of `messages[:at]`, whole."""
        return Context(tuple(messages[:at]), self.sizes[:at], self.overhead, self.count)


DEFAULT_WINDOW = 200_000
"""Tokens; for a session that gives no evidence of any window."""


@dataclass(frozen=True, slots=True)
class Window:
    """A window in tokens, and its `source`: what it was taken from, in words."""

    tokens: int
    source: str


def window_of(session: Session, wanted: int | None = None) -> Window:
    """The window that is asked for, else the one that the recording is evidence of, else its model's.

    Evidence is, in this order: the window that the recording names; the most tokens before one of its automatic
    compactions; its largest reported prompt. A price table comes after these, since agents rarely use all of the
    window that their model has.
    """
    before = (
        one.entry.tokens_before
        for one in session.recorded
        if isinstance(one.entry, CompactionEntry) and one.entry.reason != "manual"
    )
    prompts = (one.usage.prompt for one in session.messages if isinstance(one, AssistantMessage) and one.usage)
    evidence = {
        "the window asked for": wanted,
        "the window that the recording names": session.window,
        "its recorded compactions": max((tokens for tokens in before if tokens), default=None),
        "its largest prompt": max((tokens for tokens in prompts if tokens), default=None),
        "its model": catalog_window(session.model),
        "no evidence": DEFAULT_WINDOW,
    }
    return next(Window(tokens, source) for source, tokens in evidence.items() if tokens)
