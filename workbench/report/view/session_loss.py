"""What an address of a session's page says was lost, as both strategies have it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.evaluation.experiment.run_notes import loss_key
from workbench.evaluation.metrics.demand import Demand
from workbench.evaluation.metrics.need import Need
from workbench.report.explorer.outcomes import held, takers
from workbench.report.explorer.view import SessionView
from workbench.report.view.not_shown import NotShown


def loss_told(
    views: Sequence[SessionView],
    session: str,
    key: str,
) -> dict[str, Any] | None:
    """What an address says was lost: who stated it, who needs it, and what became of it under
    both strategies.
    """
    if not key:
        return None
    view = views[0]
    demand = view.ready.index.demand(view.at)
    keys = [_key(session, need) for need in demand.needs]
    if key not in keys:
        raise NotShown(
            f"Nothing of the name {key!r} is needed after message {view.at} of this session."
        )
    place = keys.index(key)
    need = demand.needs[place]
    return {
        "key": key,
        "need": {
            "said": need.evidence,
            "by": need.said_by,
            "evidence": need.evidence_text,
            "entity": need.entity.text,
            "kind": need.entity.kind,
            "use": need.use,
            "use_text": need.use_text,
        },
        "sides": [_side(side_view, demand, place) for side_view in views],
    }


def _side(view: SessionView, demand: Demand, place: int) -> dict[str, Any]:
    """What a context still has of a need, by its place in the demand, and who took its evidence."""
    session = view.ready.session
    unchanged, texts = held(session, view.event, view.at)
    retained = demand.retained(unchanged, texts)
    state = "gone"
    if retained.bound[place]:
        state = "kept"
    elif retained.presence[place]:
        state = "named"
    need = demand.needs[place]
    evidence = session.messages[need.evidence]
    stages = takers(view.replay, view.event)
    return {
        "there": state,
        "taker": stages.get(evidence.id),
    }


def _key(session: str, need: Need) -> str:
    entity = need.entity
    return loss_key(
        session,
        entity.kind,
        entity.text[:400],
        need.use,
    )
