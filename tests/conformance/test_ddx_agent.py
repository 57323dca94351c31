"""The DDx agent's published table, row by row, and what else its documentation promises, through
the public face.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from conformance.driver import Lived, lived, records, tokens
from conformance.rows import Row

import workbench as wb
from builders import called, result, said, told
from workbench import Compactor, ModelError, Scripted, Session, Settings, preset
from workbench.engine.transcript.message import Message

PREFIX = (
    "The conversation history before this point was compacted into the following"
    " summary:\n\n<summary>\n"
)
SUFFIX = "\n</summary>"
NO_SUMMARY = "(no summary available)"


Options = dict[str, Any]


def exactly(
    window: int, keep: int = 8_192, tail: int = 20_000, reserve: int = 0, percent: int = 100
) -> Options:
    """The settings of that window, by the documented names."""
    return {
        "context_window": window,
        "keep_recent_tokens": keep,
        "user_message_tail_tokens": tail,
        "reserve_tokens": reserve,
        "effective_percent": percent,
    }


def passed(
    messages: Sequence[Message], options: Options, *says: str | Exception, **more: Any
) -> Lived:
    """A request of these messages in that window, by the preset's own estimate."""
    answers = says or ("what was done",)
    return lived(preset("ddx_agent", **options), messages, answers, full=False, window=None, **more)


def user(chars: int, id: str) -> Message:
    return said("u" * chars, id)


def model(chars: int, id: str) -> Message:
    return told("a" * chars, id)


def mixed(n: int, chars: int = 2_000) -> list[Message]:
    return [user(chars, f"m{i}") if i % 2 == 0 else model(chars, f"m{i}") for i in range(n)]


def steps(n: int, chars: int, name: str = "c") -> list[Message]:
    return [
        m
        for i in range(n)
        for m in (called("read", f"{name}{i}"), result("r" * chars, f"{name}{i}"))
    ]


def due(tokens: int, window: int, options: Options | None = None) -> bool:
    """Whether a context of so many tokens is compacted."""
    messages = [user(4 * (tokens - 2_001), "u0"), model(4 * 997, "a0"), user(4 * 999, "u1")]
    done = lived(preset("ddx_agent", **options or {}), messages, full=False, window=window)
    assert done.live.tokens == tokens or "compaction_ended" in done.types
    return "compaction_ended" in done.types


def truncations() -> dict[str, object]:
    messages = [user(2_000, "u0"), called("read", "c"), result("r" * 3_000, "c"), *mixed(4)]
    options = exactly(2_000, keep=100)
    cut, whole = (
        passed(messages, options | {"max_tool_result_chars": most}).prompts[0]
        for most in (2_000, 0)
    )
    return {"says": "1000 more characters truncated" in cut, "unchanged": "r" * 3_000 in whole}


def never_the_tool() -> dict[str, object]:
    messages = [user(1_200, "u0"), called("read", "c"), result("r" * 1_200, "c"), user(600, "u1")]
    plain = [messages[0], model(1_200, "a0"), result("r" * 1_200, "none"), messages[3]]
    return {
        "with a call": passed(messages, exactly(700, keep=200, tail=0)).path,
        "cut": passed(plain, exactly(1_050, keep=700, tail=0)).read,
    }


def forty_one() -> dict[str, object]:
    text = "please do the next step"
    messages: list[Message] = [said(text, "u")]
    for i in range(20):
        messages += [model(520, f"a{i}"), said(text, f"u{i}")]
    done = lived(
        "ddx_agent", messages, ["## Goal\nfinish the work that began"], by_hand=True, keep=200
    )
    return {
        "length": len(done.path),
        "read": done.read,
        "users": sum(path[0] == "u" for path in done.path[:19]),
        "last": done.path[-1],
        "tokens": done.live.tokens,
    }


def with_a_summary() -> dict[str, object]:
    messages = [
        said(PREFIX + "known" + SUFFIX, "s"),
        user(2_000, "u1"),
        model(2_000, "a1"),
        user(2_000, "u2"),
    ]
    done = passed(messages, exactly(1_500, keep=100), "merged")
    return {"path": done.path, "read": done.read, "previous": done.model.requests[0].previous}


ALONE = Settings(last_resort=False)


def stuck(attempts: int) -> list[object]:
    """A prompt and an answer, and then more answers: nothing before the prompt can go."""
    options = exactly(100, keep=0) | {"StuckThreshold": attempts}
    live = Compactor("ddx_agent", model=Scripted([]), settings=ALONE, **options)
    history, endings = [user(200, "u"), model(200, "a")], list[object]()
    for i in range(attempts or 5):
        live.before_request(records(history))
        endings.append(live.ending and live.ending.code)
        history.append(model(40, f"b{i}"))
    return endings


def no_fit_then_fit() -> dict[str, object]:
    messages = [m for i in range(5) for m in (user(120, f"u{i}"), model(120, f"a{i}"))]
    done = passed(
        [*messages, said("DO-THE-THING", "last")], exactly(80, keep=20), "b" * 100, system="s" * 120
    )
    body = done.summary.removeprefix(PREFIX).removesuffix(SUFFIX)
    return {
        "path": done.path,
        "read": done.read,
        "body": len(body),
        "with prefix": done.live.tokens,
    }


def no_fit() -> dict[str, object]:
    messages = [user(120, "u"), model(120, "a"), said("DO-THE-THING", "last")]
    done = passed(messages, exactly(80, keep=20), system="s" * 260)
    assert done.live.ending is not None
    return {"ending": done.live.ending.code, "read": done.read, "unchanged": done.sent == done.host}


def tail_of_one() -> dict[str, object]:
    messages = [user(160, "u0"), model(100, "a0"), user(100, "u1"), user(20, "last")]
    config = exactly(100, keep=5)
    done = passed(messages, config, "what was done in these turns", system="s" * 120)
    return {
        "estimate": tokens("ddx_agent", *messages) + 32,
        "path": done.path,
        "tokens": done.live.tokens - 32,
    }


def eight_tail_users() -> dict[str, object]:
    messages: list[Message] = [user(120, "u")]
    for i in range(8):
        messages += [model(120, f"a{i}"), user(120, f"u{i}")]
    done = passed([*messages, user(80, "last")], exactly(500, keep=80, tail=500, reserve=50))
    return {
        "read": done.read,
        "tail": sum(path[0] == "u" for path in done.path[:8]),
        "messages": len(done.path),
    }


def resumed() -> dict[str, object]:
    text = (
        "the limit is"
        " 4711\n\n<read-files>\na.go\n</read-files>\n\n<modified-files>\nb.go\n</modified-files>"
    )
    done = passed(
        [said(PREFIX + text + SUFFIX, "s"), *mixed(5)], exactly(2_000, keep=100), "merged"
    )
    return {
        "prompt": "the limit is 4711" in done.prompts[0],
        "update": "<previous-summary>" in done.prompts[0],
        "lists": done.summary.partition("merged")[2].removesuffix(SUFFIX),
    }


def five_calls() -> dict[str, object]:
    tools = [
        ("read", "main.go"),
        ("read", "go.mod"),
        ("edit", "main.go"),
        ("write", "new.go"),
        ("bash", "x"),
    ]
    calls = [
        m
        for i, (tool, path) in enumerate(tools)
        for m in (called(tool, f"{i}", path=path), result("ok", f"{i}"))
    ]
    summary = passed([user(400, "u"), *calls, *mixed(5)], exactly(2_000, keep=100), "S").summary
    read, _, modified = summary.partition("<modified-files>")
    return {
        "read": {*read.split()} & {"go.mod", "main.go"},
        "modified": {*modified.split()} & {"main.go", "new.go"},
    }


def loop(
    answers: Sequence[bool], compactor: Compactor, history: Sequence[Message] = ()
) -> tuple[str, int]:
    """The agent's loop: each answer of the provider is good or an overflow. How it ends, and
    requests made.
    """
    compactor.before_request(records(history or mixed(18, 20_000)))
    for requests, good in enumerate(answers, 1):
        if good:
            return "success", requests
        if compactor.on_error("context length exceeded") is None:
            return "error", requests
    return "error", len(answers)


def loops() -> dict[str, object]:
    def shrinks() -> Compactor:
        return Compactor("ddx_agent", model=Scripted(["so far"] * 9), window=131_072)

    small = Compactor("ddx_agent", model=Scripted([]), settings=ALONE, **exactly(80))
    return {
        "once": loop([False, True], shrinks()),
        "always": loop([False] * 10, shrinks()),
        "no compactor": loop([False, True], Compactor("none", settings=ALONE)),
        "no fit": loop([False, True], small, [user(400, "u")]),
    }


TEN = [user(4 * 399, f"u{i}") for i in range(10)]
READ = "<read-files>\na.go\n</read-files>"

ROWS = (
    Row(
        "ddx_agent", "tokens of nothing, hi, hello world, 1000 bytes, with the role's 1",
        {"": 1, "hi": 2, "hello world": 4, "1000": 251},
        lambda: {
            "1000": tokens("ddx_agent", said("x" * 1_000)),
            **{text: tokens("ddx_agent", said(text)) for text in ("", "hi", "hello world")},
        },
    ),
    Row(
        "ddx_agent", "assistant with a call", {"tokens": 14},
        lambda: {"tokens": tokens("ddx_agent", called("read", "c", text="I'll read that file.", path="main.go"))},
    ),
    Row(
        "ddx_agent", "ShouldCompact of (32768, 95, 8192)",
        {"20000": False, "25000": True, "22937": False, "22938": True},
        lambda: {str(n): due(n, 32_768) for n in (20_000, 25_000, 22_937, 22_938)},
    ),
    Row(
        "ddx_agent", "percent 0; reserve 10000 of 4000", {"percent": False, "reserve": [False, True]},
        lambda: {
            "percent": due(9_000, 9_000, exactly(9_000, percent=0)),
            "reserve": [due(n, 4_000, exactly(4_000, reserve=10_000, percent=95)) for n in (3_800, 3_801)],
        },
        instead="a reserve that fills the window is given up, as in the original's service",
    ),
    Row("ddx_agent", "truncate 3000 bytes to 2000; limit 0", {"says": True, "unchanged": True}, truncations),
    Row(
        "ddx_agent", "10 users of 4 tokens, keep 20, a hundred times as large",
        {"path": ["u5", "u6", "u7", "u8", "u9", "summary"], "read": [5]},
        lambda: {
            "path": passed(TEN, exactly(3_999, keep=2_000, tail=0)).path,
            "read": passed(TEN, exactly(3_999, keep=2_000, tail=0)).read,
        },
    ),
    Row(
        "ddx_agent", "user, assistant, tool, user thanks; keep 10", {"cut": [1], "with a call": ["u1", "summary"]},
        never_the_tool,
    ),
    Row(
        "ddx_agent", "no messages; one short user, huge keep", {"none": [], "one": ["u"]},
        lambda: {
            "none": lived("ddx_agent", [], by_hand=True).path,
            "one": lived("ddx_agent", [user(9, "u")], by_hand=True, keep=100_000).path,
        },
    ),
    Row(
        "ddx_agent", "41 messages, keep 200, default config",
        {"length": 24, "read": [37], "users": 19, "last": "summary", "tokens": 450}, forty_one,
    ),
    Row(
        "ddx_agent", "summary, u 2000, a 2000, u 2000; keep 100",
        {"path": ["u1", "u2", "summary"], "read": [2], "previous": "known"}, with_a_summary,
    ),
    Row(
        "ddx_agent", "window 100, keep 0, stuck 3",
        {"estimate": 104, "ending": [None, None, "compaction_stuck"]},
        lambda: {"estimate": tokens("ddx_agent", user(200, "u"), model(200, "a")), "ending": stuck(3)},
    ),
    Row(
        "ddx_agent", "prefix 32, window 80, keep 20: no fit, then fit",
        {"path": ["last", "summary"], "read": [10], "body": 64, "with prefix": 80}, no_fit_then_fit,
    ),
    Row(
        "ddx_agent", "prefix 67, window 80: no fit",
        {"ending": "compaction_no_fit", "read": [], "unchanged": True}, no_fit,
    ),
    Row(
        "ddx_agent", "window 100, keep 5: one user message again",
        {"estimate": 133, "path": ["u1", "last", "summary"], "tokens": 67}, tail_of_one,
    ),
    Row(
        "ddx_agent", "window 500, reserve 50, keep 80, tail 500", {"read": [15], "tail": 8, "messages": 12},
        eight_tail_users,
    ),
    Row(
        "ddx_agent", "u, 2 x (call, result); keep 50", {"path": ["u0", "summary"], "read": [4]},
        lambda: {
            "path": passed([said("do it"), *steps(2, 400)], exactly(150, keep=50)).path,
            "read": passed([said("do it"), *steps(2, 400)], exactly(150, keep=50)).read,
        },
    ),
    Row(
        "ddx_agent", "last message already a summary", {"path": ["u", "s"], "types": []},
        lambda: {
            "path": guarded().path, "types": guarded().types,
        },
    ),
    Row(
        "ddx_agent", "disabled", {"due": False}, lambda: {"due": due(9_000, 9_000, {"enabled": False})}
    ),
    Row(
        "ddx_agent", "resumed run with a fresh compactor",
        {
            "prompt": True, "update": True,
            "lists": f"\n\n{READ}\n\n<modified-files>\nb.go\n</modified-files>",
        },
        resumed,
    ),
    Row(
        "ddx_agent", "5 calls: read, read, edit, write, bash",
        {"read": {"go.mod"}, "modified": {"main.go", "new.go"}}, five_calls,
    ),
    Row(
        "ddx_agent", "loop with overflows",
        {"once": ("success", 2), "always": ("error", 2), "no compactor": ("error", 1), "no fit": ("error", 1)}, loops,
    ),
    Row(
        "ddx_agent", "compactor returns a no-op", {"events": []},
        lambda: {"events": passed([user(200, "u"), model(200, "a")], exactly(100, keep=0)).types},
    ),
)  # fmt: skip


def guarded() -> Lived:
    return passed([user(2_000, "u"), said(PREFIX + "known" + SUFFIX, "s")], exactly(100, keep=10))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_the_table_holds(row: Row) -> None:
    row.check()


def test_the_defaults_are_the_documents() -> None:
    documented: Options = {
        "enabled": True,
        "context_window": 131_072,
        "reserve_tokens": 8_192,
        "keep_recent_tokens": 8_192,
        "max_tool_result_chars": 2_000,
        "effective_percent": 95,
        "user_message_tail_tokens": 20_000,
        "stuck_threshold": 5,
    }
    usual = preset("ddx_agent")
    assert (
        replace(preset("ddx_agent", **documented), name=usual.name, strategy=usual.strategy)
        == usual
    )
    assert [due(n, 131_072) for n in (116_326, 116_327)] == [False, True]


def test_a_summary_takes_at_most_four_fifths_of_the_reserve() -> None:
    done = lived("ddx_agent", mixed(240), full=False, window=131_072)
    assert done.model.requests[0].max_tokens == 6_553


def test_it_is_asked_after_tool_results_too() -> None:
    done = passed([user(400, "u0"), *mixed(2)], exactly(2_000, keep=100))
    assert done.types == []
    host = [*done.host, *records(steps(2, 4_000))]
    done.live.after_tools(host)
    assert done.started.cause == "after_tools"
    assert done.types == ["compaction_started", "compaction_ended"]


def test_at_least_one_message_goes_where_everything_would_be_kept() -> None:
    messages = [
        user(4_000, "u0"),
        called("read", "c"),
        result("r", "c"),
        model(40, "a1"),
        user(40, "u1"),
    ]
    assert passed(messages, exactly(900, keep=100_000, tail=0)).path == ["a1", "u1", "summary"]


def test_a_window_that_nobody_names_is_the_documents() -> None:
    assert Compactor("ddx_agent", model=Scripted([])).window == 131_072
    assert Compactor("ddx_agent", model=Scripted([]), context_window=65_536).window == 65_536


def test_five_attempts_in_vain_are_stuck_and_the_agent_goes_on() -> None:
    assert stuck(5) == [None, None, None, None, "compaction_stuck"]
    assert stuck(0) == stuck(5), "no attempts mean the usual five"


def test_the_stuck_counter_starts_anew_after_success_and_below_the_threshold() -> None:
    config = exactly(2_000, keep=100)
    answers = [ModelError("down")] * 4 + ["so far"] + [ModelError("down")] * 4
    settings = Settings(hysteresis=0.0, last_resort=False)
    live = Compactor("ddx_agent", model=Scripted(answers), settings=settings, **config)
    history = mixed(5)
    for i in range(9):
        live.before_request(records(history))
        assert live.ending is None
        history.append(user(2_000 if i > 3 else 40, f"n{i}"))
    assert [event.type for event in live.events].count("compaction_failed") == 8


def test_a_summarisers_error_leaves_the_history_and_the_run() -> None:
    done = passed(mixed(9), exactly(2_000, keep=100), ModelError("down"))
    assert done.sent == done.host and done.live.ending is None
    assert done.types == ["compaction_started", "compaction_failed"]


def test_a_replay_says_where_the_run_would_have_ended() -> None:
    answers = [user(200, "u0"), *(told("a word and another " * 40, f"a{i}") for i in range(80))]
    replay = wb.replay(
        Session.of(answers),
        preset("ddx_agent", **exactly(2_000, keep=0)),
        window=2_000,
        model=Scripted([]),
    )
    assert (
        replay.ended is not None
        and replay.ended.code == "compaction_stuck"
        and replay.compactions == ()
    )


def test_an_empty_answer_becomes_the_fallback() -> None:
    done = passed(mixed(9), exactly(2_000, keep=100), "  ")
    assert done.sent[-1]["content"] == PREFIX + NO_SUMMARY + SUFFIX


def test_lists_that_the_model_wrote_again_are_taken_out() -> None:
    messages = [
        said("go", "u0"),
        called("read", "c", path="a.go"),
        result("x" * 4_000, "c"),
        *mixed(3, 40),
    ]
    says = "## Goal\nx\n\n<read-files>\ninvented.go\n</read-files>"
    summary = passed(messages, exactly(900, keep=1), says).summary
    assert "invented.go" not in summary and summary.endswith(READ + SUFFIX)


def test_the_event_has_the_sizes_and_a_warning() -> None:
    done = passed(mixed(9), exactly(2_000, keep=600, tail=0))
    ended = done.ended
    assert ended.tokens_after == done.live.tokens < ended.tokens_before
    assert "less exact" in ended.warning


def test_the_summary_is_last_and_the_users_words_come_first_in_their_order() -> None:
    done = passed(mixed(9), exactly(3_000, keep=600))
    assert done.path == ["m0*", "m2", "m4", "m6", "m7", "m8", "summary"]


def test_a_tail_of_zero_sends_nothing_again_but_the_newest_prompt_stays() -> None:
    assert passed(mixed(9), exactly(3_000, keep=600, tail=0)).path == ["m7", "m8", "summary"]
    assert "m8" in passed([*mixed(9), *steps(6, 400)], exactly(1_000, keep=100, tail=0)).path


def test_a_long_later_turn_is_compacted_too() -> None:
    messages = [*TEN, *steps(20, 800), model(40, "mid"), *steps(1, 800, "d")]
    assert "u9" in passed(messages, exactly(2_000, keep=100)).path


def test_a_summary_behind_the_cut_is_replaced_too() -> None:
    message = said(PREFIX + "known" + SUFFIX, "s")
    done = passed(
        [user(2_000, "u0"), model(2_000, "a0"), user(400, "u1"), message, said("on")],
        exactly(900, keep=120),
    )
    assert "s" not in done.path and done.path.count("summary") == 1 and "known" in done.prompts[0]


def test_no_character_is_cut_in_two() -> None:
    messages = [user(2_000, "u0"), called("read", "c"), result("日本語", "c"), *mixed(4)]
    (prompt,) = passed(messages, exactly(2_000, keep=100) | {"max_tool_result_chars": 7}).prompts
    assert "日本\n[... 3 more characters truncated]" in prompt


def test_a_call_stands_in_one_line_with_its_result() -> None:
    messages = [
        said("hi", "u"),
        called("read", "c", "a1", text="I look.", path="a.go"),
        result("x" * 30, "c"),
        result("orphan", "none"),
        called("read", "d", "a2", n=1),
        result("one", "d", "r1"),
        called("read", "d", "a3", n=2),
        result("two", "d", "r2"),
        *mixed(5),
    ]
    (prompt,) = passed(messages, exactly(2_000, keep=100) | {"max_tool_result_chars": 20}).prompts
    assert (
        "\n".join(
            [
                "[User]: hi",
                "[Assistant]: I look.",
                '[Assistant → read(path="a.go")]: ' + "x" * 20,
                "[... 10 more characters truncated]",
                "[Tool Result]: orphan",
                "[Assistant → read(n=1)]: one",
                "[Assistant → read(n=2)]: two",
            ]
        )
        in prompt
    )


def test_model_provider_and_focus_can_be_set() -> None:
    config: Options = {
        "context_window": 2_000,
        "reserve_tokens": 0,
        "keep_recent_tokens": 100,
        "summarization_model": "small",
        "summarization_provider": "openai",
        "summarization_focus": "tests",
    }
    (request,) = passed(mixed(9), config, instructions="and names").model.requests
    assert request.model == "openai/small" and request.prompt.endswith(
        "Additional focus: tests\nand names"
    )


def test_a_user_who_mentions_the_tag_is_not_a_summary() -> None:
    mention = said("please put it between <summary> and </summary>, " + "x" * 2_000, "m")
    (request,) = passed([mention, *mixed(6)], exactly(2_000, keep=100)).model.requests
    assert request.previous == "" and (len(PREFIX), len(SUFFIX)) == (96, 11)


@pytest.mark.parametrize(
    ("text", "answered"),
    [
        ("context_length exceeded", True), ("Context Window", True), ("prompt too-long", True),
        ("exceeds the limit", True), ("reduce your message", True), ("500 Internal Server Error", False), ("", False),
        ("request exceeds your rate limit", False),
    ],
)  # fmt: skip
def test_overflows_are_known_by_their_text_and_a_rate_limit_is_none(
    text: str, answered: bool
) -> None:
    done = lived("ddx_agent", mixed(20, 20_000), full=False, window=131_072)
    assert (done.live.on_error(text) is not None) is answered
