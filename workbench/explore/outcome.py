"""What became of each message at a compaction, and what was lost that is needed later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from workbench.metrics.demand import Need
from workbench.metrics.index import Index
from workbench.metrics.view import view
from workbench.replay.step import CompactionEvent, Replay
from workbench.transcript.message import Message
from workbench.transcript.session import Session

MessageOutcome: TypeAlias = Literal["pinned", "kept", "rewritten", "dropped", "later"]


def outcomes(session: Session, event: CompactionEvent | None, at: int | None = None) -> tuple[MessageOutcome, ...]:
    """What became of each message of the session at this compaction and those before it; without one all are kept.

    What comes from the place `at` on (by default from the compaction on) is still to come.
    """
    messages = session.messages
    done, sent = (0, ()) if event is None else (event.at, event.compaction.sent.messages)
    until = (len(messages) if event is None else done) if at is None else at
    same = {id(message) for message in (*sent, *messages[done:until])}
    named = {message.id for message in sent}

    def outcome(place: int, message: Message) -> MessageOutcome:
        if place >= until:
            return "later"
        if id(message) in same:
            return "pinned" if message.pinned else "kept"
        return "rewritten" if message.id in named else "dropped"

    return tuple(outcome(place, message) for place, message in enumerate(messages))


class LostNeed(NamedTuple):
    """Something that is needed later and no longer in the context; `named` if its name alone still is."""

    need: Need
    named: bool
    stage: str


@dataclass(frozen=True, slots=True)
class Missing:
    """How many things are needed after a compaction, and those of them that were lost, soonest needed first."""

    needed: int
    lost: tuple[LostNeed, ...]

    @property
    def held(self) -> float | None:
        """The share that the context still holds; None if nothing is needed."""
        return 1 - len(self.lost) / self.needed if self.needed else None


def missing(session: Session, index: Index, replay: Replay, event: CompactionEvent | None, at: int) -> Missing:
    """What the recording needs after the place `at` of the session and the context there, after `event`, lacks."""
    demand = index.demand(at)
    if not len(demand):
        return Missing(0, ())
    found = demand.retained(*held(session, event, at))
    present = {need: bool(there) for need, there in zip(demand.needs, found.presence, strict=True)}
    taken, ids = takers(replay, event), [message.id for message in session.messages]
    stages = {need: taken[ids[need.evidence]].stage for need in demand.needs if ids[need.evidence] in taken}
    lost = (LostNeed(need, present[need], stages.get(need, "")) for need in found.lost())
    return Missing(len(demand), tuple(lost))


def held(session: Session, event: CompactionEvent | None, at: int) -> tuple[frozenset[int], tuple[str, ...]]:
    """The messages that the context holds unchanged, and the texts of the others in it."""
    if event is None:
        return frozenset(range(at)), ()
    seen = view(session, event.compaction.sent)
    return seen.kept | frozenset(range(event.at, at)), seen.texts


class Taker(NamedTuple):
    """The stage that changed a message, and the number of its compaction."""

    stage: str
    number: int


def takers(replay: Replay, event: CompactionEvent | None) -> dict[str, Taker]:
    """By message id: the stage that touched it last, in this compaction or one before."""
    return {
        id: Taker(stage.name, one.number)
        for one in replay.events[: 0 if event is None else event.number + 1]
        for stage in one.compaction.stages
        if stage.used
        for id in (*stage.dropped, *stage.rewritten)
    }
