"""Whether there are sessions to advise on, long enough for a figure: known before any replay."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from workbench.base.errors import SettingError
from workbench.base.formats import some
from workbench.evaluation.experiment.prepared import Prepared, read
from workbench.evaluation.experiment.sources import SessionSource, reasons_unread
from workbench.evaluation.replays.boundaries import (
    FEWEST_AFTER,
    FEWEST_BEFORE,
    FIRST,
    by_fill,
    filled_twice,
)
from workbench.lab.advice.advice_spec import AdviceSpec


@dataclass(frozen=True, slots=True)
class Shortage:
    """What sessions lack of which none is long enough for a figure of any strategy.

    Attributes:
        tokens: of the longest session, with what no message holds.
        messages: of that session.
        window: in which it was to be replayed, in tokens.
        fitting_window: a window in which it would have a figure; None where there is none.
    """

    tokens: int
    messages: int
    window: int
    fitting_window: int | None

    @property
    def words(self) -> str:
        """What the longest session has and what it takes, in a sentence and a half."""
        least_tokens = round(FIRST * self.window)
        return (
            f"no session is long enough to measure a strategy. The longest has {self.tokens:,}"
            f" tokens in {some(self.messages, 'message')}; a figure takes {least_tokens:,} tokens"
            f" in its window of {self.window:,}, with {FEWEST_BEFORE} messages before that place"
            f" and {FEWEST_AFTER} behind it."
        )


def shortage(
    sources: Sequence[SessionSource],
    windows: Collection[int | None],
    redaction: frozenset[str] | None,
) -> Shortage | None:
    """What the sessions lack; None as soon as one is long enough in one of the windows.

    Args:
        sources: the sessions.
        windows: in tokens; None is each session's own.
        redaction: as of `prepared.read`.
    """
    longest: Prepared | None = None
    for source in sources:
        for window in windows:
            for session in read(source, window, redaction=redaction).ready:
                if _has_boundary(session, session.window):
                    return None
                if longest is None or _tokens(session) > _tokens(longest):
                    longest = session
    if longest is None:
        return None
    tokens = _tokens(longest)
    fitting_window = filled_twice(tokens)
    if fitting_window is not None and not _has_boundary(longest, fitting_window):
        fitting_window = None
    message_count = len(longest.session.messages)
    return Shortage(tokens, message_count, longest.window, fitting_window)


def is_long_enough(
    source: SessionSource, window: int | None, redaction: frozenset[str] | None
) -> bool:
    """Whether a session of this recording may have a figure; as of `shortage`."""
    sessions = read(source, window, redaction=redaction).ready
    return any(_has_boundary(session, session.window) for session in sessions)


def _tokens(session: Prepared) -> int:
    return session.sizing.overhead + sum(session.sizing.sizes)


def _has_boundary(session: Prepared, window: int) -> bool:
    """Whether contexts of the session would be scored in this window."""
    used_window = session.sizing.window(window)
    return bool(by_fill(session.session, session.sizing, used_window))


def nothing_to_advise_on(sources: Sequence[SessionSource], spec: AdviceSpec) -> SettingError:
    """The error where no source holds a session, with the reasons of those that cannot be read."""
    reasons = reasons_unread(sources)
    if reasons:
        from workbench.engine.transcript.redaction import masker  # it takes long to load

        mask = masker(spec.redaction)
        return SettingError(f"there is no session to advise on: {mask(reasons)}")
    return SettingError(
        "there is no session to advise on; `workbench list formats` shows what can be read"
    )
