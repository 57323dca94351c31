"""The notebook about an agent's loop runs against a model on this machine."""

import json
from pathlib import Path

import pytest
from report.here import run_here

from profiles import FULL
from workbench.report.kernel import run_notebook
from workbench.report.notebooks import notebook

pytestmark = pytest.mark.notebook


def test_an_agent_keeps_within_its_window_and_learns_from_a_refusal(tmp_path: Path) -> None:
    run = run_notebook if FULL else run_here  # a kernel reads litellm again, for seconds
    done = run(notebook("07_in_your_agent"), tmp_path / "out.ipynb", {"parts": 18})
    outputs = [out for cell in json.loads(done.read_text(encoding="utf-8"))["cells"] for out in cell.get("outputs", ())]
    assert not [out for out in outputs if out["output_type"] == "error"]
    text = "\n".join("".join(out.get("text", "")) for out in outputs)
    assert "36 requests, 0 refused; Part 17 holds the limit 7017." in text
    assert "1 of 37 refused: prompt is too long" in text and "read as overflow, so compact" in text
