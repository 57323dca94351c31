import threading
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from builders import compact_if_due, conversation, rules, said
from workbench import (
    AtShare,
    Budget,
    Completion,
    Context,
    ModelError,
    Plan,
    PlanError,
    Preset,
    Replace,
    Scripted,
    SettingError,
    Situation,
    Strategy,
    SummaryRequest,
    compact,
    find_model,
    preset,
)
from workbench.engine.compaction.plan import Draft
from workbench.engine.compaction.stages import Summarize
from workbench.engine.transcript.message import plain_text


@dataclass(frozen=True)
class DropFirst:
    """Drops the first message."""

    name: ClassVar[str] = "drop_first"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        return Plan((Replace(0, 1),))


DROP = DropFirst()
TALK = Context.of([said(f"message {i} " * 20, f"u{i}") for i in range(5)])


def to(target: int, *, force: bool = False) -> Budget:
    return Budget(target=target, window=10_000, force=force)


def test_stages_run_until_the_target_is_reached() -> None:
    compaction = compact(
        TALK, Strategy("x", (DROP, DROP, DROP)), to(TALK.tokens - TALK.sizes[0] - 1), Scripted(())
    )
    assert [record.name for record in compaction.stages] == ["drop_first", "drop_first"]
    assert compaction.outcome == "compacted"


def test_force_runs_every_stage_once_though_the_target_is_reached() -> None:
    assert (
        len(compact(TALK, Strategy("x", (DROP, DROP)), to(99_999, force=True), Scripted(())).stages)
        == 2
    )
    assert (
        compact(TALK, Strategy("x", (DROP, DROP)), to(99_999), Scripted(())).outcome == "unchanged"
    )


def test_a_view_shapes_what_is_sent_also_where_the_history_already_fits_or_is_compacted_by_force() -> (
    None
):
    for budget in (to(TALK.tokens - 1), to(TALK.tokens), to(TALK.tokens, force=True)):
        compaction = compact(TALK, Strategy("x", (DROP,), view=(DROP,)), budget, Scripted(()))
        assert [message.id for message in compaction.sent.messages] == [
            message.id for message in compaction.after.messages[1:]
        ]


def test_no_stage_runs_where_the_view_alone_reaches_the_target() -> None:
    compaction = compact(
        TALK, Strategy("x", (DROP,), view=(DROP,)), to(TALK.tokens - 1), Scripted(())
    )
    assert (
        not compaction.stages and compaction.after is TALK and compaction.sent.tokens < TALK.tokens
    )


def test_a_view_is_sent_and_never_kept() -> None:
    compaction = compact(TALK, Strategy("x", (), view=(DROP,)), to(0), Scripted(()))
    assert compaction.after is TALK
    assert compaction.sent.messages == TALK.messages[1:]


@dataclass(frozen=True)
class DropAll:
    """Drops every message, the newest of the user too."""

    name: ClassVar[str] = "drop_all"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        return Plan((Replace(0, len(context.messages)),))


@pytest.mark.parametrize("target", [0, TALK.tokens - 1, TALK.tokens])
def test_a_stage_of_a_view_that_breaks_a_rule_is_passed_over_and_told(target: int) -> None:
    strategy = Strategy("x", (), view=(DropAll(), DROP))
    compaction = compact(TALK, strategy, to(target), Scripted(()))
    assert compaction.sent.messages == TALK.messages[1:]
    assert [record.name for record in compaction.stages] == ["drop_all"]
    assert "C3" in [violation.rule for violation in compaction.violations]
    if target == 0:
        assert "the stage 'drop_all' was undone" in compaction.why


def test_a_context_that_is_not_due_is_left_alone() -> None:
    part = Preset("p", Strategy("x", (DROP,)), AtShare(0.8, 0.4))
    assert compact_if_due(TALK, part, Situation(tokens=799, window=1000), Scripted(())) is None
    compaction = compact_if_due(TALK, part, Situation(tokens=800, window=1000), Scripted(()))
    assert compaction is not None
    assert compaction.budget.target == 400


def test_a_target_is_a_share_of_the_room_that_the_overhead_leaves() -> None:
    due = AtShare(0.8, 0.4).check(Situation(tokens=900, window=1000, overhead=500))
    assert due is not None and due.target == 500 + 200


def test_an_unreachable_target_names_what_is_protected() -> None:
    context = Context.of([rules("long rule " * 100), said("hi")], overhead=500)
    compaction = compact(context, preset("truncate").strategy, to(10), Scripted(()))
    assert compaction.outcome == "unchanged"
    assert f"{context.tokens} are protected" in compaction.why


def test_an_error_of_the_model_passes_where_nothing_stands_in() -> None:
    context = Context.of(conversation(20, words=60))
    strict = Strategy(
        "strict", (Summarize(stand_ins=replace(Summarize().stand_ins, fallback=None)),)
    )
    with pytest.raises(ModelError):
        compact(context, strict, to(context.tokens // 3), Scripted([ModelError("down")]))
    with pytest.raises(ModelError, match="empty"):
        compact(context, strict, to(context.tokens // 3), Scripted(["  \n"]))


@pytest.mark.parametrize("answer", [ModelError("down"), "  \n"])
def test_what_stands_in_for_the_models_words_is_told_from_them(answer: str | ModelError) -> None:
    context = Context.of(conversation(20, words=60))
    compaction = compact(
        context, Strategy("s", (Summarize(),)), to(context.tokens // 3), Scripted([answer])
    )
    (completion,) = compaction.completions
    assert completion.text.strip() and completion.fallback
    assert "empty" in completion.why or "down" in completion.why


def test_the_records_say_what_was_dropped_and_rewritten() -> None:
    compaction = compact(TALK, Strategy("x", (DROP,)), to(0), Scripted(()))
    assert compaction.stages[0].dropped == ("u0",)
    assert compaction.stages[0].rewritten == ()
    assert (compaction.stages[0].tokens_before, compaction.stages[0].tokens_after) == (
        TALK.tokens,
        compaction.after.tokens,
    )


@dataclass(frozen=True)
class Split:
    """Drops the first two messages for a summary in two parts."""

    name: ClassVar[str] = "split"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        requests = tuple(
            SummaryRequest(purpose="summary", system="", write=lambda _: "", instructions=word)
            for word in ("first", "second")
        )
        return Plan((Replace(0, 2, (Draft(requests=requests, template="{0} and {1}"),)),))


class Meeting:
    """Answers a question only while another one is being asked, or only while none is."""

    name = "meeting"

    def __init__(self, *, at_once: bool) -> None:
        self.at_once = at_once
        self.both = threading.Barrier(2, timeout=20)
        self.alone = threading.Lock()

    def complete(self, request: SummaryRequest, /) -> Completion:
        if self.at_once:
            self.both.wait()
        else:
            assert self.alone.acquire(blocking=False)
            self.alone.release()
        return Completion(text=request.instructions, model=self.name)


def test_independent_questions_are_put_at_the_same_time_to_a_model_that_bears_it() -> None:
    compaction = compact(
        TALK, Strategy("x", (Split(),)), to(TALK.tokens - 1), Meeting(at_once=True)
    )
    assert plain_text(compaction.after.messages[0]) == "first and second"


def test_else_they_are_put_one_after_the_other() -> None:
    compaction = compact(
        TALK, Strategy("x", (Split(),)), to(TALK.tokens - 1), Meeting(at_once=False)
    )
    assert plain_text(compaction.after.messages[0]) == "first and second"


class Half(Meeting):
    """Has no answer to the second question."""

    def complete(self, request: SummaryRequest, /) -> Completion:
        completion = super().complete(request)
        if request.instructions == "second":
            raise ModelError("no second answer")
        return completion


def test_an_error_of_one_of_two_passes_once_both_are_over() -> None:
    with pytest.raises(ModelError, match="no second answer"):
        compact(TALK, Strategy("x", (Split(),)), to(TALK.tokens - 1), Half(at_once=True))


LONG = Context.of(conversation(60, words=60))
SMALL = Budget(target=LONG.tokens // 3, window=4_000)
"""The window is so small that most of the record does not fit into the prompt."""


class Reading(Scripted):
    """One that reads the prompt first, as a real model does."""

    def complete(self, request: SummaryRequest, /) -> Completion:
        assert request.prompt
        return super().complete(request)


def test_what_the_prompt_left_out_is_in_the_record_of_the_answer() -> None:
    model = Reading(["## Goal\ngo on"] * 9)
    compaction = compact(LONG, Strategy("s", (Summarize(),)), SMALL, model)
    assert [answer.left_out for answer in compaction.completions] == [
        request.left_out for request in model.requests
    ]
    assert 0 < sum(request.left_out for request in model.requests) < len(LONG.messages)
    wide = compact(
        LONG,
        Strategy("s", (Summarize(),)),
        Budget(target=SMALL.target, window=200_000),
        Reading(["x"] * 9),
    )
    assert [answer.left_out for answer in wide.completions] == [0] * len(wide.completions)


def test_a_model_that_reads_the_messages_themselves_and_a_stand_in_leave_nothing_out() -> None:
    for model in (find_model("extractive"), Scripted([ModelError("down")] * 9)):
        compaction = compact(LONG, Strategy("s", (Summarize(),)), SMALL, model)
        assert compaction.completions and all(
            answer.left_out is None for answer in compaction.completions
        )


class DropsAll:
    """Breaks a rule: nobody knows any more what the user said last."""

    name = "drops_all"

    def plan(self, context: Context, budget: Budget, /) -> Plan:
        return Plan((Replace(0, len(context.messages)),))


def test_the_outcome_says_which_stage_was_undone_and_why() -> None:
    history = Context.of([said("go"), *conversation(10)])
    compaction = compact(
        history, Strategy("mine", (DropsAll(),)), Budget(target=10, window=1_000), Scripted(())
    )
    assert compaction.outcome == "unchanged"
    assert compaction.why.startswith("the stage 'drops_all' was undone: ")


@pytest.mark.parametrize("stages", [(DropsAll,), ("truncate",), DropsAll(), [DropsAll()]])
@pytest.mark.parametrize("field", ["stages", "view"])
def test_what_is_no_tuple_of_stages_is_refused_when_a_strategy_is_made(
    field: str, stages: object
) -> None:
    arguments: dict[str, object] = {"stages": (), field: stages}
    with pytest.raises(SettingError, match=f"is no stage|{field} is .* a tuple would be accepted"):
        Strategy("mine", **arguments)  # type: ignore[arg-type]


class Talks:
    """Answers in words."""

    name = "talks"

    def plan(self, context: Context, budget: Budget, /) -> Plan:
        return "nothing to do"  # type: ignore[return-value]


def test_a_stage_that_answers_no_plan_is_named() -> None:
    history = Context.of(conversation(10))
    budget = Budget(target=10, window=1_000)
    with pytest.raises(PlanError, match=r"stage 'talks' returned 'nothing to do'; a wb\.Plan or"):
        compact(history, Strategy("mine", (Talks(),)), budget, Scripted(()))
