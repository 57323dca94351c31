from dataclasses import replace

import pytest

from builders import result, said, told
from workbench import AssistantMessage, Budget, Context, Summary, Text, ToolCall, UserMessage
from workbench.engine.compaction.clip import middle_out, shortened
from workbench.engine.compaction.stages import Microcompact
from workbench.engine.transcript.message import (
    Image,
    Thinking,
    chars_per_token,
    is_empty,
    plain_text,
)

LEAST_CHARS = 48

FAMILY = "👩\u200d👩\u200d👧\u200d👦"


def head(text: str, chars: int) -> str:
    """The beginning of a text that the stage `microcompact` leaves of a long result."""
    calls = AssistantMessage(id="a", blocks=tuple(ToolCall(f"c{i}", "read", {}) for i in range(3)))
    long = f"{text}\n{'x' * 400}" if len(text) > chars else text
    results = [result(long, f"c{i}") for i in range(3)]
    context = Context.of([said("go"), calls, *results, told("Read.", "b")])
    stage = Microcompact(chars=chars, pins=replace(Microcompact().pins, prefix=0, suffix=0))
    plan = stage.plan(context, Budget(target=0, window=1_000))
    shown = plain_text((context if plan is None else plan.apply(context)).messages[2])
    return shown.removeprefix("[microcompact excerpt] ").removesuffix(" […]")


@pytest.mark.parametrize(
    "whole", [FAMILY, "👍🏽", "🇩🇪", "e\u0301", "✌\ufe0f", "\ud83d\ude00", "각"]
)
def test_what_reads_as_one_character_is_not_parted(whole: str) -> None:
    text = "ab" + whole + "cd"
    for at in range(len(text) + 1):
        cut = len(head(text, at))
        assert cut <= at
        assert cut <= 2 or cut >= 2 + len(whole) or len(whole) == 1


def test_a_head_is_never_longer_than_asked() -> None:
    assert head("abc" + FAMILY, 5) == "abc"
    assert head("short", 5) == "short"


def test_a_long_text_keeps_its_head_and_tail_and_says_how_much_is_missing() -> None:
    text = "a" * 500 + "b" * 500
    cut = middle_out(text, 100)
    assert len(cut) <= 100
    missing = (
        len(text) - cut.count("a") - cut.count("b") + "[... characters left out ...]".count("a")
    )
    assert cut.startswith("aaa")
    assert cut.endswith("bbb")
    assert f"[... {missing} characters left out ...]" in cut


@pytest.mark.parametrize("length", [0, 1, LEAST_CHARS, LEAST_CHARS + 1, 60, 1000])
@pytest.mark.parametrize("chars", [0, 10, 48, 64, 999])
def test_a_cut_text_is_never_longer_than_it_was(length: int, chars: int) -> None:
    text = FAMILY * (length // len(FAMILY)) + "x" * (length % len(FAMILY))
    assert len(middle_out(text, chars)) <= max(min(chars, length), min(length, LEAST_CHARS))


def test_a_message_of_ten_megabytes_fits_a_small_room() -> None:
    huge = said("0123456789" * 1_000_000)
    cut = shortened(huge, 100, chars_per_token(huge), chars_per_token)
    assert cut is not None
    assert 50 < chars_per_token(cut) <= 100


def test_only_long_texts_are_cut() -> None:
    call = ToolCall(
        "c", "write", {"path": "a.py", "text": "x" * 9_000, "lines": ["y" * 9_000, 3, None]}
    )
    message = AssistantMessage(id="a", blocks=(Text("I write it"), call))
    cut = shortened(message, 200, chars_per_token(message), chars_per_token)
    assert isinstance(cut, AssistantMessage)
    assert plain_text(cut) == "I write it"
    arguments = cut.calls[0].arguments
    assert arguments["path"] == "a.py"
    assert "left out" in arguments["text"]
    assert arguments["lines"][1:] == [3, None]
    assert call.arguments["text"] == "x" * 9_000, "the original is untouched"


def test_thoughts_are_left_out_whole() -> None:
    message = AssistantMessage(id="a", blocks=(Thinking("hm " * 900, "sealed"),))
    cut = shortened(message, 50, chars_per_token(message), chars_per_token)
    assert cut is not None
    assert not is_empty(cut)
    assert not any(isinstance(block, Thinking) for block in cut.blocks)


def test_pictures_go_only_where_text_is_not_enough() -> None:
    message = UserMessage(id="u", blocks=(Text("look " * 500), Image(tokens=300)))
    roomy = shortened(message, 400, 929, chars_per_token)
    assert isinstance(roomy, UserMessage)
    assert any(isinstance(block, Image) for block in roomy.blocks)
    tight = shortened(message, 100, 929, chars_per_token)
    assert isinstance(tight, UserMessage)
    assert not any(isinstance(block, Image) for block in tight.blocks)


def test_of_a_summary_only_the_text_is_cut() -> None:
    long = Summary(id="s", text="word " * 900, lead="[lead]\n", tail="\n[tail]")
    cut = shortened(long, 100, chars_per_token(long), chars_per_token)
    assert isinstance(cut, Summary)
    assert (cut.lead, cut.tail) == (long.lead, long.tail)


def test_what_cannot_be_made_small_enough_is_none() -> None:
    message = told("short but not short enough, as it has no long text")
    assert shortened(message, 3, chars_per_token(message), chars_per_token) is None
