"""Each check of `dynamics`, and those for credentials and huge messages, finds its defect, planted
here once.

The defects are those of the engines that the list of invariants names: a middle that is popped, a
report that is trusted though it is stale, a breaker that never breaks, an order of work that loses
what was queued, and so on.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest
from properties import dynamics
from properties.extremes import SECRET, huge
from properties.invariants import EVERY, c11
from properties.steps import SUBJECTS, Step, step, steps
from properties.test_dynamics import BY_HAND, grown
from properties.test_planted_invariants import forged

from builders import conversation
from workbench import (
    Budget,
    Cancel,
    Compaction,
    Compactor,
    Context,
    Hooks,
    Plan,
    Replace,
    Settings,
    Situation,
    Strategy,
    Summary,
    SummaryRequest,
    Text,
    UserMessage,
    find_model,
    preset,
)
from workbench.engine.transcript.message import Json
from workbench.live.gauge import Gauge
from workbench.live.memory import Memory

NAME = "summarize"


def test_c11_a_credential_in_a_summary_or_in_a_question_is_found() -> None:
    said = forged(lambda messages: [*messages, Summary(id="new", text=f"deploy with {SECRET}")])
    assert c11(said)
    fine = forged(list)
    summary_request = SummaryRequest(
        purpose="summary", system="", write=lambda _: f"the token is {SECRET}", messages=()
    )
    assert c11(replace(fine, requests=(summary_request,)))
    assert not c11(fine)


@dataclass(frozen=True)
class Restless:
    """Marks the first message that nobody protects, again and again."""

    name: ClassVar[str] = "restless"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        for i, message in enumerate(context.messages):
            if isinstance(message, UserMessage) and not message.pinned and len(message.blocks) == 1:
                block = message.blocks[0]
                if isinstance(block, Text) and len(block.text) > 40:
                    return Plan(
                        (
                            Replace(
                                i, i + 1, (replace(message, blocks=(Text(block.text[:-8] + "~"),)),)
                            ),
                        )
                    )
        return None


@dataclass(frozen=True)
class Popped:
    """Drops from the middle, as many as the target says, wherever that is."""

    name: ClassVar[str] = "popped"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        loose = [
            i
            for i, message in enumerate(context.messages[:-1])
            if message.role == "user" and not message.pinned
        ]
        if len(loose) < 3:
            return None
        i = loose[budget.target % len(loose)]
        return Plan((Replace(i, i + 1),))


def test_d3_a_stage_that_never_rests_is_found() -> None:
    strategy = Strategy("restless", (Restless(),))
    made = [
        replace(one, done=step("none", one.case, one.before, one.budget, strategy).done)
        for one in steps("none")
    ]
    assert dynamics.d3(strategy, made, only_rewrites=True)


def test_d3_a_strategy_that_compacts_within_its_target_is_found() -> None:
    eager = Strategy("eager", (Restless(),))
    assert dynamics.d3(
        eager, [replace(one, budget=replace(one.budget, target=0)) for one in _reached()]
    )


def _reached() -> list[Step]:
    return [
        one for one in steps("truncate") if one.done.outcome == "compacted" and not one.budget.force
    ]


def test_d4_a_middle_that_is_popped_is_found() -> None:
    assert dynamics.d4(Strategy("popped", (Popped(),)))


@dataclass(frozen=True)
class Stale:
    """Trusts a report alone, and forgets it once much was said since."""

    name: ClassVar[str] = "stale"

    def check(self, situation: Situation, /) -> Budget | None:
        known = situation.reported.prompt if situation.reported is not None else situation.tokens
        due = known > situation.window and situation.since < situation.window
        return Budget(target=situation.window // 2, window=situation.window) if due else None


def test_d5_a_trigger_that_forgets_is_found() -> None:
    assert dynamics.d5(Stale(), random.Random(1))


def test_d6_compactions_without_hysteresis_are_found() -> None:
    live, messages = grown(
        NAME, 2_000, settings=Settings(hysteresis=0.0, trigger=preset("null").trigger)
    )
    assert dynamics.d6(live, messages)


def test_d7_a_breaker_that_never_breaks_is_found() -> None:
    settings = Settings(trigger=preset("null").trigger, hysteresis=0.0, breaker=10**9)
    live = Compactor(
        NAME,
        model=find_model("extractive"),
        window=2_000,
        settings=settings,
        pins=lambda message: True,
    )
    assert "it never stops" in dynamics.d7(live)


class Refuses(Compactor):
    """Does nothing by hand once it has stopped."""

    def compact(
        self,
        instructions: str = "",
        keep_recent: int | None = None,
        messages: Sequence[Json] | None = None,
    ) -> Compaction | None:
        return None if self.stopped else super().compact(instructions, keep_recent, messages)


def test_d7_a_breaker_that_refuses_by_hand_too_is_found() -> None:
    settings = Settings(trigger=preset("null").trigger, hysteresis=0.0)
    live = Refuses(
        NAME,
        model=find_model("extractive"),
        window=2_000,
        settings=settings,
        pins=lambda message: True,
    )
    assert dynamics.d7(live) == ["by hand none starts"]


@pytest.mark.parametrize("where", ["user", "pinned"])
def test_d9_a_huge_message_that_is_cut_without_a_mark_or_dropped_is_found(where: str) -> None:
    before = Context.of(huge(100_000)[where])
    first = before.messages[0]
    assert isinstance(first, UserMessage)
    for now in (
        (replace(first, blocks=(Text("0123456789"),)), *before.messages[1:]),
        before.messages[1:],
    ):
        one = step("none", where, before, Budget(target=2_000, window=8_000, reason="matched"))
        after = Context.of(now)
        faulty = replace(one, done=Compaction(before, after, after, one.budget, (), "compacted"))
        assert EVERY["C3"](faulty) if where == "user" else EVERY["C2"](faulty)


class Trusting(Gauge):
    """Takes every report for one about the present request."""

    def stale(self, model: str) -> str:
        return ""


def test_d10_a_report_that_is_trusted_though_it_is_stale_is_found() -> None:
    live = Compactor(NAME, model=find_model("extractive"), window=100_000)
    live._gauge.__class__ = Trusting
    found = dynamics.d10(live)
    assert "a stale report counts" in found or "another model's report counts" in found


class Overwrites(Memory):
    """Puts a compaction in place also where the history was taken back since it started."""

    def take(self, done: Compaction, heard: int, version: int) -> str:
        return super().take(done, heard, self.version)


def test_d11_a_compaction_that_overwrites_what_was_said_meanwhile_is_found() -> None:
    def make(hooks: Hooks) -> Compactor:
        live = Compactor(
            "truncate", model=find_model("extractive"), window=2_000, settings=BY_HAND, hooks=hooks
        )
        live._memory.__class__ = Overwrites
        return live

    assert "the result of another history was put in place" in dynamics.d11(make)


def test_d12_a_host_whose_no_is_not_heard_is_found() -> None:
    live = Compactor("truncate", model=find_model("extractive"), window=2_000, settings=BY_HAND)
    assert dynamics.d12(live) == ["it was not broken off", "the old history is not whole"]
    refused = Compactor(
        "truncate", window=2_000, settings=BY_HAND, hooks=Hooks(before=lambda due: Cancel())
    )
    assert dynamics.d12(refused) == []


class Recounts(Compactor):
    """Counts the whole list again at each request."""

    def before_request(
        self, messages: Sequence[Json], *, system: Json = None, tools: Json = None, model: str = ""
    ) -> list[Json]:
        for message in self._memory.state.kept.messages:
            self._memory.reader.count(message)
        return super().before_request(messages, system=system, tools=tools, model=model)


def test_d13_a_check_that_counts_everything_again_is_found() -> None:
    assert dynamics.d13_check(
        lambda count: Recounts(NAME, model=find_model("extractive"), window=1_000_000, count=count)
    )


@dataclass(frozen=True)
class Quadratic:
    """Counts all the rest for each message."""

    name: ClassVar[str] = "quadratic"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        for i in range(len(context.messages)):
            sum(map(context.count, context.messages[i:]))
        return SUBJECTS["truncate"].stages[0].plan(context, budget)


def test_d13_a_compaction_that_counts_each_message_again_and_again_is_found() -> None:
    assert dynamics.d13_compaction(Strategy("quadratic", (Quadratic(),)), conversation(25))
    assert not dynamics.d13_compaction(SUBJECTS["truncate"], conversation(25))
