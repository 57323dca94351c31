from pathlib import Path
from typing import Any

import pytest
from report.page.made import made

from workbench import Findings, Results
from workbench.cli import main
from workbench.cli.headline import outcome


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, source = tmp_path_factory.mktemp("runs") / "nine", made(9)
    source.written(folder)
    return folder


def test_all_strategies_are_told_against_the_baseline_that_was_named(run: Path) -> None:
    answer: dict[str, Any] = outcome(
        Results.open(run), Findings.of(Results.open(run), "pipeline"), True
    )
    found = {str(row["strategy"]): row for row in answer["against_baseline"]}
    assert answer["baseline"] == "pipeline" and set(found) == {
        "summarize",
        "truncate",
        "none",
        "null",
    }
    assert found["summarize"]["verdict"] == "better" and found["truncate"]["verdict"] == "worse"
    assert found["none"]["p_holm"] is None  # a reference is no member of the family
    assert "95 % CI" in answer["verdict"] and "9 sessions, sign-flip test" in answer["verdict"]


def test_a_baseline_that_is_not_in_the_run_is_refused_with_those_that_are(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["runs", "report", str(run), "--baseline", "opal"]) == 2
    assert "known are none, null, pipeline, summarize, truncate" in capsys.readouterr().err


def test_it_is_refused_before_anything_is_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unreadable = tmp_path / "no-session.jsonl"
    unreadable.write_text("no session")
    assert main(["compare", str(unreadable), "-s", "truncate,summarize", "--baseline", "opal"]) == 2
    assert "opal" in capsys.readouterr().err
