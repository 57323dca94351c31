"""A grid whose summaries a real model writes: one limit for all points, replicates, and a
forecast in dollars.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from command import answer
from engine.models.provider import Provider

from builders import remembering, rules
from workbench import ModelSettings, Session, save, sweep
from workbench.cli import main

STUB, PAID = "litellm:openai/stub", "litellm:gpt-4o-mini"


def grid(tmp_path: Path, model: str) -> dict[str, object]:
    save(Session.of([rules("be brief"), *remembering(18)], id="s"), tmp_path / "s.jsonl")
    return {
        "sessions": [str(tmp_path / "s.jsonl")],
        "strategies": ["truncate", "summarize"],
        "windows": [4_000, 5_000],
        "models": [model],
        "shares": [0.2],
        "boundaries": [0.6],
    }


def keep(folder: Path, **limits: float) -> ModelSettings:
    return ModelSettings(cache=folder, on_bad_summary="keep", **limits)  # type: ignore[arg-type]  # its numbers


def spent(folder: Path) -> float:
    with sqlite3.connect(folder / "answers.sqlite") as ledger:
        return float(
            ledger.execute(
                "select coalesce(sum(coalesce(usd, reserved)), 0) from calls"
            ).fetchone()[0]
        )


def test_all_points_share_one_limit(provider: Provider, tmp_path: Path) -> None:
    points = grid(tmp_path, STUB)
    rich = sweep(points, out=tmp_path / "rich", quiet=True, model_settings=keep(tmp_path / "a"))
    needed = spent(tmp_path / "a")
    assert rich.failed == 0 and needed > 0
    poor = sweep(
        points,
        out=tmp_path / "poor",
        quiet=True,
        model_settings=keep(tmp_path / "b", max_usd=0.8 * needed),
    )
    assert 0 < spent(tmp_path / "b") <= 0.8 * needed
    pending = poor.replays[poor.replays["status"] == "pending"]
    assert len(pending) and pending["reason"].str.contains("limit").all()
    on = sweep(
        points,
        out=tmp_path / "poor",
        quiet=True,
        model_settings=keep(tmp_path / "b", max_usd=2 * needed),
    )
    assert on.pending == on.failed == 0 and spent(tmp_path / "b") == pytest.approx(needed)
    assert on.replays["usd"].sum() == pytest.approx(needed), (
        "points that send the same request pay once"
    )


def test_points_that_ask_a_model_are_repeated_under_their_own_names(
    provider: Provider, tmp_path: Path
) -> None:
    points = grid(tmp_path, STUB) | {"models": ["extractive", STUB], "windows": [4_000]}
    results = sweep(
        points, out=tmp_path / "run", quiet=True, replicates=2, model_settings=keep(tmp_path / "a")
    )
    assert set(results.replicates["strategy"]) == {f"summarize model={STUB}"}
    assert set(results.replicates["replicate"]) == {0, 1}
    settings = results.manifest["settings"]
    assert isinstance(settings, dict) and settings["replicates"] == 2


def written(folder: Path, grid: dict[str, object]) -> Path:
    """The grid as a file."""
    lines = [f"{name} = {json.dumps(value)}" for name, value in grid.items()]
    (folder / "grid.toml").write_text("\n".join(lines))
    return folder / "grid.toml"


def test_the_forecast_of_a_grid_is_that_of_its_runs(tmp_path: Path) -> None:
    file = written(tmp_path, grid(tmp_path, PAID))
    out = ("-j", 1, "--out", tmp_path / "run", "--dry-run")
    found = answer("lab", "sweep", file, *out)
    each = []
    for window in (4_000, 5_000):
        words = ["compare", tmp_path / "s.jsonl", "-s", "truncate,summarize", "-w", window]
        words += ["--shares", 0.2, "--boundaries", 0.6, "-m", PAID]
        each.append(answer(*words, *out))
    assert (found["sessions"], found["replays"], found["done"]) == (1, 8, 0)
    assert found["requests"] == sum(run["requests"] for run in each) > 2
    assert found["usd"] == pytest.approx(sum(run["usd"] for run in each))
    assert {use["strategy"] for use in found["asked"]} == {
        "summarize window=4000",
        "summarize window=5000",
    }
    assert not (tmp_path / "run").exists()


def test_a_dry_run_lists_the_points_and_says_the_dollars(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, grid(tmp_path, PAID))
    words = [
        "lab",
        "sweep",
        str(file),
        "--dry-run",
        "-j",
        "1",
        "--out",
        str(tmp_path / "run"),
    ]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "4 points" in text and "at most about $" in text
    assert main([*words, "--json"]) == 0
    once = json.loads(capsys.readouterr().out)
    assert len(once["points"]) == 4 and once["usd"] > 0
    assert main([*words, "--json", "--replicates", "3"]) == 0
    assert json.loads(capsys.readouterr().out)["usd"] == pytest.approx(3 * once["usd"])
    assert not (tmp_path / "run").exists()


def test_a_limit_on_the_command_line_holds_and_what_it_stopped_is_told(
    provider: Provider, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, grid(tmp_path, STUB))
    words = [
        "lab",
        "sweep",
        str(file),
        "-j",
        "1",
        "--out",
        str(tmp_path / "run"),
        "--no-report",
    ]
    assert main([*words, "--max-dollars", "0.001", "--cache", str(tmp_path / "a")]) == 3
    assert "limit" in capsys.readouterr().err
    assert provider.requests == []
