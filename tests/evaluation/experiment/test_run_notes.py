"""What a person says of a run: kept in its folder, bounded, and never in a shared copy; and which
folders may be deleted.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import printed

from workbench import SettingError
from workbench.cli import main
from workbench.evaluation.experiment.run_folder import RunFolder
from workbench.evaluation.experiment.run_notes import RunNotes


def run_in(folder: Path) -> Path:
    """A finished run without rows."""
    RunFolder(folder).write({}, {"schema": 1})
    RunFolder(folder).keep("a", {"steps": []})
    return folder


def test_notes_come_back_as_they_were_written(tmp_path: Path) -> None:
    assert RunNotes.of(tmp_path) == RunNotes()
    notes = RunNotes().described("  a   name ", ["x", "two words", "x"], "a\nnote ")
    notes = notes.marked("abc", "not needed")
    notes.write(tmp_path)
    assert RunNotes.of(tmp_path) == notes
    assert (notes.name, notes.tags, notes.note) == ("a name", ("x", "two words"), "a\nnote")
    assert notes.described(note="other").name == "a name"


def test_a_run_that_is_made_again_keeps_its_notes(tmp_path: Path) -> None:
    RunNotes(name="mine").write(run_in(tmp_path))
    run_in(tmp_path)
    assert RunNotes.of(tmp_path).name == "mine"


def test_a_mark_is_one_of_three_and_can_be_taken_away() -> None:
    notes = RunNotes().marked("a", "needed").marked("a", "wrong kind")
    assert notes.marks == {"a": "wrong kind"}
    assert notes.marked("a", "").marks == {}
    with pytest.raises(SettingError, match="must be one of needed, not needed, wrong kind"):
        notes.marked("a", "maybe")


@pytest.mark.parametrize("tags", [[""], ["a,b"], ["x" * 41], [f"t{n}" for n in range(21)]])
def test_tags_are_bounded(tags: list[str]) -> None:
    with pytest.raises(SettingError):
        RunNotes().described(tags=tags)


def test_a_name_is_bounded_and_holds_no_lone_surrogate(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="the name has 121 characters"):
        RunNotes().described("x" * 121)
    RunNotes().described("a\ud800b").write(tmp_path)
    assert RunNotes.of(tmp_path).name == "a?b"


@pytest.mark.parametrize(
    "text", ["[]", "{", "[" * 100_000, '{"name": 1, "tags": [], "note": "", "marks": {}}',
             '{"name": "", "tags": [], "note": "", "marks": {"a": "maybe"}}'],
)  # fmt: skip
def test_damaged_notes_are_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "notes.json").write_text(text)
    with pytest.raises(SettingError, match="holds no notes of a run"):
        RunNotes.of(tmp_path)


def delete(run: Path) -> None:
    printed("runs", "delete", run, "--yes")


def refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Why `workbench runs delete` leaves a folder as it is."""
    assert main(["runs", "delete", str(folder), "--yes"]) == 2
    return " ".join(capsys.readouterr().err.split())


def test_only_a_run_is_deleted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "manifest.json").write_text(json.dumps({"schema": 1}))
    for folder in (tmp_path, plain, tmp_path / "none"):
        assert "is no folder of a run" in refused(folder, capsys)
    linked = tmp_path / "linked"
    linked.symlink_to(run_in(tmp_path / "run"))
    assert "is no folder of a run" in refused(linked, capsys)
    delete(tmp_path / "run")
    assert not (tmp_path / "run").exists() and plain.exists()


@pytest.mark.parametrize("name", ["experiment.ipynb", "done.json", "report.html"])
def test_a_run_of_a_notebook_is_deleted_with_it(tmp_path: Path, name: str) -> None:
    run = run_in(tmp_path / "run")
    (run / name).write_text("{}")
    delete(run)
    assert not run.exists()


@pytest.mark.parametrize("name", ["thesis.tex", "replays/thesis.tex", "runs/thesis.tex", "data/x"])
def test_a_run_that_holds_anything_else_is_not_deleted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    run = run_in(tmp_path / "run")
    file = run / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("years of work")
    assert "no run writes; move it away first" in refused(run, capsys)
    assert file.read_text() == "years of work" and (run / "manifest.json").exists()


def test_a_link_in_a_run_is_not_followed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_in(tmp_path / "run")
    (tmp_path / "precious").mkdir()
    (run / "runs").symlink_to(tmp_path / "precious")
    assert "also holds runs" in refused(run, capsys)


def test_a_run_of_runs_and_one_that_goes_on_are_deleted(tmp_path: Path) -> None:
    run = run_in(tmp_path / "run")
    run_in(run / "runs" / "first")
    run_in(run / "replicates" / "0")
    (run / ".notes.json.1.part").write_text("")
    delete(run)
    RunFolder(tmp_path / "begun").keep("a", {"steps": []})
    delete(tmp_path / "begun")
    assert list(tmp_path.iterdir()) == []


def test_fields_of_a_later_version_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_in(tmp_path / "run")
    mark = {"mark": "not needed", "by": "m", "certainty": 0.9, "seen": ["a", "b"]}
    later = {
        "name": "", "tags": [], "note": "", "marks": {"abc": "needed"}, "judged": {"abc": mark},
        "owner": "somebody", "further": {"a": 1},
    }  # fmt: skip
    (run / "notes.json").write_text(json.dumps(later))
    assert main(["runs", "name", str(run), "mine"]) == 0
    RunNotes.of(run).marked("def", "wrong kind").write(run)
    kept = json.loads((run / "notes.json").read_text())
    assert kept["name"] == "mine" and kept["marks"] == {"abc": "needed", "def": "wrong kind"}
    assert (kept["owner"], kept["further"]) == ("somebody", {"a": 1})
    judged = kept["judged"]["abc"]
    assert {name: judged[name] for name in mark} == mark
