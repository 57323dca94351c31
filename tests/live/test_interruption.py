"""Whatever breaks a compaction off, and wherever, the history is whole afterwards and the agent
can go on.
"""

from __future__ import annotations

import sys
from asyncio import CancelledError
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import validators
from live.talk import Record, asked, back, openai, used, without_fallback

from profiles import FULL
from workbench import (
    Budget,
    Compactor,
    Completion,
    Context,
    Due,
    Hooks,
    MessageEntry,
    ModelError,
    Plan,
    Preset,
    Refused,
    Replace,
    Settings,
    Strategy,
    SummaryRequest,
    find_model,
)
from workbench.engine.compaction.plan import Draft
from workbench.live.events import CompactionDropped, CompactionEnded

ENGINE = (str(Path("workbench", "engine", "compaction")), str(Path("workbench", "live")))


class Interrupted:
    """A model at which the person presses Ctrl-C."""

    name = "interrupted"

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def complete(self, request: SummaryRequest, /) -> Completion:
        raise self.error


def whole(live: Compactor, messages: list[Record]) -> None:
    """Whether nothing is lost and the next request is a valid one."""
    longer = [*messages, asked("go on")]
    live._runner.model = find_model("extractive")
    sent = live.before_request(longer)
    assert validators.openai_chat(sent) == []
    assert live.original == longer
    assert sent[-1] == longer[-1]
    path = [entry for entry in live.log.path() if isinstance(entry, MessageEntry)]
    assert len(path) == len(longer)


ALONE = Settings(last_resort=False)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit()])
def test_an_interruption_of_the_model_passes_through_and_leaves_the_history_as_it_was(
    error: BaseException,
) -> None:
    messages = openai(30)[:-1]
    live = Compactor("summarize", model=Interrupted(error), window=3_000, settings=ALONE)
    with pytest.raises(type(error)):
        live.before_request(messages)
    assert [event.type for event in live.events][1:] == ["compaction_failed"]
    assert live.tokens > 0.8 * 3_000
    whole(live, messages)


@pytest.mark.parametrize("name", ["before", "before_stage", "after", "on_event", "count", "pins"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit()])
def test_an_interruption_of_a_function_passes_through_and_the_next_request_is_whole(
    name: str, error: BaseException, tmp_path: Path
) -> None:
    is_healthy = [True]

    def interrupted(*_: Any) -> Any:
        if not is_healthy[0]:
            raise error
        return 50 if name == "count" else None

    messages = openai(30)[:-1]
    functions: dict[str, Any] = {name: interrupted}
    if name in ("before", "before_stage", "after"):
        functions = {"hooks": Hooks(**functions)}
    live = Compactor("summarize", model=find_model("extractive"), window=3_000, **functions)
    live.before_request(messages[:8])
    live.save_to(tmp_path / "saved")
    is_healthy[0] = False
    with pytest.raises(type(error)):
        live.before_request(messages)
    is_healthy[0] = True
    assert balanced(live)
    live.save_to(tmp_path / "saved")
    whole(Compactor.load(tmp_path / "saved", model=find_model("extractive")), messages)
    whole(live, messages)


def balanced(live: Compactor) -> bool:
    """Whether each compaction that started has ended."""
    types = [event.type for event in live.events]
    ended = [type for type in types if type.startswith("compaction_")]
    return len(ended) == 2 * types.count("compaction_started")


def test_a_task_that_is_cancelled_inside_a_model_is_a_failure_of_the_model() -> None:
    messages = openai(30)[:-1]
    live = Compactor("summarize", model=Interrupted(CancelledError()), window=3_000)
    live.before_request(messages)
    (ended,) = [event for event in live.events if isinstance(event, CompactionEnded)]
    assert "since the model failed: CancelledError" in ended.warning


def test_a_task_that_is_cancelled_inside_a_hook_is_a_failure_of_the_hook() -> None:
    def cancelled(due: Due) -> None:
        raise CancelledError

    messages = openai(30)[:-1]
    live = Compactor("pipeline", window=3_000, hooks=Hooks(before=cancelled), settings=ALONE)
    assert live.before_request(messages) == messages
    assert [event.why for event in dropped(live)] == ["CancelledError: "]
    live._runner.hooks = Hooks()
    whole(live, messages)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (TimeoutError("slow"), "TimeoutError: slow"),
        (ValueError("odd"), "ValueError: odd"),
        (Refused("the limit of 1 USD is reached"), "the limit of 1 USD is reached"),
    ],
)
def test_an_error_in_the_model_leaves_the_history_as_it_was_and_the_agent_running(
    error: Exception, reason: str
) -> None:
    messages = openai(30)[:-1]
    live = Compactor(
        without_fallback("summarize"), model=Interrupted(error), window=3_000, settings=ALONE
    )
    assert live.before_request(messages) == messages
    assert [(event.type, event.why) for event in dropped(live)] == [("compaction_failed", reason)]
    whole(live, messages)
    live._runner.model = Interrupted(error)
    with pytest.raises(ModelError, match=str(error)):
        live.compact()


def dropped(live: Compactor) -> list[CompactionDropped]:
    return [event for event in live.events if isinstance(event, CompactionDropped)]


@pytest.mark.parametrize("hook", ["before", "before_stage"])
def test_an_error_in_a_hook_leaves_the_history_as_it_was(hook: str) -> None:
    def fails(*_: Any) -> None:
        raise RuntimeError("the host is broken")

    messages = openai(30)[:-1]
    live = Compactor(
        "pipeline",
        model=find_model("extractive"),
        window=3_000,
        hooks=Hooks(**{hook: fails}),
        settings=ALONE,
    )
    assert live.before_request(messages) == messages
    assert [event.why for event in dropped(live)] == ["RuntimeError: the host is broken"]
    assert live.compact() is None
    live._runner.hooks = Hooks()
    whole(live, messages)


STEP = 37 if FULL else 211
"""Lines of the engine from one interruption to the next."""


def interrupt_at(line: int) -> Callable[[FrameType, str, Any], Any]:
    """A tracer that presses Ctrl-C at the n-th line that the engine runs."""
    left = [line]

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if not any(folder in frame.f_code.co_filename for folder in ENGINE):
            return None
        if event == "line":
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt
        return trace

    return trace


def test_an_interruption_at_any_line_leaves_the_history_whole() -> None:
    messages = openai(9)[:-1]
    interrupted = 0
    for line in range(1, 100_000, STEP):
        live = Compactor("summarize", model=find_model("extractive"), window=1_500)
        live.before_request(messages[:20])
        old = sys.gettrace()
        sys.settrace(interrupt_at(line))
        try:
            live.before_request(messages)
            done = True
        except KeyboardInterrupt:
            done = False
        finally:
            sys.settrace(old)
        if done:
            break
        interrupted += 1
        whole(live, messages)
    assert interrupted > 3_700 / STEP
    assert any(isinstance(event, CompactionEnded) for event in live.events)


class Meanwhile:
    """A model during whose answer something happens to the history."""

    name = "meanwhile"

    def __init__(self) -> None:
        self.happens: Callable[[], object] = lambda: None

    def complete(self, request: SummaryRequest, /) -> Completion:
        happens, self.happens = self.happens, lambda: None
        happens()
        return find_model("extractive").complete(request)


def test_what_is_said_while_a_summary_is_written_survives_behind_it() -> None:
    messages = openai(9)
    model = Meanwhile()
    live = Compactor("summarize", model=model, window=100_000)
    live.before_request(messages)
    longer = [*messages, asked("one thing more")]
    model.happens = lambda: live.before_request(longer)
    assert live.compact() is not None
    sent = live.before_request(longer)
    assert sent[-1] is longer[-1] and len(sent) < len(longer)
    assert live.original == longer


def test_a_compaction_of_a_history_that_was_taken_back_meanwhile_is_not_put_in_place() -> None:
    messages = openai(9)
    model = Meanwhile()
    live = Compactor("summarize", model=model, window=100_000)
    live.before_request(messages)
    early = [*messages[:3], asked("no, this")]
    model.happens = lambda: live.before_request(early)
    assert live.compact() is None
    assert any(event.type == "compaction_discarded" for event in live.events)
    assert live.before_request(early) == early


class DropsCalls:
    """Asks a model, and forgets the last message, although its call still waits for a result."""

    name = "drops_calls"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        last = len(context.messages) - 1
        request = SummaryRequest(
            purpose="summary", system="", write=str, messages=context.messages[:last]
        )
        return Plan((Replace(1, last - 1, (Draft(requests=(request,)),)), Replace(last, last + 1)))


def test_a_result_that_came_meanwhile_is_not_parted_from_its_call() -> None:
    messages = [*openai(9), asked("again"), used("late", path="a.py")]
    model = Meanwhile()
    live = Compactor(
        Preset("hasty", Strategy("hasty", (DropsCalls(),))), model=model, window=100_000
    )
    live.before_request(messages)
    longer = [*messages, back("late", "here")]
    model.happens = lambda: live.before_request(longer)
    compaction = live.compact()
    assert compaction is not None and compaction.outcome == "unchanged", (
        "a call that waits is never dropped"
    )
    assert live.before_request(longer) == longer


def test_the_second_of_two_compactions_at_once_is_not_put_in_place() -> None:
    messages = openai(9)
    model = Meanwhile()
    live = Compactor("summarize", model=model, window=100_000)
    live.before_request(messages)
    model.happens = live.compact
    assert live.compact() is None
    assert sum(event.type == "compaction_discarded" for event in live.events) == 1
    assert validators.openai_chat(live.before_request([*messages, asked("go on")])) == []
