"""What an agent had to do that knew only what its context told, as rows of the tables."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import Any

from workbench.engine.compaction.strategy import Preset
from workbench.engine.models import shown_name
from workbench.engine.models.bundled import NOT_BUNDLED
from workbench.engine.models.settings import ModelSettings
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.experiment.prepared import replay as replay_of
from workbench.evaluation.metrics.costs.pricing import pricing
from workbench.evaluation.metrics.costs.replay_cost import ReplayCost, replay_cost
from workbench.lab.simulation.needs import Needs
from workbench.lab.simulation.simulation_spec import SimulationSpec
from workbench.lab.simulation.walk import ConsequenceWalk, LookUp, SimulationBill, bill

BLIND = ("user", "decision", "result")
SIMULATED = {
    "session": "string",
    "project": "string",
    "strategy": "string",
    "window": "Int64",
    "reader": "string",
    "compactions": "Int64",
    "unrecorded": "Int64",
    "steps": "Int64",
    "look_ups": "Int64",
    "recalls": "Int64",
    "look_up_tokens": "Int64",
    "look_up_usd": "Float64",
    "blind_user": "Int64",
    "blind_decision": "Int64",
    "blind_result": "Int64",
    "spirals": "Int64",
    "steps_until_work": "Float64",
    "usd_uncompacted": "Float64",
    "saved_usd": "Float64",
    "saved_usd_net": "Float64",
    "blind_steps": "Int64",
    "step_usd": "Float64",
    "saved_usd_blind": "Float64",
}
LOOK_UPS = {
    "session": "string",
    "strategy": "string",
    "message": "Int64",
    "compaction": "Int64",
    "entity": "string",
    "kind": "string",
    "by": "string",
    "tool": "string",
    "said_at": "Int64",
    "source": "Int64",
    "tokens": "Int64",
}
DOLLARS = (
    "look_up_usd",
    "usd_uncompacted",
    "saved_usd",
    "saved_usd_net",
    "step_usd",
)
Row = dict[str, Any]


def simulated_row(
    prepared: Prepared,
    strategy: Preset,
    needs: Needs,
    spec: SimulationSpec,
    how: ModelSettings | None = None,
) -> Row:
    """The row of the table `simulated`, with those of `look_ups` under `look_ups_rows`."""
    settings = how or ModelSettings()
    session = prepared.session
    prices = pricing(session, spec.price_model, spec.prices)
    writer = prepared.reader(settings.model(spec.model))
    walk = ConsequenceWalk(prepared, strategy, writer, needs, prepared.window)
    while not walk.is_finished:
        walk.go_on()
    plain_replay = replay_of(prepared, strategy, model=spec.model, model_settings=settings)
    plain = replay_cost(plain_replay, prices)
    look_up_rows: list[Row] = []
    for look_up in walk.look_ups:
        row = {"session": session.id, "strategy": strategy.name, **_row(look_up)}
        look_up_rows.append(row)
    return {
        "session": session.id,
        "project": session.project or session.id,
        "strategy": strategy.name,
        "window": prepared.window,
        "reader": shown_name(spec.reader),
        **_counts(walk),
        **_dollars(plain, bill(walk, prices), len(session.requests)),
        "look_ups_rows": look_up_rows,
    }


def _counts(walk: ConsequenceWalk) -> Row:
    """What the agent of a simulation had to do, in steps and tokens."""
    calls = Counter[str]()
    look_up_tokens = 0
    spiral_count = 0
    blind_actions: dict[str, set[int]] = {origin: set() for origin in BLIND}
    actions_in_vain: set[int] = set()
    for look_up in walk.look_ups:
        action = look_up.thing.at
        if look_up.tokens:
            calls[look_up.by] += 1
            look_up_tokens += look_up.tokens
        if look_up.by in BLIND:
            blind_actions[look_up.by].add(action)
            actions_in_vain.add(action)
        if look_up.by == "spiral":
            spiral_count += 1
            actions_in_vain.add(action)
    detours = [look_up_count for look_up_count in walk.detours if look_up_count is not None]
    counts: Row = {
        "compactions": len(walk.events),
        "unrecorded": _unrecorded(walk),
        "steps": len(walk.steps),
        "look_ups": calls["call"],
        "recalls": calls["recall"],
        "look_up_tokens": look_up_tokens,
        "spirals": spiral_count,
        "steps_until_work": None,
        "blind_steps": len(actions_in_vain),
    }
    if detours:
        counts["steps_until_work"] = median(detours)
    for origin, actions in blind_actions.items():
        counts[f"blind_{origin}"] = len(actions)
    return counts


def _unrecorded(walk: ConsequenceWalk) -> int:
    """How many summaries a rule wrote in the place of the model whose recorded ones are used."""
    count = 0
    for event in walk.events:
        for completion in event.compaction.completions:
            if NOT_BUNDLED in completion.method:
                count += 1
    return count


def _dollars(
    plain: ReplayCost | None,
    paid: SimulationBill | None,
    request_count: int,
) -> Row:
    """What the session cost and would have cost; None where no price is known.

    Args:
        plain: the bill without look-ups.
        paid: the bill with them.
        request_count: of the recorded session.
    """
    dollars: Row = dict.fromkeys(DOLLARS)
    if paid is not None:
        dollars["look_up_usd"] = paid.looking
    if plain is not None:
        dollars["usd_uncompacted"] = plain.usd_plain
        dollars["saved_usd"] = plain.usd_plain - plain.usd
        dollars["step_usd"] = plain.usd_plain / max(request_count, 1)
    if plain is not None and paid is not None:
        dollars["saved_usd_net"] = plain.usd_plain - paid.usd
    return dollars


def _row(look_up: LookUp) -> Row:
    thing = look_up.thing
    row: Row = {
        "message": thing.at,
        "compaction": look_up.compaction,
        "entity": thing.name,
        "kind": thing.kind,
        "by": look_up.by,
        "tool": look_up.tool,
        "said_at": thing.said_at,
        "source": None,
        "tokens": look_up.tokens or None,
    }
    if look_up.source >= 0:
        row["source"] = look_up.source
    return row
