"""A keyword whose value cannot work is refused before anything is read, in a sentence that says what
would be accepted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from live.talk import openai

import workbench as wb
from workbench.engine.transcript.message import Json

STRATEGY = wb.Strategy("own", ())
FUNCTIONS: dict[str, Callable[..., Json]] = {
    "compare": wb.compare,
    "simulate": wb.simulate,
    "trial": wb.trial,
    "advise": wb.advise,
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("text", "utf-8")


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    ("keyword", "value"),
    [
        ("spec", 3),
        ("spec", {}),
        ("out", "file"),
        ("out", "file/run"),
        ("jobs", 0),
        ("jobs", math.nan),
        ("window", -1),
        ("window", math.inf),
        ("model_settings", "cache"),
        ("redact", "perhaps"),
        ("no_such_keyword", 1),
    ],
)
def test_a_wrong_keyword_is_refused_at_once(name: str, keyword: str, value: object) -> None:
    with pytest.raises(wb.SettingError) as refusal:
        FUNCTIONS[name](**{keyword: value})
    sentence = str(refusal.value)
    assert keyword in sentence and "\n" not in sentence and "Errno" not in sentence
    assert list(Path().iterdir()) == [Path("file")]


@pytest.mark.parametrize("what", [3, None, [3], b"bytes", [None], {1: 2}])
@pytest.mark.parametrize("name", ["compare", "simulate"])
def test_what_is_no_session_is_refused_at_once(name: str, what: object) -> None:
    with pytest.raises(wb.SettingError, match="nothing to read; files, folders, patterns or"):
        FUNCTIONS[name](what)


def test_a_simulation_refuses_an_unknown_model_before_anything_runs() -> None:
    with pytest.raises(wb.UnknownName, match="no model is named 'nope'"):
        wb.simulate(model="nope")


def test_whether_to_simulate_is_true_or_false() -> None:
    with pytest.raises(wb.SettingError, match="True or False would be accepted"):
        wb.compare(simulate="perhaps")  # type: ignore[arg-type]  # what is tested


@pytest.mark.parametrize(
    ("keyword", "value"),
    [
        ("cache", 3),
        ("use_cache", "perhaps"),
        ("cache_only", None),
        ("max_usd", "much"),
        ("max_usd", math.nan),
        ("max_usd", -1),
        ("concurrency", 1.5),
        ("concurrency", 0),
        ("on_bad_summary", "cry"),
        ("run", 3),
        ("replicate", "first"),
    ],
)
def test_settings_of_models_are_refused_before_a_model_is_asked(keyword: str, value: Json) -> None:
    with pytest.raises(wb.SettingError):
        wb.ModelSettings(**{keyword: value})


@pytest.mark.parametrize(
    "make",
    [
        lambda: wb.Preset("own", wb.AtShare(0.8)),  # type: ignore[arg-type]
        lambda: wb.Preset("own", STRATEGY, trigger=0.8),  # type: ignore[arg-type]
        lambda: wb.Preset("own", STRATEGY, count=4),  # type: ignore[arg-type]
        lambda: wb.Strategy("own", ("truncate",)),  # type: ignore[arg-type]
        lambda: wb.Strategy(3, ()),  # type: ignore[arg-type]
        lambda: wb.Compactor("truncate", clock=None),  # type: ignore[arg-type]
    ],
    ids=["strategy", "trigger", "count", "stage", "name", "clock"],
)
def test_parts_of_a_preset_are_refused_where_they_are_put_together(
    make: Callable[[], object],
) -> None:
    with pytest.raises(wb.SettingError, match=r"would be accepted|a `name` and a `plan`"):
        make()


def test_a_preset_of_ones_own_still_compacts() -> None:
    live = wb.Compactor(wb.preset("truncate"), window=2_000)
    assert live.before_request(openai(12))
