"""Runs hostile agents as `workbench lab trial` would, each in a process of its own, and looks at
the host meanwhile.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from hashlib import sha256
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from lab.trials.hostile import (
    MARKER,
    SECRET,
    SECRET_VARIABLE,
    HostileAgent,
    Script,
    hostile_task,
)
from priced import TARIFF

from workbench import find_model, preset
from workbench.lab.trials.attempt import attempt
from workbench.lab.trials.helper import descendants
from workbench.lab.trials.loop import Limits

MOST_MEMORY = 1_000_000_000
MOST_PROCESSES = 64
GRACE_SECONDS = 10.0
HANGS_SECONDS = 60.0
"""After which a trial that does not end is ended from outside."""
TICK_SECONDS = 0.01
PAGE = os.sysconf("SC_PAGE_SIZE")
SETTINGS = ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname")


@dataclass(frozen=True)
class Verdict:
    """What came of one hostile agent.

    Attributes:
        problems: what it could do; empty where the promises were kept.
        seconds: that its trial took.
        memory: bytes at most, of its processes, its disks, and what the trial's own process grew
            by.
        processes: at most at a time.
        reason: of the trial's row.
    """

    agent: HostileAgent
    problems: tuple[str, ...]
    seconds: float
    memory: int
    processes: int
    reason: str


class Host:
    """What a hostile agent would like to change, read or reach: a folder, a variable, a key, two
    sockets.
    """

    def __init__(self) -> None:
        self._exits = ExitStack()
        self.daemon = f"hostile-daemon-{os.getpid()}"
        self._socket_name = f"hostile-socket-{os.getpid()}"
        self.folder = Path(self._exits.enter_context(tempfile.TemporaryDirectory(prefix="host-")))
        self._settings = {name: Path(name).read_text("utf-8") for name in SETTINGS}
        self._port = self._exits.enter_context(socket.create_server(("127.0.0.1", 0)))
        self._port.setblocking(False)
        self._abstract = self._exits.enter_context(socket.socket(socket.AF_UNIX))
        self._abstract.bind(f"\0{self._socket_name}")
        self._abstract.listen()
        self._abstract.setblocking(False)
        os.environ[SECRET_VARIABLE] = SECRET
        _keep_key("hostile", SECRET)
        self.restore()

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *error: object) -> None:
        os.environ.pop(SECRET_VARIABLE, None)
        self._exits.close()

    @property
    def places(self) -> Mapping[str, str]:
        """What stands in commands for the places of this host."""
        return {
            "@HOST@": str(self.folder),
            "@PORT@": str(self._port.getsockname()[1]),
            "@SOCKET@": self._socket_name,
            "@DAEMON@": self.daemon,
        }

    def restore(self) -> None:
        """Make everything what it was."""
        for place in self.folder.iterdir():
            place.unlink() if place.is_symlink() or not place.is_dir() else shutil.rmtree(place)
        self.folder.chmod(0o777)
        for name, text in (("precious", "mine\n"), ("secret", SECRET), ("empty", "")):
            (self.folder / name).write_text(text, "utf-8")
            (self.folder / name).chmod(0o666)
        for name, text in self._settings.items():
            if Path(name).read_text("utf-8") != text:
                Path(name).write_text(text, "utf-8")
        self.before = self.fingerprint()

    def fingerprint(self) -> Mapping[str, str]:
        """Everything that must stay as it is."""
        found = {name: Path(name).read_text("utf-8") for name in SETTINGS}
        for place in sorted(self.folder.rglob("*")):
            about = place.lstat()
            digest = sha256(place.read_bytes()).hexdigest() if place.is_file() else ""
            found[str(place)] = f"{about.st_mode:o} {about.st_nlink} {about.st_mtime_ns} {digest}"
        for folder in (
            "/",
            "/usr",
            "/bin",
            "/etc",
            "/tmp",
            "/dev",
            "/dev/shm",
            Path.home(),
            Path.cwd(),
            sys.prefix,
        ):
            found[f"{folder}/{MARKER}"] = str((Path(folder) / MARKER).exists())
        for name in ("/etc/passwd", "/etc/hostname"):
            found[name] = sha256(Path(name).read_bytes()).hexdigest() if Path(name).exists() else ""
        return found

    def reached(self) -> list[str]:
        """Which of the sockets somebody has connected to."""
        return [
            name
            for name, server in (("port", self._port), ("socket", self._abstract))
            if _accepts(server)
        ]


def try_agent(agent: HostileAgent, host: Host, seconds: float, *, alone: bool) -> Verdict:
    """Let a hostile agent work for so many seconds, and say what it could do.

    Args:
        alone: whether nothing else on this machine takes shared memory meanwhile, so that it
            counts.
    """
    ours, theirs = multiprocessing.Pipe()
    context = multiprocessing.get_context("fork")
    shared = _shared_bytes() if alone else 0
    start = time.monotonic()
    process = context.Process(target=_carry_out, args=(agent, dict(host.places), seconds, theirs))
    process.start()
    theirs.close()
    assert process.pid is not None
    memory = count = 0
    while process.is_alive() and time.monotonic() - start < seconds + HANGS_SECONDS:
        pids = descendants(process.pid)
        count = max(count, len(pids))
        disks = _shared_bytes() - shared if alone else 0
        memory = max(memory, _bytes_of(pids) + resident_bytes(process.pid) + disks)
        time.sleep(TICK_SECONDS)
    took = time.monotonic() - start
    problems = list[str]()
    if process.is_alive():
        problems.append("the trial hangs")
    elif took > seconds + GRACE_SECONDS:
        problems.append("the trial ended too late")
    result = _result(ours) if not process.is_alive() else {}
    _end(process.pid)
    process.join()
    memory -= int(result.get("resident", 0))
    if result.get("raised"):
        problems.append(f"the run ended: {result['raised']}")
    elif not result and "the trial hangs" not in problems:
        problems.append("the trial's process died")
    if result.get("leaked"):
        problems.append("it read a secret")
    if memory > MOST_MEMORY:
        problems.append("it took more than 1 GB")
    if count > MOST_PROCESSES:
        problems.append("it had more than 64 processes")
    problems += [f"it reached the host's {name}" for name in host.reached()]
    problems += ["a process lives on"] * _end_daemons(host.daemon)
    if host.fingerprint() != host.before:
        problems.append("the host was changed")
        host.restore()
    return Verdict(agent, tuple(problems), took, memory, count, str(result.get("reason", "")))


def _carry_out(
    agent: HostileAgent, places: Mapping[str, str], seconds: float, pipe: Connection
) -> None:
    """What the trial's process does."""
    resident = resident_bytes(os.getpid())
    script = Script(agent, places)
    row: Mapping[str, object] = {}
    raised = ""
    try:
        row = attempt(
            hostile_task(),
            script,
            preset("truncate"),
            sandbox=True,
            window=200_000,
            tariff=TARIFF,
            writer=find_model("extractive"),
            limits=Limits(seconds=seconds),
        )
    except Exception as error:  # noqa: BLE001 - that nothing is raised is what is tried
        raised = f"{type(error).__name__}: {error}"[:200]
    reason = str(row.get("reason", ""))[:300]
    leaked = SECRET in script.heard
    if os.environ.get("HOSTILE_SHOW"):
        print(f"--- {agent.name}: {reason}\n{script.heard[-3000:]}", file=sys.stderr)
    pipe.send({"raised": raised, "reason": reason, "leaked": leaked, "resident": resident})


def _result(pipe: Connection) -> Mapping[str, Any]:
    with suppress(EOFError, OSError):
        if pipe.poll(1):
            return dict(pipe.recv())
    return {}


def resident_bytes(pid: int) -> int:
    """The memory of a process, all that it shares with others included."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text("utf-8").split()[1]) * PAGE
    return 0


def own_bytes(pid: int) -> int:
    """The memory of a process and its part of what it shares."""
    with suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text("utf-8").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1_024
    return resident_bytes(pid)


def _bytes_of(pids: list[int]) -> int:
    resident = sum(map(resident_bytes, pids))
    return resident if resident < MOST_MEMORY / 2 else sum(map(own_bytes, pids))


def _shared_bytes() -> int:
    """What file systems in memory and shared memory take on this machine."""
    for line in Path("/proc/meminfo").read_text("utf-8").splitlines():
        if line.startswith("Shmem:"):
            return int(line.split()[1]) * 1_024
    return 0


def _end(pid: int) -> None:
    for process in (*descendants(pid), pid):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, signal.SIGKILL)


def _end_daemons(name: str) -> bool:
    """Whether a process that was to end with its trial lives on; it is ended."""
    time.sleep(0.1)
    alive = False
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if name.encode() in (folder / "cmdline").read_bytes().split(b"\0")[0]:
                alive = True
                os.kill(int(folder.name), signal.SIGKILL)
    return alive


def _accepts(server: socket.socket) -> bool:
    with suppress(BlockingIOError):
        server.accept()[0].close()
        return True
    return False


def _keep_key(name: str, text: str) -> None:
    """Let the kernel keep a key for this session, where it can."""
    with suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        libc.syscall(248, b"user", name.encode(), text.encode(), len(text), -3)
