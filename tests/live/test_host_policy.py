"""What presets bring around a compaction, for a preset of one's own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from live.talk import asked, openai

from builders import summarize
from workbench import (
    AtShare,
    Budget,
    Compactor,
    Context,
    ModelError,
    Plan,
    Preset,
    Replace,
    Scripted,
    Situation,
    Strategy,
    SummaryRequest,
    preset,
)
from workbench.engine.compaction.plan import Draft, Stage
from workbench.engine.transcript.message import chars_per_token


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


STUCK = preset("operator_use").host.endings["failed"]._replace(code="stuck")


class Waiting:
    """Does nothing, or removes the older half of a context once it acts."""

    name = "waiting"
    acts = False

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        if not self.acts:
            return None
        half = len(context.messages) // 2
        cut = next(i for i in range(half, 0, -1) if context.cut_points[i])
        return Plan((Replace(1, cut, ()),))


class Failing:
    """Asks a model, and takes no for an answer."""

    name = "failing"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        return replace(summarize(), stand_ins=replace(summarize().stand_ins, fallback=None)).plan(
            context, budget
        )


def stuck_after_two(stage: Stage, model: Scripted | None = None) -> Compactor:
    """A compactor whose run is stuck after two attempts in vain."""
    usual = Preset("own", Strategy("own", (stage,)), AtShare())
    host = replace(usual.host, stuck_after=2, endings={"stuck": STUCK})
    return Compactor(replace(usual, host=host), model=model or Scripted(()), window=3_000)


def endings(compactor: Compactor, *turns: int) -> list[str]:
    """How the run ended after each of these requests; empty where it goes on."""
    codes = []
    for turn in turns:
        compactor.before_request(openai(turn))
        codes.append(compactor.ending.code if compactor.ending is not None else "")
    return codes


def test_a_run_is_stuck_after_attempts_in_a_row_that_did_nothing_or_failed() -> None:
    assert endings(stuck_after_two(Waiting()), 30, 33, 36) == ["", "stuck", "stuck"]
    down = Scripted([ModelError("down")] * 9)
    assert endings(stuck_after_two(Failing(), down), 30, 33, 36) == ["", "stuck", "stuck"]


def test_an_attempt_without_room_is_not_in_vain() -> None:
    assert endings(stuck_after_two(Cramped()), 30, 33, 36, 39) == [""] * 4


def test_what_had_an_effect_ends_a_row_of_attempts_in_vain() -> None:
    stage = Waiting()
    compactor = stuck_after_two(stage)
    assert endings(compactor, 30) == [""]
    stage.acts = True
    assert endings(compactor, 33) == [""]
    stage.acts = False
    assert endings(compactor, 36, 39) == ["", "stuck"]


class Asked:
    """A trigger that is always due, and remembers the tokens that it was asked about."""

    def __init__(self) -> None:
        self.tokens: list[int] = []

    def check(self, situation: Situation, /) -> Budget | None:
        self.tokens.append(situation.tokens)
        return situation.budget(10)


def test_the_trigger_is_asked_again_once_the_context_has_grown_by_a_fiftieth_of_the_window() -> (
    None
):
    trigger = Asked()
    quiet = Preset("own", Strategy("own", (Waiting(),)), trigger, count=chars_per_token)
    compactor = Compactor(quiet, model=Scripted(()), window=100_000)
    trigger.tokens.clear()
    for chars in (40_000, 47_996, 48_000, 48_004):  # from 10,004 tokens to 12,003, 12,004, 12,005
        compactor.before_request([asked("x" * chars)])
    assert sorted(set(trigger.tokens)) == [10_004, 12_005]
