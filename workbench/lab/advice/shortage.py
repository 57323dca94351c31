"""Whether there are sessions to advise on, long enough for a figure: known before any replay."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from workbench.base.errors import SettingError
from workbench.base.formats import capitalized, joined, percent, some
from workbench.evaluation.experiment.prepared import Prepared, read
from workbench.evaluation.experiment.sources import SessionSource, reasons_unread
from workbench.evaluation.replays.boundaries import (
    FEWEST_AFTER,
    FEWEST_BEFORE,
    FIRST,
    by_fill,
    filled_twice,
    filling,
)
from workbench.lab.advice.advice_spec import AdviceSpec

NO_FIGURE = "no session is long enough to measure a strategy."
"""What is said before the words of a `Shortage`."""


@dataclass(frozen=True, slots=True)
class Shortage:
    """What the session lacks that comes closest to a figure, where none has one.

    Attributes:
        sessions: that were looked at.
        tokens: of its largest request.
        messages: that it has.
        window: in which it was to be replayed, in tokens.
        messages_before: before a request of it that fills enough of that window; None where none
            does.
        fitting_window: the largest window in which one of the sessions would have a figure; None
            where there is none.
    """

    sessions: int
    tokens: int
    messages: int
    window: int
    messages_before: int | None
    fitting_window: int | None

    @property
    def least_tokens(self) -> int:
        """The size of a request that fills enough of the window."""
        return round(FIRST * self.window)

    @property
    def lacking_tokens(self) -> int:
        """By how many the largest request is too small; 0 where messages alone are lacking."""
        if self.messages_before is not None:
            return 0
        return max(self.least_tokens - self.tokens, 1)

    @property
    def lacking_before(self) -> int:
        """Messages that are lacking before that request."""
        if self.messages_before is None:
            return 0
        return max(FEWEST_BEFORE - self.messages_before, 0)

    @property
    def lacking_behind(self) -> int:
        """Messages that are lacking from that request on."""
        if self.messages_before is None:
            return 0
        return max(FEWEST_AFTER - (self.messages - self.messages_before), 0)

    @property
    def distance(self) -> tuple[float, int]:
        """How far it is from a figure: the share of the tokens, then the messages."""
        share = self.lacking_tokens / self.least_tokens
        return share, self.lacking_before + self.lacking_behind

    @property
    def words(self) -> str:
        """What a figure takes, what the session has of it, and what it lacks, in a sentence."""
        return f"{capitalized(self.clause)}."

    @property
    def clause(self) -> str:
        """The same behind a colon, without its full stop."""
        size = f"{self.least_tokens:,} tokens, {percent(FIRST)} of the window of {self.window:,}"
        closest = "the closest"
        if self.sessions == 1:
            closest = "it"
        if self.messages_before is None:
            return (
                f"a figure takes a request of {size}; {closest} gets to {self.tokens:,},"
                f" {self.lacking_tokens:,} too few"
            )
        needs: list[str] = []
        if self.lacking_before:
            needs.append(
                f"{FEWEST_BEFORE} messages before that, {self.lacking_before} more than there are"
            )
        if self.lacking_behind:
            needs.append(
                f"{FEWEST_AFTER} messages from there on, {self.lacking_behind} more than there are"
            )
        return (
            f"{closest} fills {size}, with {self.messages_before} of its"
            f" {some(self.messages, 'message')}; a figure takes {joined(needs)}"
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
    shortages: list[Shortage] = []
    ids: set[str] = set()
    for source in sources:
        for window in windows:
            for session in read(source, window, redaction=redaction).ready:
                if _has_boundary(session, session.window):
                    return None
                ids.add(session.session.id)
                shortages.append(_shortage_of(session))
    if not shortages:
        return None
    closest = min(shortages, key=lambda shortage: shortage.distance)
    fitting_windows = [shortage.fitting_window or 0 for shortage in shortages]
    return replace(
        closest,
        sessions=len(ids),
        fitting_window=max(fitting_windows) or None,
    )


def _shortage_of(session: Prepared) -> Shortage:
    """What one session lacks, which has no figure."""
    tokens = session.sizing.history_tokens(session.session.messages)
    window = session.sizing.window(session.window)
    places = filling(session.session, session.sizing, window)
    fitting_window = filled_twice(tokens[-1])
    if fitting_window is not None and not _has_boundary(session, fitting_window):
        fitting_window = None
    largest = max((tokens[request] for request in session.session.requests), default=0)
    message_count = len(session.session.messages)
    shortages: list[Shortage] = []
    for place in places or [None]:
        shortages.append(Shortage(1, largest, message_count, window, place, fitting_window))
    return min(shortages, key=lambda shortage: shortage.distance)


def is_long_enough(
    source: SessionSource, window: int | None, redaction: frozenset[str] | None
) -> bool:
    """Whether a session of this recording may have a figure; as of `shortage`."""
    sessions = read(source, window, redaction=redaction).ready
    return any(_has_boundary(session, session.window) for session in sessions)


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
