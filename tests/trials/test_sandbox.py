from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from trials.toys import toy

from workbench.datasets.workspace import Workspace
from workbench.errors import SetupError
from workbench.trials.run import opened
from workbench.trials.tools import sandboxed

STAND_IN = """#!/bin/sh
echo "$*" >> "{heard}"
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
"""


def put_on_path(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = folder / "bwrap"
    place.write_text(text)
    place.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a stand-in for bubblewrap is called with: it runs the command, without a sandbox."""
    put_on_path(tmp_path, STAND_IN.format(heard=tmp_path / "heard"), monkeypatch)
    return tmp_path / "heard"


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    with opened(toy(parts=0), sandbox=True) as found:
        yield found


def test_a_command_runs_in_bubblewrap_without_a_network_and_writes_in_its_folder_alone(
    heard: Path, workspace: Workspace
) -> None:
    assert workspace.use("bash", {"command": "echo hello"}) == ("hello", False)
    words = heard.read_text().splitlines()[-1].split()
    options, command = words[: words.index("--")], words[words.index("--") + 1 :]
    assert command == ["bash", "-c", "echo", "hello"]
    assert {"--unshare-all", "--die-with-parent", "--new-session"} <= {*options}
    assert not [word for word in options if word.startswith("--share")]
    writable = [options[at + 1] for at, word in enumerate(options) if word in ("--bind", "--dev-bind")]
    assert writable == [str(workspace.root)]
    assert options.index("--tmpfs") < options.index("--ro-bind") < options.index("--bind")


def test_files_outside_of_the_project_are_not_read(heard: Path, workspace: Workspace) -> None:
    workspace.use("bash", {"command": "ln -s /etc/hostname inside"})
    assert workspace.use("read", {"path": "inside"}) == ("error: inside is outside of toy", True)


def test_it_is_refused_where_bubblewrap_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match="bubblewrap is not installed: install the package bubblewrap, or accept"):
        sandboxed(tmp_path)


def test_it_is_refused_where_bubblewrap_may_not_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    put_on_path(tmp_path, "#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2; exit 1\n", monkeypatch)
    with pytest.raises(SetupError, match=r"does not start \(bwrap: setting up uid map: Permission denied\): allow"):
        sandboxed(tmp_path)


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_the_real_bubblewrap_shows_no_network_and_no_files_of_this_machine(workspace: Workspace) -> None:
    said, _ = workspace.use(
        "bash", {"command": "tail -n +3 /proc/net/dev | cut -d: -f1; ls /etc; touch ../../../bin/x"}
    )
    assert said.splitlines()[:3] == ["    lo", "alternatives", "ld.so.cache"]
    assert "Read-only" in said
    assert workspace.use("bash", {"command": "python -m pytest --version"})[0].startswith("pytest")
