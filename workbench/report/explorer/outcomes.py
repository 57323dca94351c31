"""What became of each message at a place of a session, and what was lost there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from workbench.engine.transcript.message import Message
from workbench.engine.transcript.session import Session
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.metrics.need import Need
from workbench.evaluation.metrics.view import view
from workbench.evaluation.replays.step import CompactionEvent, Replay

MessageOutcome: TypeAlias = Literal["pinned", "kept", "rewritten", "dropped", "later"]


def outcomes(
    session: Session,
    event: CompactionEvent | None,
    boundary: int | None = None,
) -> tuple[MessageOutcome, ...]:
    """What became of each message of the session at this compaction and those before it; without
    one all are kept.

    What comes from the place `boundary` on (by default from the compaction on) is still to come.
    """
    messages = session.messages
    sent: tuple[Message, ...] = ()
    compacted_count = 0
    until = len(messages)
    if event is not None:
        sent = event.compaction.sent.messages
        compacted_count = event.at
        until = event.at
    if boundary is not None:
        until = boundary
    after_compaction = messages[compacted_count:until]
    unchanged = {id(message) for message in (*sent, *after_compaction)}
    ids_in_context = {message.id for message in sent}

    def outcome(place: int, message: Message) -> MessageOutcome:
        if place >= until:
            return "later"
        if id(message) in unchanged:
            return "pinned" if message.pinned else "kept"
        if message.id in ids_in_context:
            return "rewritten"
        return "dropped"

    return tuple(outcome(place, message) for place, message in enumerate(messages))


def sent_message(event: CompactionEvent, id: str) -> Message | None:
    """The message of that id as it is sent after a compaction; None where it is not."""
    for message in event.compaction.sent.messages:
        if message.id == id:
            return message
    return None


class LostNeed(NamedTuple):
    """Something that is needed later and no longer in the context; `named` if its name alone
    still is.
    """

    need: Need
    named: bool
    stage: str


@dataclass(frozen=True, slots=True)
class Missing:
    """How many things are needed after a compaction, and those of them that were lost, soonest
    needed first.
    """

    needed: int
    lost: tuple[LostNeed, ...]

    @property
    def held(self) -> float | None:
        """The share that the context still holds; None if nothing is needed."""
        if not self.needed:
            return None
        return 1 - len(self.lost) / self.needed


def missing(
    session: Session,
    index: Index,
    replay: Replay,
    event: CompactionEvent | None,
    boundary: int,
) -> Missing:
    """What the recording needs after the place `boundary` of the session and the context there,
    after `event`, lacks.
    """
    demand = index.demand(boundary)
    if not len(demand):
        return Missing(0, ())
    unchanged, texts = held(session, event, boundary)
    retained = demand.retained(unchanged, texts)
    is_named = dict(zip(demand.needs, retained.presence, strict=True))
    taker_by_id = takers(replay, event)
    lost = []
    for need in retained.lost():
        evidence = session.messages[need.evidence]
        taker = taker_by_id.get(evidence.id)
        stage = "" if taker is None else taker.stage
        lost_need = LostNeed(need, bool(is_named[need]), stage)
        lost.append(lost_need)
    return Missing(len(demand), tuple(lost))


def held(
    session: Session,
    event: CompactionEvent | None,
    boundary: int,
) -> tuple[frozenset[int], tuple[str, ...]]:
    """The messages that the context holds unchanged, and the texts of the others in it."""
    if event is None:
        return frozenset(range(boundary)), ()
    context_view = view(session, event.compaction.sent)
    after_compaction = range(event.at, boundary)
    unchanged = context_view.kept.union(after_compaction)
    return unchanged, context_view.texts


class Taker(NamedTuple):
    """The stage that changed a message, and the number of its compaction."""

    stage: str
    number: int


def takers(replay: Replay, event: CompactionEvent | None) -> dict[str, Taker]:
    """By message id: the stage that touched it last, in this compaction or one before."""
    touched: dict[str, Taker] = {}
    if event is None:
        return touched
    for past_event in replay.events[: event.number + 1]:
        for stage in past_event.compaction.stages:
            if not stage.used:
                continue
            for id in (*stage.dropped, *stage.rewritten):
                touched[id] = Taker(stage.name, past_event.number)
    return touched
