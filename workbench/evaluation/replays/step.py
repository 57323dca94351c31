"""What a replay is made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from workbench.base.markup import card
from workbench.engine.compaction.engine import Compaction
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.session import Session
from workbench.evaluation.replays.broken_results import BrokenResult, broken_in_words
from workbench.evaluation.replays.sizing import Sizing

Mode: TypeAlias = Literal["natural", "matched", "recorded"]
"""`natural`: the preset's own trigger. `matched`: the same boundaries and sizes for all.
`recorded`: where the recorded agent compacted, to the size of what it went on with.
"""


MOST = 20
"""Compactions that a replay shows of itself."""


@dataclass(frozen=True, slots=True)
class Step:
    """One recorded request, as it would have been sent under the preset.

    Attributes:
        request: 0, 1, ... along the session.
        index: of the recorded answer among the session's messages.
        tokens_recorded: what the uncompacted history would take, overhead included.
        tokens_sent: what the preset would have sent, overhead included.
        prefix_reused: tokens of the longest prefix in common with the request before; 0 for the
            first.
        compaction: number of the compaction that happened just before; None if none did.
    """

    request: int
    index: int
    tokens_recorded: int
    tokens_sent: int
    prefix_reused: int
    compaction: int | None = None


class RepeatedPrompt(NamedTuple):
    """A request of the agent that was sent again with a question behind it, in tokens.

    Attributes:
        tokens: of all of it.
        prefix: of its longest prefix in common with the newest request of the agent.
    """

    tokens: int
    prefix: int


@dataclass(frozen=True, slots=True)
class CompactionEvent:
    """A compaction with its place: it happened before the request whose answer is `messages[at]`.

    Attributes:
        share: the size it was to reach, as a share of the history; None where the preset or the
            recording set it.
        earlier: the compactions before it in its chain; none where it had the whole history.
        repeated: by the number of a stage, the prompt of a summary that was asked for as the
            agent's own request.
    """

    number: int
    at: int
    compaction: Compaction
    share: float | None = None
    earlier: tuple[Compaction, ...] = ()
    repeated: Mapping[int, RepeatedPrompt] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a request would have sent, at a boundary where it is to be scored.

    Attributes:
        exam_only: whether only the exam of the work is asked there, since that is where its
            questions were written.
    """

    at: int
    context: Context
    share: float | None = None
    exam_only: bool = False


class RunEnded(NamedTuple):
    """Before which message the restated system would have ended its run, with its own code and
    category.
    """

    at: int
    code: str
    category: str


@dataclass(frozen=True, slots=True)
class Replay:
    """A session under a preset.

    Open loop: the recorded messages stay as they were, so it says what would have been sent, never
    what would have been answered.

    Attributes:
        window: tokens; the one really used, see `Sizing.window`.
        steps: one a recorded request; empty but in natural mode.
        events: the compactions with their places, in order.
        snapshots: the contexts at the boundaries that were asked for.
        ended: where the restated system would have ended its run; the replay goes on. None where it
            would not.
        broken: what stages made and was not used, since it broke a rule of the engine, in order.
    """

    session: Session
    preset: str
    mode: Mode
    window: int
    sizing: Sizing
    steps: tuple[Step, ...]
    events: tuple[CompactionEvent, ...]
    snapshots: tuple[Snapshot, ...]
    ended: RunEnded | None = None
    broken: tuple[BrokenResult, ...] = ()

    @property
    def compactions(self) -> tuple[Compaction, ...]:
        """What each compaction did."""
        return tuple(event.compaction for event in self.events)

    @property
    def saved(self) -> float | None:
        """Tokens saved, as a share of what an uncompacted agent sends; None without requests."""
        recorded = sum(step.tokens_recorded for step in self.steps)
        if not recorded:
            return None
        return 1 - sum(step.tokens_sent for step in self.steps) / recorded

    def __repr__(self) -> str:
        broken = ""
        if self.broken:
            broken = f"; {self.broken_in_words}"
        return (
            f"<Replay of {self.session.id!r} under {self.preset}: requests {len(self.steps):,}, "
            f"compactions {len(self.events):,}, window {self.window:,}{broken}>"
        )

    @property
    def broken_in_words(self) -> str:
        """Which rules of the engine were broken, by which stage, how often and where first; empty
        where none was.
        """
        return broken_in_words(self.broken)

    @property
    def is_all_undone(self) -> bool:
        """Whether compactions were due and none is used, since stages broke rules: then what is
        sent says nothing of the strategy.
        """
        return self.mode == "natural" and bool(self.broken) and not self.events

    def _repr_html_(self) -> str:
        facts = {
            "requests": len(self.steps),
            "compactions": len(self.events),
            "window": self.window,
            "largest request": max((step.tokens_sent for step in self.steps), default=None),
            "tokens saved": None if self.saved is None else f"{100 * self.saved:.0f} %",
            "run ends": self._ending(),
        }
        heads = ("", "before message", "tokens before", "after", "stages", "outcome")
        rows = [_compaction_row(event) for event in self.events[:MOST]]
        title = f"{self.session.title or self.session.id}, under {self.preset}"
        return card(title, facts, heads, rows, self._note())

    def _ending(self) -> str | None:
        """Where the run would have ended, in words; None where it would not."""
        if self.ended is None:
            return None
        return f"{self.ended.code} before message {self.ended.at}"

    def _note(self) -> str:
        """What a table of the first compactions does not say."""
        notes: list[str] = []
        if not self.events:
            notes.append("it was never compacted")
        if len(self.events) > MOST:
            notes.append(f"and {len(self.events) - MOST:,} more compactions")
        if self.broken:
            notes.append(self.broken_in_words)
        return "; ".join(notes)


def _compaction_row(event: CompactionEvent) -> tuple[object, ...]:
    """The row of a compaction in a replay's table."""
    compaction = event.compaction
    outcome = compaction.outcome.replace("_", " ")
    if compaction.why:
        outcome += f": {compaction.why}"
    return (
        event.number,
        event.at,
        compaction.before.tokens,
        compaction.sent.tokens,
        " > ".join(record.name for record in compaction.stages),
        outcome,
    )
