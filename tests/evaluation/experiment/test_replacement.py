"""A finished run is replaced by the same run, or by one that has all of it, and by no other."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from builders import remembering, rules
from workbench import Results, Session, SettingError, compare, save, sweep
from workbench.cli import main
from workbench.evaluation.experiment.run_folder import RunFolder

STRATEGIES = ("truncate", "pipeline")
HOLDER = """
import sys
from pathlib import Path
from workbench.evaluation.experiment.run_folder import RunFolder

with RunFolder(Path(sys.argv[1])).claimed():
    print("claimed", flush=True)
    sys.stdin.read()
"""


def session(number: int) -> Session:
    return Session.of([rules("be brief"), *remembering(18)], id=f"s{number}")


SESSIONS = (session(0), session(1))


def run(
    out: Path,
    what: Sequence[Session | Path] = SESSIONS,
    *,
    window: int = 4_000,
    strategies: Sequence[str] = STRATEGIES,
    **settings: object,
) -> Results:
    return compare(
        what,
        out=out,
        window=window,
        strategies=strategies,
        shares=(),
        simulate=False,
        quiet=True,
        **settings,  # type: ignore[arg-type]  # by name
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(tmp_path_factory.mktemp("finished") / "run").path


def created(folder: Path) -> tuple[float, list[str]]:
    results = Results.open(folder)
    return (folder / "manifest.json").stat().st_mtime, sorted(set(results.replays["strategy"]))


def test_a_run_of_fewer_strategies_is_refused(finished: Path) -> None:
    before = created(finished)
    with pytest.raises(SettingError, match="it has the strategy pipeline, and this one has not"):
        run(finished, strategies=["truncate"])
    assert created(finished) == before


def test_a_run_of_other_settings_is_refused(finished: Path) -> None:
    with pytest.raises(SettingError, match="`window` is 4000 there, and 5000 in this one"):
        run(finished, window=5_000)
    with pytest.raises(SettingError, match='`baseline` is "truncate" there, and "pipeline"'):
        run(finished, baseline="pipeline")


def test_a_run_of_other_or_fewer_sessions_is_refused(finished: Path) -> None:
    with pytest.raises(SettingError, match="it has the recording s1, and this one has not"):
        run(finished, [session(0)])
    with pytest.raises(SettingError, match="the recordings s0 and s1, and this one has not"):
        run(finished, [session(2)])
    with pytest.raises(SettingError, match="it has the recording s1, and this one has not"):
        run(finished, limit=1)


def test_the_sentence_says_what_would_be_accepted(finished: Path) -> None:
    with pytest.raises(SettingError) as refusal:
        run(finished, window=5_000)
    assert f"`workbench runs delete {finished}`" in str(refusal.value)


def test_the_same_run_and_one_that_adds_to_it_are_accepted(tmp_path: Path) -> None:
    run(tmp_path / "run", strategies=["truncate"])
    for _ in range(2):
        grown = run(tmp_path / "run", (*SESSIONS, session(2)))
    assert len(grown.sessions) == 3
    assert set(STRATEGIES) <= set(grown.replays["strategy"])


def test_a_run_of_an_earlier_version_that_lacked_a_setting_is_accepted(tmp_path: Path) -> None:
    manifest_file = run(tmp_path / "run").path / "manifest.json"
    manifest = json.loads(manifest_file.read_text())
    del manifest["settings"]["group_by"]
    manifest_file.write_text(json.dumps(manifest))
    run(tmp_path / "run")
    assert "group_by" in json.loads(manifest_file.read_text())["settings"]


def test_a_run_that_masks_less_is_refused(tmp_path: Path) -> None:
    run(tmp_path / "run", redact=True)
    with pytest.raises(SettingError, match=r"`unmasked` is not set there"):
        run(tmp_path / "run", redact=True, unmasked=("email",))


def test_a_recording_that_is_gone_may_be_missing_from_the_same_run(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number, given_session in enumerate(SESSIONS):
        save(given_session, folder / f"{number}.jsonl")
    run(tmp_path / "run", [folder])
    with pytest.raises(SettingError, match=r"the recording .*1\.jsonl, and this one has not"):
        run(tmp_path / "run", [folder / "0.jsonl"])
    (folder / "1.jsonl").unlink()
    assert len(run(tmp_path / "run", [folder]).sessions) == 1


def test_a_recording_that_was_named_from_another_folder_is_not_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "first").mkdir()
    for number, given_session in enumerate(SESSIONS):
        save(given_session, tmp_path / "first" / f"{number}.jsonl")
    monkeypatch.chdir(tmp_path / "first")
    run(tmp_path / "run", [Path("0.jsonl"), Path("1.jsonl")])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingError, match=r"the recording 1\.jsonl, and this one has not"):
        run(tmp_path / "run", [Path("first/0.jsonl")])


def test_a_path_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"there is no file or folder .*nowhere"):
        run(tmp_path / "run", [tmp_path / "nowhere"])
    assert not (tmp_path / "run").exists()


def test_the_command_line_refuses_with_2(
    tmp_path: Path, finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(session(0), tmp_path / "s.jsonl")
    words = ["compare", str(tmp_path / "s.jsonl"), "--out", str(finished), "--no-report"]
    assert main(words) == 2
    assert "holds a finished run, which this one would replace" in capsys.readouterr().err


def test_a_limit_has_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = {"strategies": ["truncate"], "shares": (), "simulate": False, "quiet": True}
    whole = compare(SESSIONS, **settings)  # type: ignore[arg-type]  # by name
    part = compare(SESSIONS, limit=1, **settings)  # type: ignore[arg-type]
    assert whole.path != part.path and len(Results.open(whole.path).sessions) == 2


def test_a_sweep_of_fewer_points_is_refused_and_one_of_more_is_not(tmp_path: Path) -> None:
    save(session(0), tmp_path / "s.jsonl")
    grid = {"sessions": [str(tmp_path / "s.jsonl")], "windows": [4_000], "shares": []}
    out = tmp_path / "run"
    sweep({**grid, "strategies": ["truncate"]}, out=out, quiet=True)
    sweep({**grid, "strategies": STRATEGIES}, out=out, quiet=True)
    assert len(sweep({**grid, "strategies": STRATEGIES}, out=out, quiet=True).variants) == 2
    with pytest.raises(SettingError, match="it has the strategy pipeline"):
        sweep({**grid, "strategies": ["truncate"]}, out=out, quiet=True)
    with pytest.raises(SettingError, match="`window` is 4000 there, and 5000 in this one"):
        sweep({**grid, "strategies": STRATEGIES, "windows": [5_000]}, out=out, quiet=True)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")
def test_no_run_is_written_where_another_process_writes(tmp_path: Path) -> None:
    assert RunFolder(tmp_path).in_use is False
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "claimed\n"
    assert RunFolder(tmp_path).in_use is True
    with pytest.raises(SettingError, match="another process is writing a run into"):
        run(tmp_path)
    with pytest.raises(SettingError, match="another process is writing a run into"):
        sweep({"strategies": ["truncate"], "windows": [4_000]}, out=tmp_path, quiet=True)
    holder.communicate()
    assert RunFolder(tmp_path).in_use is False


def test_a_claim_may_stand_in_another_one_and_ends_with_the_outer_one(tmp_path: Path) -> None:
    with RunFolder(tmp_path).claimed():
        with RunFolder(tmp_path).claimed():
            pass
        assert RunFolder(tmp_path).in_use is True
    assert not RunFolder(tmp_path).in_use
