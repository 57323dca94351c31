from dataclasses import replace

import pytest
from engine.compaction.presets.situations import due, fired, stayed, summary

from builders import called, conversation, result, rules, said, told
from workbench import (
    AssistantMessage,
    Budget,
    Context,
    Scripted,
    Strategy,
    Summary,
    Text,
    UserMessage,
    compact,
    preset,
)
from workbench.engine.transcript.message import Image, Message, ToolResult, plain_text

SAME = "[the same result as a later one; ref="

OLD = "[old result of "

HERMES_LEAN = preset("hermes_lean")

CLOSE = "</anchors>"

OPEN = "<anchors>"


def test_it_is_due_at_half_of_a_large_window_and_at_three_quarters_of_another() -> None:
    assert not due(HERMES_LEAN, 149_999, 200_000)
    assert due(HERMES_LEAN, 150_000, 200_000)
    assert not due(HERMES_LEAN, 511_999, 1_024_000)
    assert due(HERMES_LEAN, 512_000, 1_024_000)
    assert due(HERMES_LEAN, 256_000, 512_000)
    assert not due(HERMES_LEAN, 383_000, 511_999)


@pytest.mark.parametrize(
    ("window", "kept"),
    [
        (32_000, 10_000),
        (400_000, 10_000),
        (600_000, 15_000),
        (1_000_000, 25_000),
        (2_000_000, 25_000),
    ],
)
def test_the_tail_is_a_fortieth_of_the_window_between_10000_and_25000(
    window: int, kept: int
) -> None:
    answers = [told("x" * 1_984, f"a{i:03}") for i in range(140)]
    compaction, _ = fired(HERMES_LEAN, [said("go", "u"), *answers], window=window)
    newest = [id for id in stayed(compaction) if "a010" < id < "b"]
    assert 500 * len(newest) == kept


@pytest.mark.parametrize(
    ("old", "window", "most"),
    [
        (5_000, 200_000, 2_000),
        (30_000, 200_000, 6_000),
        (100_000, 200_000, 10_000),
        (100_000, 100_000, 5_000),
    ],
)
def test_a_summary_is_a_fifth_of_what_it_stands_for_between_2000_and_10000(
    old: int, window: int, most: int
) -> None:
    head: list[Message] = [said("go", "u"), told("ok", "h1"), told("ok", "h2")]
    old_messages = [told("x" * 3_984, f"o{i}") for i in range(old // 1_000)]
    _, model = fired(HERMES_LEAN, [*head, *old_messages, *newest_tail(10_000)], window=window)
    assert model.requests[0].max_tokens == most


def newest_tail(tokens: int) -> list[Message]:
    """Messages that take exactly so many tokens."""
    return [told("x" * 3_984, f"t{i}") for i in range(tokens // 1_000)]


PRUNES = replace(
    HERMES_LEAN,
    strategy=Strategy("prunes", preset("hermes_lean", worth=0.0).strategy.stages[:1]),
)


def tail() -> list[Message]:
    """More than the tail takes."""
    return [said("and now", "last"), *(told("t " * 8_000, f"t{i}") for i in range(3))]


def pruned(*messages: Message) -> tuple[Message, ...]:
    compaction, model = fired(PRUNES, [*messages, *tail()])
    assert [record.name for record in compaction.stages] == ["hermes_prune"]
    assert model.requests == []
    return compaction.after.messages


def test_a_long_old_result_becomes_a_line_that_says_what_it_was_and_can_be_read_again() -> None:
    text = "\n".join(f"line {i} of it" for i in range(40))
    compaction, _ = fired(
        PRUNES, [called("bash", "c", command="pytest -q"), result(text, "c"), *tail()]
    )
    line = plain_text(compaction.after.messages[1])
    assert line.startswith(OLD + "bash on pytest -q: 40 lines")
    assert compaction.after.archive[line.partition("ref=")[2].rstrip("]")] == text


def test_two_hundred_characters_are_not_long() -> None:
    messages = pruned(
        called("a", "c0"),
        result("x" * 200, "c0"),
        called("a", "c1"),
        result("x" * 201, "c1"),
        called("a", "c2"),
        result("y" * 500, "c2", is_error=True),
    )
    assert plain_text(messages[1]) == "x" * 200
    assert plain_text(messages[3]).startswith(OLD)
    assert "failed" in plain_text(messages[5])


def test_of_equal_results_the_older_points_at_the_newer() -> None:
    messages = pruned(
        *[m for i in range(3) for m in (called("a", f"c{i}"), result("same " * 60, f"c{i}"))]
    )
    assert [plain_text(m).startswith(SAME) for m in messages if isinstance(m, ToolResult)] == [
        True,
        True,
        False,
    ]


def test_arguments_beyond_500_characters_keep_200_and_stay_an_object() -> None:
    messages = pruned(
        called("write", "c0", path="a.py", content="y" * 500),
        result("ok", "c0"),
        called("write", "c1", path="a.py", parts=[{"content": "y" * 501}]),
        result("ok", "c1"),
    )
    calls = [call for m in messages if isinstance(m, AssistantMessage) for call in m.calls]
    assert calls[0].arguments["content"] == "y" * 500
    assert calls[1].arguments["path"] == "a.py"
    assert calls[1].arguments["parts"][0]["content"] == "y" * 200 + " [...]"


def test_pictures_go_but_those_of_the_newest_message_that_has_any() -> None:
    def shown(id: str) -> Message:
        return replace(said("look", id), blocks=(Text("look"), Image()))

    messages = pruned(shown("u0"), told("ok", "a0"), shown("u1"), told("ok", "a1"))
    pictured = [
        any(isinstance(block, Image) for block in m.blocks)
        for m in messages
        if isinstance(m, UserMessage)
    ]
    assert pictured == [False, True, False]


def test_pruning_that_gains_less_than_a_tenth_is_left_out() -> None:
    def stages(chars: int) -> list[str]:
        compaction, _ = fired(
            HERMES_LEAN, [called("a", "c0"), result("x" * chars, "c0"), *tail()], target=11_000
        )
        return [record.name for record in compaction.stages]

    assert "hermes_prune" not in stages(4_000)
    assert "hermes_prune" in stages(8_000)


def test_nothing_in_the_tail_is_touched_and_a_second_pass_changes_nothing() -> None:
    old: list[Message] = [called("a", "c0"), result("x" * 900, "c0")]
    compaction, _ = fired(PRUNES, [*old, *tail()], keep_recent=12_050)
    assert [record.name for record in compaction.stages] == ["hermes_prune"]
    assert stayed(compaction)[-4:] == ["last", "t0", "t1", "t2"]
    again, _ = fired(PRUNES, compaction.after.messages, keep_recent=12_050)
    assert again.outcome == "unchanged"


def work(turns: int) -> list[Message]:
    messages: list[Message] = [rules("be good")]
    for i in range(turns):
        messages.append(said(f"please mend src/app/part_{i}.py, ticket APP-{100 + i}", f"u{i}"))
        messages.append(called("read", f"c{i}", path=f"src/app/part_{i}.py"))
        messages.append(
            result("plain words " * 300 + f"\nValueError: no part {i} in deadbee{i:02d}", f"c{i}")
        )
        messages.append(told("mended " * 200, f"a{i}"))
    return messages


def test_the_summary_stands_between_head_and_tail_with_the_users_words_kept() -> None:
    compaction, model = fired(HERMES_LEAN, work(60), ("the log",), target=24_000)
    assert [record.name for record in compaction.stages] == ["hermes_prune", "hermes_summary"]
    ids = [message.id for message in compaction.after.messages]
    assert ids[:3] == ["s0", "u0", "c0"] or ids[:2] == ["s0", "u0"]
    assert {f"u{i}" for i in range(60)} <= set(ids), "they are few words"
    assert summary(compaction).text == "the log"
    assert len(model.requests[0].sections) == 12
    assert model.requests[0].sections[0] == "Last task"


def test_the_model_sees_results_as_they_were_up_to_6000_characters() -> None:
    _, model = fired(HERMES_LEAN, work(60), ("the log",), target=24_000)
    assert "ValueError: no part 5" in "\n".join(plain_text(m) for m in model.requests[0].messages)
    assert "ValueError: no part 9" in model.requests[0].prompt


def test_the_anchor_index_stands_below_the_summary_and_is_carried_on() -> None:
    compaction, _ = fired(HERMES_LEAN, work(60), ("the log",), target=24_000)
    below = summary(compaction).tail
    assert OPEN in below
    assert "ValueError: no part 9 in deadbee09" in below.splitlines()
    assert "src/app/part_9.py" in below.splitlines()
    assert OPEN not in summary(compaction).text, "an update does not read it back"
    again, model = fired(
        HERMES_LEAN, [*compaction.after.messages, *tail()], ("again",), target=12_000
    )
    assert model.requests[0].previous == "the log"
    assert "ValueError: no part 9 in deadbee09" in summary(again).tail


def anchors(*messages: Message) -> list[str]:
    """The identifiers that stand below the summary of these messages, newest first."""
    head: list[Message] = [said("go", "h0"), told("ok", "h1"), told("ok", "h2")]
    compaction, _ = fired(HERMES_LEAN, [*head, *messages, *tail()])
    _, _, behind_tag = summary(compaction).tail.partition(f"{OPEN}\n")
    lines, _, _ = behind_tag.partition(f"\n{CLOSE}")
    return lines.splitlines()[::-1]


def test_anchors_are_found_by_form_newest_mention_first() -> None:
    assert anchors(
        told("see https://a.example/x?y=1 and src/a.py", "a1"),
        result(
            "commit 9f8e7d6c\nFAILED tests/test_a.py::test_it - 4096 items\nplain words, 12 of them\nsrc/a.py"
        ),
    ) == [
        "FAILED tests/test_a.py::test_it - 4096 items",
        "src/a.py",
        "4096",
        "tests/test_a.py",
        "9f8e7d6c",
        "https://a.example/x?y=1",
    ]


def test_of_more_anchors_than_8000_characters_the_newest_stand_in_the_index() -> None:
    many = [told(f"step {i}", f"a{i}") for i in range(10_000, 13_000)]
    listed = anchors(*many)
    assert listed == [str(12_999 - i) for i in range(8_000 // len("12999 "))]


def test_anchors_are_sought_in_the_newest_half_million_characters_and_in_the_earlier_index() -> (
    None
):
    earlier = Summary(id="s", text="the log", tail=f"\n\n{OPEN}\nsrc/first.py\n{CLOSE}")
    many = [told(f"step {i} of it\n" + "plain words\n" * 400, f"a{i}") for i in range(1_000, 1_200)]
    listed = anchors(earlier, told("see src/old.py", "old"), *many)
    assert listed[0] == "1199"
    assert listed[-1] == "src/first.py"
    assert "src/old.py" not in listed


def test_anchors_are_found_whatever_the_digits_and_only_once_in_many_texts() -> None:
    assert anchors(result("items: ٤٠٩٦ of them")) == ["٤٠٩٦"], (
        "no ASCII digit and no slash is in it"
    )
    assert anchors(result("no sign of any")) == []
    assert anchors(
        told("only words", "a1"), result("words and src/a.py"), told("src/a.py, again 4096", "a2")
    ) == ["4096", "src/a.py"]


@pytest.mark.parametrize(
    ("line", "error"),
    [("an Error", True), ("Exception:", True), ("1 FAILED", True), ("fatal: no", True), ("panic: no", True),
     ("error[E1]: no", True), ("an error: [E], F", False)],
)  # fmt: skip
def test_a_line_is_an_error_by_its_words(line: str, error: bool) -> None:
    assert anchors(result(f"fine\n{line}\nfine")) == ([line] if error else [])


def test_only_a_line_whose_reference_the_archive_holds_becomes_the_result_again() -> None:
    ref, text = "0123456789abcdef", "a long result"
    pointer = f"{SAME}{ref}]"
    old = f"{OLD}read on a.py: 3 lines, 9 characters; ref={ref}]"
    changed = [
        old + " ",
        "so " + old,
        old.replace("cdef]", "cdee]"),
        old.replace("; ref=", ", ref="),
        pointer + " ",
        "so " + pointer,
        pointer.replace("cdef]", "cdee]"),
        pointer.replace("; ref=", ", ref="),
    ]
    head: list[Message] = [said("go", "h0"), told("ok", "h1"), told("ok", "h2")]
    lines = [pointer, old, *changed]
    results = [result(line, f"c{i}") for i, line in enumerate(lines)]
    context = Context.of([*head, *results, told(old, "a"), *tail()])
    budget = Budget(target=context.tokens - 1, window=200_000)
    model = Scripted(["the log"])
    compact(replace(context, archive={ref: text}), HERMES_LEAN.strategy, budget, model)
    shown = [plain_text(message) for message in model.requests[0].messages]
    assert shown[: len(results) + 1] == [text, text, *changed, old]


@pytest.mark.parametrize(
    ("text", "lines"), [("x" * 500, 1), ("x" * 300 + "\n" + "y" * 200, 2), ("\n" * 300, 301)]
)
def test_the_line_for_an_old_result_counts_its_lines(text: str, lines: int) -> None:
    messages = pruned(said("go"), called("read", "c"), result(text, "c"))
    assert f": {lines} lines, {len(text)} characters; ref=" in plain_text(messages[2])


def test_a_small_conversation_is_left_alone() -> None:
    compaction, _ = fired(HERMES_LEAN, conversation(3), keep_recent=10_000)
    assert compaction.outcome == "unchanged"
