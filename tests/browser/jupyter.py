"""A JupyterLab with the course, as `workbench lab` starts it, and notebooks open in a browser."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import workbench

LAB, NOTEBOOK_7 = "lab/tree", "notebooks"
"""The two interfaces, by the path under which the server has them."""
TOKEN = "token-of-a-test"
PATIENCE = 60_000
"""Milliseconds that a loaded machine may take for one step."""
LOCAL = ("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:")
WAITS = (
    "() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status ==="
    " 'idle'"
)
"""Whether the kernel of the notebook in front waits; the words on the page say so before there
is one.
"""


@dataclass(frozen=True)
class Jupyter:
    """A server that runs, and the folder whose notebooks it opens."""

    address: str
    folder: Path

    def lesson(self, name: str, interface: str = LAB) -> str:
        """The address of a notebook of the course, or of another in its folder."""
        return f"{self.address}/{interface}/{name}.ipynb?token={TOKEN}&reset"


@contextmanager
def started_jupyter(home: Path) -> Iterator[Jupyter]:
    """A server with nothing of the user's: all that it writes lies in `home`."""
    port = _free_port()
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "workbench",
            "lab",
            "--folder",
            str(home / "course"),
            "--no-browser",
            "--port",
            str(port),
            "--allow-root",
            "--ip=127.0.0.1",
            f"--IdentityProvider.token={TOKEN}",
            "--LabApp.expose_app_in_browser=True",
            "--JupyterNotebookApp.expose_app_in_browser=True",
        ],
        env=_environment(home),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        _wait_until_up(process)
        yield Jupyter(f"http://127.0.0.1:{port}", home / "course")
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _environment(home: Path) -> dict[str, str]:
    environment = {
        **os.environ,
        "HOME": str(home),
        "IPYTHONDIR": str(home / "ipython"),
        "MPLCONFIGDIR": str(home / "fonts"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "PYTHONPATH": str(Path(workbench.__file__).parent.parent),
    }
    environment.pop("MPLBACKEND", None)
    return environment


def _wait_until_up(server: subprocess.Popen[bytes]) -> None:
    assert server.stderr is not None
    lines = []
    for line in server.stderr:
        lines.append(line.decode(errors="replace"))
        if "is running at" in lines[-1]:
            # or its pipe fills, and it waits for ever
            Thread(target=server.stderr.read, daemon=True).start()
            return
    raise AssertionError("JupyterLab did not start: " + "".join(lines))


@dataclass(frozen=True)
class OpenNotebook:
    """A notebook in a browser, and the addresses that its page asked for."""

    page: Any
    addresses: list[str]


@contextmanager
def open_notebook(browser: Any, address: str) -> Iterator[OpenNotebook]:
    """A notebook whose kernel waits."""
    context = browser.new_context(viewport={"width": 1300, "height": 1500})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    addresses: list[str] = []
    page.on("request", lambda request: addresses.append(request.url))
    page.goto(address)
    page.wait_for_function(WAITS)  # before that, cells that are to run are dropped without a word
    yield OpenNotebook(page, addresses)
    page.evaluate("() => window.jupyterapp?.serviceManager.sessions.shutdownAll()")
    context.close()


def run_all(page: Any) -> None:
    """As a reader does it: from the menu."""
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.locator('[data-command="runmenu:run-all"]').click()
