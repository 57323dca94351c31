"""What became of each message at a compaction, and what was lost that somebody needed later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from workbench.metrics.future import Need
from workbench.metrics.mining import Index
from workbench.metrics.view import view
from workbench.replay.step import Firing
from workbench.transcript.message import Message, Summary
from workbench.transcript.session import Session

Fate: TypeAlias = Literal["pinned", "kept", "rewritten", "dropped", "later"]
FATE_WORDS: dict[Fate, str] = {
    "pinned": "pinned", "kept": "kept", "rewritten": "rewritten", "dropped": "dropped", "later": "still to come",
}  # fmt: skip


def fates(session: Session, firing: Firing | None) -> tuple[Fate, ...]:
    """For each message of the session what this compaction, and those before it, made of it.

    Without a compaction everything is kept.
    """
    if firing is None:
        return tuple("pinned" if message.pinned else "kept" for message in session.messages)
    same = {id(message) for message in firing.compaction.sent.messages}
    named = {message.id for message in firing.compaction.sent.messages}
    return tuple(
        "later" if at >= firing.at else _fate(message, same, named) for at, message in enumerate(session.messages)
    )


def _fate(message: Message, same: set[int], named: set[str]) -> Fate:
    if id(message) in same:
        return "pinned" if message.pinned else "kept"
    return "rewritten" if message.id in named else "dropped"


def written(firing: Firing) -> tuple[Summary, ...]:
    """The summaries that stand in the context after this compaction."""
    return tuple(message for message in firing.compaction.sent.messages if isinstance(message, Summary))


@dataclass(frozen=True, slots=True)
class Missed:
    """Something that was needed later and not held any more; `named` if its name alone was."""

    need: Need
    named: bool
    stage: str


@dataclass(frozen=True, slots=True)
class Missing:
    """What was needed after a compaction: how many things, and those of them that were lost, soonest needed first."""

    needed: int
    missed: tuple[Missed, ...]

    @property
    def held(self) -> float | None:
        """The share that was still held; None if nothing was needed."""
        return 1 - len(self.missed) / self.needed if self.needed else None


def missing(session: Session, index: Index, firing: Firing) -> Missing:
    """What this compaction's context lacked of what the recording needed afterwards."""
    demand = index.demand(firing.at)
    if not len(demand):
        return Missing(0, ())
    seen = view(session, firing.compaction.sent)
    found = demand.retained(seen.kept, seen.texts)
    present = {need: bool(there) for need, there in zip(demand.needs, found.presence, strict=True)}
    stages = _stages(firing)
    lost = tuple(
        Missed(need, present[need], stages.get(session.messages[need.evidence].id, "")) for need in found.lost("bound")
    )
    return Missing(len(demand), lost)


def _stages(firing: Firing) -> dict[str, str]:
    found: dict[str, str] = {}
    for stage in firing.compaction.stages:
        if stage.used:
            found.update(dict.fromkeys((*stage.dropped, *stage.rewritten), stage.name))
    return found
