"""JupyterLab opens the explorer, runs it, and the picture follows the sliders."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import workbench

pytestmark = [pytest.mark.browser, pytest.mark.notebook]
FOLDERS = ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR", "LAB_SETTINGS_DIR", "LAB_WORKSPACES_DIR")
PATIENCE = 60_000
"""Milliseconds that a loaded machine may take for one step."""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """The explorer's notebook in a JupyterLab as `workbench lab` starts it, with nothing of the user's."""
    own = {f"JUPYTER{'LAB' * ('LAB' in name)}_{name.replace('LAB_', '')}": str(tmp_path / name) for name in FOLDERS}
    own |= {"IPYTHONDIR": str(tmp_path / "ipython"), "HOME": str(tmp_path), "MPLCONFIGDIR": str(tmp_path / "fonts")}
    own["PYTHONPATH"] = str(Path(workbench.__file__).parent.parent)
    port, token = free_port(), "token-of-a-test"
    server = subprocess.Popen(
        [
            sys.executable, "-m", "workbench", "lab", "--folder", str(tmp_path / "course"), "--no-browser",
            "--port", str(port), "--allow-root", "--ip=127.0.0.1", f"--IdentityProvider.token={token}",
        ],
        env={**os.environ, **own}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        _until_up(server)
        yield f"http://127.0.0.1:{port}/lab/tree/03_explore_session.ipynb?token={token}"
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()


def _until_up(server: subprocess.Popen[bytes]) -> None:
    assert server.stderr is not None
    told = []
    for line in server.stderr:
        told.append(line.decode(errors="replace"))
        if "is running at" in told[-1]:
            Thread(target=server.stderr.read, daemon=True).start()  # or its pipe fills, and it waits for ever
            return
    raise AssertionError("JupyterLab did not start: " + "".join(told))


def test_a_slider_moves_and_the_picture_changes(browser: Any, lab: str, keep: Any) -> None:
    context = browser.new_context(viewport={"width": 1300, "height": 1500})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(lab)
    page.wait_for_selector('.jp-Notebook-ExecutionIndicator[data-status="idle"]')
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.locator('[data-command="runmenu:run-all"]').click()
    try:
        page.get_by_text("window, 24,000").first.wait_for()
        page.get_by_text("under truncate").wait_for()  # the last cell ran
    finally:
        keep(page, "explorer")

    page.locator('[data-go="boundary:1"]').first.click()
    lost = page.get_by_text("are still held with their context").first
    lost.wait_for()
    atom = page.locator(".wb-x summary:visible").first
    atom.click()
    page.get_by_text("said by").first.wait_for()
    keep(page, "explorer-lost")

    page.locator('.wb-x td [data-go^="message:"]:visible').first.press("Enter")
    page.get_by_text("Needed later").first.wait_for()
    assert page.locator(".story:visible").inner_text().startswith("Message ")
    keep(page, "explorer-message")

    slider = page.locator(".jp-OutputArea .noUi-handle").first
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.get_by_text("window, 32,000").first.wait_for()

    page.get_by_role("tab", name="Before and after").click()
    page.locator(".wb-x p:visible", has_text="Before message").first.wait_for()
    keep(page, "explorer")
    assert page.locator('[data-mime-type="application/vnd.jupyter.error"]').count() == 0
    assert all(url.startswith(("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:")) for url in asked)
    context.close()
