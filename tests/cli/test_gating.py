"""`workbench gate` and `workbench runs diff` on real runs."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from builders import remembering, rules
from workbench import Preset, Results, Session, compare, preset
from workbench.cli import main
from workbench.evaluation.experiment.run_folder import RunFolder
from workbench.evaluation.experiment.table_columns import COLUMNS

TRUNCATE = preset("truncate")

SUMMARIZE = preset("summarize")


def run(out: Path, mine: Preset, sessions: int = 7, turns: int = 18) -> Results:
    own = Preset("mine", mine.strategy, mine.trigger)
    given = [
        Session.of([rules("be brief"), *remembering(turns + n)], id=f"s{n}", project=f"p{n}")
        for n in range(sessions)
    ]
    return compare(
        given, strategies=("truncate", own), window=6_000, shares=(0.2,), out=out, quiet=True
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("runs")
    return run(folder / "before", SUMMARIZE).path, run(folder / "after", TRUNCATE).path


def test_a_run_passes_against_itself(
    runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(
            ["gate", str(runs[0]), "--baseline", str(runs[0]), "--share", "0.2", "--margin", "0.01"]
        )
        == 0
    )
    assert "passed" in capsys.readouterr().out


def test_a_strategy_that_has_become_worse_fails_and_says_so_to_everyone(
    runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = map(str, runs)
    files = ["--junit", str(tmp_path / "gate.xml"), "--markdown", str(tmp_path / "gate.md")]
    assert (
        main(
            [
                "gate",
                after,
                "--baseline",
                before,
                "--share",
                "0.2",
                "--margin",
                "0.01",
                "--json",
                *files,
            ]
        )
        == 1
    )
    found = json.loads(capsys.readouterr().out)
    assert found["outcome"] == "failed"
    assert {one["strategy"]: one["outcome"] for one in found["verdicts"]} == {
        "truncate": "passed",
        "mine": "failed",
    }
    suite = ElementTree.parse(tmp_path / "gate.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    text = (tmp_path / "gate.md").read_text()
    assert "### Gate on `exam_recall`: failed" in text and "| mine | mine | failed |" in text
    assert main(["gate", before, "--baseline", after, "--share", "0.2", "--margin", "0.01"]) == 0


def test_a_strategy_is_held_against_another_of_its_run(runs: tuple[Path, Path]) -> None:
    words = ["gate", str(runs[0]), "--share", "0.2", "--margin", "0.01"]
    assert main([*words, "--strategy", "mine", "--against", "truncate"]) == 0
    assert main([*words, "--strategy", "truncate", "--against", "mine"]) == 1


def test_a_strategy_is_held_against_that_of_another_run_under_its_own_name_too(
    runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = map(str, runs)
    words = ["--share", "0.2", "--margin", "0.01", "--against", "truncate", "--json"]
    main(["gate", after, "--baseline", before, *words])
    verdicts = json.loads(capsys.readouterr().out)["verdicts"]
    assert {verdict["strategy"] for verdict in verdicts} == {"truncate", "mine"}
    main(["gate", after, *words])
    verdicts = json.loads(capsys.readouterr().out)["verdicts"]
    assert {verdict["strategy"] for verdict in verdicts} == {"mine"}


def test_a_run_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gate", "reports/nope", "--margin", "0.02"]) == 2
    assert "there is no folder reports/nope" in capsys.readouterr().err


@pytest.mark.parametrize("margin", ["1", "2", "inf"])
def test_a_margin_that_accepts_every_loss_is_refused(
    runs: tuple[Path, Path], margin: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = map(str, runs)
    assert main(["gate", after, "--baseline", before, "--share", "0.2", "--margin", margin]) == 2
    assert f"a margin of {margin} accepts every loss" in capsys.readouterr().err


@pytest.mark.parametrize("margin", ["-inf", "0", "nan"])
def test_a_margin_that_allows_no_loss_is_refused(
    runs: tuple[Path, Path], margin: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = map(str, runs)
    words = ["gate", after, "--baseline", before, "--share", "0.2", f"--margin={margin}"]
    assert main(words) == 2
    assert f"a margin of {margin} allows no loss" in capsys.readouterr().err


def part(run: Path, out: Path, sessions: int) -> Path:
    """The run of the first of its sessions alone."""
    results = Results.open(run)
    first = sorted(results.sessions["session"])[:sessions]
    tables = {name: results.table(name) for name in COLUMNS}
    kept = {
        name: rows[rows["session"].isin(first)] if "session" in rows else rows
        for name, rows in tables.items()
    }
    RunFolder(out).write(kept, results.manifest)
    return out


def test_too_few_sessions_end_with_2(
    runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, other = (part(run, tmp_path / run.name, 2) for run in runs)
    assert (
        main(["gate", str(other), "--baseline", str(path), "--share", "0.2", "--margin", "0.5"])
        == 2
    )
    assert "at least 6" in capsys.readouterr().out
    assert (
        main(
            [
                "gate",
                str(other),
                "--baseline",
                str(path),
                "--share",
                "0.2",
                "--margin",
                "0.001",
                "--each",
            ]
        )
        == 1
    )


def test_another_recording_of_the_same_name_is_left_out(
    runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = run(tmp_path / "other", TRUNCATE, sessions=2, turns=19).path
    assert (
        main(["gate", str(other), "--baseline", str(runs[0]), "--share", "0.2", "--margin", "0.01"])
        == 2
    )
    said = capsys.readouterr()
    assert said.err.count("another recording") == 2


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--margin", "0.1"], "--baseline"),
        (["--margin", "0", "--against", "truncate"], "above 0"),
        (["--margin", "0.1", "--against", "nobody"], "known are"),
        (["--margin", "0.1", "--against", "truncate", "--metric", "nonsense"], "known are"),
        (["--against", "truncate"], "--margin"),
    ],
)
def test_what_cannot_be_judged_is_a_sentence(
    runs: tuple[Path, Path], words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gate", str(runs[0]), *words]) == 2
    assert expected in capsys.readouterr().err


def test_diff_names_the_values_and_the_entities_that_are_lost_now(
    runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["runs", "diff", *map(str, runs), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["values"][0]["strategy"] == "mine" and found["values"][0]["difference"] < 0
    gaps = [row["worse_by"] for row in found["values"]]
    assert gaps == sorted(gaps, reverse=True)
    assert found["entities"][0]["change"] == "lost" and found["entities"][0]["evidence"]
    assert {row["strategy"] for row in found["entities"]} == {"mine"}
    assert main(["runs", "diff", *map(str, runs)]) == 0
    text = capsys.readouterr().out
    assert "removed by" in text and "truncate" in text
    assert main(["runs", "diff", str(runs[0]), str(runs[0])]) == 0
    assert "No exam_recall and no loss differs" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--strategy", "nonsense"], ["--metric", "nonsense"]])
def test_diff_knows_no_other_names_than_those_of_its_runs(
    runs: tuple[Path, Path], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["runs", "diff", *map(str, runs), *words]) == 2
    complaint = capsys.readouterr().err
    assert "of these runs is named 'nonsense'" in complaint and "known are" in complaint


def test_runs_without_a_common_session_cannot_be_compared(
    runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    foreign = compare(
        Session.of([rules("be brief"), *remembering(24)], id="other", project="q"),
        strategies=("truncate",),
        window=6_000,
        out=tmp_path / "foreign",
        quiet=True,
    ).path
    assert main(["runs", "diff", str(runs[0]), str(foreign)]) == 2
    assert "have no session in common" in capsys.readouterr().err
