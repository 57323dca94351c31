"""Budget reduction, snip, microcompact, context collapse, floor and repair, each by its own
words.
"""

from dataclasses import replace

from builders import called, conversation, result, rules, said, told
from workbench import AssistantMessage, Budget, Context, Scripted, Strategy, ToolCall, compact
from workbench.engine.compaction.plan import Stage
from workbench.engine.compaction.stages import BUILTIN as STAGES
from workbench.engine.compaction.stages import Microcompact, Snip
from workbench.engine.transcript.message import Message, plain_text

BUDGET = Budget(target=0, window=1_000)
NO_PINS = replace(Snip().pins, prefix=0, suffix=0, names=())


def after(stage: Stage, messages: list[Message], context: Context | None = None) -> Context:
    context = context or Context.of(messages)
    plan = stage.plan(context, BUDGET)
    return context if plan is None else plan.apply(context)


def texts(context: Context) -> list[str]:
    return [plain_text(message) for message in context.messages]


def test_a_long_result_is_archived_under_a_reference_that_stands_in_its_place() -> None:
    long = "line\n" * 4_000
    context = after(
        STAGES["budget_reduction"](),
        [called("read", "c"), result(long, "c"), result("x" * 16_000, "d"), told("Read.")],
    )
    (ref,) = context.archive
    assert texts(context)[1] == f"[truncated; full=20000 chars; ref={ref}]"
    assert context.archive[ref] == long
    assert len(texts(context)[2]) == 16_000, "exactly the limit is not too long"


def test_an_archive_survives_a_whole_compaction_and_the_later_stages() -> None:
    long = "line\n" * 4_000
    messages: list[Message] = [
        said("go"),
        called("read", "c"),
        result(long, "c"),
        *conversation(10),
    ]
    compaction = compact(
        Context.of(messages),
        Strategy("x", (STAGES["budget_reduction"](), Snip(age=1))),
        BUDGET,
        Scripted(()),
    )
    (ref,) = compaction.after.archive
    assert compaction.after.archive[ref] == long
    assert f"ref={ref}" in texts(compaction.after)[2], "the agent still sees the reference"


def test_a_pinned_result_is_not_reduced() -> None:
    messages: list[Message] = [replace(result("x" * 20_000), pinned=True), told("Read.")]
    assert STAGES["budget_reduction"]().plan(Context.of(messages), BUDGET) is None


def alternating(n: int) -> list[Message]:
    made: list[Message] = [rules("be good")]
    for i in range(n):
        made += [called("read", f"c{i}"), result(f"text {i} " * 40, f"c{i}")]
    return [*made, told("final")]


def test_a_stale_result_becomes_a_marker_with_its_call_id() -> None:
    context = after(Snip(age=2, pins=replace(NO_PINS, prefix=1, suffix=6)), alternating(4))
    assert texts(context)[2] == "<snipped: stale tool-result for call c0>"
    assert sum("snipped" in text for text in texts(context)) == 1, "the last six messages are live"


def test_a_marker_is_neither_put_in_its_own_place_nor_counted_again() -> None:
    asked: list[Message] = []

    def noted(message: Message) -> int:
        asked.append(message)
        return 0

    context = replace(after(Snip(age=1, pins=NO_PINS), alternating(4)), count=noted)
    assert Snip(age=1, pins=NO_PINS).plan(context, BUDGET) is None
    assert not asked


def test_only_results_with_enough_answers_after_them_are_stale() -> None:
    context = after(Snip(age=4, pins=NO_PINS), alternating(6))
    assert [i for i, text in enumerate(texts(context)) if "snipped" in text] == [2, 4, 6]
    assert Snip().plan(Context.of([rules("s"), result("x" * 900), told("y")]), BUDGET) is None


def test_short_pinned_and_named_results_are_not_snipped() -> None:
    rows = alternating(12)
    rows[2] = replace(rows[2], pinned=True)
    rows[4] = replace(rows[4], name="skill:x")
    rows[6] = result("ok", "c2")
    context = after(Snip(pins=replace(NO_PINS, names=("skill:*",))), rows)
    assert next(i for i, text in enumerate(texts(context)) if "snipped" in text) == 8


def run_of(n: int) -> list[Message]:
    message = AssistantMessage(
        id="a", blocks=tuple(ToolCall(f"c{i}", "read", {}) for i in range(n))
    )
    results = [result(f"{i} " + "word " * 200, f"c{i}") for i in range(n)]
    return [said("go"), message, *results, told("Read.", "b")]


def test_a_run_of_three_results_is_excerpted_in_place() -> None:
    context = after(Microcompact(chars=20, pins=replace(NO_PINS, prefix=1)), run_of(3))
    assert texts(context)[2:5] == [
        f"[microcompact excerpt] {i} word word word wor […]" for i in range(3)
    ]
    assert [message.id for message in context.messages] == ["u0", "a", "r-c0", "r-c1", "r-c2", "b"]


def test_results_that_the_model_has_not_seen_stay() -> None:
    long: list[Message] = [called("read", "c"), result("line\n" * 4_000, "c")]
    assert STAGES["budget_reduction"]().plan(Context.of(long), BUDGET) is None
    assert Microcompact(pins=NO_PINS).plan(Context.of(run_of(3)[:-1]), BUDGET) is None


def test_two_results_are_no_run_and_the_live_suffix_is_left_alone() -> None:
    assert Microcompact(pins=NO_PINS).plan(Context.of(run_of(2)), BUDGET) is None
    assert Microcompact(pins=replace(NO_PINS, suffix=4)).plan(Context.of(run_of(4)), BUDGET) is None


def test_a_read_of_a_file_that_was_changed_later_collapses() -> None:
    messages: list[Message] = [
        called("read", "1", path="a.py"),
        result("old text " * 30, "1"),
        called("edit", "2", path="a.py"),
        result("ok", "2"),
        called("read", "3", path="a.py"),
        result("new text " * 30, "3"),
    ]
    context = after(STAGES["context_collapse"](), messages)
    assert texts(context)[1] == "<read superseded by later edit: a.py>"
    assert texts(context)[5] == "new text " * 30


def test_an_edit_that_failed_or_touched_another_file_supersedes_nothing() -> None:
    read: list[Message] = [called("read", "1", path="a.py"), result("old text " * 30, "1")]
    failed: list[Message] = [called("edit", "2", path="a.py"), result("no", "2", is_error=True)]
    other: list[Message] = [called("edit", "3", path="b.py"), result("ok", "3")]
    assert STAGES["context_collapse"]().plan(Context.of([*read, *failed, *other]), BUDGET) is None


def test_the_same_call_with_the_same_result_is_marked_as_a_repeat() -> None:
    once: list[Message] = [called("bash", "1", cmd="make"), result("all good " * 30, "1")]
    again: list[Message] = [called("bash", "2", cmd="make"), result("all good " * 30, "2")]
    assert (
        texts(after(STAGES["context_collapse"](), [*once, *again]))[3]
        == "(repeat) same result as call 1"
    )
    assert (
        STAGES["context_collapse"]().plan(Context.of([*once, said("again"), *again]), BUDGET)
        is None
    )
    other: list[Message] = [called("bash", "2", cmd="make"), result("all bad " * 30, "2")]
    assert STAGES["context_collapse"]().plan(Context.of([*once, *other]), BUDGET) is None


def test_three_equal_calls_all_refer_to_one_that_is_there() -> None:
    rows: list[Message] = [
        row for i in "123" for row in (called("bash", i, cmd="make"), result("all good " * 30, i))
    ]
    done = texts(after(STAGES["context_collapse"](), rows))
    assert [done[1], done[3]] == ["all good " * 30, "(repeat) same result as call 1"]
    assert done[5] in ("(repeat) same result as call 1", "(repeat) same result as call 2")


def test_the_floor_is_the_system_and_the_last_user_message() -> None:
    context = after(STAGES["keep_floor"](), [rules("be good"), *conversation(3)])
    assert [message.id for message in context.messages] == ["s0", "u2"]
    synthetic: list[Message] = [said("note", "u1", synthetic=True), told("x")]
    assert [message.id for message in after(STAGES["keep_floor"](), synthetic).messages] == ["u1"]


def broken() -> list[Message]:
    return [
        result("early", "x", "r0"),
        said("go"),
        called("read", "1", text="I read"),
        called("read", "2"),
        result("two", "2"),
        result("two again", "2", "r2b"),
        said("and"),
        called("read", "3"),
    ]


def test_repair_drops_what_answers_nothing_and_calls_without_a_result() -> None:
    context = after(STAGES["repair_pairs"](), broken())
    assert [message.id for message in context.messages] == ["u0", "a-1", "a-2", "r-2", "u0", "a-3"]
    assert context.messages[1].calls == ()  # type: ignore[union-attr]
    assert context.messages[-1].calls, "the last message still waits"  # type: ignore[union-attr]


def test_whole_pairs_need_no_repair() -> None:
    assert STAGES["repair_pairs"]().plan(Context.of(conversation(3)), BUDGET) is None
