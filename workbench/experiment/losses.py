"""What a context had lost when it was needed: entity, where it was said, which stage took it out, who needed it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from workbench.metrics.blame import VIEW, culprits
from workbench.metrics.demand import Need
from workbench.metrics.metric import MetricInput, Retained

Loss: TypeAlias = dict[str, str | int | float | None]

LONGEST = 400
"""Characters of a line that a loss quotes at most."""


def losses(data: MetricInput, most: int) -> list[Loss]:
    """The worst losses of a replay, each entity once: at the boundary where it is lost worst, and there first.

    Irrecoverable before re-acquirable, absent before merely unbound; what is needed soonest first.

    Args:
        data: a replay and its session's index.
        most: losses at most.
    """
    found: dict[tuple[str, str], Loss] = {}
    chained = data.replay.mode == "natural"
    for one in data.retained:
        at = one.snapshot.at
        past = [version for version in data.versions if version.at == at or (chained and version.at < at)]
        blamed = culprits(one.retention, past, otherwise=VIEW if data.replay.mode != "recorded" else "recorded")
        for loss in _at(one, blamed, data):
            name = (str(loss["kind"]), str(loss["entity"]))
            if name not in found or _rank(loss) < _rank(found[name]):
                found[name] = loss
    return sorted(found.values(), key=_rank)[:most]


def _rank(loss: Loss) -> tuple[float, int, int, str]:
    weight, at, needed = loss["weight"], loss["at"], loss["needed_at"]
    assert isinstance(weight, float) and isinstance(at, int) and isinstance(needed, int)
    return (-weight, needed - at, at, str(loss["entity"]))


def _at(one: Retained, blamed: Sequence[str], data: MetricInput) -> Iterator[Loss]:
    messages = data.replay.session.messages
    for need, there, stage in zip(one.demand.needs, one.retention.presence.tolist(), blamed, strict=True):
        if not stage:
            continue
        level = "unbound" if there else "absent"
        yield {
            "at": one.snapshot.at,
            "kind": need.entity.kind,
            "entity": need.entity.text[:LONGEST],
            "recoverable": "reacquirable" if need.reacquirable else "irrecoverable",
            "level": level,
            "said_by": messages[need.evidence].role,
            "said_at": need.said,
            "evidence": need.evidence_text[:LONGEST],
            "evidence_at": need.evidence,
            "needed_at": need.use,
            "use": need.use_text[:LONGEST],
            "stage": stage,
            "weight": _weight(need, level),
        }


def _weight(need: Need, level: str) -> float:
    """How bad a loss is, in (0, 1]: whether it can be had again counts more than whether its name still stands."""
    return (1.0 if need.irrecoverable else 0.5) - (0.25 if level == "unbound" else 0.0)
