from __future__ import annotations

from builders import called, result, rules, said, told
from workbench import Context, Plan, Summary
from workbench.engine.compaction.plan import behind_prompt, exchanged, place
from workbench.engine.transcript.message import Message

NEW = Summary(id="new", text="what was said")
TALK: list[Message] = [
    said("go", "u1"),
    called("read", "c1"),
    result("text", "c1"),
    told("done", "a1"),
    said("on", "u2"),
]


def swap(messages: list[Message], gone: list[int]) -> list[str]:
    after = Plan(exchanged(gone, place(Context.of(messages), gone), NEW)).apply(
        Context.of(messages)
    )
    return [message.id for message in after.messages]


def test_a_summary_stands_where_the_first_message_that_goes_stood() -> None:
    ids = [message.id for message in TALK]
    assert swap(TALK, [0, 1, 2, 3]) == ["new", "u2"]
    assert swap(TALK, [0, 3]) == ["new", ids[1], ids[2], "u2"]
    assert swap(TALK, [3]) == [*ids[:3], "new", "u2"]


def test_a_summary_never_parts_a_call_from_its_result() -> None:
    messages = [*TALK[:2], result("lost", "nobody", "stray"), *TALK[2:]]
    assert place(Context.of(messages), [2]) == 1
    assert swap(messages, [2, 4])[:2] == ["u1", "new"]


def test_a_summary_stands_behind_a_system_prompt_that_a_stray_result_stood_before() -> None:
    stray, prompt = result("lost", "nobody", "stray"), rules("be careful")
    messages = [stray, prompt, *TALK]
    assert behind_prompt(messages, [0, 2]) == 2
    assert swap(messages, [0, 2, 3, 4])[:2] == [prompt.id, "new"]
    assert swap(messages, [0, 3, 4])[:3] == [prompt.id, "new", "u1"]
    assert swap([stray, prompt], [0]) == [prompt.id, "new"]


def test_where_somebody_spoke_before_the_prompt_and_stays_the_summary_stays_too() -> None:
    messages = [said("first", "u0"), rules("be careful"), *TALK]
    assert behind_prompt(messages, [2, 3]) == 0
    assert place(Context.of(messages), [2, 3, 4]) == 2
