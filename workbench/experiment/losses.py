"""What a context had lost when it was needed: atom, where it was said, which stage took it out, who needed it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from workbench.metrics.future import Need
from workbench.metrics.metric import Retained, Trial
from workbench.replay.step import Firing

Loss: TypeAlias = dict[str, str | int | float | None]

LONGEST = 400
"""Characters of a line that a loss quotes at most."""


def losses(trial: Trial, most: int) -> list[Loss]:
    """The worst losses of a trial, each atom once: at the boundary where it is lost worst, and there first.

    Irrecoverable before re-acquirable, absent before merely unbound; what is needed soonest first.

    Args:
        trial: a replay and its session's index.
        most: losses at most.
    """
    found: dict[tuple[str, str], Loss] = {}
    for one in trial.retained:
        stage_of = _stages(trial.replay.firings, one)
        for loss in _at(one, stage_of, trial):
            name = (str(loss["kind"]), str(loss["atom"]))
            if name not in found or _rank(loss) < _rank(found[name]):
                found[name] = loss
    return sorted(found.values(), key=_rank)[:most]


def _rank(loss: Loss) -> tuple[float, int, int, str]:
    weight, at, needed = loss["weight"], loss["at"], loss["needed_at"]
    assert isinstance(weight, float) and isinstance(at, int) and isinstance(needed, int)
    return (-weight, needed - at, at, str(loss["atom"]))


def _stages(firings: Iterable[Firing], one: Retained) -> dict[str, str]:
    """By message id: the stage that dropped or rewrote it last, up to this boundary."""
    found: dict[str, str] = {}
    for firing in firings:
        if firing.at > one.snapshot.at or firing.share != one.snapshot.share:
            continue
        if one.snapshot.share is not None and firing.at != one.snapshot.at:
            continue
        for stage in firing.compaction.stages:
            if stage.used:
                found.update(dict.fromkeys((*stage.dropped, *stage.rewritten), stage.name))
    return found


def _at(one: Retained, stage_of: dict[str, str], trial: Trial) -> Iterator[Loss]:
    messages = trial.replay.session.messages
    present = {need: bool(there) for need, there in zip(one.demand.needs, one.retention.presence, strict=True)}
    for need in one.retention.lost("bound"):
        level = "unbound" if present[need] else "absent"
        yield {
            "at": one.snapshot.at,
            "kind": need.atom.kind,
            "atom": need.atom.text[:LONGEST],
            "recoverable": "reacquirable" if need.reacquirable else "irrecoverable",
            "level": level,
            "said_by": messages[need.evidence].role,
            "said_at": need.said,
            "evidence": need.evidence_text[:LONGEST],
            "evidence_at": need.evidence,
            "needed_at": need.use,
            "use": need.use_text[:LONGEST],
            "stage": stage_of.get(messages[need.evidence].id, "view"),
            "weight": _weight(need, level),
        }


def _weight(need: Need, level: str) -> float:
    """How bad a loss is, in (0, 1]: whether it can be had again counts more than whether its name still stands."""
    return (1.0 if need.irrecoverable else 0.5) - (0.25 if level == "unbound" else 0.0)
