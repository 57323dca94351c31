"""Each check of `invariants` finds its defect, planted once by hand in a compaction that has
none otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from properties.extremes import ORDER, parallel, summary
from properties.invariants import EVERY
from properties.steps import Step, Words, step

from builders import called, result, rules, said, told
from workbench import Budget, Compaction, Context, Strategy, Summary, Text, ToolCall, UserMessage
from workbench.engine.transcript.message import Image, Message, SystemMessage, Thinking

BEFORE: list[Message] = [
    rules("be careful"),
    replace(said("keep this " * 9, "u1"), pinned=True),
    *parallel(0),
    told("so far 👍🏽 " * 9, "a1"),
    summary(1),
    called("read", "c1", path="a.py"),
    result(ORDER, "c1"),
    said("and now?", "u2"),
]
Change = Callable[[list[Message]], list[Message]]


def at(i: int, **fields: object) -> Change:
    def change(messages: list[Message]) -> list[Message]:
        message = replace(messages[i], **fields)  # type: ignore[arg-type]  # wrong fields are defects
        return [*messages[:i], message, *messages[i + 1 :]]

    return change


def without(*gone: int) -> Change:
    return lambda said: [message for i, message in enumerate(said) if i not in gone]


def plus(message: Message) -> Change:
    return lambda said: [*said, message]


def blocks(*found: object) -> Change:
    return at(2, blocks=found)


ASKED = BEFORE[2].blocks
LIST_FOR_ARGUMENTS = ToolCall("c1", "read", ["a.py"])  # type: ignore[arg-type]  # must be a mapping
DEFECTS: dict[str, Change] = {
    "S1": without(9),
    "S2": lambda said: [*said[:4], replace(said[4], id="again"), *said[4:]],
    "S4": at(0, blocks=(Text("be bold"),)),
    "S5": without(0, 1, 2),
    "S7": at(6, blocks=(Text("so"), Text(" \n"))),
    "S8": blocks(Thinking("I look", "sealed=="), *ASKED[1:]),
    "S9": blocks(*ASKED[:3]),
    "S10": at(8, blocks=(LIST_FOR_ARGUMENTS,)),
    "S11": blocks(Thinking("I look at 1", "sealed=="), *ASKED[1:]),
    "S12": at(6, blocks=(Text("so"), Image())),
    "S13": at(6, blocks=(Text("so far 🏽"),)),
    "C1": lambda said: [*said[:6], said[7], said[6], *said[8:]],
    "C2": without(1),
    "C3": without(10),
    "C4": plus(UserMessage(id="new", blocks=(Text("yes, do it"),))),
    "C5": plus(Summary(id="new", text="another")),
    "C6": plus(Summary(id="new", text="see src/nowhere.py")),
    "C7": at(9, blocks=(Text("[truncated; full=9 chars; ref=0123456789abcdef]"),)),
    "C10": at(1, synthetic=True),
    "C12": plus(SystemMessage(id="new", blocks=(Text(ORDER),))),
    "D1": at(6, blocks=(Text("so far " * 900),)),
}


def forged(change: Change) -> Step:
    """A compaction that says of itself that nothing is wrong and nothing was touched."""
    none = Strategy("none", ())
    honest = step("none", "planted", Context.of(BEFORE), Budget(target=1, window=999), none)
    after = Context.of(change(list(BEFORE)))
    return replace(
        honest,
        done=Compaction(
            honest.before, after, after, honest.budget, (), "too_large", honest.done.why
        ),
    )


@pytest.mark.parametrize("rule", DEFECTS)
def test_a_planted_defect_is_found(rule: str) -> None:
    assert EVERY[rule](forged(DEFECTS[rule]))


def test_nothing_is_found_where_nothing_is_wrong() -> None:
    fine = forged(list)
    assert {
        rule: found for rule, check in EVERY.items() if rule != "C9" and (found := check(fine))
    } == {}


def test_defects_of_a_record_are_found() -> None:
    """C8, C9, D2 and D8 are about what a compaction says of itself."""
    fine = forged(list)
    assert EVERY["C8"](replace(fine, frozen=0))
    assert EVERY["C9"](replace(fine, again=replace(fine.done, why="another")))
    assert EVERY["D2"](replace(fine, done=replace(fine.done, why="")))
    wrong = replace(fine.after, sizes=tuple(size + 1 for size in fine.after.sizes))
    assert EVERY["D8"](replace(fine, done=replace(fine.done, after=wrong)))
    assert set(EVERY) == {*DEFECTS, "C8", "C9", "D2", "D8"}
    assert Words().name == "words"
