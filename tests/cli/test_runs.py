"""`workbench runs`: the list, names, tags, notes, and deleting."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from report.view.made import made_run

from workbench.cli import main
from workbench.evaluation.experiment.run_folder import RunFolder
from workbench.evaluation.experiment.run_notes import RunNotes


@pytest.fixture
def reports(made_once: Callable[..., Path], tmp_path: Path) -> Path:
    """Two equal runs, `run` and `second`."""
    path = made_once("view", made_run) / "reports" / "run"
    for name in ("run", "second"):
        shutil.copytree(path, tmp_path / "reports" / name)
    return tmp_path / "reports"


def listed(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, object]]:
    capsys.readouterr()
    assert main(["runs", "list", *words, "--json"]) == 0
    rows: list[dict[str, object]] = json.loads(capsys.readouterr().out)
    return rows


def test_a_run_has_a_name_tags_and_a_note(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(reports / "run")
    assert main(["runs", "name", run, "my prompt"]) == 0
    assert main(["runs", "tag", run, "nightly", "prompt"]) == 0
    assert main(["runs", "tag", run, "nightly", "--remove"]) == 0
    assert main(["runs", "note", run, "paths kept"]) == 0
    first, second = listed(capsys, str(reports), "--sort=-name")
    assert (second["name"], second["tags"], second["note"]) == ("my prompt", "prompt", "paths kept")
    assert first["name"] == "second" and first["tags"] == ""
    assert main(["runs", "list", str(reports)]) == 0
    assert "my prompt (run)" in capsys.readouterr().out


def test_the_list_is_filtered_and_sorted(reports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["runs", "tag", str(reports / "second"), "nightly"])
    for words in (["--tag", "nightly"], ["--search", "NIGHTLY"], ["--search", "second"]):
        assert [row["run"] for row in listed(capsys, str(reports), *words)] == ["second"]
    assert listed(capsys, str(reports), "--state", "going on") == []
    assert len(listed(capsys, str(reports), "--strategy", "truncate")) == 2
    assert next(row["run"] for row in listed(capsys, str(reports), "--sort", "tags")) == "second"
    assert next(row["run"] for row in listed(capsys, str(reports), "--sort=-tags")) == "second"
    assert main(["runs", "list", str(reports), "--sort", "colour"]) == 2
    assert "`sort` is 'colour'" in capsys.readouterr().err


def test_the_recordings_of_a_run_stand_beside_its_name(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = listed(capsys, str(reports))[0]
    sources = json.loads((reports / "run" / "manifest.json").read_text())["sources"]
    assert row["recordings"] == str(Path(sources[0]).parent)
    assert row["strategies"] == "summarize, truncate" and row["usd"] == 0.0


@pytest.mark.parametrize(
    ("sources", "folder"),
    [
        (["mine/a.jsonl", "mine/b.jsonl"], "mine"),
        (["mine/a/a.jsonl", "mine/b/b.jsonl"], "mine"),
        (["a.jsonl"], "."),
        (["session 0", "session 1"], ""),
    ],
)
def test_recordings_that_were_named_from_here_stand_there_too(
    reports: Path, capsys: pytest.CaptureFixture[str], sources: list[str], folder: str
) -> None:
    for name in ("run", "second"):
        manifest = reports / name / "manifest.json"
        values = {**json.loads(manifest.read_text()), "sources": sources}
        manifest.write_text(json.dumps(values))
    assert [row["recordings"] for row in listed(capsys, str(reports))] == [folder] * 2


def test_recordings_that_were_named_from_here_and_from_the_root_have_a_folder_in_common(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = reports / "run" / "manifest.json"
    sources = ["mine/a.jsonl", "/srv/of/b.jsonl"]
    values = {**json.loads(manifest.read_text()), "sources": sources, "folder": "/srv/of"}
    manifest.write_text(json.dumps(values))
    (row,) = (row for row in listed(capsys, str(reports)) if row["run"] == "run")
    assert row["recordings"] == "/srv/of"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")
def test_a_run_whose_process_has_ended_has_stopped(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (reports / "run" / "manifest.json").unlink()
    assert [row["run"] for row in listed(capsys, str(reports), "--state", "stopped")] == ["run"]
    with RunFolder(reports / "run").claimed():
        rows = listed(capsys, str(reports), "--state", "going on")
    assert [row["run"] for row in rows] == ["run"]


def test_a_run_is_deleted_after_a_question(
    reports: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = reports / "run"
    monkeypatch.setattr("typer.confirm", lambda question: False)
    assert main(["runs", "delete", str(run)]) == 2
    assert run.exists() and "nothing was deleted" in capsys.readouterr().err
    assert main(["runs", "delete", str(run), str(reports), "--yes"]) == 2
    assert run.exists() and "is no folder of a run" in capsys.readouterr().err
    assert main(["runs", "delete", str(run), "--yes"]) == 0
    assert not run.exists() and (reports / "second").exists()


def test_what_is_no_run_has_no_notes(reports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in (reports, reports / "run" / "replays"):
        assert main(["runs", "name", str(folder), "x"]) == 2
    assert "holds no run" in capsys.readouterr().err
    assert list(reports.rglob("notes.json")) == []


def test_a_name_cannot_steer_a_terminal(reports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    RunNotes(name="\x1b[2Jgone", tags=("\x1b]0;x\x07",)).write(reports / "run")
    assert main(["runs", "list", str(reports)]) == 0
    assert main(["runs", "list", str(reports), "--json"]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_damaged_notes_hide_no_other_run(reports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (reports / "run" / "notes.json").write_text("{")
    rows = {row["run"]: row for row in listed(capsys, str(reports))}
    assert rows["run"]["state"] == "unreadable" and rows["second"]["state"] == "finished"
