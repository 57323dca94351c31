from dataclasses import replace

from builders import called, conversation, result, rules, said, summarize, told
from workbench import Budget, Compaction, Context, ModelError, Scripted, Strategy, Summary, compact
from workbench.engine.compaction.stages import Summarize
from workbench.engine.transcript.context import protected
from workbench.engine.transcript.message import Message, plain_text

OLD = [rules("be good"), *conversation(12, words=40)]


def run(
    messages: list[Message], model: Scripted, share: float = 0.4, stage: Summarize | None = None
) -> Compaction:
    context = Context.of(messages)
    budget = Budget(target=int(share * context.tokens), window=100_000, instructions="the limits")
    compaction = compact(context, Strategy("s", (stage or Summarize(),)), budget, model)
    assert not compaction.violations
    return compaction


def summary(done: Compaction) -> Summary:
    summaries = [message for message in done.after.messages if isinstance(message, Summary)]
    assert len(summaries) == 1
    return summaries[0]


def test_a_summary_stands_where_the_first_message_that_it_replaces_stood() -> None:
    compaction = run(OLD, Scripted(["## Goal\ngo on"]))
    assert compaction.after.messages[0] is OLD[0]
    assert compaction.after.messages[1] is summary(compaction)
    assert compaction.after.messages[2:] == tuple(OLD[-(len(compaction.after.messages) - 2) :])
    assert summary(compaction).text == "## Goal\ngo on"
    assert summary(compaction).said_by == "user"


def test_it_says_what_it_replaces_and_which_files_were_touched() -> None:
    made = summary(run(OLD, Scripted(["short"])))
    assert made.replaces == tuple(message.id for message in OLD[1 : 1 + len(made.replaces)])
    assert "src/part_0/file_0.py" in made.files.read
    assert "<read-files>" in made.tail
    assert "<read-files>" not in made.text, "a later update does not read the lists back"


def test_the_model_is_told_what_it_may_use() -> None:
    model = Scripted(["short"])
    compaction = run(OLD, model)
    request = model.requests[0]
    kept = sum(
        compaction.before.sizes[i]
        for i, message in enumerate(OLD)
        if message in compaction.after.messages
    )
    assert request.purpose == "summary"
    assert request.max_tokens is not None
    assert compaction.budget.target * 0.5 < kept + request.max_tokens < compaction.budget.target
    assert request.instructions == "the limits"
    assert "the limits" in request.prompt
    assert request.messages == tuple(OLD[1 : 1 + len(request.messages)])


def test_an_earlier_summary_is_updated_and_not_summarised_again() -> None:
    first = run(OLD, Scripted(["first summary"]))
    grown = [
        *first.after.messages,
        *[replace(message, id=f"later-{message.id}") for message in conversation(12, words=40)],
    ]
    model = Scripted(["second summary"])
    compaction = run(grown, model)
    request = model.requests[0]
    assert (request.purpose, request.previous) == ("update", "first summary")
    assert not any(isinstance(message, Summary) for message in request.messages)
    assert "<previous-summary>\nfirst summary\n</previous-summary>" in request.prompt
    earlier = summary(first).replaces
    assert summary(compaction).replaces[: len(earlier)] == earlier
    assert set(summary(first).files.read) <= set(summary(compaction).files.read)


def steps(n: int) -> list[Message]:
    made: list[Message] = []
    for i in range(n):
        made += [called("edit", f"s{i}", path=f"b{i}.py"), result("edited " * 40, f"s{i}")]
    return made


def test_the_start_of_a_turn_that_goes_on_is_asked_for_apart() -> None:
    messages: list[Message] = [*conversation(6, words=40), said("refactor", "turn"), *steps(20)]
    model = Scripted(["the history", "the start"])
    compaction = run(messages, model)
    assert [request.purpose for request in model.requests] == ["summary", "turn_prefix"]
    assert model.requests[1].messages[0].role == "assistant", (
        "the newest user message stays, so it is not summarised"
    )
    text = summary(compaction).text
    assert text.index("the history") < text.index("---") < text.index("the start")
    assert any(message.id == "turn" for message in compaction.after.messages)


def test_a_turn_without_history_before_it_needs_one_ask() -> None:
    model = Scripted(["the start"])
    compaction = run([said("refactor", "turn"), *steps(30)], model)
    assert len(model.requests) == 1
    assert summary(compaction).text == "the start"


def test_a_pinned_message_in_the_middle_survives_beside_the_summary() -> None:
    messages: list[Message] = [
        message if i != 7 else replace(message, pinned=True) for i, message in enumerate(OLD)
    ]
    compaction = run(messages, Scripted(["short"]))
    assert messages[7] in compaction.after.messages
    assert messages[7].id not in summary(compaction).replaces


def test_a_failing_model_is_replaced_by_a_note_of_what_is_missing() -> None:
    compaction = run(OLD, Scripted([ModelError("down")]))
    assert compaction.stages[0].completions[0].fallback
    assert compaction.stages[0].completions[0].why == "down"
    assert summary(compaction).text.startswith("[60 earlier messages left out: ")
    assert " assistant" in summary(compaction).text
    assert "<read-files>" in summary(compaction).tail


def test_a_failing_update_keeps_the_earlier_summary() -> None:
    first = run(OLD, Scripted(["first summary"]))
    grown = [
        *first.after.messages,
        *[replace(message, id=f"later-{message.id}") for message in conversation(12, words=40)],
    ]
    assert summary(run(grown, Scripted([ModelError("down")]))).text.startswith("first summary\n\n[")


def test_nothing_new_before_the_cut_asks_nobody() -> None:
    messages: list[Message] = [Summary(id="s", text="old " * 100), said("go"), told("word " * 100)]
    model = Scripted(())
    compaction = run(messages, model, share=0.75)
    assert model.requests == []
    assert compaction.after is compaction.before


def test_no_room_asks_nobody() -> None:
    model = Scripted(())
    context = Context.of([rules("rule " * 20), *conversation(2)])
    floor = sum(context.sizes[i] for i in protected(context.messages))
    assert (
        compact(
            context, Strategy("s", (Summarize(),)), Budget(target=floor + 50, window=999), model
        ).after
        is context
    )
    assert model.requests == []


def test_a_target_out_of_reach_is_no_reason_to_forget_everything() -> None:
    model = Scripted(["short"])
    compaction = run([rules("rule " * 2_000), *conversation(12, words=40)], model, share=0.1)
    assert summary(compaction).text == "short"
    assert compaction.outcome == "too_large"


def test_lists_of_files_can_be_left_out() -> None:
    made = summary(run(OLD, Scripted(["short"]), stage=summarize(file_lists="")))
    assert not made.files
    assert made.tail == ""


def test_a_cut_rule_may_be_another() -> None:
    compaction = run(OLD, Scripted(["short"]), stage=summarize(**{"summarize.cut.share": 0.0}))
    assert sum(1 for message in compaction.after.messages if message in OLD) <= 4


def test_what_a_person_said_last_is_never_only_in_the_summary() -> None:
    compaction = run(
        [*OLD, said("my last wish", "last"), *steps(20)], Scripted(["short", "short"]), share=0.2
    )
    assert "my last wish" in [plain_text(message) for message in compaction.after.messages]
