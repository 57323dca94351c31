from dataclasses import replace

from engine.compaction.presets.situations import at, due, fired

from builders import called, result, said
from workbench import Budget, Context, Scripted, compact, preset
from workbench.engine.transcript.message import Message, ToolResult, plain_text

CLEAR_TOOL_USES = preset("clear_tool_uses")

CLEARED = "[tool result cleared to save room]"


def uses(n: int, words: int = 50) -> list[Message]:
    messages: list[Message] = [said("go")]
    for i in range(n):
        messages.append(called("read", f"c{i}", path=f"src/a_rather_long_name_of_a_file_{i}.py"))
        messages.append(result("word " * words, f"c{i}", name="read"))
    return messages


def cleared(messages: tuple[Message, ...]) -> list[bool]:
    return [
        plain_text(message) == CLEARED for message in messages if isinstance(message, ToolResult)
    ]


def run(messages: list[Message], **settings: int | list[str]) -> tuple[Message, ...]:
    clearing = preset("clear_tool_uses", **settings).strategy
    compaction = compact(Context.of(messages), clearing, Budget(target=0, window=1), Scripted(()))
    assert not compaction.violations
    return compaction.after.messages


def test_it_is_due_above_a_hundred_thousand_tokens_and_not_at_exactly_that() -> None:
    assert not due(CLEAR_TOOL_USES, 100_000, 200_000)
    assert due(CLEAR_TOOL_USES, 100_001, 200_000)
    assert not due(CLEAR_TOOL_USES, 100_000, 1_000_000)
    assert due(CLEAR_TOOL_USES, 100_001, 1_000_000)
    assert due(CLEAR_TOOL_USES, 90_000, 200_000, reported=100_001), (
        "the provider's own count decides"
    )


def test_half_of_a_small_window_is_the_threshold_there() -> None:
    assert not due(CLEAR_TOOL_USES, 16_000, 32_000)
    assert due(CLEAR_TOOL_USES, 16_001, 32_000)


def test_the_newest_three_results_stay() -> None:
    compaction, model = fired(CLEAR_TOOL_USES, uses(8))
    assert cleared(compaction.after.messages) == [True] * 5 + [False] * 3
    assert model.requests == []
    assert len(compaction.after.messages) == len(compaction.before.messages)


def test_a_second_pass_changes_nothing() -> None:
    compaction, _ = fired(CLEAR_TOOL_USES, uses(8))
    again, _ = fired(CLEAR_TOOL_USES, compaction.after.messages)
    assert again.outcome == "unchanged"


def test_clear_at_least_is_all_or_nothing() -> None:
    messages = uses(8)
    saved = Context.of(messages).tokens - Context.of(run(messages)).tokens
    assert run(messages, clear_at_least=saved + 1) == tuple(messages)
    assert cleared(run(messages, clear_at_least=saved)) == [True] * 5 + [False] * 3


def test_excluded_tools_stay_and_are_not_counted_among_the_kept() -> None:
    messages = [*uses(5), called("memory", "m"), result("fact " * 50, "m", name="memory")]
    assert cleared(run(messages, exclude_tools=["memory"])) == [True] * 2 + [False] * 4


def test_a_pinned_result_stays() -> None:
    messages = uses(6)
    messages[2] = replace(messages[2], pinned=True)
    assert cleared(run(messages)) == [False, True, True, False, False, False]


def test_the_target_is_the_threshold() -> None:
    budget = CLEAR_TOOL_USES.trigger.check(at(150_000))
    assert budget is not None
    assert budget.target == 100_000
