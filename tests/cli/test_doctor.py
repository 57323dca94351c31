"""The doctor looks, says what it found, and changes nothing."""

import json
import sys
from importlib.metadata import EntryPoint, PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

from workbench.cli import main
from workbench.cli.doctor import packages, plugins


def found(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, str]]:
    main(["doctor", "--json"])
    return {row["what"]: row for row in json.loads(capsys.readouterr().out)}


def test_this_machine_has_what_is_needed(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    rows = found(capsys)
    assert rows["tokenizer"]["state"] == rows["prices"]["state"] == rows["kernel"]["state"] == "ok"
    assert sys.executable in rows["python"]["found"]
    assert list(tmp_path.iterdir()) == []


def test_keys_are_told_by_name_only(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setenv("EMPTY_API_KEY", "")
    monkeypatch.setenv("SOME_OTHER_WORD", "sk-very-secret")
    main(["doctor"])
    text = capsys.readouterr().out
    assert "OPENAI_API_KEY (names only)" in text and "secret" not in text and "EMPTY" not in text


def test_a_package_that_is_too_old_or_missing_is_wrong() -> None:
    wanted = ["numpy>=999", "no-such-package>=1", "pytest>=999; extra == 'x'", "pandas"]
    rows = list(packages(wanted, installed))
    assert [one.found.split()[0] for one in rows if one.state == "wrong"] == ["numpy", "no-such-package"]
    assert "pip install 'numpy>=999'" in rows[0].found and rows[-1].found == "pandas 2.0"


def installed(name: str) -> str:
    if name.startswith("no-such"):
        raise PackageNotFoundError(name)
    return "2.0"


def test_a_plug_in_that_cannot_be_loaded_is_named() -> None:
    wrong, fine = plugins(
        [
            EntryPoint("mine", "no_such_module:THING", "workbench.presets"),
            EntryPoint("yours", "json:dumps", "workbench.metrics"),
        ]
    )
    assert wrong.state == "wrong" and "mine (presets, no_such_module:THING): ModuleNotFoundError" in wrong.found
    assert fine.found == "yours (metrics)"
