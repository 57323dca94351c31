from collections.abc import Sequence
from dataclasses import replace

from builders import called, result, rules, said, told
from workbench import AssistantMessage, Context, ToolCall
from workbench.engine.transcript.context import (
    callers,
    last_user,
    protected,
)
from workbench.engine.transcript.message import Message


def cut_points(messages: Sequence[Message]) -> list[bool]:
    """The places where the context of these messages may be cut."""
    return list(Context.of(messages).cut_points)


STEP: list[Message] = [said("go"), called("read", "c1"), result("text", "c1"), told("done")]


def test_no_cut_is_allowed_between_a_call_and_its_result() -> None:
    assert cut_points(STEP) == [True, True, False, True, True]


def test_parallel_calls_are_kept_together_up_to_the_last_result() -> None:
    both = AssistantMessage(id="a", blocks=(ToolCall("c1", "read", {}), ToolCall("c2", "read", {})))
    messages: list[Message] = [both, result("one", "c1"), result("two", "c2"), told("done")]
    assert cut_points(messages) == [True, False, False, True, True]


def test_a_result_belongs_to_the_newest_call_of_its_id() -> None:
    messages: list[Message] = [
        called("read", "c", "a1"),
        result("1", "c", "r1"),
        called("read", "c", "a2"),
        result("2", "c", "r2"),
    ]
    assert callers(messages) == {1: 0, 3: 2}
    assert cut_points(messages) == [True, False, True, False, True]


def test_a_result_without_a_call_does_not_bind_anything() -> None:
    messages: list[Message] = [result("early", "c1"), called("read", "c1"), said("stop")]
    assert callers(messages) == {}
    assert all(cut_points(messages))


def test_a_result_without_a_call_stays_with_the_message_before_it() -> None:
    messages: list[Message] = [rules("be brief"), result("lost", "c0"), *STEP, result("?", "c9")]
    assert cut_points(messages) == [True, True, True, True, False, True, False, True]


def test_an_empty_conversation_may_be_cut_at_its_only_place() -> None:
    assert cut_points([]) == [True]


def test_partners_come_along_from_either_side() -> None:
    for pinned, stay in (({2}, {0, 1, 2}), ({1}, {0, 1, 2}), ({3}, {0, 3})):
        messages = [replace(message, pinned=i in pinned) for i, message in enumerate(STEP)]
        assert protected(messages) == stay, "the user's message stays anyway"


def test_pinned_messages_and_the_newest_user_message_are_protected() -> None:
    messages: list[Message] = [
        rules("be good"),
        said("one", "u1"),
        told("yes"),
        said("two", "u2"),
        said("note", "u3", synthetic=True),
    ]
    assert last_user(messages) == 3
    assert protected(messages) == {0, 3}
