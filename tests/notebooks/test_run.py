"""Every notebook runs top to bottom, offline: in a kernel; in the short profile in this process."""

import json
from pathlib import Path
from typing import Any

import pytest
from recorded_files import bundled_files
from report.page.here import run_here, without_kernels

from profiles import FULL
from workbench.report.page.notebooks import notebook, run_notebook

pytestmark = pytest.mark.notebook


def run(name: str, tmp_path: Path, given: dict[str, Any]) -> Path:
    if FULL:
        return run_notebook(notebook(name), tmp_path / "out.ipynb", given)
    with without_kernels():
        return run_here(notebook(name), tmp_path / "out.ipynb", given)


def shown(path: Path) -> str:
    """All that the notebook printed or showed as text."""
    outputs: list[dict[str, Any]] = [
        out
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        for out in cell.get("outputs", ())
    ]
    assert not [out for out in outputs if out["output_type"] == "error"]
    texts: list[str] = []
    pictures = 0
    for out in outputs:
        data = out.get("data", {})
        for text in (out.get("text", ""), data.get("text/plain", ""), data.get("text/html", "")):
            texts.append("".join(text))
        pictures += "image/png" in data
    return "\n".join([*texts, f"{pictures} pictures"])


def test_the_first_replay(tmp_path: Path) -> None:
    text = shown(run("01_first_replay", tmp_path, {}))
    assert (
        "fewer tokens sent" in text
        and "still tells" in text
        and "used in message" in text
        and "1 pictures" in text
    )


def test_comparing_strategies(tmp_path: Path) -> None:
    given = {"out": str(tmp_path / "run"), "limit": 1, "strategies": ["truncate"], "shares": [0.2]}
    text = shown(run("02_compare_strategies", tmp_path, given))
    assert "truncate was the only strategy" in text and "2 pictures" in text
    assert (tmp_path / "run" / "report.html").is_file()


def test_exploring_a_session(tmp_path: Path) -> None:
    path = run("03_explore_session", tmp_path, {})
    assert "under truncate" in shown(path)
    assert "application/vnd.jupyter.widget-view+json" in path.read_text(encoding="utf-8")


def test_writing_a_stage_and_a_metric(tmp_path: Path) -> None:
    text = shown(run("04_write_a_stage", tmp_path, {"out": str(tmp_path / "run")}))
    assert "lost its result" in text and "the context is as it was" in text
    assert (
        "heads" in text and "of the user's messages, at 4 places" in text and "1 pictures" in text
    )


def test_whether_the_work_gets_done(tmp_path: Path) -> None:
    given: Any = {
        "families": ["changed_values"],
        "seeds": 1,
        "limit": 1,
        "strategies": ["truncate"],
    }
    text = shown(
        run("08_does_the_work_get_done", tmp_path, {**given, "out": str(tmp_path / "run")})
    )
    assert "none" in text and "misread" in text and "saved_usd_net" in text and "entity" in text
    assert {"trials.parquet", "simulated.parquet"} <= {
        path.name for path in (tmp_path / "run").iterdir()
    }


def test_which_strategy_fits(tmp_path: Path) -> None:
    files = [str(file) for file in bundled_files()[:4]]
    given: Any = {
        "sessions": files,
        "window": 16_000,
        "candidates": ["summarize", "learned"],
        "limit": 1,
    }
    text = shown(run("09_which_strategy_fits", tmp_path, {**given, "out": str(tmp_path / "run")}))
    assert "[user]" in text or "[said]" in text
    assert (
        "4 sessions of 3 projects are too few to learn from" in text
        and "never said" in text
        and "1 pictures" in text
    )
    assert "mine+recall" in text
    assert "candidate points work names saved sessions" in " ".join(text.split())
    assert (tmp_path / "run" / "weights.json").is_file()


def test_a_sweep(tmp_path: Path) -> None:
    given: Any = {
        "out": str(tmp_path / "run"),
        "windows": [16_000],
        "strategies": ["summarize"],
        "limit": 1,
    }
    text = shown(run("05_sweep", tmp_path, given))
    assert (
        "summarize threshold=0.6" in text
        and "summarize threshold=0.9" in text
        and "on_frontier" in text
    )
    assert "1 pictures" in text


def test_real_models_and_what_stands_in_for_them(tmp_path: Path) -> None:
    given = {"out": str(tmp_path / "runs"), "local": "no_such_model"}
    text = shown(run("06_real_models", tmp_path, given))
    assert "You write summaries" in text and "tokens read" in text and "dollars" in text
    assert "not here: no model is named 'no_such_model'" in text
    assert "first_lines" in text and "litellm:openai/loopback" in text and "1 pictures" in text
