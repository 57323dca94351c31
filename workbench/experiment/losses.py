"""What a context had lost when it was needed: the entity, its message, the stage that removed it, its later use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from workbench.metrics.blame import VIEW, culprits
from workbench.metrics.metric import MetricInput, Retained

Loss: TypeAlias = dict[str, Any]

LONGEST = 400
"""Characters of a line that a loss quotes at most."""


def losses(data: MetricInput, most: int) -> list[Loss]:
    """The worst losses of a replay, `most` at most, each entity once: at the boundary where it is lost worst.

    Irrecoverable before re-acquirable, absent before merely unbound; what is needed soonest first.
    """
    found: dict[tuple[object, object], Loss] = {}
    chained = data.replay.mode == "natural"
    for one in data.retained:
        at = one.snapshot.at
        past = [version for version in data.versions if version.at == at or (chained and version.at < at)]
        blamed = culprits(one.retention, past, otherwise=VIEW if data.replay.mode != "recorded" else "recorded")
        for loss in _at(one, blamed, data):
            name = (loss["kind"], loss["entity"])
            if name not in found or _rank(loss) < _rank(found[name]):
                found[name] = loss
    return sorted(found.values(), key=_rank)[:most]


def _rank(loss: Loss) -> tuple[Any, ...]:
    return -loss["weight"], loss["needed_at"] - loss["at"], loss["at"], loss["entity"]


def _at(one: Retained, blamed: Sequence[str], data: MetricInput) -> Iterator[Loss]:
    messages = data.replay.session.messages
    for need, there, stage in zip(one.demand.needs, one.retention.presence.tolist(), blamed, strict=True):
        if not stage:
            continue
        yield {
            "at": one.snapshot.at,
            "kind": need.entity.kind,
            "entity": need.entity.text[:LONGEST],
            "recoverable": "reacquirable" if need.reacquirable else "irrecoverable",
            "level": "unbound" if there else "absent",
            "said_by": messages[need.evidence].role,
            "said_at": need.said,
            "evidence": need.evidence_text[:LONGEST],
            "evidence_at": need.evidence,
            "needed_at": need.use,
            "use": need.use_text[:LONGEST],
            "stage": stage,
            # in (0, 1]: whether it can be had again counts more than whether its name is still there
            "weight": (0.5 if need.reacquirable else 1.0) - (0.25 if there else 0.0),
        }
