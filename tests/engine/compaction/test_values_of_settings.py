"""Whatever value a setting of a preset is given: it is refused in a sentence before anything runs, or
the preset compacts with it.
"""

from __future__ import annotations

import math
from types import NoneType
from typing import get_args, get_origin

import pytest
from live.talk import openai
from preset_names import BUILTIN_PRESETS

import workbench as wb
from workbench import Compactor, Completion, Settings, SummaryRequest
from workbench.engine.compaction.settings import settings
from workbench.engine.transcript.message import Json

NUMBERS = (-(10**12), -1, -0.5, 0, 1.5, 10**12, math.nan, math.inf)
TEXTS = ("", "nope", "../nope")
LISTS = ((), ("",), ("nope",))
SHORT_TALK, WHOLE_TALK = openai(12), openai(24)


class Writer:
    """Reads each prompt, and answers with a short summary."""

    name = "writer"

    def complete(self, request: SummaryRequest, /) -> Completion:
        assert request.prompt
        return Completion(text="The user asked for limits. Next: go on.", model=self.name)


def wrong_values(setting: Json) -> tuple[Json, ...]:
    """Values of the setting's own type that may make no sense, and one of another type."""
    kinds = {get_origin(hint) or hint for hint in (setting.hint, *get_args(setting.hint))}
    values: list[Json] = [{"a": 1}]
    if kinds & {int, float}:
        values += NUMBERS
    if str in kinds:
        values += TEXTS
    if kinds & {tuple, frozenset} or setting.path == "compaction_pipeline":
        values += LISTS
    if NoneType in kinds:
        values.append(None)
    return tuple(values)


def new_settings() -> dict[str, list[Json]]:
    """By preset the settings that no preset before it has."""
    declared: set[tuple[type, str]] = set()
    by_preset: dict[str, list[Json]] = {}
    for name in BUILTIN_PRESETS:
        by_preset[name] = []
        for setting in settings(wb.preset(name)).values():
            declaration = setting.owner, setting.field
            if declaration not in declared:
                declared.add(declaration)
                by_preset[name].append(setting)
    return by_preset


NEW_SETTINGS = new_settings()


def failures(preset: wb.Preset) -> list[str]:
    """Why compactions of an agent with this preset failed, and why notes replaced summaries."""
    policy = Settings(model_seconds=None, last_resort=False)
    live = Compactor(preset, model=Writer(), window=4_000, settings=policy)
    for talk in (SHORT_TALK, WHOLE_TALK):
        live.after_tools(talk)
        live.before_request(talk)
        live.after_turn(talk)
    live.compact("Dwell on limits.")
    reasons: list[str] = []
    for event in live.events:
        if event.type in ("compaction_failed", "callback_failed"):
            reasons.append(f"{event.type}: {getattr(event, 'why', '')}")
        warning = getattr(event, "warning", "")
        if "a note replaces the summary" in warning:
            reasons.append(warning)
    return reasons


@pytest.mark.parametrize("name", [name for name in BUILTIN_PRESETS if NEW_SETTINGS[name]])
def test_a_value_is_refused_before_anything_runs_or_works(name: str) -> None:
    usual_failures = failures(wb.preset(name))
    for setting in NEW_SETTINGS[name]:
        for value in wrong_values(setting):
            try:
                preset = wb.preset(name, **{setting.path: value})
            except wb.SettingError as error:
                sentence = str(error)
                assert "\n" not in sentence and "Error" not in sentence, sentence
                continue
            assert failures(preset) == usual_failures, (setting.path, value)


@pytest.mark.parametrize(("limit_input", "max_size"), [(10_000, 8), (1, 1)])
def test_values_that_leave_less_than_nothing_keep_the_newest(
    limit_input: int, max_size: int
) -> None:
    assert failures(wb.preset("opencode_v2", limit_input=limit_input)) == []
    assert failures(wb.preset("openhands_rolling", **{"summarize.cut.max_size": max_size})) == []
