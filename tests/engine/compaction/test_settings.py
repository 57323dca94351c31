"""A preset's settings have the names that its system's document gives to them, in Python, in
text and in a file.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from engine.compaction.documented import DOCUMENTED, OPTIONS, ways_that_differ

import workbench as wb
from workbench import Budget, Context, Plan, SettingError
from workbench.cli import main
from workbench.engine.compaction.settings import settings


@pytest.mark.parametrize(("name", "option", "value"), OPTIONS, ids=lambda part: str(part)[:24])
def test_a_documented_option_works_the_same_in_python_text_file_and_compactor(
    name: str, option: str, value: Any
) -> None:
    assert ways_that_differ(name, option, value) == []


@pytest.mark.parametrize("name", DOCUMENTED)
def test_the_documented_names_are_those_that_are_listed(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["list", "strategies", name, "--json"])
    listed = {row["setting"] for row in json.loads(capsys.readouterr().out)}
    assert DOCUMENTED[name].keys() <= listed


def test_a_name_may_be_written_with_capitals_inside() -> None:
    assert (
        wb.preset("ddx_agent", StuckThreshold=3).host
        == wb.preset("ddx_agent", stuck_threshold=3).host
    )
    assert (
        wb.preset("ddx_agent", EffectivePercent=80).trigger
        == wb.preset("ddx_agent", effective_percent=80).trigger
    )


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("claude_compact.file_lists", "below"),
        ("claude_compact.presentation.file_lists", "below"),
        ("claude_compact.if_empty", "nothing"),
        ("claude_compact.said_by", "assistant"),
        ("claude_compact.model", "small"),
        ("claude_compact.prompt.result_chars", 500),
    ],
)
def test_a_path_may_leave_out_the_part_between_a_stage_and_its_setting(
    path: str, value: str | int
) -> None:
    changed = wb.preset("claude_code", **{path: value})
    last_name = path.rpartition(".")[2]
    named_so = [
        setting.value
        for setting in settings(changed).values()
        if setting.path.endswith(f".{last_name}")
    ]
    assert named_so == [value]
    assert wb.preset(f"claude_code:{path}={value}") == changed


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (
            "ex_athena",
            {"compact_att": 0.5},
            "no setting 'compact_att'; the nearest is 'compact_at', and `workbench",
        ),
        ("ex_athena", {"compact_at": 5}, "compact_at is 5.0; it must be a share in (0, 1]"),
        (
            "ex_athena",
            {"snip_age_iterations": "old"},
            "snip_age_iterations = 'old': it must be a whole number",
        ),
        ("ex_athena", {"live_suffix_count": -1}, "a whole number of at least 0 would be accepted"),
        (
            "ex_athena",
            {"compaction_pipeline": []},
            "it must be a list of at least one stage, of budget_reduction",
        ),
        (
            "ex_athena",
            {"compaction_pipeline": ["snipp"]},
            "it has no stage 'snipp'; snip would be accepted",
        ),
        (
            "ddx_agent",
            {"effective_percent": 101},
            "effective_percent is 101; 0 to 100 would be accepted",
        ),
        ("ddx_agent", {"context_window": 0}, "a whole number of at least 1 would be accepted"),
        ("operator_use", {"reserve_tokens": -1}, "a whole number of at least 0 would be accepted"),
    ],
)
def test_a_wrong_option_is_one_sentence(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError, match=re.escape(message)) as error:
        wb.preset(name, **options)
    assert "\n" not in str(error.value)
    with pytest.raises(SettingError, match=re.escape(message)):
        wb.Compactor(name, model="extractive", **options)


class Idle:
    """A stage of a user's own."""

    name = "idle"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        return None


def test_a_pipeline_may_hold_stages_of_your_own_and_be_set_again() -> None:
    short = wb.preset("ex_athena", compaction_pipeline=[Idle(), "summary"])
    assert [stage.name for stage in short.strategy.stages] == [
        "idle",
        "summary",
    ] and short.strategy.view == ()
    again = wb.preset(short, compaction_pipeline=["snip", "context_collapse", "summary"])
    assert [stage.name for stage in again.strategy.stages] == ["snip", "summary"]
    assert [stage.name for stage in again.strategy.view] == ["context_collapse"]
    assert again.overflow is not None and [one.name for one in again.overflow.stages] == [
        "auto_pin",
        "snip",
        "summary",
    ]


def test_options_of_stages_hold_for_a_pipeline_that_is_set_after_them() -> None:
    aged = wb.preset("ex_athena", compaction_pipeline=["summary"], snip_age_iterations=9)
    again = wb.preset(aged, compaction_pipeline=["snip", "summary"])
    assert settings(again)["snip.age"].value == 9


def test_a_number_in_text_may_begin_with_its_point() -> None:
    assert (
        wb.preset("pipeline:threshold=.5").trigger == wb.preset("pipeline", threshold=0.5).trigger
    )
