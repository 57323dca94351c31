"""How large a window a session is replayed in, and what says so."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.models.prices import window as catalog_window
from workbench.transcript.log import CompactionEntry
from workbench.transcript.message import AssistantMessage
from workbench.transcript.session import Session

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
