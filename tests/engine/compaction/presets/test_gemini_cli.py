from typing import cast

import pytest
from engine.compaction.presets.situations import due, fired, stayed, summary

from builders import called, result, said, told
from workbench import Budget, Context, preset
from workbench.engine.compaction.presets.gemini_cli import ReverseBudget
from workbench.engine.transcript.message import Message, ToolResult, plain_text

MARK = "[older output, cut to its end; full text under ref="

GEMINI_CLI = preset("gemini_cli")


def test_it_is_due_at_exactly_half_of_the_window() -> None:
    assert not due(GEMINI_CLI, 99_999, 200_000)
    assert due(GEMINI_CLI, 100_000, 200_000)
    assert due(GEMINI_CLI, 50_000, 200_000, reported=100_000)


def test_a_large_overhead_leaves_messages_some_room() -> None:
    assert not due(GEMINI_CLI, 16_000, 32_000, overhead=16_000)
    assert due(GEMINI_CLI, 20_000, 32_000, overhead=16_000)


def turns(*lengths: int) -> list[Message]:
    messages: list[Message] = []
    for i, length in enumerate(lengths):
        messages += [said("q" * 10, f"u{i}"), told("a" * (length - 10), f"a{i}")]
    return messages


def kept(messages: list[Message]) -> list[str]:
    """The ids of the messages that stay behind the snapshot."""
    compaction, _ = fired(GEMINI_CLI, messages, ("the snapshot",))
    return stayed(compaction)


def test_the_split_is_the_first_user_message_behind_70_percent_of_the_characters() -> None:
    equal = [1_000] * 10
    assert kept(turns(*equal))[0] == "u7", "exactly 70 % lie before it"
    equal[6], equal[9] = 999, 1_001
    assert kept(turns(*equal))[0] == "u8"


def test_without_one_all_is_compressed_where_the_model_had_the_last_word_else_what_lies_before_the_last() -> (
    None
):
    assert kept(turns(1_000, 1_000, 10_000)) == ["u2"], "the newest user message stays anyway"
    open_end = [*turns(1_000, 1_000, 10_000), called("read", "c"), result("x", "c")]
    assert kept(open_end) == ["u2", "a2", "a-c", "r-c"]
    one_turn: list[Message] = [said("go"), called("read", "c"), result("x" * 500, "c")]
    compaction, model = fired(GEMINI_CLI, one_turn)
    assert compaction.outcome == "unchanged" and model.requests == []


def test_the_newest_30_percent_stay_behind_one_snapshot() -> None:
    compaction, model = fired(GEMINI_CLI, turns(*[1_000] * 10), ("the snapshot",))
    assert [message.id for message in compaction.after.messages[1:]] == [
        "u7",
        "a7",
        "u8",
        "a8",
        "u9",
        "a9",
    ]
    assert summary(compaction).text == "the snapshot"
    assert len(model.requests) == 1
    assert model.requests[0].sections == (
        "Goal",
        "Active constraints",
        "Key knowledge",
        "Artifact trail",
        "File system",
        "Recent actions",
        "Task state",
    )


def outputs(n: int, lines: int) -> list[Message]:
    messages: list[Message] = [said("go", "u")]
    for i in range(n):
        text = "\n".join(f"{i} line {j} " + "y" * 30 for j in range(lines))
        messages += [called("shell", f"c{i}"), result(text, f"c{i}", name="shell")]
    return messages


def test_results_beyond_50_000_newest_tokens_keep_their_last_thirty_lines_and_can_be_read_again() -> (
    None
):
    assert ReverseBudget() == ReverseBudget(50_000, 30)
    messages = outputs(10, 700)
    compaction, model = fired(GEMINI_CLI, messages)
    assert model.requests == [], "there is no user message to cut at in one long turn"
    results = [message for message in compaction.after.messages if isinstance(message, ToolResult)]
    cut = [plain_text(message).startswith(MARK) for message in results]
    whole = sum(compaction.before.sizes[i] for i, m in enumerate(messages) if m in results)
    assert cut == [True] * (10 - cut.count(False)) + [False] * cut.count(False)
    assert whole <= 50_000 < whole + compaction.before.sizes[2]
    shown = plain_text(results[0]).splitlines()
    assert len(shown) == 1 + 30
    assert shown[-1] == plain_text(messages[2]).splitlines()[-1]
    assert compaction.after.archive[shown[0].partition("ref=")[2].rstrip("]")] == plain_text(
        messages[2]
    )


def test_a_cut_result_takes_of_the_budget_what_is_left_of_it() -> None:
    long, short = "\n".join("x" * 100 for _ in range(400)), "\n".join("y" * 100 for _ in range(300))
    messages: list[Message] = [
        said("go"),
        called("a", "c0"),
        result(short, "c0"),
        called("b", "c1"),
        result(long, "c1"),
    ]
    context = Context.of(messages)
    plan = ReverseBudget(tokens=9_000).plan(
        context, Budget(target=context.tokens - 1, window=200_000)
    )
    assert plan is not None
    assert [edit.start for edit in plan.edits] == [4], (
        "the older one fits beside the thirty lines of the newer"
    )


@pytest.mark.parametrize(("lines", "cut"), [(1, False), (30, False), (31, True), (400, True)])
def test_a_result_of_thirty_lines_stays_whole(lines: int, cut: bool) -> None:
    text = "\n".join(f"{i} {'x' * (6_000 // lines)}" for i in range(lines))
    plan = ReverseBudget(tokens=0).plan(
        Context.of([called("shell", "c"), result(text, "c")]), Budget(target=1, window=1)
    )
    assert (plan is not None) == cut
    if plan is not None:
        (edit,) = plan.edits
        shown = plain_text(cast("ToolResult", edit.by[0])).split("\n")
        assert shown[0].startswith(MARK)
        assert shown[1:] == text.split("\n")[-30:]


@pytest.mark.parametrize(("window", "whole"), [(200_000, True), (60_000, False)])
def test_the_snapshot_is_made_of_whole_output_where_the_window_takes_that(
    window: int, whole: bool
) -> None:
    messages = [*outputs(8, 900), told("so far so good", "t"), *[m for m in turns(20_000, 400)]]
    messages = [m for i, m in enumerate(messages) if m.id != "u" or i == 0]
    compaction, model = fired(GEMINI_CLI, messages, ("the snapshot",), window=window)
    assert [record.name for record in compaction.stages] == ["gemini_compact"]
    seen = [plain_text(m) for m in model.requests[0].messages if isinstance(m, ToolResult)]
    assert seen[0].startswith(MARK) != whole


def test_a_second_pass_truncates_nothing_again() -> None:
    compaction, _ = fired(GEMINI_CLI, outputs(10, 700))
    again, _ = fired(GEMINI_CLI, compaction.after.messages)
    assert again.outcome == "unchanged"


def test_where_a_size_is_set_it_cuts_inside_a_turn_too() -> None:
    compaction, _ = fired(
        GEMINI_CLI, [said("go", "first"), *outputs(30, 60)[1:]], reason="matched", target=6_000
    )
    assert compaction.after.tokens <= 6_000
    assert summary(compaction)
