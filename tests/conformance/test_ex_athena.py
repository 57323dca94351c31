"""ExAthena's published table, row by row, and what else its guide promises, through the public
face.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pytest
from conformance.driver import Lived, Record, lived, records, tokens
from conformance.rows import Row

import workbench as wb
from builders import called, conversation, result, rules, said, told
from workbench import (
    AssistantMessage,
    Budget,
    Cancel,
    Compactor,
    Completion,
    Context,
    Hooks,
    ModelError,
    Plan,
    Replace,
    Session,
    SettingError,
    SummaryRequest,
    Text,
    ToolCall,
    UserMessage,
    preset,
)
from workbench.engine.compaction.plan import Stage
from workbench.engine.transcript.message import Message, ToolResult

HUNDRED = "x" * 368
"""A hundred tokens as a message."""
FATAL = ("error_compaction_failed", "fatal")


def hundreds(n: int, id: str = "a") -> list[Message]:
    return [told(HUNDRED, f"{id}{i}") for i in range(n)]


def pairs(n: int, size: int, name: str = "read") -> list[Message]:
    """n calls of a tool with results of so many bytes."""
    both = [
        (called(name, f"c{i}", path=f"src/{i}.py"), result("x" * size, f"c{i}", name=name))
        for i in range(n)
    ]
    return [message for pair in both for message in pair]


def parallel(n: int, size: int, id: str = "p", text: str = "", tool: str = "read") -> list[Message]:
    """One message with n calls, and their results."""
    calls = tuple(ToolCall(f"{id}c{i}", tool, {"path": f"src/{i}.py"}) for i in range(n))
    asking = AssistantMessage(id=id, blocks=((Text(text),) if text else ()) + calls)
    return [asking, *(result("x" * size, call.id, name=tool) for call in calls)]


def ran(
    messages: Sequence[Message],
    window: int,
    says: Sequence[str | Exception] = ("short",) * 3,
    **more: Any,
) -> Lived:
    """A request of these messages in that window, under the preset with these options."""
    live = ("pins", "system", "hooks", "by_hand")
    options = {name: value for name, value in more.items() if name not in (*live, "by")}
    chosen = preset(more.get("by", "ex_athena"), **options)
    return lived(
        chosen,
        messages,
        says,
        full=False,
        window=window,
        **{k: v for k, v in more.items() if k in live},
    )


def through(*stages: Stage | str, messages: Sequence[Message], **more: Any) -> Lived:
    """These messages after these stages, which run whatever the size."""
    return ran(messages, 10**6, compact_at=0.000_01, compaction_pipeline=stages, **more)


def texts(done: Lived) -> list[str]:
    return [str(message["content"] or "") for message in done.sent]


def stages_of(done: Lived) -> list[str]:
    return [record.name for record in done.ended.stages]


def ending(done: Lived) -> tuple[str, str] | None:
    end = done.live.ending
    return None if end is None else (end.code, end.category)


@dataclass(frozen=True)
class Drop:
    """A host's stage that drops a stretch of messages, whatever stands in it."""

    start: int = 0
    stop: int = 1
    name: ClassVar[str] = "drop"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        return Plan((Replace(self.start, self.stop),)) if len(context.messages) > 1 else None


@dataclass(frozen=True)
class Idle:
    name: ClassVar[str] = "skip"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        return None


@dataclass(frozen=True)
class Failing:
    name: ClassVar[str] = "fail"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        raise ModelError("boom")


@dataclass(frozen=True)
class Shout:
    """A host's stage that rewrites all messages in place."""

    name: ClassVar[str] = "shout"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        new = [
            replace(message, blocks=(Text("X"),))
            for message in context.messages
            if message.role == "user"
        ]
        return Plan(tuple(Replace(i, i + 1, (message,)) for i, message in enumerate(new)))


def fired(n: int) -> tuple[bool, list[str]]:
    """Whether a window of 1,000 with n hundred tokens is compacted, and the stages that were
    asked.
    """
    seen: list[str] = []
    hooks = Hooks(
        before=lambda due: seen.append("due"),
        before_stage=lambda name, at, budget: seen.append(name),
    )
    ran(hundreds(n), 1_000, compaction_pipeline=(Idle(),), hooks=hooks)
    return "due" in seen, seen[1:]


def requested() -> list[str]:
    done = ran([said("go")], 1_000, compaction_pipeline=(Idle(), Idle()))
    done.live.request_compaction()
    done.live.after_turn()
    return done.types


def own_pipeline() -> dict[str, object]:
    done = ran(hundreds(8), 1_000, compact_at=0.5, compaction_pipeline=(Drop(), Idle()))
    ended, started = done.ended, done.started
    return {
        "stages": stages_of(done),
        "before": ended.tokens_before,
        "after": ended.tokens_after,
        "reason": started.reason,
        "dropped": len(done.given) - len(done.path),
    }


def failed(*stages: Stage) -> dict[str, object]:
    done = ran(hundreds(8), 1_000, compact_at=0.5, compaction_pipeline=stages)
    return {
        "why": done.live.ending and done.live.ending.why,
        "ending": ending(done),
        "whole": done.sent == done.host,
    }


def forced_and_not() -> dict[str, object]:
    done = ran(
        [told("x" * 168, "a0"), told("x" * 168, "a1")],
        1_000,
        compact_at=0.99,
        compaction_pipeline=(Drop(),),
    )
    calm = done.types
    assert done.live.on_error("prompt is too long") is not None
    return {
        "unforced": calm,
        "stages": stages_of(done),
        "reason": done.started.reason,
    }


def pinned(stage: Stage) -> int:
    """How often a pinned result is there after a host's stage."""
    pair: list[Message] = [called("read", "c", path="a"), result("keep me " * 50, "c")]
    done = ran(
        [*hundreds(4), *pair, *hundreds(4, "b")],
        1_000,
        compact_at=0.1,
        compaction_pipeline=(stage,),
        pins=lambda record: "keep me" in str(record["content"]),
    )
    return done.path.count("r-c")


def later_stage() -> dict[str, object]:
    seen: list[str] = []
    hooks = Hooks(
        before_stage=lambda name, at, budget: seen.append(f"{name} {at.tokens >= 10_000}")
    )
    options: dict[str, Any] = {
        "system": "s" * 40_000,
        "hooks": hooks,
        "compaction_pipeline": ("budget_reduction", Idle()),
    }
    done = ran([said("go"), *pairs(1, 24_000)], 12_000, compact_at=0.5, **options)
    return {"asked": seen, "at least 10000 after": done.live.tokens >= 10_000}


def too_long_result() -> dict[str, object]:
    messages = [
        said("go"),
        *(m for i, n in enumerate((20_000, 16_000, 20_000)) for m in parallel(1, n, f"p{i}")),
    ]
    newest_result = messages[-1]
    assert isinstance(newest_result, ToolResult)
    messages[-1] = replace(newest_result, blocks=(Text("keep me" + "p" * 20_000),))

    def pins(record: Record) -> bool:
        return str(record["content"]).startswith("keep me")

    done, newest = (
        ran(messages, 20_000, by=preset(name), pins=pins)
        for name in ("ex_athena", "ex_athena_head")
    )
    mark = texts(done)[2]
    ref = mark.partition("ref=")[2].rstrip("]")
    return {
        "marker": mark == f"[truncated; full=20000 chars; ref={ref}]",
        "newest": texts(newest)[2].startswith(
            f"[old output cleared to save context (20000 chars, ref={ref})"
        ),
        "archived": "x" * 20_000 in done.live.recall(ref, tokens=100_000),
        "path": done.path,
    }


def snipped(messages: Sequence[Message], **options: Any) -> list[int]:
    shown = texts(through("snip", messages=messages, **options))
    return [
        i
        for i, text in enumerate(shown)
        if text.startswith("<snipped: stale tool-result for call ")
    ]


def run_of_four() -> dict[str, object]:
    messages = [said("u"), *parallel(4, 400), told("a"), said("v", "u1"), told("b", "a1")]
    options: dict[str, Any] = {"chars": 20, "live_suffix_count": 4}
    short = texts(through("microcompact", messages=messages, by="ex_athena_head", **options))
    one = through("microcompact", messages=messages, **options)
    return {
        "excerpts": short[2:5] == ["[microcompact excerpt] " + "x" * 20 + " […]"] * 3,
        "fourth": short[5] == "x" * 400,
        "merged": one.path,
        "first line": one.summary.splitlines()[0],
        "bullets": [line[:6] for line in one.summary.splitlines()[1:]],
    }


def masked() -> dict[str, object]:
    shown = texts(through("observation_mask", messages=[said("go"), *pairs(10, 4_000)]))[2::2]
    clear = "[output cleared to save context (4000 chars) — re-run read (src/{}.py) if needed]"
    return {
        "masked": shown[:5] == [clear.format(i) for i in range(5)],
        "intact": shown[5:] == ["x" * 4_000] * 5,
        "tiny": through("observation_mask", messages=pairs(10, 40)).types,
        "todo": through("observation_mask", messages=pairs(10, 4_000, "todo_write")).types,
    }


def same_call_twice(size: int = 400) -> list[Message]:
    message, two = called("read", "c1", path="a.py"), called("read", "c2", path="a.py")
    return [
        said("go"),
        message,
        result("x" * size, "c1"),
        two,
        result("x" * size, "c2"),
        told("done", "a9"),
    ]


SEVEN = [
    rules("x" * 288),
    *(m for i in (1, 2, 3) for m in (said("x" * 448, f"Q{i}"), told("x" * 448, f"A{i}"))),
]


def seven_messages() -> dict[str, object]:
    done = ran(SEVEN, 1_000, ["what happened"], live_suffix_count=2)
    return {
        "path": done.path,
        "before": done.ended.tokens_before,
        "said by": {one["role"] for one in done.sent if one["content"] == "what happened"},
        "text": done.summary,
    }


def many_pins() -> list[str]:
    memory, skill = (replace(said(name * 400, name), name=name) for name in ("memory", "skill:git"))
    return ran([memory, skill, said(HUNDRED, "u"), *hundreds(20)], 4_000).path[:4]


def after_overflow(reactive: bool) -> dict[str, object]:
    done = ran([said("go"), *hundreds(30)], 100_000, reactive_compact=reactive)
    retry = done.live.on_error("prompt is too long: 226360 tokens > 200000 maximum")
    return {"retried": retry is not None and len(retry.messages) < 31, "ending": ending(done)}


def auto_pinned() -> dict[str, object]:
    both = AssistantMessage(
        id="ab", blocks=(ToolCall("p2", "ExitPlanMode", {}), ToolCall("r2", "read", {}))
    )
    mixed: list[Message] = [both, result("yes", "p2"), result("text", "r2")]
    plan: list[Message] = [called("ExitPlanMode", "p"), result("go on", "p")]
    orphan = result("who asked?", "nobody", id="orphan")
    messages = [said("go"), *plan, orphan, *mixed, *pairs(10, 900), *hundreds(6)]
    done = ran(messages, 100_000, auto_pin=("ExitPlanMode",))
    assert done.live.on_error("prompt is too long") is not None
    path = done.go_on([], full=False).path
    pins = {"a-p", "r-p", "ab", "r-p2", "r-r2"}
    return {"pinned": pins <= set(path), "orphan": "orphan" in path, "others": "a-c0" in path}


NOT_USED = (
    "a stage that drops or rewrites a pinned message is not used; the original puts the message"
    " back"
)
ROWS = (
    Row(
        "ex_athena", '4000-byte text; call {"cmd":"ls"}; 40 000-byte result',
        {"text": 1008, "call": 67, "result": 10_016, "result in v0.5": 16},
        lambda: {
            "text": tokens("ex_athena", said("x" * 4_000)), "call": tokens("ex_athena", called("bash", cmd="ls")),
            "result": tokens("ex_athena", result("x" * 40_000)),
            "result in v0.5": tokens("ex_athena_0_5", result("x" * 40_000)),
        },
    ),
    Row(
        "ex_athena", "30 results of 3000 bytes", {"HEAD": 22_980, "v0.5": 480},
        lambda: {
            "HEAD": tokens("ex_athena", *[result("x" * 3_000, f"c{i}") for i in range(30)]),
            "v0.5": tokens("ex_athena_0_5", *[result("x" * 3_000, f"c{i}") for i in range(30)]),
        },
    ),
    Row(
        "ex_athena", "system prompt of 4000 bytes", {"more": 1008},
        lambda: {"more": ran([said("hi")], 10**6, system="s" * 4_000).live.tokens - tokens("ex_athena", said("hi"))},
        instead="eight more, as for any message",
    ),
    Row(
        "ex_athena", "should_compact: 100 / 700 of 1000 at 0.6; 600",
        {"100": (False, []), "700": (True, ["skip"]), "600": (True, [])},
        lambda: {str(100 * n): fired(n) for n in (1, 7, 6)},
    ),
    Row("ex_athena", "force, tokens 1: all stages skip", {"types": []}, lambda: {"types": requested()}),
    Row(
        "ex_athena", "pipeline [drop-one (-100), skip], 800 of 1000 at 0.5",
        {"stages": ["drop"], "before": 800, "after": 700, "reason": "threshold", "dropped": 1}, own_pipeline,
    ),
    Row(
        "ex_athena", "all skip", {"types": []},
        lambda: {"types": ran(hundreds(8), 1_000, compact_at=0.5, compaction_pipeline=(Idle(), Idle())).types},
    ),
    Row(
        "ex_athena", "[ok, fail]; [fail, ok]",
        {at: {"why": "boom", "ending": FATAL, "whole": True} for at in ("last", "first")},
        lambda: {"last": failed(Drop(), Failing()), "first": failed(Failing(), Drop())},
        instead="the original crashes where the stage that fails is not the last",
    ),
    Row(
        "ex_athena", "forced at 100 of 1000 with 0.99; unforced",
        {"unforced": [], "stages": ["drop"], "reason": "overflow"}, forced_and_not,
    ),
    Row(
        "ex_athena", "pinned tool message dropped by a stage (HEAD)", {"times": 1},
        lambda: {"times": pinned(Drop(2, 8))}, instead=NOT_USED,
    ),
    Row(
        "ex_athena", "pinned message rewritten in place (HEAD)", {"times": 1},
        lambda: {"times": pinned(Shout())}, instead=NOT_USED,
    ),
    Row(
        "ex_athena", "40 000-byte system prompt, 24 000-byte result, window 12 000 at 0.5 (HEAD)",
        {"asked": ["budget_reduction True", "skip True"], "at least 10000 after": True}, later_stage,
    ),
    Row(
        "ex_athena", "result of 20 000 bytes, limit 16 000",
        {
            "marker": True, "newest": True, "archived": True,
            "path": ["u0", "p0", "summary", "p1", "r-p1c0", "p2", "r-p2c0"],
        },
        too_long_result, instead="the original drops the archive when its pipeline ends",
    ),
    Row(
        "ex_athena", "[sys, a, t, a, t, a, t, a, t, a-final], age 2, pin 1", {"snipped": [2]},
        lambda: {"snipped": snipped([rules("s"), *pairs(4, 400), told("end", "af")], snip_age_iterations=2)},
    ),
    Row(
        "ex_athena", "[sys, t, a], age 4", {"snipped": []},
        lambda: {"snipped": snipped([rules("s"), result("x" * 400), told("a")])},
    ),
    Row(
        "ex_athena", "[u, t, t, t, t, a, u, a], excerpt 20, pin 1",
        {
            "excerpts": True, "fourth": True, "merged": ["u0", "summary", "summary", "r-pc3", "a0", "u1", "a1"],
            "first line": "[microcompact: 3 tool results elided]", "bullets": ["- pc0 ", "- pc1 ", "- pc2 "],
        },
        run_of_four, instead="v0.5 merges the results and leaves their calls without any; the calls go along",
    ),
    Row(
        "ex_athena", "t, a, t", {"excerpt": [], "merge": []},
        lambda: {
            kind: through("microcompact", messages=[said("u"), *pairs(2, 400), *hundreds(6)], by=version).types
            for kind, version in (("excerpt", "ex_athena_head"), ("merge", "ex_athena"))
        },
    ),
    Row(
        "ex_athena", "10 read results of 4000 bytes", {"masked": True, "intact": True, "tiny": [], "todo": []}, masked,
    ),
    Row(
        "ex_athena", "same call twice with only tool rows between", {"first": "", "second": "(repeat)"},
        lambda: dict(zip(
            ("first", "second"), texts(through("context_collapse", messages=same_call_twice()))[1:4:2], strict=True
        )),
    ),
    Row(
        "ex_athena", "7 messages, pinned 1, live 2",
        {"path": ["s0", "summary", "Q3", "A3"], "before": 800, "said by": {"assistant"}, "text": "what happened"},
        seven_messages,
    ),
    Row(
        "ex_athena", "memory 1 + skill 1 + pinned 1 + 6", {"path": ["memory", "skill:git", "u", "summary"]},
        lambda: {"path": many_pins()},
    ),
    Row(
        "ex_athena", "3 messages", {"types": []},
        lambda: {"types": through("summary", messages=[rules("s"), said(HUNDRED), told(HUNDRED)]).types},
    ),
    Row(
        "ex_athena", "empty summary text", {"why": "answered with an empty text", "ending": FATAL, "whole": True},
        lambda: empty_summary(),
    ),
    Row(
        "ex_athena", "overflow then success; reactive off",
        {
            "on": {"retried": True, "ending": None},
            "off": {"retried": False, "ending": ("error_prompt_too_long", "capacity")},
        },
        lambda: {"on": after_overflow(True), "off": after_overflow(False)},
    ),
    Row(
        "ex_athena", "auto-pin [ExitPlanMode]", {"pinned": True, "orphan": False, "others": False}, auto_pinned,
    ),
)  # fmt: skip


def empty_summary() -> dict[str, object]:
    done = ran(SEVEN, 1_000, ["  "], live_suffix_count=2)
    assert done.live.ending is not None
    return {
        "why": done.live.ending.why.partition(" ")[2],
        "ending": ending(done),
        "whole": done.sent == done.host,
    }


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_the_table_holds(row: Row) -> None:
    row.check()


def test_the_pipeline_has_the_documents_five_stages_and_a_view() -> None:
    seen: dict[str, list[str]] = {"ex_athena": [], "ex_athena_head": [], "ex_athena_0_5": []}
    for name, stages in seen.items():
        hooks = Hooks(before_stage=lambda stage, at, budget, stages=stages: stages.append(stage))  # type: ignore[misc]
        lived(name, [said("go"), *hundreds(20)], full=False, window=1_500, hooks=hooks)
    assert seen == {
        "ex_athena": ["budget_reduction", "snip", "microcompact", "summary"],
        "ex_athena_head": [
            "budget_reduction",
            "snip",
            "observation_mask",
            "microcompact",
            "summary",
        ],
        "ex_athena_0_5": ["budget_reduction", "snip", "microcompact", "summary"],
    }


def test_cheap_stages_are_enough_where_one_result_is_the_trouble() -> None:
    done = ran([said("go"), *pairs(1, 100_000), *hundreds(6)], 20_000)
    assert stages_of(done) == ["budget_reduction"] and done.prompts == []


@pytest.mark.parametrize("name", ["ex_athena", "ex_athena_head"])
def test_references_survive_all_cheap_stages(name: str) -> None:
    done = lived(
        name, [said("go"), *pairs(20, 20_000), *hundreds(6)], ["S"], full=False, window=40_000
    )
    shown = [text for text in texts(done) if "ref=" in text]
    done.go_on(hundreds(20, "b"), full=False)
    assert len(shown) == 20 and [text for text in texts(done) if "ref=" in text] == shown


def test_the_view_is_sent_and_never_kept() -> None:
    steps: list[Message] = [
        called("read", "c1", path="a.py"),
        result("x" * 4_000, "c1"),
        called("edit", "c2", path="a.py", old="x"),
    ]
    messages = [said("go"), *steps, result("ok", "c2"), *hundreds(3)]
    done = ran(messages, 1_500, compaction_pipeline=("context_collapse",))
    assert texts(done)[2] == "<read superseded by later edit: a.py>"
    assert done.live.original == done.host and stages_of(done) == []


def test_a_repeated_calls_result_is_hidden_too_and_marks_never_make_the_request_longer() -> None:
    shown = texts(through("context_collapse", messages=same_call_twice()))
    assert shown[4].startswith("(repeat)") and shown[2] == "x" * 400
    assert through("context_collapse", messages=same_call_twice(2)).types == []


def test_something_else_between_equal_calls_resets_the_mark() -> None:
    one, two = same_call_twice()[1:3], same_call_twice()[3:5]
    for between in ([said("and?", "u2")], pairs(1, 40, "bash")):
        assert through("context_collapse", messages=[*one, *between, *two]).types == []


def test_a_merged_run_takes_its_calls_along() -> None:
    done = through("microcompact", messages=[said("go"), *parallel(4, 4_000), *hundreds(6)])
    assert done.path[:3] == ["u0", "summary", "a0"] and "- pc3 read({" in done.summary
    worded = through(
        "microcompact", messages=[said("go"), *parallel(4, 4_000, text="Let me look"), *hundreds(6)]
    )
    assert [message["role"] for message in worded.sent[:3]] == ["user", "assistant", "user"]
    assert worded.sent[1]["content"] == "Let me look" and "tool_calls" not in worded.sent[1]


def test_a_call_of_another_tool_keeps_its_result_behind_it() -> None:
    asking, *reads = parallel(4, 4_000)
    assert isinstance(asking, AssistantMessage)
    asking = replace(asking, blocks=(*asking.blocks, ToolCall("b", "bash", {"command": "ls"})))
    done = through(
        "microcompact", messages=[said("go"), asking, *reads, result("a.py", "b"), *hundreds(6)]
    )
    assert [message["role"] for message in done.sent[:4]] == ["user", "user", "assistant", "tool"]
    assert [call["id"] for call in done.sent[2]["tool_calls"]] == ["b"]


def test_runs_are_of_one_tool() -> None:
    calls = tuple(ToolCall(f"c{i}", f"tool{i}", {}) for i in range(4))
    mixed: list[Message] = [
        AssistantMessage(id="p", blocks=calls),
        *(result("x" * 4_000, call.id) for call in calls),
    ]
    for version in ("ex_athena", "ex_athena_head"):
        assert (
            through("microcompact", messages=[said("go"), *mixed, *hundreds(6)], by=version).types
            == []
        )


@pytest.mark.parametrize(
    ("version", "stage"),
    [
        ("ex_athena", "budget_reduction"),
        ("ex_athena", "snip"),
        ("ex_athena", "observation_mask"),
        ("ex_athena", "microcompact"),
        ("ex_athena_head", "microcompact"),
    ],
)
def test_a_second_pass_changes_nothing(version: str, stage: str) -> None:
    parts = [m for i in range(4) for m in parallel(4, 18_000, f"p{i}")]
    done = through(
        stage, messages=[said("go"), *pairs(8, 18_000), *parts, *hundreds(6)], by=version
    )
    once = done.sent
    assert once != done.host and done.live.on_error("prompt is too long") is None
    assert done.live.before_request(done.host) == once


def test_snip_leaves_prefix_live_end_and_young_results() -> None:
    messages = [said("go"), *pairs(10, 400)]
    assert snipped(messages) == [2, 4, 6, 8, 10, 12]
    assert snipped(messages, snip_age_iterations=8) == [2, 4]
    assert snipped(messages, pinned_prefix_count=5) == [6, 8, 10, 12]
    assert snipped(messages, live_suffix_count=13) == [2, 4, 6]
    assert snipped([said("go"), *pairs(10, 400, "memory")]) == [2, 4, 6, 8, 10, 12]


def test_the_newest_version_exempts_two_tools() -> None:
    done = lived(
        "ex_athena_head",
        [said("go"), *pairs(10, 4_000, "todo_write")],
        ["S"],
        full=False,
        window=10_000,
    )
    assert not any(text.startswith("<snipped") for text in texts(done))


def test_messages_are_pinned_by_name_wherever_they_stand_and_by_a_longer_prefix() -> None:
    memory, skill = (
        UserMessage(id=name, blocks=(Text(name * 40),), name=name)
        for name in ("memory", "skill:git")
    )
    done = ran([said(HUNDRED), *hundreds(6), memory, skill, *hundreds(10, "z")], 2_000)
    assert done.path[:4] == ["u0", "summary", "memory", "skill:git"]
    done = ran([said("go"), *hundreds(12, "z")], 1_500, pinned_prefix_count=3)
    assert done.path[:4] == ["u0", "z0", "z1", "summary"]


def test_a_message_that_the_host_pins_stays_right_behind_the_summary() -> None:
    mine = told("keep me" + HUNDRED, "mine")
    done = ran(
        [said("go"), *hundreds(6), mine, *hundreds(6, "z")],
        1_500,
        pins=lambda record: "keep me" in str(record["content"]),
    )
    assert done.path[:3] == ["u0", "summary", "mine"]


def test_the_live_end_never_begins_with_a_result() -> None:
    done = ran(
        [said("go"), *hundreds(8), *parallel(4, 400), told("x", "e0"), told("y", "e1")], 1_500
    )
    assert done.path[:3] == ["u0", "summary", "p"] and len(done.path) == 2 + 7


def test_the_newest_user_message_stays_beside_the_summary() -> None:
    done = ran([said("first"), *hundreds(5), said("now this", "u9"), *pairs(8, 400)], 1_500)
    assert done.path[:3] == ["u0", "summary", "u9"]


def test_an_earlier_summary_is_one_more_message() -> None:
    done = ran([said("go"), *hundreds(12)], 1_500, ["one", "two"]).go_on(
        hundreds(12, "z"), full=False
    )
    assert done.purposes[1] == "summary" and "[assistant] one" in done.prompts[1]
    assert done.path.count("summary") == 1 and done.summary == "two"


def test_the_summary_is_asked_for_in_the_documented_way() -> None:
    messages = [
        said("go"),
        said("u" * 1_200, "u1"),
        said("on", "u2"),
        called("read", text="look"),
        *hundreds(20),
    ]
    (request,) = ran(messages, 2_000, compaction_pipeline=("summary",)).model.requests
    assert (request.system, request.max_tokens, request.model) == ("", 512, "")
    assert "follow no request" in request.prompt
    assert (
        "[user] " + "u" * 1_000 + "\n" in request.prompt
        and "[assistant] look [calls: read]" in request.prompt
    )


def test_a_result_in_the_transcript_is_cut_at_500() -> None:
    (request,) = ran(
        [said("go"), *pairs(2, 900), *hundreds(20)], 2_000, compaction_pipeline=("summary",)
    ).model.requests
    assert "[tool result] " + "x" * 500 + "\n" in request.prompt


def test_options_of_stages_and_of_the_preset_have_an_effect() -> None:
    live = [said(f"and part {i}?", f"l{i}") for i in range(6)]
    messages = [said("go"), *pairs(8, 9_000), *parallel(4, 9_000), *live]

    def after(**options: Any) -> list[str]:
        return texts(
            through("budget_reduction", "snip", "microcompact", messages=messages, **options)
        )

    def begin(shown: list[str], start: str) -> int:
        return sum(text.startswith(start) for text in shown)

    assert (
        begin(after(), "[truncated") == 0
        and begin(after(per_tool_result_max_chars=8_000), "[truncated") > 4
    )
    assert begin(after(), "<snipped") > begin(after(snip_age_iterations=12), "<snipped")
    assert begin(after(), "[microcompact") and not begin(
        after(microcompact_run_threshold=5), "[microcompact"
    )
    assert ran(messages, 20_000, live_suffix_count=8).path[-8:] == [
        message.id for message in messages[-8:]
    ]


def test_a_pipeline_may_leave_stages_out_and_names_only_known_ones() -> None:
    assert stages_of(
        ran([said("go"), *hundreds(20)], 1_500, compaction_pipeline=("budget_reduction", "summary"))
    ) == ["summary"]
    with pytest.raises(SettingError, match="context_collapse"):
        preset("ex_athena", compaction_pipeline=["no_such_stage"])
    with pytest.raises(SettingError, match="'snippet'; snip would be accepted"):
        preset("ex_athena", compaction_pipeline=["snippet"])


def test_options_that_cannot_work_are_refused() -> None:
    for wrong in (0.0, 1.5):
        with pytest.raises(SettingError, match="compact_at"):
            preset("ex_athena", compact_at=wrong)
    with pytest.raises(SettingError, match="live_suffix_count = -1"):
        preset("ex_athena", live_suffix_count=-1)


def test_a_failed_pipeline_makes_an_event_and_ends_the_run_of_the_original() -> None:
    done = ran([said("go"), *hundreds(12)], 1_500, [ModelError("down")])
    assert (
        done.types == ["compaction_started", "compaction_failed", "run_ends"]
        and ending(done) == FATAL
    )
    done.go_on(hundreds(12, "z"), full=False)
    assert done.sent == done.host, "the agent goes on"


def test_a_second_overflow_ends_the_run() -> None:
    done = ran([said("go"), *hundreds(30)], 100_000)
    assert done.live.on_error("prompt is too long") is not None and ending(done) is None
    assert done.live.on_error("prompt is too long") is None
    assert ending(done) == ("error_prompt_too_long", "capacity")


def test_hooks_stand_before_the_run_before_each_stage_and_after() -> None:
    seen: list[str] = []
    hooks = Hooks(
        before=lambda due: seen.append(f"pre {due.budget.reason}"),
        before_stage=lambda name, at, budget: seen.append(f"{name} {at.tokens > budget.target}"),
        after=lambda done: seen.append(f"post {done.outcome}"),
    )
    ran([said("go"), *hundreds(20)], 1_500, hooks=hooks)
    stages = ["budget_reduction", "snip", "microcompact", "summary"]
    assert seen == ["pre threshold", *(f"{stage} True" for stage in stages), "post compacted"]


def test_a_hook_may_cancel() -> None:
    done = ran(
        [said("go"), *hundreds(20)], 1_500, hooks=Hooks(before=lambda due: Cancel("not now"))
    )
    assert done.sent == done.host and done.types[-1] == "compaction_cancelled"


def test_the_summarys_cost_and_each_stages_record_are_in_the_event() -> None:
    class Priced:
        name = "priced"

        def complete(self, request: SummaryRequest, /) -> Completion:
            return Completion(
                text="short", model=self.name, input_tokens=900, output_tokens=100, usd=0.02
            )

    live = Compactor("ex_athena", model=Priced(), window=1_500)
    live.before_request(records([said("go"), *pairs(12, 900), *hundreds(12)]))
    (ended,) = (event for event in live.events if event.type == "compaction_ended")
    assert ended.usd == 0.02
    assert (
        all(record.tokens_after < record.tokens_before for record in ended.stages)
        and len(ended.stages) >= 2
    )


@pytest.mark.parametrize(
    "error", ["Prompt is too long", "exceeds the context size", "TOO MANY TOKENS", {"status": 413}]
)
def test_overflows_are_known_by_status_and_words(error: object) -> None:
    done = ran([said("go"), *hundreds(30)], 100_000)
    assert done.live.on_error(error) is not None  # type: ignore[arg-type]
    assert (
        ran([said("go"), *hundreds(30)], 100_000).live.on_error(
            {"status": 529, "message": "overloaded"}
        )
        is None
    )


def test_v0_5_does_not_see_large_results_or_the_system_prompt() -> None:
    messages = [said("go"), *pairs(10, 40_000)]
    for name, due in (("ex_athena", True), ("ex_athena_0_5", False)):
        done = lived(name, messages, ["S"], full=False, window=100_000, system="s" * 360_000)
        assert bool(done.types) is due


@pytest.mark.parametrize("name", ["ex_athena", "ex_athena_0_5", "ex_athena_head"])
def test_every_version_replays_without_a_violation(name: str) -> None:
    messages = [*conversation(12, words=80), *parallel(5, 3_000)]
    replay = wb.replay(Session.of([*messages, told("end", "e")]), name, window=2_500)
    assert replay.compactions and not any(
        compaction.violations for compaction in replay.compactions
    )


def test_a_small_conversation_is_left_alone() -> None:
    done = ran([said("hi"), told("hello")], 100_000)
    assert done.sent == done.host and done.types == []
