"""Recordings and runs in an object store: a real S3 server on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from object_store import BUCKET, put, serving_s3

from builders import remembering, rules
from workbench import MissingPath, Results, Session, SettingError, compare, load, save
from workbench.base import remote
from workbench.cli import main
from workbench.evaluation.experiment.run_notes import RunNotes
from workbench.evaluation.experiment.sources import sources_of
from workbench.evaluation.experiment.table_columns import COLUMNS

SESSIONS = f"s3://{BUCKET}/sessions"


@pytest.fixture(scope="module")
def local_sessions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recordings") / "sessions"
    folder.mkdir()
    for number in range(3):
        messages = [rules("be brief"), *remembering(24 + number)]
        save(
            Session.of(messages, id=f"s{number}", project=f"p{number}"), folder / f"s{number}.jsonl"
        )
    (folder / "README.md").write_text("What these are.", encoding="utf-8")
    return folder


@pytest.fixture(scope="module", autouse=True)
def store(local_sessions: Path) -> Iterator[None]:
    with serving_s3():
        put(local_sessions, SESSIONS)
        yield


@pytest.fixture(scope="module")
def stored_run(store: None, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a finished run that another machine made."""
    address = f"s3://{BUCKET}/elsewhere/run"
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("WORKBENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        run(SESSIONS, address)
    return address


@pytest.fixture(autouse=True)
def new_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing was fetched yet."""
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))


def notes_text(note: str) -> str:
    return json.dumps({"name": "", "tags": [], "note": note, "marks": {}})


def run(what: str | Path, out: str | Path) -> Results:
    return compare(what, window=4_000, shares=(0.2,), strategies=("truncate",), out=out, quiet=True)


def test_a_run_from_and_into_a_store_has_the_tables_of_a_local_one(
    local_sessions: Path, tmp_path: Path, stored_run: str
) -> None:
    local = run(local_sessions, tmp_path / "run")
    stored = Results.open(stored_run)
    for name in COLUMNS:
        expected = local.table(name)
        table = stored.table(name)
        if name == "sessions":
            here, there = str(local_sessions), SESSIONS
            for column in ("path", "session"):
                table[column] = table[column].str.replace(there, here)
        assert table.equals(expected), name


def test_a_run_in_a_store_goes_on_where_it_was_ended(
    stored_run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = Results.open(stored_run).scores
    removed, *others = [file.address for file in remote.files_below(f"{stored_run}/replays")]
    remote.remove(removed)
    remote.remove(f"{stored_run}/manifest.json")
    written: list[str] = []
    write = remote.write

    def noting(address: str, data: str | bytes) -> None:
        written.append(address)
        write(address, data)

    monkeypatch.setattr(remote, "write", noting)
    assert run(SESSIONS, Path(stored_run)).scores.equals(scores)
    assert [address for address in written if "/replays/" in address] == [removed]
    kept = {file.address for file in remote.files_below(f"{stored_run}/replays")}
    assert kept == {removed, *others}
    with pytest.raises(MissingPath):
        remote.files_below(f"{stored_run}/table-parts")


def test_another_machine_opens_lists_and_describes_a_run(
    stored_run: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    opened = Results.open(stored_run)
    assert (opened.path / "manifest.json").is_file()
    assert opened.place == stored_run
    assert main(["runs", "name", stored_run, "nightly"]) == 0
    assert remote.read(f"{stored_run}/notes.json") is not None
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "a third machine"))
    capsys.readouterr()
    assert main(["runs", "list", f"s3://{BUCKET}/elsewhere", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["name"], row["recordings"]) == ("nightly", SESSIONS)


def test_a_copy_follows_what_changes_in_the_store(stored_run: str) -> None:
    folder = Results.open(stored_run).path
    remote.write(f"{stored_run}/notes.json", notes_text("changed elsewhere"))
    assert RunNotes.of(Results.open(stored_run).path).note == "changed elsewhere"
    remote.remove(f"{stored_run}/notes.json")
    assert RunNotes.of(Results.open(stored_run).path).note == ""
    assert not (folder / "replays").exists()


def test_inspect_reads_from_a_store_as_from_a_folder(
    local_sessions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [session.id for session in load(SESSIONS)] == ["s0", "s1", "s2"]
    assert [session.id for session in load(f"{SESSIONS}/s1.jsonl")] == ["s1"]
    assert [session.id for session in load(f"{SESSIONS}/s[01].jsonl")] == ["s0", "s1"]
    code_there = main(["inspect", SESSIONS, "--json"])
    there = capsys.readouterr().out
    assert main(["inspect", str(local_sessions), "--json"]) == code_there
    assert there.replace(SESSIONS, str(local_sessions)) == capsys.readouterr().out


def test_tables_of_runs_among_recordings_are_no_sources() -> None:
    address = f"s3://{BUCKET}/mixed"
    for name in ("a.jsonl", "run/manifest.json", "run/replays/b.json", "run/code.json"):
        remote.write(f"{address}/{name}", "{}")
    assert [source.name for source in sources_of(address)] == [f"{address}/a.jsonl"]


def test_no_bucket_is_one_sentence_before_anything_is_done() -> None:
    with pytest.raises(SettingError, match="cannot hold a run, since its bucket is not there"):
        run(SESSIONS, "s3://no-such-bucket/run")
    with pytest.raises(MissingPath, match="there is no file or folder s3://no-such-bucket/sess"):
        run("s3://no-such-bucket/sessions", f"s3://{BUCKET}/runs/none")
    with pytest.raises(SettingError, match=f"s3://{BUCKET}/runs/none holds no finished run"):
        Results.open(f"s3://{BUCKET}/runs/none")


def test_runs_in_a_store_are_not_deleted(
    stored_run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["runs", "delete", "--yes", stored_run]) != 0
    assert "use the store's own tools" in capsys.readouterr().err
    assert remote.read(f"{stored_run}/manifest.json") is not None
