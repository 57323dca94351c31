"""Arguments and messages that cannot work are refused in one sentence that says what would be
accepted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest
from live.talk import Record, asked, back

import workbench as wb
from workbench import AssistantMessage, AsyncCompactor, MessageEntry, Settings, WorkbenchError


def made(preset: Any = "pipeline", **given: Any) -> wb.Compactor:
    return wb.Compactor(preset, **{"model": "extractive", **given})


def saved() -> Record:
    live = made()
    live.before_request([asked("so?")])
    return live.save()


def hand(**given: Any) -> object:
    return made().compact(messages=[asked("so?")], **given)


WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: made(window="128k"), "window is '128k'; a whole number of at least 1000 would be accepted"),
    (lambda: made(window=0), "`window` is 0; it must be at least 1000"),
    (lambda: made(window=10), "`window` is 10; it must be at least 1000"),
    (lambda: Settings(window=10), "`window` is 10; it must be at least 1000"),
    (lambda: wb.preset("pi", context_window=0), "a whole number of at least 1 would be accepted"),
    (lambda: made(window=0.8), "window is 0.8; a whole number of at least 1000 would be accepted"),
    (lambda: made(window=True), "window is True; a whole number of at least 1000 would be accepted"),
    (lambda: made("pipline"), "no preset is named 'pipline' (did you mean pipeline?); known are "),
    (lambda: made(None), "preset is None; a preset, such as wb.preset('pipeline'), or its name would be accepted"),
    (lambda: made(wb.preset("opal").strategy), "; a preset, such as wb.preset('pipeline'), or its name would be"),
    (lambda: made(model="gpt-4o"), "no model is named 'gpt-4o'; known are bundled, command, extractive, folder"),
    (lambda: made(model="gpt-4o"), "; a provider's model would be 'litellm:gpt-4o'"),
    (lambda: made(model=len), "or an object with `complete`, would be accepted"),
    (lambda: made(format="claude"), "no format is named 'claude'; known are anthropic, gemini, openai, responses"),
    (lambda: made(settings={"window": 8}), "settings is {'window': 8}; workbench.live.settings.Settings, or"),
    (lambda: made(hooks=print), "wb.Hooks, such as wb.Hooks(before=function), would be accepted"),
    (lambda: made(pins=["m1"]), "pins is ['m1']; a function would be accepted"),
    (lambda: made(on_event=[]), "on_event is []; a function would be accepted"),
    (lambda: Settings(breaker="3"), "breaker is '3'; a whole number of at least 1 would be accepted"),  # type: ignore[arg-type]
    (lambda: Settings(trigger="80%"), "trigger is '80%'; one such as wb.AtShare(0.8) would be accepted"),  # type: ignore[arg-type]
    (lambda: Settings(model_seconds="60"), "model_seconds is '60'; a number of seconds above 0, or None"),  # type: ignore[arg-type]
    (lambda: Settings(cooldown=None), "cooldown is None; a number of at least 0 would be accepted"),  # type: ignore[arg-type]
    (lambda: Settings(hysteresis="x"), "hysteresis is 'x'; a number in [0, 1) would be accepted"),  # type: ignore[arg-type]
    (lambda: Settings(automatic="no"), "automatic is 'no'; True or False would be accepted"),  # type: ignore[arg-type]
    (lambda: Settings(instructions=["x"]), "instructions is ['x']; a text would be accepted"),  # type: ignore[arg-type]
    (lambda: wb.AtShare(80, 40), "threshold 80 and target 40 are no shares of the window; both must lie between"),
    (lambda: wb.AtShare(0.3), "threshold 0.3 and target 0.4 are no shares of the window; both must lie between"),
    (lambda: wb.AtShare("x"), "threshold 'x' and target 0.4 are no shares of the window"),  # type: ignore[arg-type]
    (lambda: wb.preset(5), "preset is 5; a preset, such as wb.preset('pipeline'), or its name would be accepted"),  # type: ignore[arg-type]
    (lambda: made(format=[]), "no format is named '[]'; known are anthropic, gemini, openai, responses"),
    (lambda: made().tools(["x"]), "no tools are known in the format ['x']; known are openai, "),  # type: ignore[arg-type]
    (lambda: wb.Compactor.load(saved(), window=0), "`window` is 0; it must be at least 1000"),
    (lambda: AsyncCompactor("pipeline"), "compactor is 'pipeline'; a wb.Compactor would be accepted"),  # type: ignore[arg-type]
    (lambda: hand(keep_recent="2k"), "keep_recent is '2k'; a whole number would be accepted"),
    (lambda: made().request_compaction(5), "instructions is 5; a text would be accepted"),  # type: ignore[arg-type]
    (lambda: made(model=wb.Scripted), "or an object with `complete`, would be accepted"),
    (lambda: made(on_event=lambda: None), "; a function of one argument would be accepted"),
    (lambda: made(count=lambda: 1), "; a function of one argument would be accepted"),
    (lambda: made(pins=lambda a, b: True), "; a function of one argument would be accepted"),
    (lambda: made(clock=lambda at: 0.0), "; a function without arguments would be accepted"),
    (lambda: made(settings=lambda model: Settings()), "; a function without arguments would be accepted"),
    (lambda: wb.Hooks(before=lambda: None), "hook 'before' is <function"),  # type: ignore[arg-type, misc]
    (lambda: wb.Hooks(before_stage=lambda name: True), "; a function of 3 arguments would be accepted"),  # type: ignore[arg-type, misc]
    (lambda: wb.Hooks(after=lambda: None), "; a function of one argument would be accepted"),  # type: ignore[arg-type, misc]
    (lambda: Settings(trigger=wb.AtShare), "; one such as wb.AtShare(0.8) would be accepted"),  # type: ignore[arg-type]
    (lambda: hand(instructions=2_000), "instructions is 2000; a text would be accepted"),
    (lambda: wb.Compactor.load("{}"), "what `Compactor.save` returned would be accepted"),
    (lambda: wb.Compactor.load({**saved(), "version": 2}), "version 2 is unknown; a compactor of version 1 would be"),
    (lambda: wb.Compactor.load({**saved(), "window": "3"}), "saved compactor, field 'window': expected a whole number"),
    (lambda: wb.Compactor.load(saved(), "opal"), "saved with preset 'pipeline'; pass that one instead of 'opal'"),
]  # fmt: skip


@pytest.mark.parametrize(("use", "sentence"), WRONG, ids=[sentence for _, sentence in WRONG])
def test_an_argument_that_cannot_work_is_refused_in_a_sentence(
    use: Callable[[], object], sentence: str
) -> None:
    with pytest.raises(WorkbenchError) as error:
        use()
    assert sentence in str(error.value) and "\n" not in str(error.value)


NO_NUMBERS = [float("nan"), "3", [], {}, object()]
IMPOSSIBLE: dict[str, list[object]] = {
    "automatic": [None, 0, "no"],
    "window": [-5, 0, 0.5, True, math.inf, *NO_NUMBERS],
    "trigger": [0.8, True, wb.AtShare, *NO_NUMBERS],
    "instructions": [None, 5, b"x", ["x"]],
    "keep_recent": [-5, -1, 0.5, True, math.inf, *NO_NUMBERS],
    "hysteresis": [None, -0.1, 1, True, math.inf, *NO_NUMBERS],
    "breaker": [None, -5, 0, 0.5, True, math.inf, *NO_NUMBERS],
    "cooldown": [None, -0.1, True, -math.inf, *NO_NUMBERS],
    "cooldown_seconds": [None, -1, True, -math.inf, *NO_NUMBERS],
    "last_resort": [None, 1, "no"],
    "model_seconds": [-60, 0, True, math.inf, 1e300, *NO_NUMBERS],
    "retries": [None, -1, 0.5, True, math.inf, *NO_NUMBERS],
    "most_images": [-1, 0.5, True, math.inf, *NO_NUMBERS],
    "most_bytes": [-1, 0.5, True, math.inf, *NO_NUMBERS],
}


@pytest.mark.parametrize("setting", [field.name for field in fields(Settings)])
def test_each_setting_refuses_what_cannot_work(setting: str) -> None:
    for value in IMPOSSIBLE[setting]:
        arguments: dict[str, Any] = {setting: value}
        sentence = rf"^`?{setting}`? is .*; (.* would be accepted|it must be at least \d+)$"
        with pytest.raises(wb.SettingError, match=sentence):
            Settings(**arguments)


@pytest.mark.parametrize(
    ("messages", "sentence"),
    [
        (b"so?", "messages: expected a list of messages, found bytes"),
        ({"messages": []}, "messages: expected a list of messages, found dict"),
        (7, "messages: expected a list of messages, found int"),
        ([b"so?"], "messages[0]: expected a message with a role and content, found bytes"),
        ([asked("so?"), {"role": "robot"}], "messages[1], field 'role': no role is named 'robot'; known are system, "),
        ([{"role": "user", "content": b"so?"}], "messages[0], field 'content': expected text or a list of parts"),
        ([{"role": "assistant", "tool_calls": "read"}], "messages[0], field 'tool_calls': expected a list of calls"),
    ],
)  # fmt: skip
def test_messages_that_cannot_be_read_are_refused_and_the_next_request_is_as_ever(
    messages: Any, sentence: str
) -> None:
    live = made()
    with pytest.raises(wb.WorkbenchError) as error:
        live.before_request(messages)
    assert str(error.value).startswith(sentence)
    assert live.before_request([asked("so?")]) == [asked("so?")]


def test_calls_that_are_a_clients_objects_inside_a_dict_are_read_and_sent_as_they_are() -> None:
    types = pytest.importorskip("openai.types.chat")
    call = types.ChatCompletionMessageToolCall.model_validate(
        {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    )
    given = [
        asked("so?"),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        back("c1", "done"),
    ]
    live = made()
    sent = live.before_request(given)
    assert sent[1]["tool_calls"][0] is call
    messages = [entry.message for entry in live.log.path() if isinstance(entry, MessageEntry)]
    answers = [message for message in messages if isinstance(message, AssistantMessage)]
    assert [use.name for message in answers for use in message.calls] == ["read"]
    assert wb.Compactor.load(live.save(), model="extractive").before_request(given) == sent


@pytest.mark.parametrize("path", [5, None, b"state.json"])
def test_a_state_is_saved_to_a_path(path: Any) -> None:
    with pytest.raises(wb.SettingError, match=r"path is .*; the path of a file would be accepted"):
        made().save_to(path)
