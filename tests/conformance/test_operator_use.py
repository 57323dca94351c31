"""Operator-Use's published table, row by row, and what else its document promises."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest
from conformance.rows import Row, reported
from live.talk import answered, asked

from builders import called, result, said, told
from workbench.compaction.engine import compact
from workbench.compaction.file_lists import file_ops, listed
from workbench.compaction.plan import Draft
from workbench.compaction.presets import preset
from workbench.compaction.presets.operator_use import (
    OPERATOR_USE,
    PROMPT,
    OperatorCut,
    OperatorSettings,
    find_cut,
    in_order,
    operator_use,
    turn_start,
)
from workbench.compaction.presets.token_counters import operator_tokens
from workbench.compaction.span_selection import Movable, Span, SummaryInput
from workbench.compaction.stage import Budget
from workbench.compaction.trigger import Moment, Situation
from workbench.errors import CompactionRefused, ModelError
from workbench.live.compactor import Compactor
from workbench.models.model import SummaryRequest
from workbench.models.scripted import Scripted
from workbench.transcript.context import Context
from workbench.transcript.files import FileOps
from workbench.transcript.log import CompactionEntry, Log, MessageEntry, fold
from workbench.transcript.message import Image, Message, Summary, Text, ToolResult, Usage, UserMessage, plain_text


def log_of(messages: Iterable[Message]) -> Log:
    log = Log()
    for message in messages:
        log.append(MessageEntry(id=message.id, parent=log.leaf, message=message))
    return log


def pairs(n: int, text: str = "word") -> list[Message]:
    return [m for i in range(n) for m in (said(text, f"u{i}"), told(text, f"a{i}"))]


def long_pairs(n: int) -> list[Message]:
    return pairs(n, "w" * 4_000)


def keeping(tokens: int) -> OperatorSettings:
    return OperatorSettings(keep_recent_tokens=tokens)


def context(messages: Iterable[Message]) -> Context:
    return Context.of(messages, operator_tokens)


def cut(messages: Sequence[Message], keep: int) -> Span | None:
    return OperatorCut(lambda: keeping(keep)).find(context(messages), Budget(target=0, window=1))


def drafted(messages: Sequence[Message], keep: int, instructions: str = "") -> Draft:
    """The summary that a compaction of these messages asks for."""
    (stage,) = OPERATOR_USE.strategy.stages
    plan = stage.plan(context(messages), Budget(target=0, window=1, keep_recent=keep, instructions=instructions))
    assert plan is not None
    (draft,) = (new for edit in plan.edits for new in edit.by if isinstance(new, Draft))
    return draft


def requests(messages: Sequence[Message], keep: int, instructions: str = "") -> tuple[SummaryRequest, ...]:
    return drafted(messages, keep, instructions).requests


def compacted(messages: Sequence[Message], keep: int, *answers: str) -> Context:
    budget = Budget(target=0, window=1, keep_recent=keep)
    return compact(context(messages), OPERATOR_USE.strategy, budget, Scripted([*answers])).after


def point(messages: Sequence[Message], keep: int, *names: str) -> dict[str, object]:
    first, found = find_cut(messages, 0, keep), cut(messages, keep)
    given = SummaryInput((), ()) if found is None else SummaryInput.of(context(messages), found)
    start = turn_start(messages, 0, first)
    every = {
        "first kept": first, "turn start": start, "split": start is not None,
        "to summarise": len(given.history), "prefix": len(given.prefix), "none": found is None,
    }  # fmt: skip
    return {name: every[name] for name in names}


def sizes() -> dict[str, object]:
    words = "w" * 400
    return {
        "image": operator_tokens(UserMessage(id="i", blocks=(Image(),))),
        "text": operator_tokens(said(words)),
        "thinking": operator_tokens(told("", thought=words)),
        "result": operator_tokens(result(words)),
        "summary": operator_tokens(Summary(id="s", text=words)),
        "empty": operator_tokens(said("")),
    }


def trigger_percent() -> dict[str, object]:
    half = OperatorSettings(trigger_percent=0.5)
    return {"5000": half.due(5000, 10_000), "5001": half.due(5001, 10_000)}


def due(tokens: int, window: int, reserve: int, *, enabled: bool = True) -> bool:
    return OperatorSettings(enabled=enabled, reserve_tokens=reserve).due(tokens, window)


def leaf_is_compaction() -> dict[str, object]:
    log = log_of(long_pairs(4))
    log.append(CompactionEntry(id="c", parent=log.leaf, summary=Summary(id="c", text="x"), first_kept="u2"))
    empty = OPERATOR_USE.strategy.stages[0].plan(context([]), Budget(target=0, window=1))
    return {"empty": empty, "leaf": cut(fold(log.path()), 10_000)}


def after_a_compaction(first_kept: str) -> str:
    """Four messages, a compaction, two more messages: the first message that a second compaction looks at."""
    log = log_of(pairs(2))
    log.append(CompactionEntry(id="c", parent=log.leaf, summary=Summary(id="c", text="x"), first_kept=first_kept))
    for message in (said("more", "u9"), told("more", "a9")):
        log.append(MessageEntry(id=message.id, parent=log.leaf, message=message))
    movable = Movable.of(context(fold(log.path())), Budget(target=0, window=1))
    return movable.messages[movable.earlier].id


def lists() -> dict[str, object]:
    calls = [("read", "b"), ("read", "a"), ("write", "c"), ("edit", "b")]
    messages = [called(tool, f"c{i}", path=path) for i, (tool, path) in enumerate(calls)]
    given = SummaryInput((), tuple(messages), files=file_ops(messages))
    files = in_order(Context.of(messages), given).files
    return {"read": files.read, "modified": files.modified}


def footers() -> dict[str, object]:
    return {
        "none": listed(FileOps()),
        "read": listed(FileOps(read=("a", "b"))),
        "modified": listed(FileOps(modified=("c",))),
    }


def second_cycle() -> dict[str, object]:
    model = Scripted(["the first summary", "the second"])
    budget = Budget(target=0, window=1, keep_recent=1_500)
    once = compact(context(long_pairs(4)), OPERATOR_USE.strategy, budget, model).after
    more = [replace(m, id=f"{m.id}+") for m in long_pairs(4)]
    compact(context([*once.messages, *more]), OPERATOR_USE.strategy, budget, model)
    return {"previous": model.requests[1].previous == "the first summary"}


def failure(why: str) -> str:
    try:
        budget = Budget(target=0, window=1, keep_recent=1_500)
        compact(context(long_pairs(6)), OPERATOR_USE.strategy, budget, Scripted([ModelError(why)]))
    except ModelError as error:
        return str(error)
    return "none"


def ignored_usage() -> dict[str, object]:
    compactor = Compactor(OPERATOR_USE, model=Scripted(["S"]), window=100_000)
    history = [m for _ in range(8) for m in (asked("w" * 8_000), answered("w" * 8_000))]
    compactor.before_request(history)
    compactor.report_usage(None)
    compactor.after_turn()
    calm = len(compactor.events)
    compactor.report_usage({"input_tokens": 95_000, "output_tokens": 5})
    compactor.after_turn()
    return {"null": calm, "good": len(compactor.events) > 0}


CALL_400 = [called("read", "c1"), result("w" * 400, "c1", id="r1")]
TRAILING = [said("u"), *CALL_400, result("w" * 400, "c1", id="r2")]
IN_TURN = [said("u0", "u0"), told("a0", "a0"), said("u1", "u1"), *CALL_400, told("a2", "a2")]
LONG_CALL = [called("read", "c1"), result("w" * 8_000, "c1", id="r1")]
OPEN_TURN = [said("u8", "u8"), *LONG_CALL, told("a8", "a8")]
EMPTY = "the original prepares an empty list and asks a model about nothing; the document returns None"

ROWS = (
    Row(
        "operator_use", "usage 100/50/20/10", {"tokens": 180},
        lambda: {"tokens": reported(Usage(input=100, output=50, cache_read=20, cache_write=10))},
    ),
    Row(
        "operator_use", "image; 400 chars of each kind; empty user text",
        {"image": 1200, "text": 100, "thinking": 100, "result": 100, "summary": 100, "empty": 1}, sizes,
    ),
    Row(
        "operator_use", "should_compact(9500, 10000), reserve 1000, then (5000)", {"9500": True, "5000": False},
        lambda: {"9500": due(9_500, 10_000, 1_000), "5000": due(5_000, 10_000, 1_000)},
    ),
    Row(
        "operator_use", "reserve 500: 9501 and 9500 of 10000", {"9501": True, "9500": False},
        lambda: {"9501": due(9_501, 10_000, 500), "9500": due(9_500, 10_000, 500)},
    ),
    Row(
        "operator_use", "5001 of 10000: reserve 100 and 5000", {"100": False, "5000": True},
        lambda: {"100": due(5_001, 10_000, 100), "5000": due(5_001, 10_000, 5_000)},
    ),
    Row("operator_use", "disabled", {"due": False}, lambda: {"due": due(99_999, 10_000, 500, enabled=False)}),
    Row("operator_use", "trigger_percent 0.5", {"5000": False, "5001": True}, trigger_percent),
    Row(
        "operator_use", "prepare([]); leaf is a compaction", {"empty": None, "leaf": None}, leaf_is_compaction,
        instead="what the compaction kept is compacted again where it is due; the original does nothing",
    ),
    Row(
        "operator_use", "5 pairs of 1 token, keep 1", {"first kept": 9, "turn start": 8, "split": True},
        lambda: point(pairs(5), 1, "first kept", "turn start", "split"),
    ),
    Row(
        "operator_use", "5 pairs, keep 2", {"first kept": 8, "split": False},
        lambda: point(pairs(5), 2, "first kept", "split"),
    ),
    Row(
        "operator_use", "5 pairs, keep 100000", {"first kept": 0, "to summarise": 0, "none": True},
        lambda: point(pairs(5), 100_000, "first kept", "to summarise", "none"), instead=EMPTY,
    ),
    Row(
        "operator_use", "4 users and 3 assistants, keep 1", {"first kept": 6, "to summarise": 6},
        lambda: point(pairs(4)[:7], 1, "first kept", "to summarise"),
    ),
    Row(
        "operator_use", "no valid index behind two results, keep 50", {"first kept": 0, "none": True},
        lambda: point(TRAILING, 50, "first kept", "none"), instead=EMPTY,
    ),
    Row(
        "operator_use", "a result in a turn, keep 50",
        {"first kept": 5, "split": True, "turn start": 2, "prefix": 2},
        lambda: point(IN_TURN, 50, "first kept", "split", "turn start", "prefix"),
        instead="the newest user message stays beside the summary; the original puts it into the prefix of 3",
    ),
    Row(
        "operator_use", "compaction with first kept = entry 2 of 4, then two more", {"known": "u1", "unknown": "u9"},
        lambda: {"known": after_a_compaction("u1"), "unknown": after_a_compaction("nobody")},
    ),
    Row("operator_use", "read {a,b}, edited {b}, written {c}", {"read": ("a",), "modified": ("b", "c")}, lists),
    Row(
        "operator_use", "empty lists; only read; only modified",
        {
            "none": "", "read": "\n\n<read-files>\na\nb\n</read-files>",
            "modified": "\n\n<modified-files>\nc\n</modified-files>",
        },
        footers,
    ),
    Row(
        "operator_use", "error events boom and blank", {"boom": "boom", "blank": ""},
        lambda: {"boom": failure("boom"), "blank": failure("")},
        instead="the model's error is passed on as it is; the original puts words before it",
    ),
    Row("operator_use", "second cycle after a first compaction", {"previous": True}, second_cycle),
    Row(
        "operator_use", "usage with error stop, or null", {"null": 0, "good": True}, ignored_usage,
        instead="a host reports only answers that ended well"
    ),
)  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_the_table_holds(row: Row) -> None:
    row.check()


def test_the_defaults_are_the_documents() -> None:
    assert OperatorSettings() == OperatorSettings(
        enabled=True, reserve_tokens=8_192, keep_recent_tokens=16_384, trigger_percent=None
    )


def check(
    tokens: int, *, moment: Moment = "after_turn", requested: bool = False, settings: OperatorSettings | None = None
) -> Budget | None:
    here = operator_use(lambda: settings or OperatorSettings(reserve_tokens=1_000)).trigger
    seen = Situation(
        tokens=5_000, window=10_000, moment=moment, reported=Usage(input=tokens - 100, output=100), requested=requested
    )
    return here.check(seen)


def test_a_turn_that_leaves_just_the_reserve_is_not_due() -> None:
    assert check(9_000) is None
    assert check(9_001) is not None


def test_cached_tokens_count_as_much_as_others() -> None:
    seen = Situation(tokens=1, window=10_000, moment="after_turn", reported=Usage(cache_read=9_000, output=1))
    assert operator_use(lambda: OperatorSettings(reserve_tokens=1_000)).trigger.check(seen) is not None


def test_a_requested_compaction_waits_for_the_end_of_the_turn() -> None:
    assert check(500, requested=True, moment="before_request") is None
    assert check(500, requested=True, moment="after_tools") is None
    budget = check(500, requested=True)
    assert budget is not None and budget.reason == "requested" and budget.target < 5_000


def test_nothing_is_due_in_mid_turn() -> None:
    assert check(9_999, moment="before_request") is None
    assert OPERATOR_USE.moments == ("after_turn",)


def test_settings_are_read_at_each_check() -> None:
    now = [OperatorSettings(reserve_tokens=1_000)]
    live = operator_use(lambda: now[0])
    seen = Situation(tokens=9_500, window=10_000, moment="after_turn")
    assert live.trigger.check(seen) is not None
    now[0] = OperatorSettings(enabled=False)
    assert live.trigger.check(seen) is None
    context = Context.of(long_pairs(6), operator_tokens)
    stage = live.strategy.stages[0]
    now[0] = keeping(1_500)
    assert stage.plan(context, Budget(target=0, window=1)) is not None
    now[0] = keeping(100_000)
    assert stage.plan(context, Budget(target=0, window=1)) is None


def test_the_record_says_what_the_summary_stands_for_and_which_files() -> None:
    steps = [called("read", "c1", path="a.py"), result("w" * 4_000, "c1", name="read")]
    draft = drafted([*long_pairs(1), said("go on", "u5"), *steps, told("w" * 4_000, "a5")], 500)
    assert draft.frame.replaces == ("u0", "a0", "a-c1", "r-c1")
    assert draft.frame.files == FileOps(("a.py",))


def test_a_split_turn_makes_two_requests_that_do_not_need_each_other() -> None:
    messages = [*long_pairs(2), *OPEN_TURN]
    history, turn = requests(messages, 1, "on tests")
    assert (history.purpose, turn.purpose) == ("summary", "turn_prefix")
    assert history.prompt.endswith("Additional focus: on tests") and "on tests" not in turn.prompt
    after = compacted(messages, 1, "H", "T")
    assert plain_text(after.messages[0]).endswith("H\n\n---\n\n**Turn Context (split turn):**\n\nT")
    assert after.messages[-1].id == "a8"


def test_a_split_turn_without_history_asks_once() -> None:
    assert [request.purpose for request in requests(OPEN_TURN, 1)] == ["turn_prefix"]
    summary = next(m for m in compacted(OPEN_TURN, 1, "T").messages if isinstance(m, Summary))
    assert summary.text.startswith("No prior history.\n\n---\n\n**Turn Context (split turn):**\n\nT")


def test_a_split_turn_after_a_summary_updates_it() -> None:
    messages = [Summary(id="c", text="known"), *OPEN_TURN]
    (request,) = requests(messages, 1)
    assert request.purpose == "update" and request.previous == "known"
    assert plain_text(compacted(messages, 1, "merged").messages[0]).endswith("\nmerged")


def test_the_footer_stands_below_the_answer_and_in_the_record() -> None:
    steps = [
        called("write", "c1", path="b.py"), result("ok", "c1"), called("read", "c2", path="z.py"), result("ok", "c2"),
        called("read", "c3", path="a.py"), result("w" * 4_000, "c3"),
    ]  # fmt: skip
    summary = compacted([said("x", "ux"), *steps, *long_pairs(1)], 1_500, "S").messages[0]
    assert isinstance(summary, Summary)
    assert summary.text == "S\n\n<read-files>\na.py\nz.py\n</read-files>\n\n<modified-files>\nb.py\n</modified-files>"
    assert summary.files == FileOps(("a.py", "z.py"), ("b.py",))


def test_the_summary_comes_first_and_what_is_kept_behind_it() -> None:
    after = compacted(long_pairs(4), 1_500, "S")
    assert [m.id for m in after.messages[1:]] == ["u3", "a3"]
    assert plain_text(after.messages[0]) == "[Previous conversation summary]\nS"


def test_only_the_newest_of_several_compactions_is_seen() -> None:
    log = log_of(pairs(2))
    for id, first in (("c1", "u1"), ("c2", "a1")):
        log.append(CompactionEntry(id=id, parent=log.leaf, summary=Summary(id=id, text=id), first_kept=first))
        log.append(MessageEntry(id=f"u{id}", parent=log.leaf, message=said("more", f"u{id}")))
    assert [m.id for m in fold(log.path())] == ["c2", "a1", "uc1", "uc2"]


def test_an_unknown_first_kept_entry_keeps_nothing_from_before() -> None:
    log = log_of(pairs(2))
    log.append(CompactionEntry(id="c1", parent=log.leaf, summary=Summary(id="c1", text="S"), first_kept="nobody"))
    assert [m.id for m in fold(log.path())] == ["c1"]


def test_a_branch_that_leaves_before_the_compaction_does_not_see_it() -> None:
    log = log_of(pairs(3))
    log.append(CompactionEntry(id="c1", parent=log.leaf, summary=Summary(id="c1", text="S"), first_kept="u2"))
    log.append(MessageEntry(id="other", parent="a0", message=said("another way", "other")))
    assert [m.id for m in fold(log.path())] == ["u0", "a0", "other"]


def test_the_newest_user_message_stays_when_its_turn_is_parted() -> None:
    messages = [*long_pairs(2), said("do it all", "u9"), *CALL_400, told("done", "a9")]
    after = compacted(messages, 1, "H", "T")
    assert [m.role for m in after.messages] == ["summary", "user", "assistant"]


def test_a_compaction_by_hand_needs_an_idle_agent() -> None:
    live = Compactor(OPERATOR_USE, model=Scripted(["S"]))
    history = [m for _ in range(9) for m in (asked("w" * 20_000), answered("w" * 20_000))]
    with pytest.raises(CompactionRefused, match="after the model's answer"):
        live.compact(messages=history[:-1])
    assert live.events == []
    done = live.compact(messages=history)
    assert done is not None and done.outcome != "unchanged"


def test_the_models_failure_is_passed_on() -> None:
    context = Context.of(long_pairs(6), operator_tokens)
    budget = Budget(target=0, window=1, keep_recent=1_500)
    with pytest.raises(ModelError, match="boom"):
        compact(context, OPERATOR_USE.strategy, budget, Scripted([ModelError("boom")]))


def test_a_second_compaction_updates_the_first() -> None:
    budget = Budget(target=0, window=1, keep_recent=1_500)
    model = Scripted(["one", "two"])
    once = compact(Context.of(long_pairs(6), operator_tokens), OPERATOR_USE.strategy, budget, model).after
    more = [replace(m, id=f"{m.id}+") for m in long_pairs(6)]
    twice = compact(Context.of([*once.messages, *more], operator_tokens), OPERATOR_USE.strategy, budget, model).after
    assert model.requests[1].previous == "one" and "<previous-summary>\none\n" in model.requests[1].prompt
    assert sum(isinstance(m, Summary) for m in twice.messages) == 1
    kept = {m.id for m in twice.messages}
    assert {"u5", "a5"}.isdisjoint(kept), "what the first compaction kept is looked at again"


def test_the_transcript_shows_calls_thoughts_and_cut_results() -> None:
    custom = UserMessage(id="x", blocks=(Text("note"),), name="reminder", synthetic=True)
    answer = told("words", thought="hmm")
    call = called("read", "c", path="a.py", lines=[1, 2])
    long = ToolResult(id="r", call_id="c", blocks=(Text("y" * 2_500),))
    assert PROMPT.transcript([said("hi"), answer, call, long, custom]) == "\n\n".join(
        [
            "[User]: hi", "[Assistant thinking]: hmm", "[Assistant]: words",
            '[Assistant tool calls]: read(path="a.py", lines=[1, 2])',
            "[Tool result]: " + "y" * 2_000 + "\n\n[... 500 more characters truncated]", "[REMINDER]: note",
        ]
    )  # fmt: skip


def test_the_prompts_ask_for_the_documented_sections() -> None:
    history, turn = requests([*long_pairs(2), *OPEN_TURN], 1)
    for heading in ("Goal", "Constraints & Preferences", "Progress", "Key Decisions", "Next Steps", "Critical Context"):
        assert f"## {heading}" in history.prompt
    for heading in ("Original Request", "Early Progress", "Context for Suffix"):
        assert f"## {heading}" in turn.prompt
    assert "blocked" in history.prompt


def test_a_comparison_sets_the_size() -> None:
    context = Context.of(long_pairs(100), operator_tokens)
    for share in (0.05, 0.1, 0.2):
        target = int(context.tokens * share)
        budget = Budget(target=target, window=10**9, reason="matched")
        done = compact(context, OPERATOR_USE.strategy, budget, Scripted(["x"] * 2))
        assert done.after.tokens <= target and not done.violations


def test_the_preset_is_found_by_name() -> None:
    assert preset("operator_use") is OPERATOR_USE
