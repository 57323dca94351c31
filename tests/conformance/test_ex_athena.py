"""ExAthena's published table, row by row, and what else its guide promises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest
from conformance.rows import Row
from live.talk import answered, asked, openai

from builders import called, conversation, result, rules, said, told
from workbench.compaction.engine import Compaction, compact
from workbench.compaction.guard import violations
from workbench.compaction.plan import Plan, Replace
from workbench.compaction.presets import preset
from workbench.compaction.presets.ex_athena import EX_ATHENA, EX_ATHENA_0_5, EX_ATHENA_HEAD, AutoPin, ex_athena
from workbench.compaction.presets.ex_athena.runs import ExcerptRuns, MergeRuns, RepeatCollapse
from workbench.compaction.presets.ex_athena.stages import (
    AthenaMask,
    AthenaReduction,
    AthenaSnip,
    Pinning,
    archived,
    summary_stage,
)
from workbench.compaction.presets.token_counters import athena_tokens, athena_tokens_0_5, quarter
from workbench.compaction.stage import Budget, Stage
from workbench.compaction.strategy import Preset
from workbench.compaction.trigger import Situation
from workbench.errors import ModelError, SettingError, UnknownName
from workbench.live.compactor import Compactor
from workbench.live.hooks import Cancel, Hooks
from workbench.models.model import Completion, SummaryRequest
from workbench.models.scripted import Scripted
from workbench.transcript.context import Context
from workbench.transcript.message import (
    AssistantMessage,
    Message,
    Summary,
    Text,
    ToolCall,
    ToolResult,
    UserMessage,
    plain_text,
)
from workbench.transcript.tokens import TokenCounter

ALL = Budget(target=0, window=1_000_000)
FORCED = Budget(target=10**9, window=10**9, reason="overflow", force=True)


def context(messages: Sequence[Message], count: TokenCounter = athena_tokens, overhead: int = 0) -> Context:
    return Context.of(messages, count, overhead)


def applied(stage: Stage, before: Context, budget: Budget = ALL) -> Context:
    plan = stage.plan(before, budget)
    after = before if plan is None else plan.apply(before, ["short"] * len(plan.requests))
    assert not violations(before, after)
    return after


def texts(at: Context | Sequence[Message]) -> list[str]:
    return [plain_text(message) for message in (at.messages if isinstance(at, Context) else at)]


def results(n: int, size: int, first: int = 0) -> list[Message]:
    return [result("x" * size, f"c{i}", name="read") for i in range(first, first + n)]


def asks_and_results(n: int, size: int, name: str = "read") -> list[Message]:
    pairs = [(called(name, f"c{i}", path=f"src/{i}.py"), result("x" * size, f"c{i}", name=name)) for i in range(n)]
    return [message for pair in pairs for message in pair]


def parallel(n: int, size: int, id: str = "a0", text: str = "") -> list[Message]:
    """One message with n calls, and their results."""
    calls = tuple(ToolCall(f"{id}c{i}", "read", {"path": f"src/{i}.py"}) for i in range(n))
    asking = AssistantMessage(id=id, blocks=((Text(text),) if text else ()) + calls)
    return [asking, *(result("x" * size, call.id, name="read") for call in calls)]


def due(messages: Sequence[Message], by: Preset, window: int, model: Scripted | None = None, **more: int) -> Compaction:
    """One compaction by the preset's trigger, or by force of its budget where it is not due."""
    assert by.count is not None
    before = context(messages, by.count, more.get("overhead", 0))
    situation = Situation(tokens=before.tokens, window=window, overhead=before.overhead)
    budget = by.trigger.check(situation)
    assert budget is not None
    return compact(before, by.strategy, budget, model or Scripted([]))


@dataclass(frozen=True)
class DropFirst:
    """A host's stage that drops the first message."""

    at: int = 0
    name: ClassVar[str] = "drop_one"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        return Plan((Replace(self.at, self.at + 1),)) if len(context.messages) > 1 else None


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
        new = (
            replace(m, blocks=(Text("X"),)) for m in context.messages if isinstance(m, AssistantMessage | ToolResult)
        )
        return Plan(tuple(Replace(i, i + 1, (message,)) for i, message in enumerate(new)))


@dataclass(frozen=True)
class Seen:
    """A host's stage that notes that it was asked."""

    by: list[int]
    name: ClassVar[str] = "seen"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        self.by.append(context.tokens)
        return None


def stages_of(done: Compaction) -> list[str]:
    """The stages whose result was used."""
    return [record.name for record in done.stages if record.used]


def fires(tokens: int, *, requested: bool = False) -> bool:
    return EX_ATHENA.trigger.check(Situation(tokens=tokens, window=1_000, requested=requested)) is not None


HUNDRED = "x" * 368
"""A hundred tokens as a message."""


LIVE = [said(f"and part {i}?", f"l{i}") for i in range(6)]
"""A live end without answers of the model, by which results would grow old."""


def hundreds(n: int) -> list[Message]:
    return [told(HUNDRED, f"a{i}") for i in range(n)]


def estimate() -> dict[str, object]:
    text, call, long = said("x" * 4_000), called("bash", cmd="ls"), result("x" * 40_000)
    return {
        "text": athena_tokens(text), "call": athena_tokens(call), "result": athena_tokens(long),
        "result in v0.5": athena_tokens_0_5(long),
    }  # fmt: skip


def many_results() -> dict[str, object]:
    thirty = results(30, 3_000)
    return {"HEAD": sum(map(athena_tokens, thirty)), "v0.5": sum(map(athena_tokens_0_5, thirty))}


def at_equality() -> dict[str, object]:
    before = context(hundreds(6))
    budget = EX_ATHENA.trigger.check(Situation(tokens=600, window=1_000))
    assert budget is not None
    done = compact(before, EX_ATHENA.strategy, budget, Scripted([]))
    return {
        "100": fires(100), "700": fires(700), "600": fires(600),
        "stages at 600": [record.name for record in done.stages],
    }  # fmt: skip


def own_pipeline() -> dict[str, object]:
    here = ex_athena(compact_at=0.5, pipeline=(DropFirst(), Idle()))
    done = due(hundreds(8), here, 1_000)
    return {
        "stages": stages_of(done), "before": done.before.tokens, "after": done.sent.tokens,
        "reason": done.budget.reason, "dropped": sum(len(record.dropped) for record in done.stages),
    }  # fmt: skip


def nothing_applied() -> dict[str, object]:
    done = due(hundreds(8), ex_athena(compact_at=0.5, pipeline=(Idle(), Idle())), 1_000)
    return {"stages": stages_of(done), "outcome": done.outcome}


def failed(*stages: Stage) -> str:
    with pytest.raises(ModelError) as caught:
        due(hundreds(8), ex_athena(compact_at=0.5, pipeline=stages), 1_000)
    return str(caught.value)


def forced_and_not() -> dict[str, object]:
    here = ex_athena(compact_at=0.99, pipeline=(DropFirst(),))
    before = context([told("x" * 168, "a0"), told("x" * 168, "a1")])
    assert before.tokens == 100 and here.overflow is not None and here.count is not None
    forced = Budget(target=990, window=1_000, reason="overflow", force=True)
    recovered = compact(before, here.overflow, forced, Scripted([]))
    calm = compact(before, here.strategy, Budget(target=990, window=1_000), Scripted([]))
    return {
        "stages": stages_of(recovered), "reason": recovered.budget.reason,
        "due": here.trigger.check(Situation(tokens=100, window=1_000)), "unforced": stages_of(calm),
    }  # fmt: skip


def pinned_pair() -> list[Message]:
    pair = asks_and_results(1, 400)
    return [*hundreds(4), pair[0], replace(pair[1], pinned=True), *[told(HUNDRED, f"b{i}") for i in range(4)]]


def pinned_stays(stage: Stage) -> int:
    messages = pinned_pair()
    done = due(messages, ex_athena(compact_at=0.1, pipeline=(stage,)), 1_000)
    assert done.violations and done.after is done.before
    return sum(message == messages[5] for message in done.after.messages)


def later_stage() -> dict[str, object]:
    asked: list[int] = []
    here = ex_athena(compact_at=0.5, pipeline=("budget_reduction", Seen(asked)))
    done = due([said("go"), *asks_and_results(1, 24_000)], here, 12_000, overhead=40_000 // 4)
    return {"asked": len(asked), "at least 10000 after": done.after.tokens >= 10_000}


def too_long_result() -> dict[str, object]:
    long = result("y" * 20_000, "c0")
    small = result("z" * 16_000, "c1")
    held = replace(result("p" * 20_000, "c2"), pinned=True)
    before = context([called("a", "c0"), long, called("b", "c1"), small, called("c", "c2"), held])
    after = applied(AthenaReduction(), before)
    ((ref, whole),) = after.archive.items()
    newest = applied(AthenaReduction(mark=archived), before).messages[1]
    return {
        "marker": plain_text(after.messages[1]) == f"[truncated; full=20000 chars; ref={ref}]",
        "newest": plain_text(newest).startswith(f"[old output cleared to save context (20000 chars, ref={ref})"),
        "archived": whole == plain_text(long) == after.archive[ref],
        "untouched": after.messages[3] is small and after.messages[5] is held,
    }


def snipped_at(stage: AthenaSnip, messages: Sequence[Message]) -> list[int]:
    after = applied(stage, context(messages))
    return [i for i, text in enumerate(texts(after)) if text.startswith("<snipped: stale tool-result for call ")]


FOUR_RESULTS = [said("u"), *results(4, 400), told("a"), said("v", "u1"), told("b", "a1")]


def run_of_four() -> dict[str, object]:
    before = context(FOUR_RESULTS)
    short = applied(ExcerptRuns(chars=20), before)
    one = applied(MergeRuns(chars=20), before)
    old = applied(MergeRuns(chars=20), context(FOUR_RESULTS, athena_tokens_0_5))
    excerpt = "[microcompact excerpt] " + "x" * 20 + " […]"
    return {
        "excerpts": texts(short)[1:4] == [excerpt] * 3, "fourth": texts(short)[4] == "x" * 400,
        "merged": len(one.messages), "name": one.messages[1].name, "v0.5": len(old.messages),
        "first line": plain_text(one.messages[1]).splitlines()[0], "fourth stays": texts(one)[2] == "x" * 400,
        "bullets": plain_text(one.messages[1]).splitlines()[1:] == [f"- c{i}: {'x' * 20} […]" for i in range(3)],
    }  # fmt: skip


def masked() -> dict[str, object]:
    before = context([said("go"), *asks_and_results(10, 4_000)])
    after = applied(AthenaMask(), before)
    told_back = texts(after)[2::2]
    spared = [
        replace(m, is_error=True) if isinstance(m, ToolResult) else m for m in asks_and_results(10, 4_000)
    ]  # fmt: skip
    return {
        "masked": told_back[:5] == [
            f"[output cleared to save context (4000 chars) — re-run read (src/{i}.py) if needed]" for i in range(5)
        ],
        "intact": told_back[5:] == ["x" * 4_000] * 5,
        "second pass": AthenaMask().plan(after, ALL),
        "tiny": AthenaMask().plan(context(asks_and_results(10, 40)), ALL),
        "errors": AthenaMask().plan(context(spared), ALL),
        "todo": AthenaMask().plan(context(asks_and_results(10, 4_000, "todo_write")), ALL),
    }  # fmt: skip


def same_call_twice() -> list[Message]:
    one, two = called("read", "c1", path="a.py"), called("read", "c2", path="a.py")
    return [said("go"), one, result("x" * 400, "c1"), two, result("x" * 400, "c2"), told("done", "a9")]


def marked() -> dict[str, object]:
    after = texts(applied(RepeatCollapse(), context(same_call_twice())))
    return {"first": after[1], "second": after[3]}


SEVEN = [rules("x" * 288), *(m for i in (1, 2, 3) for m in (said("x" * 448, f"Q{i}"), told("x" * 448, f"A{i}")))]


def seven_messages() -> dict[str, object]:
    here = ex_athena(pinning=Pinning(suffix=2))
    done = due(SEVEN, here, 1_000, Scripted(["what happened"]))
    summary = done.after.messages[1]
    assert isinstance(summary, Summary)
    return {
        "dropped": len(done.stages[-1].dropped), "before": done.before.tokens, "said by": summary.said_by,
        "after": [m.name or m.id for m in done.after.messages], "text": plain_text(summary), "name": summary.name,
    }  # fmt: skip


def many_pins() -> dict[str, object]:
    memory = replace(said("m" * 400, "m"), name="memory")
    skill = replace(said("s" * 400, "s"), name="skill:git")
    done = applied(summary_stage(), context([memory, skill, said(HUNDRED, "u"), *hundreds(20)]))
    return {"first three": [m.id for m in done.messages[:3]], "fourth": done.messages[3].name}


def empty_summary() -> dict[str, object]:
    with pytest.raises(ModelError) as caught:
        due(SEVEN, ex_athena(pinning=Pinning(suffix=2)), 1_000, Scripted(["  "]))
    return {"error": str(caught.value).partition(" ")[2]}


def run(reactive: bool, model: Scripted) -> tuple[object, int]:
    """A small agent loop: how it ends after one request that the provider refuses, and the requests it made."""
    compactor = Compactor(ex_athena(reactive_compact=reactive), model=model, window=100_000)
    sent = compactor.before_request(openai(12))
    retry = compactor.on_error("prompt is too long: 226360 tokens > 200000 maximum")
    if retry is None:
        return compactor.ending and (compactor.ending.code, compactor.ending.category), 1
    assert len(retry.messages) < len(sent)
    return "stop", 2


def overflows() -> dict[str, object]:
    end, asked = run(True, Scripted(["short"]))
    off, _ = run(False, Scripted([]))
    return {"end": end, "asked": asked, "off": off}


def auto_pinned() -> dict[str, object]:
    plan_mode: list[Message] = [called("ExitPlanMode", "p"), result("go on", "p")]
    orphan: list[Message] = [result("who asked?", "nobody", name="ExitPlanMode")]
    both = AssistantMessage(id="ab", blocks=(ToolCall("p2", "ExitPlanMode", {}), ToolCall("r2", "read", {})))
    mixed: list[Message] = [both, result("yes", "p2", name="ExitPlanMode"), result("text", "r2", name="read")]
    other = asks_and_results(1, 40)
    after = applied(AutoPin(("ExitPlanMode",)), context([*plan_mode, *orphan, *mixed, *other]))
    pinned = [message.pinned for message in after.messages]
    return {"pair": pinned[:2], "orphan": pinned[2], "mixed": pinned[3:6], "others": pinned[6:]}


NOT_USED = "a stage that drops or rewrites a pinned message is not used; the original puts the message back"
NO_ORPHANS = "v0.5 merges the results and leaves their calls without any; the calls go along"
ROWS = (
    Row(
        "ex_athena", '4000-byte text; call {"cmd":"ls"}; 40 000-byte result',
        {"text": 1008, "call": 67, "result": 10_016, "result in v0.5": 16}, estimate,
    ),
    Row("ex_athena", "30 results of 3000 bytes", {"HEAD": 22_980, "v0.5": 480}, many_results),
    Row(
        "ex_athena", "system prompt of 4000 bytes", {"more": 1000},
        lambda: {"more": quarter("s" * 4_000)},
    ),
    Row(
        "ex_athena", "should_compact: 100 / 700 of 1000 at 0.6; 600",
        {"100": False, "700": True, "600": True, "stages at 600": []}, at_equality,
    ),
    Row("ex_athena", "force, tokens 1", {"due": True}, lambda: {"due": fires(1, requested=True)}),
    Row(
        "ex_athena", "pipeline [drop-one (-100), skip], 800 of 1000 at 0.5",
        {"stages": ["drop_one"], "before": 800, "after": 700, "reason": "threshold", "dropped": 1}, own_pipeline,
    ),
    Row("ex_athena", "all skip", {"stages": [], "outcome": "unchanged"}, nothing_applied),
    Row(
        "ex_athena", "[ok, fail]; [fail, ok]", {"last": "boom", "first": "boom"},
        lambda: {"last": failed(DropFirst(), Failing()), "first": failed(Failing(), DropFirst())},
        instead="the original crashes where the stage that fails is not the last",
    ),
    Row(
        "ex_athena", "forced at 100 of 1000 with 0.99; unforced",
        {"stages": ["drop_one"], "reason": "overflow", "due": None, "unforced": []}, forced_and_not,
    ),
    Row(
        "ex_athena", "pinned tool message dropped by a stage (HEAD)", {"times": 1},
        lambda: {"times": pinned_stays(DropRange(2, 8))}, instead=NOT_USED,
    ),
    Row(
        "ex_athena", "pinned message rewritten in place (HEAD)", {"times": 1},
        lambda: {"times": pinned_stays(Shout())}, instead=NOT_USED,
    ),
    Row(
        "ex_athena", "40 000-byte system prompt, 24 000-byte result, window 12 000 at 0.5 (HEAD)",
        {"asked": 1, "at least 10000 after": True}, later_stage,
    ),
    Row(
        "ex_athena", "result of 20 000 bytes, limit 16 000",
        {"marker": True, "newest": True, "archived": True, "untouched": True}, too_long_result,
        instead="the original drops the archive when its pipeline ends",
    ),
    Row(
        "ex_athena", "[sys, a, t, a, t, a, t, a, t, a-final], age 2, pin 1", {"snipped": [2]},
        lambda: {"snipped": snipped_at(AthenaSnip(age=2), [rules("s"), *asks_and_results(4, 400), told("end", "af")])},
    ),
    Row(
        "ex_athena", "[sys, t, a], age 4", {"plan": None},
        lambda: {"plan": AthenaSnip().plan(context([rules("s"), result("x" * 400), told("a")]), ALL)},
    ),
    Row(
        "ex_athena", "[u, t, t, t, t, a, u, a], excerpt 20, pin 1",
        {
            "excerpts": True, "fourth": True, "merged": 6, "name": "microcompact", "v0.5": 6, "fourth stays": True,
            "first line": "[microcompact: 3 tool results elided]", "bullets": True,
        },
        run_of_four, instead=NO_ORPHANS,
    ),
    Row(
        "ex_athena", "t, a, t", {"excerpt": None, "merge": None},
        lambda: {
            kind: stage.plan(context([said("u"), *results(1, 400), told("a"), *results(1, 400, 1), *hundreds(6)]), ALL)
            for kind, stage in (("excerpt", ExcerptRuns()), ("merge", MergeRuns()))
        },
    ),
    Row(
        "ex_athena", "10 read results of 4000 bytes",
        {"masked": True, "intact": True, "second pass": None, "tiny": None, "errors": None, "todo": None}, masked,
    ),
    Row(
        "ex_athena", "same call twice with only tool rows between", {"first": "", "second": "(repeat)"}, marked,
    ),
    Row(
        "ex_athena", "7 messages, pinned 1, live 2",
        {
            "dropped": 4, "before": 800, "after": ["s0", "compactor_summary", "Q3", "A3"], "said by": "assistant",
            "name": "compactor_summary", "text": "what happened",
        },
        seven_messages,
    ),
    Row(
        "ex_athena", "memory 1 + skill 1 + pinned 1 + 6",
        {"first three": ["m", "s", "u"], "fourth": "compactor_summary"}, many_pins,
    ),
    Row(
        "ex_athena", "3 messages", {"plan": None},
        lambda: {"plan": summary_stage().plan(context([rules("s"), said(HUNDRED), told(HUNDRED)]), ALL)},
    ),
    Row(
        "ex_athena", "empty summary text", {"error": "answered with an empty text"}, empty_summary,
    ),
    Row(
        "ex_athena", "overflow then success; reactive off",
        {"end": "stop", "asked": 2, "off": ("error_prompt_too_long", "capacity")}, overflows,
    ),
    Row(
        "ex_athena", "auto-pin [ExitPlanMode]",
        {"pair": [True, True], "orphan": False, "mixed": [True, True, True], "others": [False, False]}, auto_pinned,
    ),
)  # fmt: skip


@dataclass(frozen=True)
class DropRange:
    """A host's stage that drops a stretch of messages, whatever stands in it."""

    start: int
    stop: int
    name: ClassVar[str] = "drop_range"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        return Plan((Replace(self.start, self.stop),))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_the_table_holds(row: Row) -> None:
    row.check()


def test_the_pipeline_has_the_documents_five_stages_and_a_view() -> None:
    assert [stage.name for stage in EX_ATHENA.strategy.stages] == [
        "budget_reduction", "snip", "microcompact", "summary"
    ]  # fmt: skip
    assert [stage.name for stage in EX_ATHENA.strategy.view] == ["context_collapse"]
    assert [stage.name for stage in EX_ATHENA_HEAD.strategy.stages] == [
        "budget_reduction", "snip", "observation_mask", "microcompact", "summary"
    ]  # fmt: skip
    assert EX_ATHENA_HEAD.strategy.view == ()


def test_cheap_stages_are_enough_where_one_result_is_the_trouble() -> None:
    messages = [said("go"), *asks_and_results(1, 100_000), *hundreds(6)]
    done = due(messages, EX_ATHENA, 20_000)
    assert [record.name for record in done.stages] == ["budget_reduction"]
    (ref,) = done.after.archive
    assert done.after.archive[ref] == "x" * 100_000


def test_the_archive_and_its_reference_survive_all_stages() -> None:
    messages = [said("go"), *asks_and_results(30, 20_000), said("next", "u1"), *hundreds(6)]
    before = context(messages)
    done = compact(before, EX_ATHENA.strategy, Budget(target=900, window=10_000), Scripted(["short"]))
    assert len(done.after.archive) == 1 and not done.violations
    calm = compact(before, EX_ATHENA.strategy, Budget(target=5_000, window=10_000), Scripted([]))
    assert all(text.startswith("[truncated; full=20000 chars; ref=") for text in texts(calm.after)[2:60:2])


def test_the_newest_versions_references_survive_all_stages_too() -> None:
    before = context([said("go"), *asks_and_results(12, 20_000), *hundreds(6)])
    once = applied(AthenaReduction(mark=archived), before)
    for stage in (AthenaSnip(), AthenaMask(least=1), AthenaReduction(limit=10)):
        assert stage.plan(once, FORCED) is None, "the reference would be lost"


def test_the_view_is_sent_and_never_kept() -> None:
    read, edit = called("read", "c1", path="a.py"), called("edit", "c2", path="a.py", old="x", new="y")
    messages = [said("go"), read, result("x" * 4_000, "c1"), edit, result("ok", "c2"), *hundreds(3)]
    done = due(messages, ex_athena(pipeline=("context_collapse",)), 1_500)
    assert texts(done.sent)[2] == "<read superseded by later edit: a.py>"
    assert done.after is done.before and done.outcome == "compacted"


def test_a_repeated_calls_result_is_hidden_too() -> None:
    after = applied(RepeatCollapse(), context(same_call_twice()))
    assert texts(after)[4].startswith("(repeat)") and texts(after)[2] == "x" * 400


def test_marks_never_make_the_request_longer() -> None:
    messages = [m if not isinstance(m, ToolResult) else replace(m, blocks=(Text(m.id),)) for m in same_call_twice()]
    assert RepeatCollapse().plan(context(messages), ALL) is None


def test_something_else_between_equal_calls_resets_the_mark() -> None:
    one, two = same_call_twice()[1:3], same_call_twice()[3:5]
    assert RepeatCollapse().plan(context([*one, said("and?", "u2"), *two]), ALL) is None
    assert RepeatCollapse().plan(context([*one, *asks_and_results(1, 40, "bash"), *two]), ALL) is None


def test_a_merged_run_takes_its_calls_along() -> None:
    before = context([said("go"), *parallel(4, 4_000), *hundreds(6)])
    after = applied(MergeRuns(), before)
    assert [m.role for m in after.messages[:3]] == ["user", "summary", "assistant"]
    assert "- a0c3 read({" in plain_text(after.messages[1])
    with_words = applied(MergeRuns(), context([said("go"), *parallel(4, 4_000, text="Let me look"), *hundreds(6)]))
    assert [m.role for m in with_words.messages[:3]] == ["user", "assistant", "summary"]


def test_a_call_of_another_tool_keeps_its_result_behind_it() -> None:
    asking, *reads = parallel(4, 4_000)
    assert isinstance(asking, AssistantMessage)
    asking = replace(asking, blocks=(*asking.blocks, ToolCall("b", "bash", {"command": "ls"})))
    after = applied(MergeRuns(), context([said("go"), asking, *reads, result("a.py", "b", name="bash"), *hundreds(6)]))
    assert [m.role for m in after.messages[:4]] == ["user", "summary", "assistant", "tool"]
    assert isinstance(after.messages[2], AssistantMessage) and [c.id for c in after.messages[2].calls] == ["b"]


def test_runs_are_of_one_tool() -> None:
    mixed = [replace(m, name=f"tool{i}") for i, m in enumerate(results(4, 4_000)) if isinstance(m, ToolResult)]
    at = context([said("go"), *mixed, *hundreds(6)])
    assert MergeRuns().plan(at, ALL) is None and ExcerptRuns().plan(at, ALL) is None


@pytest.mark.parametrize(
    "stage",
    [AthenaReduction(), AthenaSnip(), AthenaMask(), ExcerptRuns(), MergeRuns()],
    ids=lambda stage: stage.name,
)
def test_a_second_pass_changes_nothing(stage: Stage) -> None:
    parts = [m for i in range(4) for m in parallel(4, 18_000, f"p{i}")]
    before = context([said("go"), *asks_and_results(8, 18_000), *parts, *hundreds(6)])
    once = applied(stage, before)
    assert once is not before and stage.plan(once, FORCED) is None


def test_a_forced_second_run_of_the_cheap_stages_changes_nothing() -> None:
    cheap = ex_athena(pipeline=("budget_reduction", "snip", "microcompact")).strategy
    messages = [said("go"), *asks_and_results(8, 18_000), *parallel(4, 18_000), *hundreds(6)]
    once = compact(context(messages), cheap, FORCED, Scripted([]))
    assert once.outcome == "compacted"
    assert compact(once.after, cheap, FORCED, Scripted([])).outcome == "unchanged"


def test_snip_leaves_prefix_live_end_and_young_results() -> None:
    messages = [said("go"), *asks_and_results(10, 400)]
    assert snipped_at(AthenaSnip(), messages) == [2, 4, 6, 8, 10, 12]
    assert snipped_at(AthenaSnip(age=8), messages) == [2, 4]
    assert snipped_at(AthenaSnip(pinning=Pinning(prefix=5)), messages) == [6, 8, 10, 12]
    assert snipped_at(AthenaSnip(pinning=Pinning(suffix=13)), messages) == [2, 4, 6]


def test_the_newest_version_exempts_two_tools() -> None:
    (snip,) = (stage for stage in EX_ATHENA_HEAD.strategy.stages if isinstance(stage, AthenaSnip))
    assert snipped_at(snip, [said("go"), *asks_and_results(10, 400, "todo_write")]) == []


def test_messages_are_pinned_by_name_wherever_they_stand() -> None:
    memory = UserMessage(id="m", blocks=(Text("m" * 400),), name="memory")
    skill = UserMessage(id="s", blocks=(Text("s" * 400),), name="skill:git")
    done = applied(summary_stage(), context([said(HUNDRED), *hundreds(6), memory, skill, *told_more(10)]))
    assert [m.name or m.id for m in done.messages[:4]] == ["u0", "compactor_summary", "memory", "skill:git"]


def told_more(n: int) -> list[Message]:
    return [told(HUNDRED, f"z{i}") for i in range(n)]


def test_a_tool_named_memory_pins_nothing() -> None:
    assert snipped_at(AthenaSnip(), [said("go"), *asks_and_results(10, 400, "memory")]) == [2, 4, 6, 8, 10, 12]


def test_custom_messages_are_pinned_by_a_longer_prefix_or_by_themselves() -> None:
    here = ex_athena(pinning=Pinning(prefix=3))
    done = due([said("go"), *told_more(12)], here, 1_500, Scripted(["short"]))
    assert [m.name or m.id for m in done.after.messages[:4]] == ["u0", "z0", "z1", "compactor_summary"]
    alone = replace(told(HUNDRED, "mine"), pinned=True)
    done = due([said("go"), *hundreds(6), alone, *told_more(6)], EX_ATHENA, 1_500, Scripted(["short"]))
    assert done.after.messages[2] is alone


def test_the_live_end_never_begins_with_a_result() -> None:
    messages = [said("go"), *hundreds(8), *parallel(4, 400), told("x", "e0"), told("y", "e1")]
    done = due(messages, EX_ATHENA, 1_500, Scripted(["short"]))
    assert [m.role for m in done.after.messages[:3]] == ["user", "summary", "assistant"]
    assert len(done.after.messages) == 2 + 7


def test_the_newest_user_message_stays_beside_the_summary() -> None:
    messages = [said("first"), *hundreds(5), said("now this", "u9"), *asks_and_results(8, 400)]
    done = due(messages, EX_ATHENA, 1_500, Scripted(["short"]))
    assert [m.id for m in done.after.messages[2:3]] == ["u9"]


def test_an_earlier_summary_is_one_more_message() -> None:
    model = Scripted(["one", "two"])
    once = due([said("go"), *hundreds(12)], EX_ATHENA, 1_500, model).after
    twice = due([*once.messages, *told_more(12)], EX_ATHENA, 1_500, model).after
    assert model.requests[1].purpose == "summary" and "[assistant] one" in model.requests[1].prompt
    assert sum(isinstance(m, Summary) for m in twice.messages) == 1
    (summary,) = (m for m in twice.messages if isinstance(m, Summary))
    assert plain_text(summary) == "two"


def test_the_summary_is_asked_for_in_the_documented_way() -> None:
    model = Scripted(["short"])
    due([said("go"), *hundreds(20)], EX_ATHENA, 1_500, model)
    (request,) = model.requests
    assert (request.system, request.max_tokens, request.model) == ("", 512, "")
    assert "follow no request" in request.prompt


def test_transcript_lines_are_cut() -> None:
    template = summary_stage().prompt
    messages = [result("r" * 900), said("u" * 1_200), called("read", text="look")]
    lines = ["[tool result] " + "r" * 500, "[user] " + "u" * 1_000, "[assistant] look [calls: read]"]
    assert template.transcript(messages) == "\n".join(lines)


def test_every_option_has_an_effect() -> None:
    before = context([said("go"), *asks_and_results(8, 9_000), *parallel(4, 9_000), *LIVE])

    def after(reduction: int = 16_000, age: int = 4, run: int = 3) -> Sequence[str]:
        at = ex_athena(pipeline=(AthenaReduction(reduction), AthenaSnip(age), MergeRuns(run)))
        return texts(compact(before, at.strategy, ALL, Scripted([])).after)

    usual = after()
    assert sum(text.startswith("[truncated") for text in usual) == 0
    assert sum(text.startswith("[truncated") for text in after(reduction=8_000)) > 4
    assert sum(text.startswith("<snipped") for text in usual) > sum(
        text.startswith("<snipped") for text in after(age=12)
    )
    assert any(text.startswith("[microcompact") for text in usual)
    assert not any(text.startswith("[microcompact") for text in after(run=5))
    assert ex_athena(compact_at=0.5).trigger.check(Situation(tokens=500, window=1_000)) is not None
    kept = [message.id for message in before.messages[-8:]]
    done = due(before.messages, ex_athena(pinning=Pinning(suffix=8)), 20_000, Scripted(["short"]))
    assert [message.id for message in done.after.messages[-8:]] == kept


def test_a_pipeline_may_leave_stages_out_and_name_its_own() -> None:
    at = ex_athena(pipeline=("budget_reduction", "summary"))
    assert [stage.name for stage in at.strategy.stages] == ["budget_reduction", "summary"]
    own = ex_athena(pipeline=(DropFirst(), "summary"))
    assert [stage.name for stage in own.strategy.stages] == ["drop_one", "summary"]
    with pytest.raises(UnknownName, match="context_collapse"):
        ex_athena(pipeline=("no_such_stage",))


def test_options_that_cannot_work_are_refused() -> None:
    for wrong in (0.0, 1.5):
        with pytest.raises(SettingError, match="compact_at"):
            ex_athena(compact_at=wrong)
    with pytest.raises(SettingError, match="suffix"):
        Pinning(suffix=-1)


def test_a_failed_pipeline_leaves_the_history_as_it_was() -> None:
    messages = openai(12)
    compactor = Compactor(ex_athena(pipeline=("budget_reduction", Failing()), compact_at=0.1), window=10_000)
    assert compactor.before_request(messages) == messages
    assert [event.type for event in compactor.events] == ["compaction_started", "compaction_failed", "run_ends"]
    assert compactor.ending is not None
    assert (compactor.ending.code, compactor.ending.category) == ("error_compaction_failed", "fatal")


def test_hooks_stand_before_the_run_before_each_stage_and_after() -> None:
    seen: list[str] = []
    hooks = Hooks(
        before=lambda due: seen.append(f"pre {due.budget.reason}"),
        before_stage=lambda name, at, budget: seen.append(f"{name} {at.tokens > budget.target}"),
        after=lambda done: seen.append(f"post {stages_of(done) != []}"),
    )
    compactor = Compactor(EX_ATHENA, model=Scripted(["short"]), window=1_500, hooks=hooks)
    compactor.before_request(openai(12))
    stages = ["budget_reduction", "snip", "microcompact", "summary"]
    assert seen == ["pre threshold", *(f"{stage} True" for stage in stages), "post True"]


def test_a_hook_may_cancel() -> None:
    compactor = Compactor(EX_ATHENA, window=3_000, hooks=Hooks(before=lambda due: Cancel("not now")))
    messages = openai(12)
    assert compactor.before_request(messages) == messages


def test_each_stage_has_its_record() -> None:
    messages = [said("go"), *asks_and_results(12, 9_000), *parallel(4, 9_000), *LIVE]
    messages[2] = result("x" * 18_000, "c0")
    done = compact(context(messages), EX_ATHENA.strategy, ALL, Scripted(["short"]))
    assert [record.name for record in done.stages] == ["budget_reduction", "snip", "microcompact", "summary"]
    sizes = [(record.tokens_before, record.tokens_after) for record in done.stages]
    assert all(after < before for before, after in sizes)


class Priced:
    """A model whose answers cost something."""

    name = "priced"

    def complete(self, request: SummaryRequest, /) -> Completion:
        return Completion(text="short", model=self.name, input_tokens=900, output_tokens=100, usd=0.02)


def test_the_summarys_cost_is_in_the_record() -> None:
    done = compact(context([said("go"), *hundreds(12)]), EX_ATHENA.strategy, ALL, Priced())
    assert [(one.input_tokens + one.output_tokens, one.usd) for one in done.completions] == [(1_000, 0.02)]


def test_the_forced_run_spares_what_is_pinned_by_tool() -> None:
    plan_mode: list[Message] = [called("ExitPlanMode", "p"), result("the plan " * 100, "p", name="ExitPlanMode")]
    at = ex_athena(auto_pin=("ExitPlanMode",))
    assert at.overflow is not None
    before = context([said("go"), *plan_mode, *asks_and_results(10, 900), *hundreds(6)])
    done = compact(before, at.overflow, FORCED, Scripted(["short"]))
    assert texts(done.after)[1:3] != ["short"] and any(m.id == "r-p" and m.pinned for m in done.after.messages)
    usual = compact(before, at.strategy, ALL, Scripted(["short"]))
    assert all(m.id != "r-p" for m in usual.after.messages)


def test_v0_5_does_not_see_large_results_or_the_system_prompt() -> None:
    messages = [said("go"), *asks_and_results(10, 40_000)]
    size = sum(map(athena_tokens_0_5, messages))
    assert EX_ATHENA_0_5.count is athena_tokens_0_5
    situation = Situation(tokens=size + 90_000, overhead=90_000, window=100_000)
    assert EX_ATHENA_0_5.trigger.check(situation) is None
    assert EX_ATHENA.trigger.check(situation) is not None
    tight = Situation(tokens=size + 90_000, overhead=90_000, window=1_000)
    budget = EX_ATHENA_0_5.trigger.check(tight)
    assert budget is not None and budget.target == 600 + 90_000


@pytest.mark.parametrize("at", [EX_ATHENA, EX_ATHENA_0_5, EX_ATHENA_HEAD], ids=lambda at: at.name)
def test_every_version_keeps_the_guards_promises(at: Preset) -> None:
    assert at.count is not None and at.overflow is not None
    before = context([*conversation(12), *parallel(5, 3_000), *conversation_again(4)], at.count)
    for share in (0.05, 0.3, 0.6):
        budget = Budget(target=int(share * before.tokens), window=10**6, force=share < 0.1)
        for strategy in (at.strategy, at.overflow):
            done = compact(before, strategy, budget, Scripted(["short"] * 3))
            assert not done.violations and not violations(before, done.after) and done.outcome != "unchanged"


def conversation_again(turns: int) -> list[Message]:
    return [replace(m, id=f"{m.id}+") for m in conversation(turns) if not isinstance(m, ToolResult) and not m_calls(m)]


def m_calls(message: Message) -> bool:
    return isinstance(message, AssistantMessage) and bool(message.calls)


def test_a_comparison_sets_the_size() -> None:
    before = context([said("go"), *asks_and_results(200, 2_000)])
    for share in (0.05, 0.1, 0.2):
        target = int(before.tokens * share)
        budget = Budget(target=target, window=10**9, reason="matched")
        done = compact(before, EX_ATHENA.strategy, budget, Scripted(["x"]))
        assert done.sent.tokens <= target and not done.violations


def test_a_small_conversation_is_left_alone_live() -> None:
    compactor = Compactor(EX_ATHENA, window=100_000)
    messages = [asked("hi"), answered("hello")]
    assert compactor.before_request(messages) == messages


def test_the_preset_is_found_by_name() -> None:
    assert preset("ex_athena") is EX_ATHENA
    assert "udin-io/ex_athena" in EX_ATHENA.source
