"""The notebook about an agent's loop runs against a model on this machine."""

import json
from pathlib import Path

import nbformat
import pytest
from report.page.here import run_here

from profiles import FULL
from workbench.report.page.notebooks import notebook, run_notebook

pytestmark = pytest.mark.notebook

LESSON = notebook("07_in_your_agent")
SAVES = "compactor.save_to(file)"


@pytest.mark.slow
def test_an_agent_keeps_within_its_window_goes_on_when_killed_and_learns_from_a_refusal(
    tmp_path: Path,
) -> None:
    run = run_notebook if FULL else run_here  # a kernel reads litellm again, for seconds
    path = run(LESSON, tmp_path / "out.ipynb", {"parts": 18})
    outputs = [
        out
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        for out in cell.get("outputs", ())
    ]
    assert not [out for out in outputs if out["output_type"] == "error"]
    text = "\n".join("".join(out.get("text", "")) for out in outputs)
    assert "36 requests, 0 refused; Part 17 holds the limit 7017." in text
    killed, again = text.split("started again, exit code 0:")
    assert "of 36 requests, then exit code -9:" in killed and "compaction 1:" in killed
    assert "messages at the start: 1" not in again
    assert "36 requests, word for word those of the agent that nobody killed" in text
    assert "1 of 37 refused: prompt is too long" in text and "read as overflow, so compact" in text


@pytest.mark.skipif(not FULL, reason="starts the agent twice more")
def test_an_agent_that_does_not_save_what_it_knows_sends_other_requests(tmp_path: Path) -> None:
    page = nbformat.read(LESSON, 4)
    assert any(SAVES in cell.source for cell in page.cells)
    for cell in page.cells:
        cell.source = cell.source.replace(SAVES, f"pass  # {SAVES}")
    nbformat.write(page, tmp_path / "forgetful.ipynb")
    with pytest.raises(AssertionError):
        run_here(tmp_path / "forgetful.ipynb", tmp_path / "out.ipynb", {})
