"""Settings of presets by name, and what becomes of a wrong one."""

from __future__ import annotations

import re
from typing import Any

import pytest
from preset_names import BUILTIN_PRESETS

from workbench import SettingError, preset
from workbench.engine.compaction.settings import settings
from workbench.engine.compaction.variant import variant
from workbench.evaluation.experiment.keys import key


@pytest.mark.parametrize("name", list(BUILTIN_PRESETS))
def test_every_number_and_truth_of_every_preset_can_be_changed(name: str) -> None:
    part = preset(name)
    for path, one in settings(part).items():
        if isinstance(one.value, bool | int | float):
            value = (
                not one.value if isinstance(one.value, bool) else type(one.value)(one.value * 0.5)
            )
            try:
                changed = variant(part, {path: value}, "mine")
            except SettingError as error:
                assert "cannot have" in str(error)  # the preset's own bound, in its own words
                continue
            assert settings(changed)[path].value == value
            assert key(changed) != key(variant(part, {}, "mine")) or value == one.value


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
        variant(preset(name), {setting: value}, "mine")


def test_the_end_of_a_path_will_do_where_it_is_one_setting() -> None:
    assert (
        settings(variant(preset("summarize"), {"threshold": 0.7}, "mine"))[
            "trigger.threshold"
        ].value
        == 0.7
    )
    both = settings(variant(preset("ddx_agent"), {"reserve_tokens": 4_096}, "mine"))
    assert [one.value for path, one in both.items() if path.endswith("reserve_tokens")] == [
        4_096,
        4_096,
    ]


def test_settings_that_a_preset_reads_when_it_runs_can_be_given() -> None:
    part = preset("operator_use")
    path = next(path for path in settings(part) if path.endswith(".reserve_tokens"))
    changed = variant(part, {path.rpartition(".")[2]: 1_234}, "mine")
    assert settings(changed)[path].value == 1_234
    assert key(changed) != key(variant(part, {path.rpartition(".")[2]: 1_235}, "mine"))


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
        variant(preset(name), changes, "mine")


def test_numbers_lists_and_none_are_taken_as_their_settings_want_them() -> None:
    whole = settings(
        variant(
            preset("summarize"), {"threshold": 1, "summarize.cut.pins.names": ["memory"]}, "mine"
        )
    )
    assert whole["trigger.threshold"].value == 1.0 and whole["summarize.cut.pins.names"].value == (
        "memory",
    )
    none = settings(variant(preset("langchain_20"), {"trim": "none"}, "mine"))
    assert none["langchain_compact.reads.trim"].value is None
