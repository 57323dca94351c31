"""Settings of presets by name, and what becomes of a wrong one."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from preset_names import BUILTIN_PRESETS

from workbench import Preset, SettingError, preset
from workbench.engine.compaction.settings import settings
from workbench.evaluation.experiment.keys import key


def unnamed(part: Preset) -> Preset:
    """The preset without a name, which says its settings too."""
    return replace(part, name="", strategy=replace(part.strategy, name=""))


@pytest.mark.parametrize("name", list(BUILTIN_PRESETS))
def test_every_number_and_truth_of_every_preset_can_be_changed(name: str) -> None:
    part = preset(name)
    for path, one in settings(part).items():
        if isinstance(one.value, bool | int | float):
            value = (
                not one.value if isinstance(one.value, bool) else type(one.value)(one.value * 0.5)
            )
            try:
                changed = preset(name, **{path: value})
            except SettingError as error:
                assert "cannot have" in str(error)  # the preset's own bound, in its own words
                continue
            assert settings(changed)[path].value == value
            assert key(unnamed(changed)) != key(unnamed(part)) or value == one.value


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [
        ("opencode_v2", "headings", "sections"),
        ("claude_code", "lead", "sections"),
        ("opal", "rules", ("rules", "sections")),
        ("opencode", "answer", -1),
        ("codex_local", "trigger.share", 1.5),
    ],
)
def test_a_value_that_a_preset_cannot_work_with_is_refused_before_it_runs(
    name: str, setting: str, value: str | tuple[str, ...] | float
) -> None:
    with pytest.raises(SettingError, match="cannot have"):
        preset(name, **{setting: value})


def test_the_end_of_a_path_will_do_where_it_is_one_setting() -> None:
    assert settings(preset("summarize", threshold=0.7))["trigger.threshold"].value == 0.7
    both = settings(preset("ddx_agent", reserve_tokens=4_096))
    assert [one.value for path, one in both.items() if path.endswith("reserve_tokens")] == [
        4_096,
        4_096,
    ]


def test_settings_that_a_preset_reads_when_it_runs_can_be_given() -> None:
    part = preset("operator_use")
    path = next(path for path in settings(part) if path.endswith(".reserve_tokens"))
    changed = preset("operator_use", reserve_tokens=1_234)
    assert settings(changed)[path].value == 1_234
    other = preset("operator_use", reserve_tokens=1_235)
    assert key(unnamed(changed)) != key(unnamed(other))


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        (
            "summarize",
            {"trigger.treshold": 0.7},
            "no setting 'trigger.treshold'; the nearest is 'trigger.threshold'",
        ),
        ("summarize", {"threshold": "high"}, "it must be a number"),
        ("summarize", {"most": 0.5}, "it must be a whole number"),
        ("summarize", {"stated": 1}, "it must be true or false"),
        ("pipeline", {"share": 0.5}, "several settings 'share': "),
        ("opal", {"file_lists": "nonsense"}, "it must be one of 'below', 'inside'"),
        ("truncate", {"truncate.pins.names": [1]}, "it must be a string"),
    ],
)
def test_a_wrong_setting_is_one_sentence(name: str, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingError, match=re.escape(said)):
        preset(name, **changes)


def test_numbers_lists_and_none_are_taken_as_their_settings_want_them() -> None:
    whole = settings(preset("summarize", threshold=1, **{"summarize.cut.pins.names": ["memory"]}))
    assert whole["trigger.threshold"].value == 1.0 and whole["summarize.cut.pins.names"].value == (
        "memory",
    )
    none = settings(preset("langchain_20", trim="none"))
    assert none["langchain_compact.reads.trim"].value is None
