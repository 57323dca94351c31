"""What `workbench lab sweep` prints."""

import json
from pathlib import Path

import pytest

from builders import remembering, rules
from workbench import Session, save
from workbench.cli import main


def grid(folder: Path) -> Path:
    """Three points; two differ by their trigger alone, which the same sizes do not ask."""
    save(Session.of([rules("be brief"), *remembering(24)]), folder / "chat.jsonl")
    file = folder / "grid.toml"
    file.write_text(
        f"sessions = [{str(folder / 'chat.jsonl')!r}]\n"
        'strategies = ["truncate", "observation_mask"]\n'
        "windows = [4000]\n"
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
    shown = " ".join(capsys.readouterr().out.split())
    sizes = shown.partition("the same history cut to these sizes")[2]
    table, _, after = sizes.partition("The line of ")
    assert "truncate threshold=0.98 7 %" in table and "threshold=0.99" not in table
    assert "truncate threshold=0.98 is also that of truncate threshold=0.99." in after
    assert "Which one: " in after
    assert main([*words, "-j", "1", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert len(answer["points"]) == 3
    assert answer["decision"]["recommendation"] in shown
