from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from engine.models.provider import request

from workbench import ModelError, SettingError, find_model

MODELS_FILE = "WORKBENCH_MODELS"

API_BASE = "WORKBENCH_API_BASE"


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        API_BASE,
        MODELS_FILE,
        "WORKBENCH_TIMEOUT",
        "WORKBENCH_TRIES",
        "WORKBENCH_TEMPERATURE",
        "OPENAI_API_KEY",
    ):
        monkeypatch.delenv(name, raising=False)


def written(path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (path / "models.toml").write_text(text)
    monkeypatch.setenv(MODELS_FILE, str(path / "models.toml"))


@dataclass(frozen=True, slots=True)
class Asked:
    """How a provider that gives no answer was asked: how often, and what each time."""

    tries: int
    timeout: float
    temperature: float | None
    api_base: str | None


def asked(model: str, monkeypatch: pytest.MonkeyPatch) -> Asked:
    """How a model is asked by its name."""
    requests: list[dict[str, Any]] = []

    def no_answer(**request: Any) -> None:
        requests.append(request)

    with monkeypatch.context() as patched:
        patched.setattr("litellm.completion", no_answer)
        patched.setattr("time.sleep", lambda seconds: None)
        patched.setenv("OPENAI_API_KEY", "none")
        with pytest.raises(ModelError, match="no choice"):
            find_model(f"litellm:{model}").complete(request())
    sent = requests[-1]
    return Asked(len(requests), sent["timeout"], sent.get("temperature"), sent.get("api_base"))


def test_without_file_and_environment_a_model_is_asked_as_usual(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert asked("openai/m", monkeypatch) == Asked(4, 120.0, 0.0, None)


def test_the_environment_says_how_models_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_TIMEOUT", "7.5")
    monkeypatch.setenv("WORKBENCH_TRIES", "2")
    monkeypatch.setenv(API_BASE, "http://127.0.0.1:1/v1")
    assert asked("openai/m", monkeypatch) == Asked(2, 7.5, 0.0, "http://127.0.0.1:1/v1")


def test_a_models_own_table_goes_before_the_default_and_that_before_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_TRIES", "9")
    written(
        tmp_path,
        '[default]\ntries = 3\ntimeout = 10\n[models."openai/b"]\ntries = 5\ntemperature = 1\n',
        monkeypatch,
    )
    assert asked("openai/b", monkeypatch) == Asked(5, 10, 1, None)
    assert asked("openai/c", monkeypatch) == Asked(3, 10, 0.0, None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[default]\ntrys = 3\n", "trys is not an option; known are"),
        ("[default]\ntries = 'many'\n", "it must be a whole number"),
        ("[default]\ntries = true\n", "it must be a whole number"),
        ("[default]\ntries = 0\n", "tries is 0; it must be at least 1"),
        ("[default]\ntimeout = 0\n", "timeout is 0.*it must be more than 0"),
        ("[other]\n", "'other'"),
        ("[models]\nx = 3\n", "'x' must be a table"),
        ("tries =", "cannot be read"),
    ],
)
def test_a_file_that_cannot_work_is_one_sentence(
    text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, text, monkeypatch)
    with pytest.raises(SettingError, match=said):
        find_model("litellm:m").complete(request())


def test_a_file_that_is_not_there_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MODELS_FILE, str(tmp_path / "none.toml"))
    with pytest.raises(SettingError, match="cannot be read"):
        find_model("litellm:m").complete(request())


def test_a_variable_that_holds_no_number_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_TIMEOUT", "soon")
    with pytest.raises(SettingError, match="WORKBENCH_TIMEOUT"):
        find_model("litellm:m").complete(request())
