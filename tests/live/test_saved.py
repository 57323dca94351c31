"""An agent that is killed and resumed sends what one that was never stopped sends."""

from __future__ import annotations

import copy
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from live.habits import Habit, as_it_is, moving_marker, reminder_behind, reminder_in_text
from live.shapes import items
from live.talk import Record, anthropic, asked, openai, without_fallback
from preset_names import BUILTIN_PRESETS

from profiles import FULL
from workbench import (
    Compactor,
    Completion,
    FormatError,
    Preset,
    SettingError,
    SummaryRequest,
    UnknownName,
    find_model,
    with_recall,
)

TALKS: dict[str, Callable[..., list[Record]]] = {"openai": openai, "anthropic": anthropic}
PRESETS = BUILTIN_PRESETS if FULL else ("pipeline", "codex_local")
HABITS = (as_it_is, moving_marker, reminder_in_text, reminder_behind)
TURNS, WORDS, WINDOW = 16, 100, 5_000


def resumed(live: Compactor, **given: Any) -> Compactor:
    """The compactor from its document, through JSON text."""
    return Compactor.load(
        json.loads(json.dumps(live.save(), allow_nan=False)),
        model=find_model("extractive"),
        **given,
    )


def requests(
    preset: Preset | str,
    format: str,
    habit: Habit = as_it_is,
    *,
    killed: bool,
    returned: bool = False,
) -> list[list[Record]]:
    """All requests of a conversation; killed, the compactor is saved and loaded at every one."""
    given: dict[str, Any] = {"clock": lambda: 0.0}
    live = Compactor(preset, model=find_model("extractive"), window=WINDOW, format=format, **given)  # type: ignore[arg-type]
    said: list[Record] = []
    sent: list[list[Record]] = []
    for message in TALKS[format](TURNS, words=WORDS):
        if message["role"] == "assistant":
            request = live.before_request(
                copy.deepcopy(habit(said, len(sent))), tools=[{"name": "read"}], model="m"
            )
            sent.append(copy.deepcopy(request))
            said = copy.deepcopy(request) if returned else said
            live.report_usage(
                {"prompt_tokens": live.tokens + 300, "completion_tokens": 9}, model="m"
            )
        said.append(message)
        if "tool_calls" not in message and message["role"] == "assistant":
            live.after_turn(copy.deepcopy(said))
        if killed and message["role"] == "assistant":
            live = (
                resumed(live, **given)
                if isinstance(preset, str)
                else resumed(live, preset=preset, **given)
            )
    return sent


@pytest.mark.parametrize("format", TALKS)
@pytest.mark.parametrize("preset", PRESETS)
def test_killed_and_resumed_at_every_turn_it_sends_the_same(preset: str, format: str) -> None:
    whole = requests(preset, format, killed=False)
    assert requests(preset, format, killed=True) == whole


@pytest.mark.parametrize("habit", HABITS[1:] if FULL else HABITS[3:])
def test_so_it_does_with_a_host_of_habits(habit: Habit) -> None:
    assert requests("pipeline", "openai", habit, killed=True) == requests(
        "pipeline", "openai", habit, killed=False
    )


def test_so_it_does_for_an_agent_that_goes_on_with_what_came_back_and_with_recall() -> None:
    for preset, returned in (("summarize", True), (with_recall("pipeline"), False)):
        whole = requests(preset, "openai", killed=False, returned=returned)
        assert requests(preset, "openai", killed=True, returned=returned) == whole


def worked() -> tuple[Compactor, list[Record]]:
    live, said = Compactor("summarize", model=find_model("extractive"), window=3_000), openai(20)
    for end in range(2, len(said)):
        live.before_request(said[:end])
    return live, said[:-1]


def test_log_branches_archive_and_learned_window_are_in_the_document() -> None:
    live, said = worked()
    live.before_request([*said[:9], asked("another way")])
    live.on_error("prompt is too long: 2500 tokens > 2000 maximum")
    again = resumed(live)
    assert again.log == live.log and len(again.log.leaves()) > 1
    assert (again.window, again.tokens, again.usd, again.original) == (
        2_000,
        live.tokens,
        live.usd,
        live.original,
    )
    assert again.session().messages == live.session().messages


class Down:
    """A model that never answers, and counts how often it was asked."""

    name = "down"

    def __init__(self) -> None:
        self.asked = 0

    def complete(self, request: SummaryRequest, /) -> Completion:
        self.asked += 1
        raise TimeoutError("no answer")


def test_a_request_to_no_model_in_particular_is_saved_and_loaded() -> None:
    live = Compactor("truncate")
    live.before_request([asked("so?")], model=None)  # type: ignore[arg-type]
    assert Compactor.load(live.save()).tokens == live.tokens


def test_a_model_that_failed_is_not_asked_again_right_after_the_restart() -> None:
    said, down = openai(20, words=100), Down()
    strict = without_fallback("summarize")
    live = Compactor(strict, model=down, window=6_000)
    end = next(
        end for end in range(len(said)) if live.before_request(said[:end]) is None or down.asked
    )
    again = Compactor.load(json.loads(json.dumps(live.save())), strict, model=down)
    again.before_request([*said[:end], asked("and now?")])
    assert down.asked == 1
    again.before_request(said[: end + 6])
    assert down.asked == 2


def test_an_answer_that_came_in_pieces_is_resumed_as_it_was_heard() -> None:
    """Of Responses items: a request in the middle of an answer takes its first items for a whole
    one.
    """
    said = items(openai(6))
    given: dict[str, Any] = {
        "model": find_model("extractive"),
        "window": 1_200,
        "format": "responses",
    }
    live = Compactor("pipeline", **given)
    for end in range(1, len(said)):
        live.before_request(said[:end])
        live = Compactor.load(json.loads(json.dumps(live.save())), **given)
    compactor = Compactor("pipeline", **given)
    for end in range(1, len(said)):
        compactor.before_request(said[:end])
    assert live.before_request(said) == compactor.before_request(said)
    assert live.original == said


def test_a_process_that_is_killed_leaves_a_file_to_go_on_from(tmp_path: Path) -> None:
    script = """
import json, os, signal, sys
from pathlib import Path
sys.path[:0] = [sys.argv[2]]
from live.talk import openai
from workbench.live.compactor import Compactor
from workbench import find_model
from workbench.engine.models.model import Completion, SummaryRequest
live, said = Compactor("summarize", model=find_model("extractive"), window=3_000), openai(20)
for end in range(2, 50):
    live.before_request(said[:end])
    Path(sys.argv[1]).write_text(json.dumps(live.save()))
os.kill(os.getpid(), signal.SIGKILL)
"""
    file, tests = tmp_path / "compactor.json", str(Path(__file__).parents[1])
    dead = subprocess.run(
        [sys.executable, "-c", script, str(file), tests], timeout=120, check=False
    )
    assert dead.returncode == -signal.SIGKILL
    compactor, said = (
        Compactor("summarize", model=find_model("extractive"), window=3_000),
        openai(20),
    )
    for end in range(2, 50):
        compactor.before_request(said[:end])
    again = Compactor.load(json.loads(file.read_text()), model=find_model("extractive"))
    for end in range(50, len(said)):
        assert again.before_request(said[:end]) == compactor.before_request(said[:end])


@pytest.mark.parametrize(
    ("change", "accepted"),
    [
        (lambda _: [], "what `Compactor.save` returned would be accepted"),
        (lambda one: {**one, "version": 2}, "a compactor of version 1 would be accepted"),
        (lambda one: {**one, "windw": 1}, "known fields are"),
        (lambda one: {**one, "checkpoints": [{"kept": 1}]}, "field 'checkpoints"),
        (lambda one: {**one, "entries": []}, "unchanged, would be accepted"),
        (lambda one: {**one, "log": one["log"][1:]}, "unchanged, would be accepted"),
        (lambda one: {**one, "made": []}, "unchanged, would be accepted"),
    ],
)
def test_a_damaged_or_newer_document_is_refused_in_one_sentence(change: Any, accepted: str) -> None:
    document = worked()[0].save()
    with pytest.raises(FormatError) as error:
        Compactor.load(change(document), model=find_model("extractive"))
    assert accepted in str(error.value)


def test_another_preset_is_refused_and_an_unknown_one_must_be_passed() -> None:
    live, _ = worked()
    with pytest.raises(SettingError, match="'summarize'; pass that one instead of 'pipeline'"):
        Compactor.load(live.save(), "pipeline", model=find_model("extractive"))
    with pytest.raises(UnknownName):
        Compactor.load({**live.save(), "preset": "mine"}, model=find_model("extractive"))
