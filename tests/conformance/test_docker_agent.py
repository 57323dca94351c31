"""docker-agent's published table, row by row, and what else its documentation promises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from conformance.rows import Row
from live.talk import openai

from builders import called, conversation, result, rules, said, told
from workbench.compaction.engine import Compaction, compact
from workbench.compaction.guard import violations
from workbench.compaction.presets import preset
from workbench.compaction.presets.docker_agent import (
    DOCKER_AGENT,
    DOCKER_AGENT_G2,
    FIRST,
    LATER,
    DockerGeneration,
    DockerTrigger,
    calibration,
    docker_agent,
    docker_tokens_g2,
    exact_tokens,
    first_index_in_budget,
    split_index_for_keep,
)
from workbench.compaction.presets.token_counters import docker_tokens
from workbench.compaction.span_selection import Movable, Span, SummaryInput, SummaryTask
from workbench.compaction.stage import Budget
from workbench.compaction.strategy import Preset
from workbench.compaction.trigger import Situation
from workbench.errors import ModelError, SettingError
from workbench.live.compactor import Compactor
from workbench.live.hooks import Cancel, Hooks, Supply
from workbench.models.model import Completion, SummaryRequest
from workbench.models.scripted import Scripted
from workbench.transcript.context import Context
from workbench.transcript.log import CompactionEntry, Log, MessageEntry, fold
from workbench.transcript.message import (
    AssistantMessage,
    Image,
    Message,
    Summary,
    Text,
    Thinking,
    ToolCall,
    Usage,
    UserMessage,
    plain_text,
)

BOTH: tuple[tuple[str, Preset, DockerGeneration], ...] = (
    ("G1", DOCKER_AGENT, FIRST), ("G2", DOCKER_AGENT_G2, LATER),
)  # fmt: skip


def turns(*chars: int) -> list[Message]:
    """Messages of so many characters, a user's and the model's in turns."""
    return [said("x" * n, f"m{i}") if i % 2 == 0 else told("x" * n, f"m{i}") for i, n in enumerate(chars)]


def split(messages: Sequence[Message], budget: int, generation: DockerGeneration = FIRST) -> int:
    return split_index_for_keep(messages, generation.sizes(messages), budget)


@dataclass(frozen=True)
class Asked:
    """What a compaction asks for: the request, the first message of the tail, and what neither of them holds."""

    request: SummaryRequest
    first_kept: int
    dropped: tuple[str, ...]


def asked(messages: Sequence[Message], limit: int, by: Preset = DOCKER_AGENT, additional: str = "") -> Asked | None:
    assert by.count is not None
    (stage,) = by.strategy.stages
    plan = stage.plan(Context.of(messages, by.count), Budget(target=0, window=limit, instructions=additional))
    if plan is None:
        return None
    gone = [i for edit in plan.edits for i in range(edit.start, edit.stop)]
    (request,) = plan.requests
    shown = len(gone) - len(request.messages)
    return Asked(request, max(gone) + 1, tuple(messages[i].id for i in gone[:shown]))


def shown(messages: Sequence[Message], limit: int, generation: DockerGeneration) -> tuple[Message, ...]:
    """What of these messages the model reads."""
    given = SummaryInput((), tuple(messages))
    context, n = Context.of(messages, generation.count), len(messages)
    task = SummaryTask(context, Budget(target=0, window=limit), Span(tuple(range(n)), n), given, given)
    return generation.reads(task).new


def recorded(*items: Message | CompactionEntry) -> list[str]:
    """The ids of what is sent at the end of a log of these."""
    log = Log()
    for item in items:
        if isinstance(item, CompactionEntry):
            log.append(replace(item, parent=log.leaf))
        else:
            log.append(MessageEntry(id=item.id, parent=log.leaf, message=item))
    return [message.id for message in fold(log.path())]


def summary_item(id: str, first_kept: str | None) -> CompactionEntry:
    return CompactionEntry(id=id, parent=None, summary=Summary(id=id, text="before"), first_kept=first_kept)


def due(tokens: int, threshold: float = 0.9, limit: int = 100_000) -> bool:
    return DockerTrigger(threshold).check(Situation(tokens=tokens, window=limit)) is not None


def trigger_g1() -> dict[str, object]:
    return {
        "7000": due(5_000 + 2_000), "90000": due(90_000), "90001": due(90_001),
        "added": due(70_000 + 10_000 + 15_000), "no limit": [due(90_001, limit=limit) for limit in (0, -1)],
    }  # fmt: skip


def thresholds() -> dict[str, object]:
    return {
        "0.5": [due(60_000, 0.5), due(40_000, 0.5)], "1": due(99_999, 1), "0": due(90_001, 0),
        "1.5": due(90_001, 1.5), "-0.5": due(89_000, -0.5),
    }  # fmt: skip


def mixed() -> AssistantMessage:
    """10 characters of words, 4 of a thought, and a call of 24."""
    return AssistantMessage(
        id="a", blocks=(Thinking("t" * 4), Text("w" * 10), ToolCall("c", "bash", {"command": "ls -la"}))
    )


def estimates() -> dict[str, object]:
    assert len('{"command":"ls -la"}') + len("bash") + 14 == 38
    assert len('{"path":"/tmp/test.txt"}') == 24
    messages: list[Message] = [
        said(""), said("Hello, world!"), UserMessage(id="u", blocks=(Text("a" * 10), Text("b" * 11))),
        called("read_file", path="/tmp/test.txt"), told("w" * 6, thought="t" * 46), mixed(),
    ]  # fmt: skip
    return {"G2": list(map(docker_tokens_g2, messages)), "G1": list(map(docker_tokens, messages))}


def attachments() -> dict[str, object]:
    two = UserMessage(id="u", blocks=(Image("application/pdf"), Image()))
    return {
        "two": docker_tokens_g2(two), "inline": docker_tokens_g2(said("d" * 35)), "G1": docker_tokens(two)
    }  # fmt: skip


def by_usage() -> dict[str, object]:
    plain = told("w" * 35, usage=Usage(output=900))
    hidden = told("w" * 35, usage=Usage(output=5_000, reasoning=4_990))
    stored = told("w" * 35, thought="hmm", usage=Usage(output=1_000, reasoning=400))
    only_input = told("w" * 35, usage=Usage(input=900))
    return {
        "plain": docker_tokens_g2(plain), "hidden": docker_tokens_g2(hidden), "stored": docker_tokens_g2(stored),
        "input only": docker_tokens_g2(only_input),
    }  # fmt: skip


def mirrored() -> dict[str, object]:
    once, twice = (UserMessage(id="u", blocks=(Text("x" * 35),) * n) for n in (2, 3))
    return {"mirrored": docker_tokens_g2(once), "repeated twice": docker_tokens_g2(twice)}


def answer(prompt: int, output: int = 0, id: str = "", model: str = "m") -> AssistantMessage:
    usage = Usage(input=prompt, output=output)
    return replace(told("ok", id or f"a{prompt}", usage=usage), model=model)


TOOL = result("t" * 7_000)


def scale(*messages: Message) -> float:
    return round(calibration(messages), 2)


def long_session() -> dict[str, object]:
    items = turns(*(20_000,) * 20)
    found: dict[str, object] = {}
    for name, by, generation in BOTH:
        question = asked(items, 200_000, by)
        assert question is not None
        found[name] = (
            split(items, generation.keep(200_000), generation), question.first_kept, len(question.request.messages),
        )  # fmt: skip
    return found


def with_a_summary() -> dict[str, object]:
    items = [said("x", f"{i}") for i in range(15)]
    ids = recorded(*items[:10], summary_item("10", "8"), *items[11:])
    done = run(LONG, Scripted(["before"])).after.messages[0]
    return {"indices": ids, "split 5": ids[5], "first": plain_text(done), "role": done.role}


def no_room() -> dict[str, object]:
    messages = turns(400, 400, 400)
    return {"messages": len(shown(messages, 16_050, FIRST)), "request": asked(messages, 16_050)}


def small_window() -> dict[str, object]:
    items = turns(80_000, 80_000, 400, 400)
    question = asked(items, 32_000, DOCKER_AGENT_G2)
    assert question is not None
    return {
        "summarised": len(question.request.messages), "kept": len(items) - question.first_kept,
        "reported": question.dropped,
    }  # fmt: skip


def tool_rounds() -> dict[str, object]:
    rounds = [m for i in range(8) for m in (called("read", f"c{i}", path="a"), result("x" * 4_000, f"c{i}"))]
    items: list[Message] = [said("go"), *rounds]
    question = asked(items, 8_192, DOCKER_AGENT_G2)
    assert question is not None
    return {"some": len(question.request.messages) > 0, "kept": 0 < question.first_kept < len(items)}


def single_user() -> dict[str, object]:
    items = turns(200_000)
    model = Scripted([])
    context = Context.of(items, docker_tokens_g2)
    done = compact(context, DOCKER_AGENT_G2.strategy, Budget(target=100, window=8_192), model)
    return {"request": asked(items, 8_192, DOCKER_AGENT_G2), "outcome": done.outcome, "asked": len(model.requests)}


def seeded() -> dict[str, object]:
    blank, trimmed = (run(LONG, Scripted([text]), DOCKER_AGENT_G2) for text in (" ", "  the summary\n"))
    return {"blank": blank.outcome, "trimmed": plain_text(trimmed.after.messages[0])}


def missing() -> dict[str, object]:
    compactor = Compactor(DOCKER_AGENT, window=100_000)
    compactor.before_request(openai(12))
    with pytest.raises(SettingError, match="pass one as `model`"):
        compactor.compact()
    return {"limit": DOCKER_AGENT.trigger.check(Situation(tokens=10**6, window=0))}


def phantom() -> dict[str, object]:
    huge = result("x" * 600_000)
    inside: list[Message] = [said("go"), told("done")]
    own: list[Message] = [said("go"), called("read"), huge]
    return {
        "sub-session": due(sum(LATER.sizes(inside))),
        "own": due(sum(LATER.sizes(own))),
    }


def overflows() -> dict[str, object]:
    def compacts(error: object) -> bool:
        live = Compactor(DOCKER_AGENT, model=Scripted(["short"]), window=100_000)
        live.before_request(openai(12))
        return live.on_error(error) is not None  # type: ignore[arg-type]

    wrapped = RuntimeError("the turn failed")
    wrapped.__cause__ = ValueError("prompt is too long: 226360 tokens > 200000 maximum")
    wrapped.__cause__.status_code = 400  # type: ignore[attr-defined]
    yes = ["prompt is too long: 226360 tokens > 200000 maximum",
           "max_tokens must be greater than thinking.budget_tokens", wrapped]  # fmt: skip
    no = ["500 Internal Server Error", "429 too many requests", "connection timeout", ""]
    return {"true": [compacts(one) for one in yes], "false": [compacts(one) for one in no]}


ROWS = (
    Row(
        "docker_agent", "ShouldCompact 5000+2000 of 100000; 90000; 90001; 70000+10000+15000; limit 0 or -1",
        {"7000": False, "90000": False, "90001": True, "added": True, "no limit": [False, False]}, trigger_g1,
    ),
    Row(
        "docker_agent", "threshold 0.5: 60000 / 40000; 1: 99999; 0 or 1.5: 90001; -0.5: 89000 (G2)",
        {"0.5": [True, False], "1": False, "0": True, "1.5": True, "-0.5": False}, thresholds,
    ),
    Row(
        "docker_agent", "estimate: empty; Hello, world!; 10+11 chars; read_file + 24; 6+46 reasoning; 38 mixed",
        {"G2": [5, 8, 11, 14, 19, 15], "G1": [5, 8, 10, 13, 18, 14]}, estimates,
    ),
    Row(
        "docker_agent", "2 binary attachments; 35 chars inline doc (G2)", {"two": 3_005, "inline": 15, "G1": 5},
        attachments,
    ),
    Row(
        "docker_agent", "usage output 900; 5000 with 4990 hidden; 1000 with stored reasoning; input only",
        {"plain": 905, "hidden": 15, "stored": 1_005, "input only": 15}, by_usage,
    ),
    Row(
        "docker_agent", "mirrored text part; repeated twice", {"mirrored": 15, "repeated twice": 25}, mirrored,
    ),
    Row(
        "docker_agent", "anchors 1000/100, tool 7000 chars (2005), 4108", {"size": 2_005, "scale": 1.5},
        lambda: {"size": docker_tokens_g2(TOOL), "scale": scale(answer(1_000, 100), TOOL, answer(4_108))},
    ),
    Row(
        "docker_agent", "1700 / 11100 instead of 4108", {"1700": 0.75, "11100": 2.0},
        lambda: {str(n): scale(answer(1_000, 100), TOOL, answer(n)) for n in (1_700, 11_100)},
    ),
    Row(
        "docker_agent", "100-char tool; model switch; negative second delta",
        {"small": 1.0, "switch": 1.0, "negative": 1.5},
        lambda: {
            "small": scale(answer(1_000, 100), result("t" * 100), answer(4_108)),
            "switch": scale(answer(1_000, 100), TOOL, answer(4_108, model="other")),
            "negative": scale(answer(1_000, 100), TOOL, answer(4_108), replace(TOOL, id="r2"), answer(500)),
        },
    ),
    Row(
        "docker_agent", "six 40000-char u/a messages, budget 23000; budget 20000 at G1 sizes",
        {"G1": 4, "G2": 4, "20000": 5},
        lambda: {
            **{name: split(turns(*(40_000,) * 6), 23_000, generation) for name, _, generation in BOTH},
            "20000": split(turns(*(40_000,) * 6), 20_000),
        },
    ),
    Row(
        "docker_agent", "u, a short or u, a, tool with 100000", {"two": 2, "three": 3},
        lambda: {
            "two": split(turns(20, 20), 100_000), "three": split([said("go"), called("read"), result("x")], 100_000)
        },
    ),
    Row(
        "docker_agent", "twenty 20000-char messages, limit 200000", {"G1": (17, 17, 17), "G2": (17, 17, 17)},
        long_session,
    ),
    Row(
        "docker_agent", "four 4000-char messages, FirstIndexInBudget 2400 (G2)", {"first": 2},
        lambda: {
            "first": first_index_in_budget(turns(*(4_000,) * 4), LATER.sizes(turns(*(4_000,) * 4)), 2_400)
        },
    ),
    Row(
        "docker_agent", "[sys, u1, a1, sys2, u2]", {"indices": (1, 2, 4), "past end": 5},
        lambda: {
            "indices": system_between().indices, "past end": system_between().index(3),
        },
    ),
    Row(
        "docker_agent", "items 0-7 old, 8-9 kept, 10 summary(first kept 8), 11-14 new",
        {
            "indices": ["10", "8", "9", "11", "12", "13", "14"], "split 5": "13", "first": "Session Summary: before",
            "role": "summary",
        },
        with_a_summary,
    ),
    Row(
        "docker_agent", "summary item with first kept 0", {"ids": ["c", "m2", "m3"]},
        lambda: {"ids": recorded(*turns(4, 4), summary_item("c", None), *turns(4, 4, 4, 4)[2:])},
    ),
    Row(
        "docker_agent", "limit 16050 at G1", {"messages": 0, "request": None}, no_room,
        instead="the original still asks the model, whose reply replaces the history",
    ),
    Row(
        "docker_agent", "limit 32000, two 80000-char + two small (G2)",
        {"summarised": 1, "kept": 2, "reported": ("m0",)}, small_window,
    ),
    Row(
        "docker_agent", "limit 8192, 1 user + 8 tool rounds of 4000 chars (G2)", {"some": True, "kept": True},
        tool_rounds,
    ),
    Row(
        "docker_agent", "single 200000-char user, limit 8192 (G2)",
        {"request": None, "outcome": "unchanged", "asked": 0}, single_user,
    ),
    Row(
        "docker_agent", "seeded assistant reply but blank model output (G2)",
        {"blank": "unchanged", "trimmed": "Session Summary: the summary"}, seeded,
    ),
    Row(
        "docker_agent", "RunAgent nil; limit 0", {"limit": None}, missing,
        instead="without a model the error says to pass one; an unknown window is never due",
    ),
    Row(
        "docker_agent", "600000-char content in a sub-session / in own tool result, limit 100000 (G2)",
        {"sub-session": False, "own": True}, phantom,
    ),
    Row(
        "docker_agent", "overflow texts, wrapped / 500, 429, timeout, nil",
        {"true": [True] * 3, "false": [False] * 4}, overflows,
    ),
)  # fmt: skip


def system_between() -> Movable:
    messages = [rules("one", "s1"), said("u", "u1"), told("a", "a1"), rules("two", "s2"), said("v", "u2")]
    return Movable.of(Context.of(messages, docker_tokens), Budget(target=0, window=1))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_the_table_holds(row: Row) -> None:
    row.check()


def run(messages: Sequence[Message], model: Scripted, by: Preset = DOCKER_AGENT, window: int = 128_000) -> Compaction:
    assert by.count is not None
    context = Context.of(messages, by.count)
    return compact(context, by.strategy, Budget(target=context.tokens - 1, window=window), model)


LONG = turns(*(20_000,) * 20)


def test_the_summary_stands_before_the_kept_tail() -> None:
    model = Scripted(["  what happened \n"])
    done = run(LONG, model)
    assert [m.id for m in done.after.messages[1:]] == ["m17", "m18", "m19"]
    assert plain_text(done.after.messages[0]) == "Session Summary: what happened"
    (request,) = model.requests
    assert request.max_tokens == 16_000 and request.messages == tuple(LONG[:17]) and request.purpose == "summary"


def test_an_empty_answer_compacts_nothing() -> None:
    for text in ("", "  \n"):
        done = run(LONG, Scripted([text]))
        assert done.outcome == "unchanged" and done.after is done.before
        assert [answer.fallback for answer in done.completions] == [True]


def test_a_models_error_is_passed_on() -> None:
    with pytest.raises(ModelError, match="boom"):
        run(LONG, Scripted([ModelError("boom")]))


def test_an_instruction_stands_below_the_question() -> None:
    question = asked(LONG, 200_000, additional="focus on code changes")
    assert question is not None
    assert question.request.prompt.endswith("\n\nfocus on code changes")
    assert question.request.prompt.count("x" * 20_000) == 17, "the conversation is not cut"


def test_a_dedicated_model_is_asked_and_its_window_counts() -> None:
    at = docker_agent(model="small", window=40_000)
    assert at.trigger.check(Situation(tokens=36_000, window=200_000)) is None
    assert at.trigger.check(Situation(tokens=36_001, window=200_000)) is not None
    model = Scripted(["s"])
    run(LONG, model, at, 200_000)
    (request,) = model.requests
    assert request.model == "small" and len(request.messages) < 17


def test_what_does_not_fit_is_reported_in_the_summary_and_the_record() -> None:
    done = run(LONG, Scripted(["s"]), window=64_000)
    gone = 17 - 9
    assert plain_text(done.after.messages[0]).endswith(
        f"s\n\n[{gone} earlier messages did not fit into the summariser's window]"
    )
    assert done.stages[0].dropped[:gone] == tuple(f"m{i}" for i in range(gone))


def test_an_earlier_summary_is_fed_first_and_never_dropped() -> None:
    once = run(LONG, Scripted(["the first summary"])).after
    more = [replace(message, id=f"{message.id}+") for message in LONG]
    model = Scripted(["the second"])
    done = run([*once.messages, *more], model, window=64_000)
    (request,) = model.requests
    assert (request.purpose, request.previous) == ("update", "the first summary")
    assert "[Summary]: the first summary" in request.prompt and len(request.messages) < 17
    assert sum(isinstance(message, Summary) for message in done.after.messages) == 1


def test_where_everything_fits_everything_is_compacted_but_what_the_user_said_last() -> None:
    messages = [said("go", "u0"), *steps(6), told("done", "a9"), said("and now", "u9"), told("well", "b9")]
    done = run(messages, Scripted(["short"]))
    assert [m.id for m in done.after.messages[1:]] == ["u9"]


def steps(n: int) -> list[Message]:
    return [m for i in range(n) for m in (called("read", f"c{i}", path="a"), result("x" * 900, f"c{i}"))]


def test_a_tail_at_exactly_the_budget_stays() -> None:
    messages = turns(*(4_000,) * 6)
    assert split(messages, 2 * 1_005) == 4 and split(messages, 2 * 1_005 - 1) == 5
    assert split([], 5) == 0
    assert split([said("x"), told("y" * 4_000)], 10) == 2, "a newest message over the budget keeps nothing"


def test_the_tail_begins_at_a_user_or_an_answer() -> None:
    messages: list[Message] = [said("x" * 4_000), *steps(4)]
    kept = split(messages, 2 * (docker_tokens(messages[2]) + docker_tokens(messages[1])) + 100)
    assert messages[kept].role == "assistant"


def test_a_hooks_summary_keeps_the_same_tail_and_asks_no_model() -> None:
    history = [m for turn in range(20) for m in openai(1, words=4_000)[1:]]
    own = Compactor(DOCKER_AGENT, window=200_000, hooks=Hooks(before=lambda due: Supply("by the host")))
    asks = Compactor(DOCKER_AGENT, window=200_000, model=Scripted(["by the model"]))
    by_hook, by_model = own.compact(messages=history), asks.compact(messages=history)
    assert by_hook is not None and by_model is not None and by_hook.completions == ()
    assert len(by_hook.after.messages) == len(by_model.after.messages) < len(history)


def test_a_result_has_the_cost() -> None:
    class Priced:
        name = "priced"

        def complete(self, request: SummaryRequest, /) -> Completion:
            return Completion(text=" text ", model=self.name, output_tokens=321, usd=0.02)

    context = Context.of(LONG, docker_tokens)
    done = compact(context, DOCKER_AGENT.strategy, Budget(target=context.tokens - 1, window=128_000), Priced())
    assert [(one.output_tokens, one.usd) for one in done.completions] == [(321, 0.02)]


def test_items_are_only_appended_and_the_newest_summary_wins() -> None:
    ids = recorded(*LONG, summary_item("one", "m17"), said("x", "n0"), summary_item("two", "m19"), said("y", "n1"))
    assert ids == ["two", "m19", "n0", "n1"]


def test_the_scale_is_used_where_the_tail_is_sought() -> None:
    heavy: list[Message] = [answer(1_000, 100), TOOL, answer(4_108)]
    assert LATER.sizes(heavy) == (105, int(2_005 * 3_008 / 2_005), int(5 * 3_008 / 2_005))
    assert exact_tokens(heavy[0]) == 105 and exact_tokens(TOOL) is None


def test_the_trigger_counts_the_report_and_what_came_after() -> None:
    check = DOCKER_AGENT.trigger.check
    reported = Usage(input=60_000, cache_read=20_000, output=5_000)
    at = Situation(tokens=100, window=100_000, reported=reported, since=5_000)
    assert check(at) is None
    assert check(replace(at, since=10_000)) is None
    assert check(replace(at, since=10_001)) is not None
    assert check(Situation(tokens=90_001, window=100_000)) is not None
    assert DockerTrigger(enabled=False).check(replace(at, since=10_001)) is None
    by_hand = DockerTrigger(enabled=False).check(replace(at, requested=True))
    assert by_hand is not None and by_hand.reason == "requested"


def test_an_overflow_is_compacted_and_tried_again_once_live() -> None:
    compactor = Compactor(DOCKER_AGENT, model=Scripted(["short", "shorter"]), window=100_000)
    sent = compactor.before_request(openai(12))
    retry = compactor.on_error("prompt is too long: 226360 tokens > 200000 maximum")
    assert retry is not None and len(retry.messages) < len(sent)
    assert compactor.on_error("prompt is too long: 226360 tokens > 200000 maximum") is None


def test_a_live_hook_supplies_the_summary_or_blocks() -> None:
    messages = openai(12)
    blocked = Compactor(DOCKER_AGENT, window=1_000, hooks=Hooks(before=lambda due: Cancel()))
    assert blocked.before_request(messages) == messages
    own = Compactor(DOCKER_AGENT, window=100_000, hooks=Hooks(before=lambda due: Supply("by the host")))
    done = own.compact(messages=messages)
    assert done is not None and done.completions == ()
    (summary,) = (message for message in done.after.messages if isinstance(message, Summary))
    assert plain_text(summary) == "Session Summary: by the host"


def test_a_failed_summary_leaves_the_history_live() -> None:
    messages = openai(12)
    compactor = Compactor(DOCKER_AGENT, model=Scripted([ModelError("boom")]), window=100_000)
    compactor.before_request(messages)
    with pytest.raises(ModelError, match="boom"):
        compactor.compact()
    assert compactor.before_request(messages) == messages
    assert "compaction_failed" in [event.type for event in compactor.events]


def test_an_empty_summary_leaves_the_history_live() -> None:
    messages = openai(12)
    compactor = Compactor(DOCKER_AGENT, model=Scripted([" "]), window=100_000)
    compactor.before_request(messages)
    done = compactor.compact()
    assert done is not None and done.outcome == "unchanged"
    assert compactor.before_request(messages) == messages


def test_later_versions_follow_small_windows() -> None:
    assert [(LATER.keep(n), LATER.cap(n)) for n in (0, 8_192, 200_000)] == [
        (20_000, 0),
        (1_638, 2_048),
        (20_000, 16_000),
    ]
    assert [(FIRST.keep(n), FIRST.cap(n)) for n in (0, 8_192)] == [(20_000, 16_000)] * 2


def test_large_results_are_cut_before_they_are_fitted_in_later_versions() -> None:
    messages: list[Message] = [called("read"), result("x" * 200_000), told("done")]
    later, first = shown(messages, 8_192, LATER), shown(messages, 20_000, FIRST)
    assert len(later) == 3 and len(plain_text(later[1])) < 8_000
    assert first == (messages[2],)


@pytest.mark.parametrize("at", [DOCKER_AGENT, DOCKER_AGENT_G2], ids=lambda at: at.name)
def test_every_version_keeps_the_guards_promises(at: Preset) -> None:
    assert at.count is not None
    context = Context.of([*conversation(40, words=200)], at.count)
    for window in (24_000, 64_000):
        for reason in ("threshold", "matched", "manual"):
            budget = Budget(target=context.tokens // 3, window=window, reason=reason)
            done = compact(context, at.strategy, budget, Scripted(["short"]))
            assert not done.violations and not violations(context, done.after) and done.outcome != "unchanged"


def test_a_comparison_sets_the_size() -> None:
    context = Context.of(turns(*(4_000,) * 200), docker_tokens)
    for share in (0.05, 0.1, 0.2):
        target = int(context.tokens * share)
        done = compact(
            context, DOCKER_AGENT.strategy, Budget(target=target, window=10**9, reason="matched"), Scripted(["x"])
        )
        assert done.after.tokens <= target and not done.violations


def test_the_presets_are_found_and_say_their_source() -> None:
    assert preset("docker_agent") is DOCKER_AGENT
    assert "docker/docker-agent" in DOCKER_AGENT.source
