"""The process that uses the tools of one trial, in its sandbox or, where there is none, beside it.

It is started as a script, `python -I -S helper.py WORKSPACE_FILE`, and needs nothing but Python's
standard library. Its standard input is a socket to the trial: a request and an answer are each four
bytes of length and JSON. A request that takes too long is interrupted and answered.

In a sandbox it is process 1: the agent's processes cannot signal it, trace it or reach its socket,
and end with it.
"""

import json
import os
import resource
import signal
import socket
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from select import select
from typing import Any

LENGTH = struct.Struct("!I")
FILE_SECONDS = 30.0
"""Of a file tool, at most."""
SLACK_SECONDS = 1.0
"""Beyond the limit that a program has."""
TICK_SECONDS = 0.2
"""Between two looks for ended processes, while nothing is asked."""
SET_DUMPABLE, SET_SUBREAPER = 4, 36
"""Options of `prctl`."""

Request = dict[str, Any]
Answer = dict[str, Any]


def apply_bound(name: str, bound: int) -> None:
    """Bound this process and all that it starts; `name` is one of the module `resource`."""
    with suppress(OSError, ValueError):  # a lower bound is in force
        resource.setrlimit(getattr(resource, name), (bound, bound))


def bound_processes(count: int) -> None:
    """Bound the processes of this user in this user namespace.

    A kernel before 5.14 counts those outside as well, so that none could be started: there the
    watchdog counts alone.
    """
    _, hard_limit = resource.getrlimit(resource.RLIMIT_NPROC)
    resource.setrlimit(resource.RLIMIT_NPROC, (count, hard_limit))
    try:
        child = os.fork()
    except OSError:
        resource.setrlimit(resource.RLIMIT_NPROC, (hard_limit, hard_limit))
        return
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    resource.setrlimit(resource.RLIMIT_NPROC, (count, count))


class Helper:
    """Answers requests until the trial hangs up."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._workspace: Any = None
        self._alarm = Alarm()

    def serve(self) -> None:
        """Answer one request after another."""
        while (request := self._receive()) is not None:
            if request["do"] == "open":
                self._open(request)
            elif request["do"] == "settle":
                end_all_others()
                self._send({})
            else:
                self._send(self._answer(request))

    def _open(self, request: Request) -> None:
        """Make the workspace, hand over its file systems, and shut this process off from it."""
        self._workspace = _workspace_class()(
            Path(request["root"]),
            request["project"],
            python=request["python"],
            places=request["places"],
        )
        self._workspace.while_waiting = bury
        for name, bound in request["bounds"].items():
            apply_bound(name, bound)
        if request["processes"]:
            bound_processes(request["processes"])
        self._send({"pid": os.getpid()})
        folders = [os.open(folder, os.O_RDONLY | os.O_DIRECTORY) for folder in request["disks"]]
        socket.send_fds(self._channel, [b"d"], folders)
        for folder in folders:
            os.close(folder)
        _shut_off()

    def _answer(self, request: Request) -> Answer:
        """What came of a request, or that it was too late."""
        limit = float(request["seconds"])
        is_program = request["do"] == "check" or request.get("tool") == "bash"
        if not is_program:
            limit = min(limit, FILE_SECONDS)
        self._workspace.seconds = round(limit, 1)
        try:
            with self._alarm.within(limit + (SLACK_SECONDS if is_program else 0)):
                return self._carry_out(request)
        except TooLate:
            return {"text": f"[stopped after {limit:g} s]", "failed": True}

    def _carry_out(self, request: Request) -> Answer:
        match request["do"]:
            case "use":
                text, failed = self._workspace.use(request["tool"], request["arguments"])
                return {"text": text, "failed": failed}
            case "put":
                self._workspace.put(request["files"])
                return {"text": "", "failed": False}
            case "text":
                text = self._workspace.text(request["path"])
                is_graded = text is not None and len(text) <= request["most"]
                return {"text": text if is_graded else "", "failed": not is_graded}
            case _:
                fault = self._workspace.check(request["program"])
                return {"text": fault, "failed": bool(fault)}

    def _receive(self) -> Request | None:
        head = self._read(LENGTH.size)
        body = self._read(LENGTH.unpack(head)[0]) if head else b""
        return json.loads(body) if body else None

    def _read(self, size: int) -> bytes:
        """So many bytes; none where the trial has hung up. Ended processes are buried meanwhile."""
        received = b""
        while len(received) < size:
            bury()
            if not select([self._channel], [], [], TICK_SECONDS)[0]:
                continue
            chunk = self._channel.recv(size - len(received))
            if not chunk:
                return b""
            received += chunk
        return received

    def _send(self, answer: Answer) -> None:
        body = json.dumps(answer).encode()
        self._channel.sendall(LENGTH.pack(len(body)) + body)


class TooLate(BaseException):
    """A request took too long; nothing that handles other errors takes it for one of them."""


class Alarm:
    """Interrupts what this process does when its time is over, a slow regular expression as well.

    In a sandbox the agent can send the same signal at any time, so that it counts only when due.
    """

    def __init__(self) -> None:
        self._due = inf
        signal.signal(signal.SIGALRM, self._ring)

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """What is done within so many seconds.

        Raises:
            TooLate: it took longer.
        """
        self._due = time.monotonic() + seconds
        signal.setitimer(signal.ITIMER_REAL, seconds + 0.01, TICK_SECONDS)
        try:
            yield
        finally:
            self._due = inf
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _ring(self, number: int, frame: object) -> None:
        if time.monotonic() > self._due:
            self._due = inf
            raise TooLate


def bury(spared: int = 0) -> None:
    """Take note of processes that have ended, so that they no longer count; but for one."""
    with suppress(ChildProcessError):
        while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if ended.si_pid == spared:
                return
            os.waitpid(ended.si_pid, 0)


def end_all_others() -> None:
    """End every process but this one; outside of a sandbox those that descend from it."""
    if os.getpid() == 1:
        with suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        _bury_all()
        return
    for _ in range(100):
        pids = descendants(os.getpid())
        if not pids:
            return
        for pid in pids:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)
        bury()


def _bury_all() -> None:
    """Wait for processes that were killed, two seconds at most."""
    deadline = time.monotonic() + 2
    while time.monotonic() < deadline:
        try:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                time.sleep(0.002)
        except ChildProcessError:
            return


def descendants(ancestor: int) -> list[int]:
    """The processes that a process started, those that these started, and so on."""
    is_listed = Path(f"/proc/self/task/{os.getpid()}/children").exists()
    children = _children if is_listed else _children_by_search
    processes = list(children(ancestor))
    for process in processes:
        processes += children(process)
    return processes


def _children(process: int) -> list[int]:
    pids = list[int]()
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):  # noqa: PTH208 - many times a second
            listed = Path(f"/proc/{process}/task/{thread}/children").read_text("utf-8")
            pids += map(int, listed.split())
    return pids


def _children_by_search(process: int) -> list[int]:
    """The same where the kernel does not keep a list of them."""
    pids = list[int]()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):
            stat = (folder / "stat").read_text("utf-8", "replace")
            if int(stat.rpartition(")")[2].split()[1]) == process:
                pids.append(int(folder.name))
    return pids


def _workspace_class() -> Any:  # noqa: ANN401 - its file is loaded alone, without the package
    from workspace import Workspace  # type: ignore[import-not-found, unused-ignore]

    return Workspace


def _shut_off() -> None:
    """Let no other process trace this one or open its files, adopt orphans, and fall silent."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", "utf-8")
    if sys.platform == "linux":
        import ctypes

        prctl = ctypes.CDLL(None).prctl
        prctl(SET_DUMPABLE, 0, 0, 0, 0)
        prctl(SET_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


def main() -> None:
    """Serve the socket that is the standard input."""
    channel = socket.socket(fileno=os.dup(0))
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    sys.path.append(str(Path(sys.argv[1]).parent))
    Helper(channel).serve()


if __name__ == "__main__":
    main()
