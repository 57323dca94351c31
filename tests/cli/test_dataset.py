"""Sessions that ship, that can be made, and that can be fetched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench import load
from workbench.cli import main


def test_the_list_names_bundled_and_public_recordings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "dataset", "list", "--json"]) == 0
    assert {row["where"] for row in json.loads(capsys.readouterr().out)} == {
        "bundled",
        "corpora",
        "more-projects",
        "graded",
    }


def test_a_generated_session_can_be_read_and_is_the_same_for_a_seed(tmp_path: Path) -> None:
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        words = [
            "lab",
            "dataset",
            "generate",
            "--tokens",
            "20000",
            "--seed",
            "3",
            "--out",
            str(tmp_path / name),
        ]
        assert main([*words, "--facts", str(tmp_path / "facts.jsonl")]) == 0
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
    session = load(tmp_path / "a.jsonl.gz")[0]
    facts = [json.loads(line) for line in (tmp_path / "facts.jsonl").read_text().splitlines()]
    assert facts
    assert all(fact["message"] in session.log for fact in facts)


def test_an_unknown_recording_is_refused_with_the_names_that_are_known(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["lab", "dataset", "fetch", "nope"]) == 2
    assert "has nothing named 'nope'; it has corpora, adk-samples, " in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["pi-mono", "--all"]])
def test_fetch_wants_names_or_all(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "dataset", "fetch", *words]) == 2
    assert "--all" in capsys.readouterr().err


def test_a_folder_without_a_task_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(["lab", "dataset", "record", str(tmp_path), "--out", str(tmp_path / "s.jsonl")]) == 2
    )
    assert "task.toml" in capsys.readouterr().err
