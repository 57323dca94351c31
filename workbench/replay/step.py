"""What a replay is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from workbench.compaction.engine import Compaction
from workbench.replay.sizing import Sizing
from workbench.transcript.context import Context
from workbench.transcript.session import Session

Mode: TypeAlias = Literal["natural", "matched"]


@dataclass(frozen=True, slots=True)
class Step:
    """One recorded request, as it would have been sent under the preset.

    Attributes:
        request: 0, 1, ... along the session.
        index: of the recorded answer among the session's messages.
        tokens_recorded: what the uncompacted history would take, overhead included.
        tokens_sent: what the preset would have sent, overhead included.
        prefix_reused: tokens of the longest prefix in common with the request before; 0 for the first.
        compaction: number of the compaction that happened just before; None if none did.
    """

    request: int
    index: int
    tokens_recorded: int
    tokens_sent: int
    prefix_reused: int
    compaction: int | None = None


@dataclass(frozen=True, slots=True)
class Firing:
    """A compaction with its place: it happened before the request whose answer is `messages[at]`."""

    number: int
    at: int
    compaction: Compaction
    share: float | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a request would have sent, at a boundary where it is to be scored."""

    at: int
    context: Context
    share: float | None = None


@dataclass(frozen=True, slots=True)
class Replay:
    """A session under a preset.

    Open loop: the recorded messages stay as they were, so it says what would have been sent, never what would have
    been answered.

    Attributes:
        window: tokens; the one really used, see `Sizing.window`.
        steps: one a recorded request; empty in matched mode.
        firings: the compactions, in order.
        snapshots: the contexts at the boundaries that were asked for.
        final: the history as the preset left it; its archive reads what stages took out.
    """

    session: Session
    preset: str
    mode: Mode
    window: int
    sizing: Sizing
    steps: tuple[Step, ...]
    firings: tuple[Firing, ...]
    snapshots: tuple[Snapshot, ...]
    final: Context

    @property
    def compactions(self) -> tuple[Compaction, ...]:
        """What each firing did."""
        return tuple(firing.compaction for firing in self.firings)
