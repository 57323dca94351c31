"""The trial's side of its helper process: asks it, waits no longer than it may, and ends it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from math import inf
from pathlib import Path
from types import TracebackType
from typing import Any

from workbench.base.errors import SetupError
from workbench.lab.trials.helper import LENGTH, SLACK_SECONDS, descendants
from workbench.lab.trials.sandbox import (
    DISKS,
    ROOT,
    UNPROTECTED,
    Launch,
    plain_launch,
    sandboxed_launch,
)
from workbench.lab.trials.task import WorkspaceEnded
from workbench.lab.trials.watchdog import MOST_PROCESSES, Usage, Watchdog
from workbench.recordings.datasets.workspace import HOME, python_places

CALL_SECONDS = 120.0
"""Of one call, at most."""
START_SECONDS = 30.0
MOST_TEXT = 256_000
"""Characters of a file that is graded."""
OUTSIDE_PROCESSES = 4
"""Those of bubblewrap, which are counted with the agent's."""
MOST_ANSWER = 8_000_000
"""Bytes of an answer."""
BOUNDS = {
    "RLIMIT_CORE": 0,
    "RLIMIT_AS": 1_000_000_000,
    "RLIMIT_FSIZE": 256_000_000,
    "RLIMIT_NOFILE": 128,
}
"""What each process may take: bytes of a core file, of memory and of a file, and open files."""


class HelperWorkspace:
    """The workspace of a trial, of which the trial itself touches no file: its helper does.

    Args:
        project: the name of the folder in which the agent works.
        sandbox: whether the helper, and so all that the agent does, is in a sandbox.

    Attributes:
        until: when calls are over, on the clock of `time.monotonic`.

    Raises:
        SetupError: the sandbox cannot be had.
    """

    def __init__(self, project: str, *, sandbox: bool) -> None:
        self.until = inf
        self._reason = ""
        self._disks: list[int] = []
        self._folder = "" if sandbox else tempfile.mkdtemp()
        self.root = Path(ROOT if sandbox else self._folder).resolve()
        self.cwd = self.root / HOME.strip("/") / project
        self._process, self._channel = _started(sandboxed_launch() if sandbox else plain_launch())
        try:
            self._open(project, sandbox)
        except BaseException:
            self._end()
            raise
        self._watchdog = Watchdog(self._process.pid, self._disks, self._kill)
        if sys.platform == "linux":
            self._watchdog.start()

    def __enter__(self) -> HelperWorkspace:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def peak(self) -> Usage:
        """The most that the trial took so far."""
        return self._watchdog.peak

    def use(self, tool: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        """What a tool gives, as the agent is told it, and whether it failed.

        Raises:
            WorkspaceEnded: the helper was ended, now or before.
        """
        answer = self._ask({"do": "use", "tool": tool, "arguments": dict(arguments)})
        return str(answer.get("text", "")), bool(answer.get("failed"))

    def put(self, files: Mapping[str, str]) -> None:
        """Write the files that a task begins with, by path."""
        answer = self._ask({"do": "put", "files": dict(files)})
        if answer.get("failed"):
            raise WorkspaceEnded(f"the task's files could not be written: {answer.get('text')}")

    def text(self, path: str) -> str | None:
        """What stands in a file; None where there is no such file, or one that is too long."""
        answer = self._ask({"do": "text", "path": path, "most": MOST_TEXT})
        return None if answer.get("failed") else str(answer.get("text"))

    def check(self, program: str) -> str:
        """What a Python program says that fails in the project; empty where it exits with 0."""
        return str(self._ask({"do": "check", "program": program}).get("text", ""))

    def settle(self) -> None:
        """End what the agent's commands left running, so that nothing changes any more."""
        self._ask({"do": "settle"})

    def close(self) -> None:
        """End the helper and all that runs with it."""
        if self._watchdog.is_alive():
            self._watchdog.stop()
        self._end()

    def _open(self, project: str, sandbox: bool) -> None:
        request = {
            "do": "open",
            "root": str(self.root),
            "project": project,
            "python": sys.executable,
            "places": python_places(),
            "bounds": BOUNDS,
            "processes": MOST_PROCESSES - OUTSIDE_PROCESSES if sandbox else 0,
            "disks": [*DISKS] if sandbox else [],
        }
        try:
            self._exchange(request, START_SECONDS)
            self._channel.settimeout(START_SECONDS)
            self._disks = socket.recv_fds(self._channel, 1, len(DISKS))[1]
        except (OSError, WorkspaceEnded):
            raise SetupError(_why_not_started(self._process, sandbox)) from None

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request, within what is left of the trial's time."""
        if self._reason:
            raise WorkspaceEnded(self._reason)
        seconds = min(CALL_SECONDS, self.until - time.monotonic())
        if seconds <= 0:
            return {"text": "error: no time is left", "failed": True}
        try:
            return self._exchange({**request, "seconds": seconds}, seconds + 2 * SLACK_SECONDS)
        except TimeoutError:
            self._kill("its helper process did not answer in time")
        except (OSError, ValueError):
            self._kill("its helper process ended")
        raise WorkspaceEnded(self._reason)

    def _exchange(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        deadline = time.monotonic() + seconds
        body = json.dumps(request).encode()
        self._channel.settimeout(seconds)
        self._channel.sendall(LENGTH.pack(len(body)) + body)
        size = LENGTH.unpack(self._received(LENGTH.size, deadline))[0]
        if size > MOST_ANSWER:
            raise ValueError("the answer is too long")
        answer = json.loads(self._received(size, deadline))
        if not isinstance(answer, dict):
            raise ValueError("the answer is no object")
        return answer

    def _received(self, size: int, deadline: float) -> bytes:
        received = bytearray()
        while len(received) < size:
            self._channel.settimeout(max(deadline - time.monotonic(), 0.001))
            chunk = self._channel.recv(min(size - len(received), 65_536))
            if not chunk:
                raise ConnectionError("the helper hung up")
            received += chunk
        return bytes(received)

    def _kill(self, reason: str) -> None:
        """End the helper and all that runs with it, for a reason that the trial is told."""
        self._reason = self._reason or f"its workspace was ended: {reason}"
        for pid in (*descendants(self._process.pid), self._process.pid):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)

    def _end(self) -> None:
        if self._process.poll() is None:
            self._kill("it was closed")
        self._process.wait()
        self._channel.close()
        if self._process.stderr is not None:
            self._process.stderr.close()
        for folder in self._disks:
            os.close(folder)
        self._disks = []
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)


def require_sandbox() -> None:
    """Try whether a sandbox can be had.

    Raises:
        SetupError: it cannot; says what to install or to accept.
    """
    HelperWorkspace("empty", sandbox=True).close()


def _started(launch: Launch) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """A helper that has been started, and the socket to it."""
    ours, theirs = socket.socketpair()
    environment = {"PATH": os.defpath}
    with theirs:
        process = subprocess.Popen(
            launch.words,
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment,
            cwd="/",
            pass_fds=launch.files,
            start_new_session=True,
        )
    for number in launch.files:
        os.close(number)
    return process, ours


def _why_not_started(process: subprocess.Popen[bytes], sandbox: bool) -> str:
    process.kill()
    _, error_output = process.communicate()
    lines = error_output.decode("utf-8", "replace").strip().splitlines()
    cause = lines[-1] if lines else f"exit code {process.returncode}"
    if not sandbox:
        return f"the helper process of a trial does not start ({cause})"
    return (
        f"bubblewrap does not start ({cause}): install version 0.8 or newer and allow user "
        f"namespaces, or accept that {UNPROTECTED}"
    )
