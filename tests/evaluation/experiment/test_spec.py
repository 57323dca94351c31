"""The specification of a run: one set of settings, and one wording for a wrong one."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path

import pytest

import workbench as wb
from workbench import SettingError, preset
from workbench.cli import main
from workbench.evaluation.experiment.spec import RunSpec

NAMESAKE = replace(preset("summarize"), name="truncate")


def test_every_setting_is_in_the_signature() -> None:
    assert set(RunSpec.model_fields) <= set(inspect.signature(wb.compare).parameters)


def test_every_setting_is_described_in_help() -> None:
    for name, field in RunSpec.model_fields.items():
        assert f"{name}: {field.description}" in str(wb.compare.__doc__)


def test_the_word_none_is_no_shares() -> None:
    assert RunSpec(shares="none").shares == RunSpec(shares=()).shares == ()


def test_a_strategy_may_be_named_twice() -> None:
    once_more = ["truncate", preset("truncate"), "null"]
    assert RunSpec(strategies=once_more).names == ("truncate", "truncate", "null")


def test_text_between_commas_is_a_list() -> None:
    spec = RunSpec(strategies="truncate, summarize", shares="10%,0.2", boundaries="0.5,40")
    assert (spec.names, spec.shares, spec.boundaries) == (
        ("truncate", "summarize"),
        (0.1, 0.2),
        (0.5, 40),
    )


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"window": 10}, "`window` is 10; it must be at least 1000"),
        ({"shares": (0.1, 2)}, "`shares` holds 2; it must be less than 1"),
        ({"shares": "some"}, "`shares` holds 'some'; it must be a number, such as 0.1 or 10%"),
        ({"seed": 1.5}, "`seed` is 1.5; it must be a whole number"),
        (
            {"group_by": "month"},
            "`group_by` is 'month'; it must be one of 'project', 'folder' or 'session'",
        ),
        ({"scheduler": 8786}, "`scheduler` is 8786; it must be a string"),
        ({"out": 7}, "`out` is 7; it must be a path"),
        ({"model_settings": 7}, "`model_settings` is 7; it must be an instance of ModelSettings"),
        ({"redact": "yes"}, "`redact` is 'yes'; it must be true or false"),
        ({"strategies": ()}, "it names no strategy"),
        (
            {"strategies": [NAMESAKE, "truncate"]},
            "[truncate, 'truncate']; two strategies are named",
        ),
        ({"strategies": [replace(NAMESAKE, name="null")]}, "two strategies are named null"),
        ({"strategies": [replace(NAMESAKE, name="oracle")]}, "oracle is the name of a reference"),
        ({"widnow": 10}, "there is no setting `widnow`; there are"),
        ({"prices": "x"}, "not a price"),
    ],
)
def test_a_wrong_setting_is_one_sentence(settings: dict[str, object], said: str) -> None:
    with pytest.raises(SettingError) as error:
        RunSpec(**settings)
    assert said in str(error.value)


def test_the_sentence_is_the_same_from_the_command_line_and_from_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "`limit` is 0; it must be at least 1"
    with pytest.raises(SettingError) as error:
        wb.compare(limit=0)
    assert str(error.value) == text
    assert main(["compare", "--limit", "0"]) == 2
    assert text in capsys.readouterr().err
    (tmp_path / "grid.toml").write_text("limit = 0")
    with pytest.raises(SettingError) as error:
        wb.sweep(tmp_path / "grid.toml")
    assert str(error.value).endswith(text)


def test_only_comparisons_write_into_a_store(tmp_path: Path) -> None:
    assert RunSpec(out="s3://bucket/run").out == Path("s3://bucket/run")
    assert RunSpec(out=f"file://{tmp_path}/run").out == tmp_path / "run"
    with pytest.raises(SettingError, match=r"s3://bucket/run lies in a store, where only"):
        wb.simulate(out="s3://bucket/run")
