"""What became of each message at a compaction, and what was lost that somebody needed later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from workbench.metrics.demand import Need
from workbench.metrics.index import Index
from workbench.metrics.view import view
from workbench.replay.step import CompactionEvent, Replay
from workbench.transcript.message import Message
from workbench.transcript.session import Session

MessageOutcome: TypeAlias = Literal["pinned", "kept", "rewritten", "dropped", "later"]


def outcomes(session: Session, event: CompactionEvent | None, at: int | None = None) -> tuple[MessageOutcome, ...]:
    """What became of each message of the session at this compaction and those before it.

    Without a compaction everything is kept.

    Args:
        session: n messages.
        event: the newest compaction.
        at: where one stands, event.at <= at <= n; what comes from there on is still to come. None: at the compaction.
    """
    messages = session.messages
    until = (len(messages) if event is None else event.at) if at is None else at
    done = 0 if event is None else event.at
    sent = () if event is None else event.compaction.sent.messages
    same, named = {id(message) for message in sent}, {message.id for message in sent}
    past = (_outcome(message, same, named) for message in messages[:done])
    since = (_outcome(message, {id(message)}, named) for message in messages[done:until])
    later: tuple[MessageOutcome, ...] = tuple("later" for _ in messages[until:])
    return (*past, *since, *later)


def _outcome(message: Message, same: set[int], named: set[str]) -> MessageOutcome:
    if id(message) in same:
        return "pinned" if message.pinned else "kept"
    return "rewritten" if message.id in named else "dropped"


@dataclass(frozen=True, slots=True)
class LostNeed:
    """Something that was needed later and is no longer in the context; `named` if its name alone still is."""

    need: Need
    named: bool
    stage: str


@dataclass(frozen=True, slots=True)
class Missing:
    """How many things were needed after a compaction, and those of them that were lost, soonest needed first."""

    needed: int
    lost: tuple[LostNeed, ...]

    @property
    def held(self) -> float | None:
        """The share that the context still holds; None if nothing was needed."""
        return 1 - len(self.lost) / self.needed if self.needed else None


def missing(session: Session, index: Index, replay: Replay, event: CompactionEvent | None, at: int) -> Missing:
    """What the recording needed after one place of the session and the context there lacks.

    Args:
        session: n messages.
        index: of the session.
        replay: of the session.
        event: the newest compaction before that place; None if there was none.
        at: the place, event.at <= at <= n.
    """
    demand = index.demand(at)
    if not len(demand):
        return Missing(0, ())
    kept, texts = held(session, event, at)
    found = demand.retained(kept, texts)
    present = {need: bool(there) for need, there in zip(demand.needs, found.presence, strict=True)}
    taken = takers(replay, event)
    ids = [message.id for message in session.messages]
    lost = tuple(
        LostNeed(need, present[need], one.stage if (one := taken.get(ids[need.evidence])) else "")
        for need in found.lost()
    )
    return Missing(len(demand), lost)


def held(session: Session, event: CompactionEvent | None, at: int) -> tuple[frozenset[int], tuple[str, ...]]:
    """The messages that the context holds as they were, and the texts of the others that stand in it."""
    if event is None:
        return frozenset(range(at)), ()
    seen = view(session, event.compaction.sent)
    return seen.kept | frozenset(range(event.at, at)), seen.texts


@dataclass(frozen=True, slots=True)
class Taker:
    """The stage that changed a message, and the number of its compaction."""

    stage: str
    number: int


def takers(replay: Replay, event: CompactionEvent | None) -> dict[str, Taker]:
    """By message id: the stage that touched it last, in this compaction or one before."""
    found: dict[str, Taker] = {}
    for one in replay.events[: 0 if event is None else event.number + 1]:
        for stage in one.compaction.stages:
            if stage.used:
                found.update(dict.fromkeys((*stage.dropped, *stage.rewritten), Taker(stage.name, one.number)))
    return found
