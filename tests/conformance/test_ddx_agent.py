"""The DDx agent's published table, row by row, and what else its documentation promises."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest
from conformance.rows import Row, reported
from live.talk import answered, asked

from builders import called, result, rules, said, told
from workbench.compaction.engine import compact
from workbench.compaction.file_lists import lists_in
from workbench.compaction.presets import preset
from workbench.compaction.presets.ddx_agent import (
    DDX_AGENT,
    NO_SUMMARY,
    DdxCompact,
    DdxPrompt,
    ddx_agent,
    first_bytes,
    truncated,
)
from workbench.compaction.presets.ddx_agent.cut import (
    PREFIX,
    SUFFIX,
    CompactionNoFit,
    Config,
    find_cut_point,
    first_cut,
    fitted,
    places,
    recovered,
)
from workbench.compaction.presets.token_counters import ddx_tokens, quarter_up
from workbench.compaction.stage import Budget
from workbench.compaction.trigger import Situation
from workbench.errors import ModelError
from workbench.live.compactor import Compactor
from workbench.models.scripted import Scripted
from workbench.transcript.context import Context
from workbench.transcript.files import merged, touched
from workbench.transcript.message import Message, Summary, ToolCall, Usage, plain_text

HOST = DDX_AGENT.host


def injected(text: str, id: str = "summary") -> Summary:
    return Summary(id=id, text=text, lead=PREFIX, tail=SUFFIX)


def exactly(window: int, keep: int = 8_192, tail: int = 20_000, reserve: int = 0, percent: int = 100) -> Config:
    return Config(
        context_window=window,
        keep_recent_tokens=keep,
        user_message_tail_tokens=tail,
        reserve_tokens=reserve,
        effective_percent=percent,
    )


def long(role: str, chars: int, id: str) -> Message:
    return said("u" * chars, id) if role == "u" else told("a" * chars, id)


def context_of(messages: Iterable[Message], prefix: int = 0) -> Context:
    return Context.of(messages, ddx_tokens, prefix)


def passed(
    messages: Sequence[Message], config: Config, says: str, *, prefix: int = 0, budget: Budget | None = None
) -> tuple[Context | None, list[str]]:
    """One pass: the context afterwards, None where nothing was done, and the prompts that a model was sent."""
    context = context_of(messages, prefix)
    granted = budget or Budget(target=config.threshold, window=config.context_window)
    plan = DdxCompact(config).plan(context, granted)
    return (None, []) if plan is None else (plan.apply(context, [says]), [request.prompt for request in plan.requests])


def cut_of(messages: Sequence[Message], config: Config, prefix: int = 0) -> int:
    context = context_of(messages, prefix)
    fit = fitted(context, Budget(target=config.threshold, window=config.context_window), config)
    assert fit is not None
    return fit.keep


def found(messages: Sequence[Message], keep: int) -> int:
    return find_cut_point(messages, places(messages), keep)


def tried(messages: Sequence[Message], keep: int) -> tuple[int, int]:
    return first_cut(messages, places(messages), keep)


def roles(context: Context) -> list[str]:
    return [message.role for message in context.messages]


def trigger_row() -> dict[str, object]:
    config = Config(context_window=32_768)
    return {
        "20000": config.due(20_000), "25000": config.due(25_000), "threshold": config.threshold,
        "at": config.due(22_937), "above": config.due(22_938),
    }  # fmt: skip


def truncations() -> dict[str, object]:
    text = "r" * 3_000
    return {
        "says": "1000 more characters truncated" in truncated(text, 2_000), "unchanged": truncated(text, 0) == text,
    }  # fmt: skip


def never_the_tool() -> dict[str, object]:
    messages = [said("hello there!"), called("read", "c"), result("r", "c"), said("thanks", "u1")]
    plain = [messages[0], told("of course"), result("r", "none"), messages[3]]
    return {"with a call": found(messages, 10), "cut": found(plain, 10)}


def forty_one() -> dict[str, object]:
    user = "please do the next step"
    messages: list[Message] = [said(user, "u")]
    for i in range(20):
        messages += [told("a" * 520, f"a{i}"), said(user, f"u{i}")]
    config = Config(keep_recent_tokens=200)
    after, _ = passed(messages, config, "## Goal\nfinish the work that began")
    assert after is not None
    return {
        "cut": cut_of(messages, config), "length": len(after.messages),
        "users": sum(m.role == "user" for m in after.messages[:19]), "last": roles(after)[-1], "tokens": after.tokens,
    }  # fmt: skip


def single_user() -> dict[str, object]:
    context = context_of([said("hi")])
    return {"fit": fitted(context, Budget(target=10**6, window=10**6), exactly(10**6, keep=100_000))}


def with_a_summary() -> dict[str, object]:
    messages = [injected("known", "s"), long("u", 2_000, "u1"), long("a", 2_000, "a1"), long("u", 2_000, "u2")]
    config = exactly(3_000, keep=100)
    after, prompts = passed(messages, config, "merged")
    assert after is not None
    context = context_of(messages)
    plan = DdxCompact(config).plan(context, Budget(target=3_000, window=3_000))
    assert plan is not None
    return {
        "cut": cut_of(messages, config), "input": [m.id for m in plan.requests[0].messages],
        "previous": plan.requests[0].previous, "messages": len(after.messages), "requests": len(prompts),
    }  # fmt: skip


def stuck() -> dict[str, object]:
    """A prompt and an answer, and four more answers: nothing before the prompt can go."""
    live = Compactor(replace(ddx_agent(exactly(100, keep=0)), host=replace(HOST, stuck_after=3)), window=100)
    history, endings = [asked("u" * 200), answered("a" * 200)], []
    for _ in range(3):
        live.before_request(history)
        endings.append(live.ending and live.ending.code)
        history = [*history, answered("a" * 40)]
    return {"estimate": ddx_tokens(said("u" * 200)) + ddx_tokens(told("a" * 200)), "ending": endings}


def no_fit_then_fit() -> dict[str, object]:
    messages = [m for i in range(5) for m in (long("u", 120, f"u{i}"), long("a", 120, f"a{i}"))]
    messages.append(said("DO-THE-THING", "last"))
    config = exactly(80, keep=20)
    prefix = ddx_tokens(rules("s" * 120))
    after, _ = passed(messages, config, "b" * 100, prefix=prefix)
    assert after is not None
    summary = after.messages[-1]
    assert isinstance(summary, Summary)
    return {
        "prefix": prefix, "first": tried(messages, 20)[0], "cut": cut_of(messages, config, prefix),
        "body": len(summary.text), "history": [plain_text(after.messages[0]), len(after.messages)],
        "tokens": after.spoken, "with prefix": after.tokens,
    }  # fmt: skip


def no_fit() -> dict[str, object]:
    messages = [long("u", 120, "u"), long("a", 120, "a"), said("DO-THE-THING", "last")]
    config, prefix = exactly(80, keep=20), ddx_tokens(rules("s" * 260))
    context = context_of(messages, prefix)
    try:
        fitted(context, Budget(target=80, window=80), config)
        error = ""
    except CompactionNoFit as no:
        error = type(no).__name__
    model = Scripted([])
    done = compact(context, ddx_agent(config).strategy, Budget(target=80, window=80), model)
    return {"prefix": prefix, "error": error, "requests": len(model.requests), "unchanged": done.after is context}


def tail_of_one() -> dict[str, object]:
    messages = [long("u", 160, "u0"), long("a", 100, "a0"), long("u", 100, "u1"), said("p" * 20, "last")]
    config, prefix = exactly(100, keep=5), ddx_tokens(rules("s" * 120))
    after, _ = passed(messages, config, "what was done in these turns", prefix=prefix)
    assert after is not None
    return {
        "estimate": context_of(messages, prefix).tokens, "cut": cut_of(messages, config, prefix),
        "tail": [m.id for m in after.messages[:-1]], "tokens": after.spoken,
    }  # fmt: skip


def eight_tail_users() -> dict[str, object]:
    messages: list[Message] = [long("u", 120, "u")]
    for i in range(8):
        messages += [long("a", 120, f"a{i}"), long("u", 120, f"u{i}")]
    messages.append(long("u", 80, "last"))
    config = exactly(500, keep=80, tail=500, reserve=50)
    after, _ = passed(messages, config, "what was done")
    assert after is not None
    return {
        "cut": cut_of(messages, config), "tail": sum(m.role == "user" for m in after.messages[:8]),
        "messages": len(after.messages),
    }  # fmt: skip


def tool_heavy() -> dict[str, object]:
    messages = [said("do it")]
    for name in ("one", "two"):
        messages += [called("read", name), result("r" * 400, name)]
    config = exactly(150, keep=50)
    after, _ = passed(messages, config, "what was done")
    assert after is not None
    return {"cut": cut_of(messages, config), "history": roles(after)}


def last_is_a_summary() -> dict[str, object]:
    messages = [long("u", 2_000, "u"), injected("known", "s")]
    plain = [long("u", 2_000, "u"), said(PREFIX + "known" + SUFFIX, "s")]
    config = exactly(100, keep=10)
    return {"typed": passed(messages, config, "x")[0], "plain": passed(plain, config, "x")[0]}


def disabled() -> dict[str, object]:
    return {"due": ddx_agent(Config(enabled=False)).trigger.check(Situation(tokens=10**9, window=1_000))}


def resumed() -> dict[str, object]:
    text = "the limit is 4711\n\n<read-files>\na.go\n</read-files>\n\n<modified-files>\nb.go\n</modified-files>"
    messages = [said(PREFIX + text + SUFFIX, "s"), *(long("ua"[i % 2], 2_000, f"m{i}") for i in range(5))]
    after, prompts = passed(messages, exactly(2_000, keep=100), "merged")
    assert after is not None
    files = lists_in(plain_text(after.messages[-1]))
    return {
        "prompt": "the limit is 4711" in prompts[0], "update": "<previous-summary>" in prompts[0],
        "read": set(files.read), "modified": set(files.modified),
    }  # fmt: skip


def five_calls() -> dict[str, object]:
    calls = [
        ToolCall("1", "read", {"path": "main.go"}), ToolCall("2", "read", {"path": "go.mod"}),
        ToolCall("3", "edit", {"path": "main.go"}), ToolCall("4", "write", {"path": "new.go"}),
        ToolCall("5", "bash", {"command": "go test"}),
    ]  # fmt: skip
    each = [touched(call.name, call.arguments) for call in calls]
    return {
        "read": {path for files in each for path in files.read},
        "modified": {path for files in each for path in files.modified}, "shown": set(merged(each).read),
    }  # fmt: skip


HISTORY = [m for _ in range(9) for m in (asked("q" * 20_000), answered("a" * 20_000))]


def loop(answers: Sequence[bool], compactor: Compactor, history: Sequence[dict[str, object]] = HISTORY) -> object:
    """The agent's loop: each answer of the provider is good or an overflow. How it ends, and requests made."""
    compactor.before_request(history)
    for requests, good in enumerate(answers, 1):
        if good:
            return "success", requests
        if compactor.on_error("context length exceeded") is None:
            return "error", requests
    return "error", len(answers)


def loops() -> dict[str, object]:
    def shrinks() -> Compactor:
        return Compactor(DDX_AGENT, model=Scripted(["so far"] * 9), window=131_072)

    return {
        "once": loop([False, True], shrinks()),
        "always": loop([False] * 10, shrinks()),
        "no compactor": loop([False, True], Compactor("none")),
        "no fit": loop([False, True], Compactor(DDX_AGENT, model=Scripted([]), window=80), [asked("x" * 400)]),
    }


def no_op() -> list[str]:
    live = Compactor(ddx_agent(exactly(100, keep=0)), window=100)
    live.before_request([asked("u" * 200), answered("a" * 200)])
    return [event.type for event in live.events]


LET_ME = called("read", "", text="I'll read that file.", path="main.go")
TEN = [said(f"message {i}", f"u{i}") for i in range(10)]

ROWS = (
    Row(
        "ddx_agent", "tokens of nothing, hi, hello world, 1000 bytes", {"": 0, "hi": 1, "hello world": 3, "1000": 250},
        lambda: {"1000": quarter_up("x" * 1_000), **{t: quarter_up(t) for t in ("", "hi", "hello world")}},
    ),
    Row("ddx_agent", "assistant with a call", {"tokens": 14}, lambda: {"tokens": ddx_tokens(LET_ME)}),
    Row(
        "ddx_agent", "ShouldCompact of (32768, 95, 8192)",
        {"20000": False, "25000": True, "threshold": 22_937, "at": False, "above": True}, trigger_row,
    ),
    Row(
        "ddx_agent", "window 0; percent 0; reserve 10000 of 100",
        {"window": False, "percent": False, "reserve": False},
        lambda: {
            "window": exactly(0, reserve=8_192, percent=95).due(10**9), "percent": exactly(100, percent=0).due(10**9),
            "reserve": exactly(100, reserve=10_000, percent=95).due(10**9),
        },
    ),
    Row(
        "ddx_agent", "usage 1000/500/200/100", {"tokens": 1_800},
        lambda: {"tokens": reported(Usage(input=1_000, output=500, cache_read=200, cache_write=100))},
    ),
    Row("ddx_agent", "truncate 3000 bytes to 2000; limit 0", {"says": True, "unchanged": True}, truncations),
    Row(
        "ddx_agent", "10 users of 4 tokens, keep 20", {"tokens": 4, "cut": 5},
        lambda: {"tokens": ddx_tokens(TEN[0]), "cut": found(TEN, 20)},
    ),
    Row(
        "ddx_agent", "user, assistant, tool, user thanks; keep 10", {"cut": 1, "with a call": 3}, never_the_tool,
    ),
    Row(
        "ddx_agent", "no messages; one short user", {"none": 0, "one": 0},
        lambda: {"none": found([], 100_000), "one": found([said("hi")], 100_000)},
    ),
    Row(
        "ddx_agent", "41 messages, keep 200, default config",
        {"cut": 37, "length": 24, "users": 19, "last": "summary", "tokens": 450}, forty_one,
    ),
    Row("ddx_agent", "single short user, huge keep", {"fit": None}, single_user),
    Row(
        "ddx_agent", "summary, u 2000, a 2000, u 2000; keep 100",
        {"cut": 3, "input": ["u1", "a1"], "previous": "known", "messages": 3, "requests": 1}, with_a_summary,
    ),
    Row(
        "ddx_agent", "window 100, keep 0, stuck 3",
        {"estimate": 104, "ending": [None, None, "compaction_stuck"]}, stuck,
    ),
    Row(
        "ddx_agent", "prefix 32, window 80, keep 20: no fit, then fit",
        {
            "prefix": 32, "first": 9, "cut": 10, "body": 64, "history": ["DO-THE-THING", 2], "tokens": 48,
            "with prefix": 80,
        },
        no_fit_then_fit,
    ),
    Row(
        "ddx_agent", "prefix 67, window 80: no fit",
        {"prefix": 67, "error": "CompactionNoFit", "requests": 0, "unchanged": True}, no_fit,
    ),
    Row(
        "ddx_agent", "window 100, keep 5: one user message again",
        {"estimate": 133, "cut": 3, "tail": ["u1", "last"], "tokens": 67}, tail_of_one,
    ),
    Row(
        "ddx_agent", "window 500, reserve 50, keep 80, tail 500", {"cut": 15, "tail": 8, "messages": 12},
        eight_tail_users,
    ),
    Row("ddx_agent", "u, 2 x (call, result); keep 50", {"cut": 5, "history": ["user", "summary"]}, tool_heavy),
    Row("ddx_agent", "last message already a summary", {"typed": None, "plain": None}, last_is_a_summary),
    Row("ddx_agent", "disabled", {"due": None}, disabled),
    Row(
        "ddx_agent", "resumed run with a fresh compactor",
        {"prompt": True, "update": True, "read": {"a.go"}, "modified": {"b.go"}}, resumed,
    ),
    Row(
        "ddx_agent", "5 calls: read, read, edit, write, bash",
        {"read": {"main.go", "go.mod"}, "modified": {"main.go", "new.go"}, "shown": {"go.mod"}}, five_calls,
    ),
    Row(
        "ddx_agent", "loop with overflows",
        {
            "once": ("success", 2), "always": ("error", 2), "no compactor": ("error", 1), "no fit": ("error", 1),
        },
        loops,
    ),
    Row("ddx_agent", "compactor returns a no-op", {"events": []}, lambda: {"events": no_op()}),
)  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_the_table_holds(row: Row) -> None:
    row.check()


def test_the_defaults_are_the_documents() -> None:
    assert Config() == Config(
        enabled=True,
        context_window=131_072,
        reserve_tokens=8_192,
        keep_recent_tokens=8_192,
        max_tool_result_chars=2_000,
        effective_percent=95,
        user_message_tail_tokens=20_000,
    )
    assert (Config().threshold, Config().most_summary_tokens) == (116_326, 6_553)


def test_the_trigger_counts_the_whole_request() -> None:
    check = DDX_AGENT.trigger.check
    assert check(Situation(tokens=116_326, window=131_072)) is None
    budget = check(Situation(tokens=116_327, window=131_072))
    assert budget is not None and budget.target == 116_326


def test_at_least_one_message_goes_where_everything_would_be_kept() -> None:
    messages = [said("one", "u0"), called("read", "c"), result("r", "c"), told("two", "a1"), said("three", "u1")]
    assert found(messages, 100_000) == 0
    assert tried(messages, 100_000) == (3, 4)


def test_a_reserve_that_fills_the_window_is_given_up() -> None:
    small = Config().at(4_000)
    assert (small.reserve_tokens, small.keep_recent_tokens) == (0, 2_000)
    assert DDX_AGENT.trigger.check(Situation(tokens=3_801, window=4_000)) is not None
    assert DDX_AGENT.trigger.check(Situation(tokens=3_800, window=4_000)) is None


def test_a_summarisers_error_does_not_end_the_run() -> None:
    messages = [long("ua"[i % 2], 2_000, f"m{i}") for i in range(9)]
    config = exactly(2_000, keep=100)
    with pytest.raises(ModelError, match="down"):
        budget = Budget(target=config.threshold, window=2_000)
        compact(context_of(messages), ddx_agent(config).strategy, budget, Scripted([ModelError("down")]))


def test_an_empty_answer_becomes_the_fallback() -> None:
    messages = [long("ua"[i % 2], 2_000, f"m{i}") for i in range(9)]
    config = exactly(2_000, keep=100)
    budget = Budget(target=config.threshold, window=2_000)
    done = compact(context_of(messages), ddx_agent(config).strategy, budget, Scripted(["  "]))
    assert plain_text(done.after.messages[-1]) == PREFIX + NO_SUMMARY + SUFFIX


def test_lists_that_the_model_wrote_again_are_taken_out() -> None:
    steps = [called("read", "c", path="a.go"), result("x" * 4_000, "c")]
    messages = [said("go", "u0"), *steps, told("done", "a0"), said("more", "u1")]
    says = "## Goal\nx\n\n<read-files>\ninvented.go\n</read-files>"
    after, _ = passed(messages, exactly(900, keep=1), says)
    assert after is not None
    words = plain_text(after.messages[-1])
    assert "invented.go" not in words and words.endswith("<read-files>\na.go\n</read-files>" + SUFFIX)


def test_the_result_has_the_sizes_and_a_warning() -> None:
    messages = [long("ua"[i % 2], 2_000, f"m{i}") for i in range(9)]
    config = exactly(2_000, keep=600, tail=0)
    budget = Budget(target=config.threshold, window=2_000)
    fit = fitted(context_of(messages), budget, config)
    done = compact(context_of(messages), ddx_agent(config).strategy, budget, Scripted(["what was done"]))
    (record,) = done.stages
    assert fit is not None and fit.keep == 7
    assert (record.tokens_before, record.tokens_after) == (done.before.tokens, done.after.tokens)
    assert [m.text for m in record.wrote if isinstance(m, Summary)] == ["what was done"]
    assert "less exact" in HOST.warning


def test_the_summary_is_last_and_the_users_words_come_first_in_their_order() -> None:
    messages = [long("ua"[i % 2], 2_000, f"m{i}") for i in range(9)]
    after, _ = passed(messages, exactly(3_000, keep=600), "what was done")
    assert after is not None and roles(after)[-1] == "summary"
    assert [m.id for m in after.messages[:-1]] == ["m0", "m2", "m4", "m6", "m7", "m8"]
    assert len(plain_text(after.messages[0])) < 2_000, "the oldest is cut to what is left"


def test_a_tail_of_zero_sends_nothing_again_but_the_newest_prompt_stays() -> None:
    messages = [long("ua"[i % 2], 2_000, f"m{i}") for i in range(9)]
    after, _ = passed(messages, exactly(3_000, keep=600, tail=0), "what was done")
    assert after is not None
    assert [m.id for m in after.messages[:-1]] == ["m7", "m8"]
    steps = [m for i in range(6) for m in (called("read", f"c{i}"), result("r" * 400, f"c{i}"))]
    after, _ = passed([*messages, *steps], exactly(1_000, keep=100, tail=0), "what was done")
    assert after is not None and "m8" in [m.id for m in after.messages]


def test_a_long_later_turn_is_compacted_too() -> None:
    steps = [m for i in range(20) for m in (called("read", f"c{i}"), result("r" * 800, f"c{i}"))]
    messages = [*TEN, *steps, told("half done", "mid"), *(replace(m, id=f"{m.id}+") for m in steps[:2])]
    done = compact(
        context_of(messages), ddx_agent(exactly(2_000, keep=100)).strategy, Budget(target=2_000, window=2_000),
        Scripted(["what was done"]),
    )  # fmt: skip
    assert done.outcome == "compacted" and not done.violations
    assert "u9" in [m.id for m in done.after.messages]


def test_a_summary_behind_the_cut_is_replaced_too() -> None:
    messages = [
        long("u", 2_000, "u0"),
        long("a", 2_000, "a0"),
        long("u", 400, "u1"),
        injected("known", "s"),
        said("on"),
    ]
    after, prompts = passed(messages, exactly(900, keep=120), "merged")
    assert after is not None and sum(isinstance(m, Summary) for m in after.messages) == 1
    assert "known" in prompts[0]


def test_no_character_is_cut_in_two_and_half_a_character_that_fits_stays() -> None:
    assert first_bytes("a\ud83d", 4) == "a\ud83d"
    assert truncated("日本語", 7) == "日本\n[... 3 more characters truncated]"


def test_a_call_stands_in_one_line_with_its_result() -> None:
    messages = [
        rules("be kind"), said("hi"), called("read", "c", text="I look.", path="a.go"), result("x" * 30, "c"),
        result("orphan", "none"),
    ]  # fmt: skip
    assert DdxPrompt(result_chars=20).transcript(messages) == "\n".join(
        [
            "[System]: be kind", "[User]: hi", "[Assistant]: I look.",
            '[Assistant → read(path="a.go")]: ' + "x" * 20, "[... 10 more characters truncated]",
            "[Tool Result]: orphan",
        ]
    )  # fmt: skip


def test_results_of_one_call_id_used_twice_keep_to_their_calls() -> None:
    messages = [called("read", "c", "a1", n=1), result("one", "c", "r1"), called("read", "c", "a2", n=2)]
    assert DdxPrompt(result_chars=99).transcript([*messages, result("two", "c", "r2")]) == (
        "[Assistant → read(n=1)]: one\n[Assistant → read(n=2)]: two"
    )


def test_model_provider_and_focus_can_be_set() -> None:
    config = Config(
        context_window=2_000, reserve_tokens=0, keep_recent_tokens=100, summarization_model="small",
        summarization_provider="openai", summarization_focus="tests",
    )  # fmt: skip
    context = context_of([long("ua"[i % 2], 2_000, f"m{i}") for i in range(9)])
    plan = DdxCompact(config).plan(context, Budget(target=1_900, window=2_000, instructions="and names"))
    assert plan is not None
    (request,) = plan.requests
    assert request.model == "openai/small" and request.prompt.endswith("Additional focus: tests\nand names")
    assert Config(summarization_model="small").summarizer == "small"
    assert request.max_tokens == 512


def test_a_user_who_mentions_the_tag_is_not_a_summary() -> None:
    assert recovered(said("please put it between <summary> and </summary>, " + "x" * 100)) is None
    assert recovered(said(PREFIX + "known" + SUFFIX)) is not None and recovered(injected("known")) is not None
    assert (len(PREFIX), len(SUFFIX)) == (96, 11)


def test_the_estimate_is_the_sum_over_messages() -> None:
    assert sum(map(ddx_tokens, TEN)) == 40
    assert ddx_tokens(result("r" * 400, "call_1")) == 1 + 100 + 2


def test_a_comparison_sets_the_size() -> None:
    steps = [m for i in range(200) for m in (called("read", f"c{i}"), result("r" * 800, f"c{i}"))]
    context = context_of([said("do it all"), *steps])
    for share in (0.05, 0.1, 0.2):
        target = int(context.tokens * share)
        budget = Budget(target=target, window=10**6, reason="matched")
        done = compact(context, DDX_AGENT.strategy, budget, Scripted(["x"]))
        assert done.after.tokens <= target and not done.violations and done.outcome == "compacted"


def test_the_preset_is_found_by_name() -> None:
    assert preset("ddx_agent") is DDX_AGENT
