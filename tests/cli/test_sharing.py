"""`workbench runs share`, and `--redact` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from builders import remembering, rules, said
from workbench import Session, save
from workbench.cli import main
from workbench.engine.transcript.message import Message

TOKEN = "gh" + "p_q7Rk2mVx9TzLw4Hn8PcYd3FsB6GjA1Ue5XoK"


@pytest.fixture
def recording(tmp_path: Path) -> str:
    path = tmp_path / "session.jsonl"
    first: list[Message] = [rules("be brief"), said(f"use {TOKEN} in /home/janedoe/work", "u-in")]
    save(Session.of([*first, *remembering(60)], id="s", title=f"{TOKEN} of /home/janedoe"), path)
    return str(path)


def test_inspect_masks_what_it_shows(recording: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", recording, "--redact"]) == 0
    text = capsys.readouterr().out
    assert TOKEN not in text and "janedoe" not in text and "REDACTED-github-token-1" in text


def test_replay_masks_what_it_shows(recording: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", recording, "--window", "4000", "--redact", "--json"]) == 0
    text = capsys.readouterr().out
    assert TOKEN not in text and "janedoe" not in text


def test_a_run_is_redacted_and_shared(
    recording: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, copy = tmp_path / "run", tmp_path / "copy"
    words = [
        "compare",
        recording,
        "-s",
        "truncate",
        "-w",
        "4000",
        "-o",
        str(run),
        "-j",
        "1",
        "--no-report",
        "-q",
    ]
    assert main([*words, "--redact"]) == 0
    assert main(["runs", "share", str(run), "--out", str(copy), "--no-report", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"run": str(copy), "report": None}
    assert json.loads((copy / "manifest.json").read_text())["settings"]["redact"] is True


def test_share_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "share", str(tmp_path), "--out", str(tmp_path / "copy")]) == 2
    assert "holds no finished run" in capsys.readouterr().err
