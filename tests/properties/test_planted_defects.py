"""The guard sees what a faulty stage does, undoes it, and says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest
from properties.steps import Words

from builders import called, result, rules, said, told
from workbench import (
    Budget,
    Compaction,
    Context,
    Plan,
    Replace,
    Strategy,
    Text,
    UserMessage,
    compact,
)
from workbench.engine.compaction.guard import violations
from workbench.engine.transcript.message import Message

BEFORE = Context.of(
    [
        rules("never delete anything"),
        said("do this " * 20, "u1"),
        called("read", "c1", path="a.py"),
        result("line " * 50, "c1"),
        called("read", "c2", path="b.py"),
        result("line " * 60, "c2"),
        told("done", "a1"),
        said("and now that", "u2"),
    ]
)
BUDGET = Budget(target=1, window=1000)


@dataclass(frozen=True)
class Faulty:
    """Replaces the messages by whatever the function makes of them."""

    change: Callable[[list[Message]], list[Message]]
    name: ClassVar[str] = "faulty"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        return Plan(
            (Replace(0, len(context.messages), tuple(self.change(list(context.messages)))),)
        )


def without(*indices: int) -> Callable[[list[Message]], list[Message]]:
    return lambda messages: [message for i, message in enumerate(messages) if i not in indices]


def with_at(i: int, **fields: object) -> Callable[[list[Message]], list[Message]]:
    def change(messages: list[Message]) -> list[Message]:
        message = replace(messages[i], **fields)  # type: ignore[arg-type]  # wrong fields are defects
        return [*messages[:i], message, *messages[i + 1 :]]

    return change


DEFECTS = {
    "drops a result": ("S1", without(3)),
    "drops a call": ("S1", without(2)),
    "gives a result to another call": ("S1", with_at(3, call_id="c9")),
    "drops the system prompt": ("C2", without(0)),
    "changes the system prompt": ("C2", with_at(0, blocks=(Text("never"),))),
    "drops the newest user message": ("C3", without(7)),
    "swaps two messages": ("C1", lambda messages: [messages[i] for i in (0, 4, 5, 2, 3, 1, 6, 7)]),
    "says a message twice": ("S2", lambda messages: [messages[0], *messages[6:], messages[6]]),
    "empties a message": ("S7", with_at(6, blocks=())),
    "writes blanks": ("S7", with_at(6, blocks=(Text(" \n"),))),
    "writes more than it takes": ("D1", with_at(1, blocks=(Text("do this " * 400),))),
    "answers a call twice": (
        "S2",
        lambda messages: [
            *messages[:3],
            messages[3],
            replace(messages[3], id="r-again"),
            *messages[6:],
        ],
    ),
}


def outcome(change: Callable[[list[Message]], list[Message]]) -> Compaction:
    return compact(BEFORE, Strategy("faulty", (Faulty(change),)), BUDGET, Words())


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_is_seen_and_undone(name: str) -> None:
    rule, change = DEFECTS[name]
    compaction = outcome(change)
    assert rule in {violation.rule for violation in compaction.violations}
    assert compaction.after is BEFORE
    assert compaction.outcome == "unchanged"
    assert not compaction.stages[0].used


def test_one_token_more_than_before_is_a_violation() -> None:
    grown = replace(BEFORE, overhead=BEFORE.overhead + 1)
    assert [violation.rule for violation in violations(BEFORE, grown)] == ["D1"]


def test_a_harmless_stage_has_no_violation() -> None:
    assert not outcome(without(2, 3)).violations
    assert not outcome(without(1, 2, 3, 4, 5, 6)).violations


def test_a_call_id_that_is_used_again_is_another_pair() -> None:
    first: list[Message] = [called("read", "c", "a1"), result("one", "c", "r1")]
    second: list[Message] = [called("read", "c", "a2"), result("two", "c", "r2")]
    twice = Context.of([said("go"), *first, *second])
    messages = twice.messages
    assert {
        violation.rule for violation in violations(twice, Context.of([*messages[:3], messages[4]]))
    } == {"S1", "S2"}
    assert not violations(twice, Context.of([messages[0], *messages[3:]]))


def test_what_was_broken_before_is_no_violation() -> None:
    broken = Context.of(
        [result("orphan", "nobody", "r0"), called("read", "c1"), UserMessage(id="u", blocks=())]
    )
    assert not violations(broken, Context.of(broken.messages[1:]))
    assert not violations(broken, Context.of([broken.messages[0], broken.messages[2]]))
