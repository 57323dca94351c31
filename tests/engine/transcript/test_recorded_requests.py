from __future__ import annotations

from dataclasses import dataclass, replace

from builders import result, said, told
from workbench import ClearingEntry, CompactionEntry, Log, MessageEntry, Session, Summary, Text
from workbench.engine.transcript.message import Message, ToolResult, Usage
from workbench.engine.transcript.recorded_requests import recorded_requests


def ten_each(message: Message) -> int:
    """Ten tokens a message, but as many as its letters for a result or summary."""
    if isinstance(message, ToolResult | Summary):
        return sum(len(block.text) for block in message.blocks if isinstance(block, Text))
    return 10


@dataclass(frozen=True)
class Asked:
    """What a recording shows of one request: its answer, its size, what changed before it, the
    request that it begins like, and that to which the end of a turn leads back.
    """

    answer: str
    counted: int
    change: str
    begins_with: int | None
    turn_before: int | None


class Tree:
    """A recording that is written entry by entry, wherever it stands."""

    def __init__(self) -> None:
        self.log = Log()

    def say(self, message: Message, after: str | None = None) -> Tree:
        self.log.append(MessageEntry(id=message.id, parent=after or self.log.leaf, message=message))
        return self

    def turn(self, n: int, after: str | None = None) -> Tree:
        return self.say(said("go", f"u{n}"), after).say(told("ok", f"a{n}"))

    def requests(self) -> list[Asked]:
        session = Session("s", self.log)
        sizes = [ten_each(message) for message in session.messages]
        return [
            Asked(
                request.answer.id,
                request.counted,
                request.change,
                request.begins_with,
                request.turn_before,
            )
            for request in recorded_requests(session, sizes, ten_each)
        ]


def test_each_request_holds_all_that_was_said_before_it() -> None:
    found = Tree().turn(0).turn(1).turn(2).requests()
    assert [request.counted for request in found] == [10, 30, 50]
    assert [request.begins_with for request in found] == [None, 0, 1]


def test_after_a_compaction_the_summary_and_what_was_kept_are_sent() -> None:
    tree = Tree().turn(0).turn(1)
    tree.log.append(
        CompactionEntry(id="k", parent="a1", summary=Summary(id="s", text="x" * 7), first_kept="a1")
    )
    found = tree.turn(2).turn(3).requests()
    assert [request.counted for request in found] == [10, 30, 7 + 10 + 10, 7 + 10 + 30]
    assert [request.change for request in found] == ["", "", "compaction", ""]
    assert [request.begins_with for request in found] == [None, 0, None, 2]


def test_what_leaves_when_the_user_speaks_is_in_the_prompts_of_its_turn_only() -> None:
    tree = Tree().turn(0).say(result("y" * 5, "c")).say(told("ok", "a1")).turn(2)
    session = Session("s", tree.log)
    sizes = [ten_each(message) for message in session.messages]
    requests = recorded_requests(session, sizes, ten_each, {"a0": 7, "a1": 3})
    assert [request.counted for request in requests] == [10, 25, 45 - 7 - 3]


def test_a_cleared_result_leaves_a_marker_whether_it_was_kept_or_not() -> None:
    tree = Tree().turn(0).say(result("y" * 500, "c")).turn(1)
    tree.log.append(ClearingEntry(id="x", parent=tree.log.leaf, call_ids=("c",)))
    found = tree.turn(2).requests()
    assert [request.counted for request in found] == [
        10,
        530,
        50 + len("[result cleared from the context]"),
    ]
    assert [request.change for request in found] == ["", "", "clearing"]
    assert found[2].begins_with is None


def test_a_rewind_goes_on_from_where_it_went_back_to_and_what_it_left_was_sent_too() -> None:
    found = Tree().turn(0).turn(1).turn(2).turn(3, after="a0").requests()
    assert [request.counted for request in found] == [10, 30, 50, 30]
    assert [request.begins_with for request in found] == [None, 0, 1, 0]


def test_a_rewind_behind_a_compaction_finds_the_context_of_then() -> None:
    tree = Tree().turn(0).turn(1)
    tree.log.append(CompactionEntry(id="k", parent="a1", summary=Summary(id="s", text="x" * 7)))
    found = tree.turn(2).turn(3, after="a1").requests()
    assert [request.counted for request in found] == [10, 30, 17, 50]
    assert [request.begins_with for request in found] == [None, 0, None, 1]


def test_a_sub_agent_s_tree_is_left_out() -> None:
    tree = Tree().turn(0)
    side = told("from the side", "b0")
    tree.log.append(MessageEntry(id="v0", parent=None, message=said("do this", "v0")))
    tree.log.append(MessageEntry(id="b0", parent="v0", message=side))
    tree.turn(1, after="a0")
    assert [request.answer for request in tree.requests()] == ["a0", "a1"]


def thinking_turn(tree: Tree, n: int) -> Tree:
    """A user's message, a call after some thought, its result, and the answer."""
    tree.say(said("go", f"u{n}")).say(told("let me look", f"c{n}", thought="hm"))
    return tree.say(result("found", id=f"r{n}")).say(told("done", f"a{n}"))


def test_what_was_thought_in_a_turn_leads_back_to_the_request_that_began_it_once_the_user_speaks_again() -> (
    None
):
    tree = thinking_turn(thinking_turn(Tree(), 0), 1)
    assert [request.turn_before for request in tree.turn(2).turn(3).requests()] == [
        None,
        None,
        0,
        None,
        2,
        None,
    ]


def test_a_user_who_speaks_between_a_result_and_the_answer_ends_no_turn() -> None:
    tree = (
        Tree()
        .say(said("go"))
        .say(told("let me look", "a0", thought="hm"))
        .say(result("found", id="r"))
    )
    assert [
        request.turn_before
        for request in tree.say(said("also", "u1")).say(told("done", "a1")).requests()
    ] == [
        None,
        None,
    ]


def test_reasoning_that_is_only_reported_is_thought_too_and_a_compaction_ends_what_can_be_found() -> (
    None
):
    tree = Tree().say(said("go")).say(told("ok", "a0", usage=Usage(input=9, reasoning=5))).turn(1)
    tree.log.append(CompactionEntry(id="k", parent="a1", summary=Summary(id="s", text="x" * 7)))
    tree.say(said("go", "u2")).say(told("ok", "a2", thought="hm"))
    assert [request.turn_before for request in tree.turn(3).requests()] == [None, 0, None, 2]


def test_a_session_without_a_word_sends_nothing() -> None:
    assert Tree().requests() == []


def test_what_stands_off_the_main_path_is_counted_as_it_comes() -> None:
    long = replace(result("z" * 90, "c"), id="r")
    found = Tree().turn(0).say(long).turn(1).turn(2, after="a0").requests()
    assert [request.counted for request in found] == [10, 120, 30]
