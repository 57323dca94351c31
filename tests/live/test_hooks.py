from __future__ import annotations

from typing import Any

import pytest
from live.talk import asked, openai

from workbench import (
    Budget,
    Cancel,
    Compaction,
    Compactor,
    Context,
    Due,
    Hooks,
    Scripted,
    SettingError,
    Settings,
    Supply,
    find_model,
)
from workbench.live.events import CompactionEnded


def test_a_hook_may_cancel_and_is_not_asked_again_at_once() -> None:
    asked_for: list[Due] = []

    def never(due: Due) -> Cancel:
        asked_for.append(due)
        return Cancel("in the middle of an edit")

    messages = openai(30)
    settings = Settings(last_resort=False)
    live = Compactor("truncate", window=3_000, settings=settings, hooks=Hooks(before=never))
    assert live.before_request(messages) == messages
    assert live.before_request([*messages, asked("go on")])[:-1] == messages
    assert [event.why for event in live.events if event.type == "compaction_cancelled"] == [
        "in the middle of an edit"
    ]
    assert [(due.number, due.cause, due.budget.reason) for due in asked_for] == [
        (1, "before_request", "threshold")
    ]


@pytest.mark.parametrize("preset", ["summarize", "pipeline", "truncate"])
def test_a_hook_may_supply_the_summary_and_no_model_is_asked(preset: str) -> None:
    model = Scripted([])
    live = Compactor(
        preset,
        model=model,
        window=3_000,
        hooks=Hooks(before=lambda due: Supply("All of it: {0} 42.")),
    )
    messages = openai(30)
    sent = live.before_request(messages)
    assert model.requests == []
    assert sum("All of it: {0} 42." in str(message["content"]) for message in sent) == 1
    assert sent[-1] is messages[-1]
    assert [event.supplied for event in live.events if isinstance(event, CompactionEnded)] == [True]


def test_a_hook_may_skip_a_stage() -> None:
    names: list[str] = []

    def allow(name: str, context: Context, budget: Budget) -> bool:
        names.append(name)
        return name != "snip"

    live = Compactor(
        "pipeline", model=find_model("extractive"), window=3_000, hooks=Hooks(before_stage=allow)
    )
    live.before_request(openai(30))
    ended = next(event for event in live.events if isinstance(event, CompactionEnded))
    assert "snip" in names
    assert "snip" not in [stage.name for stage in ended.stages]


def test_a_hook_is_told_what_was_done_once_it_is_in_place() -> None:
    told: list[tuple[Compaction, int]] = []
    live = Compactor(
        "truncate", window=3_000, hooks=Hooks(after=lambda done: told.append((done, live.tokens)))
    )
    live.before_request(openai(30))
    assert [compaction.sent.tokens for compaction, _ in told] == [tokens for _, tokens in told]


async def veto(due: Due) -> Cancel:
    return Cancel("not now")


class Veto:
    async def __call__(self, *_: object) -> Cancel:
        return Cancel("not now")


@pytest.mark.parametrize("hook", ["before", "before_stage", "after"])
@pytest.mark.parametrize("function", [veto, Veto()], ids=["function", "object"])
def test_a_hook_that_would_have_to_be_awaited_is_refused_at_construction(
    hook: str, function: Any
) -> None:
    with pytest.raises(SettingError, match=rf"hooks\.{hook} .* would be accepted"):
        Compactor("truncate", hooks=Hooks(**{hook: function}))


@pytest.mark.parametrize("argument", ["on_event", "count", "pins", "clock", "settings"])
def test_no_other_function_may_be_awaited_either(argument: str) -> None:
    arguments: dict[str, Any] = {argument: veto}
    with pytest.raises(SettingError, match=f"{argument} is .* would be accepted"):
        Compactor("truncate", **arguments)


def test_a_hook_that_turns_out_to_be_awaited_cancels_nothing_in_silence() -> None:
    settings = Settings(last_resort=False)
    hooks = Hooks(before=lambda due: veto(due))  # type: ignore[arg-type,return-value]
    live = Compactor("truncate", window=3_000, settings=settings, hooks=hooks)
    messages = openai(30)
    assert live.before_request(messages) == messages
    assert [event.type for event in live.events] == ["compaction_started", "compaction_failed"]
    assert "to await" in live.events[-1].why  # type: ignore[union-attr]


@pytest.mark.parametrize("answer", [Cancel, "my summary", False], ids=repr)
def test_what_a_hook_may_not_answer_is_told_before_a_model_is_paid(answer: Any) -> None:
    model = Scripted(["never asked"])
    settings = Settings(last_resort=False)
    hooks = Hooks(before=lambda due: answer)
    live = Compactor("summarize", model=model, window=3_000, settings=settings, hooks=hooks)
    messages = openai(30)
    assert live.before_request(messages) == messages
    assert model.requests == []
    assert [event.type for event in live.events] == ["compaction_started", "compaction_failed"]
    assert "wb.Supply('the summary') would be accepted" in live.events[-1].why  # type: ignore[union-attr]


@pytest.mark.parametrize("hook", ["before", "before_stage", "after"])
def test_a_hook_that_is_no_function_is_refused_at_construction(hook: str) -> None:
    with pytest.raises(SettingError, match=f"'{hook}' is 'log'; a function would be accepted"):
        Hooks(**{hook: "log"})  # type: ignore[arg-type]
