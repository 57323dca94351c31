from __future__ import annotations

from pathlib import Path

import pytest

from workbench import SettingError
from workbench.engine.models.provider_options import ProviderOptions, provider_options

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
    ):
        monkeypatch.delenv(name, raising=False)


def written(path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (path / "models.toml").write_text(text)
    monkeypatch.setenv(MODELS_FILE, str(path / "models.toml"))


def test_without_file_and_environment_a_model_is_asked_as_usual() -> None:
    assert provider_options("gpt-4o-mini") == ProviderOptions()


def test_the_environment_says_how_models_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_TIMEOUT", "7.5")
    monkeypatch.setenv("WORKBENCH_TRIES", "2")
    monkeypatch.setenv(API_BASE, "http://127.0.0.1:1/v1")
    assert provider_options("m") == ProviderOptions(
        timeout=7.5, tries=2, api_base="http://127.0.0.1:1/v1"
    )


def test_a_models_own_table_goes_before_the_default_and_that_before_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_TRIES", "9")
    written(
        tmp_path,
        '[default]\ntries = 3\ntimeout = 10\n[models."a/b"]\ntries = 5\ninput_usd = 1\n',
        monkeypatch,
    )
    assert provider_options("a/b") == ProviderOptions(tries=5, timeout=10, input_usd=1)
    assert provider_options("c") == ProviderOptions(tries=3, timeout=10)


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
        provider_options("m")


def test_a_file_that_is_not_there_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MODELS_FILE, str(tmp_path / "none.toml"))
    with pytest.raises(SettingError, match="cannot be read"):
        provider_options("m")


def test_a_variable_that_holds_no_number_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_TIMEOUT", "soon")
    with pytest.raises(SettingError, match="WORKBENCH_TIMEOUT"):
        provider_options("m")
