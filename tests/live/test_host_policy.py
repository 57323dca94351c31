"""What presets bring around a compaction, for a preset of one's own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from live.talk import openai

from workbench import (
    AtShare,
    Budget,
    Compactor,
    Context,
    Plan,
    Preset,
    Replace,
    Scripted,
    Strategy,
    SummaryRequest,
    preset,
)
from workbench.engine.compaction.plan import Draft


class Forgetful:
    """Puts a summary in the place of everything, pinned messages too, so that the guard takes it
    back.
    """

    name = "forgetful"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        summary_request = SummaryRequest(
            purpose="summary", system="", write=lambda request: "all of it"
        )
        return Plan((Replace(0, len(context.messages), (Draft(requests=(summary_request,)),)),))


class Cramped:
    name = "cramped"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        return Plan((), refusal="no room at all")


def live(stage: Forgetful | Cramped, **host: Any) -> Compactor:
    usual = Preset("own", Strategy("own", (stage,)), AtShare())
    preset = replace(usual, host=replace(usual.host, **host))
    compactor = Compactor(preset, model=Scripted(["S"] * 9), window=3_000)
    compactor.before_request(openai(30))
    return compactor


def test_a_silent_preset_still_tells_of_an_answer_that_was_paid_for_and_not_used() -> None:
    events = live(Forgetful(), silent=True).events
    assert [event.outcome for event in events if event.type == "compaction_ended"] == ["unchanged"]


def test_a_refusal_is_the_reason_and_may_end_the_run() -> None:
    cramped = preset("operator_use").host.endings["failed"]._replace(code="cramped")
    compactor = live(Cramped(), endings={"no_room": cramped})
    ended = next(event for event in compactor.events if event.type == "compaction_ended")
    assert (ended.outcome, ended.why) == ("unchanged", "no room at all")
    assert compactor.ending is not None and compactor.ending.why == "no room at all"
