"""What `workbench lab sweep` prints."""

import json
from pathlib import Path

import pytest
from report.view.made import get, served

from builders import remembering, rules
from workbench import Findings, Report, Results, Session, save
from workbench.cli import main
from workbench.cli.headline import show


def grid(folder: Path, windows: str = "4000") -> Path:
    """Three points a window; two differ by their trigger alone, which the same sizes do not ask."""
    save(Session.of([rules("be brief"), *remembering(24)]), folder / "chat.jsonl")
    file = folder / "grid.toml"
    file.write_text(
        f"sessions = [{str(folder / 'chat.jsonl')!r}]\n"
        'strategies = ["truncate", "observation_mask"]\n'
        f"windows = [{windows}]\n"
        "shares = [0.2]\n"
        "[settings.truncate]\n"
        "trigger.threshold = [0.98, 0.99]\n"
    )
    return file


def test_a_sweep_ends_with_a_choice_and_shows_points_that_cannot_differ_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["lab", "sweep", str(grid(tmp_path)), "--out", str(tmp_path / "run"), "--no-report"]
    assert main([*words, "-j", "1"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    sizes = text.partition("the same history cut to these sizes")[2]
    table, _, after = sizes.partition("The line of ")
    assert "truncate threshold=0.98 7 %" in table and "threshold=0.99" not in table
    assert "truncate threshold=0.98 is also that of truncate threshold=0.99." in after
    assert "Which one: " in after
    assert main([*words, "-j", "1", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert len(answer["points"]) == 3
    assert answer["decision"]["recommendation"] in text


def test_a_sweep_of_several_windows_is_shown_as_any_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = grid(tmp_path, windows="4000, 9000")
    words = ["lab", "sweep", str(file), "--out", str(tmp_path / "run"), "--no-report", "-j", "1"]
    assert main(words) == 0
    results = Results.open(tmp_path / "run")
    assert results.sessions["window_used"].isna().all()
    capsys.readouterr()
    findings = Findings.of(results)
    for wide in (False, True):
        show(findings, wide=wide)
        text = " ".join(capsys.readouterr().out.split())
        assert "Windows: each strategy of a sweep is replayed in its own." in text
    assert "window=9000" in Report(results, findings=findings).headline.html
    session = results.sessions["session"].iloc[0]
    with served(tmp_path) as server:
        page = get(f"{server.address}runs/run/session?id={session}&left=none&right=null")[1]
    assert "window 4,000 tokens" in page
