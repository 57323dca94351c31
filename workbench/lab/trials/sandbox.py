"""The sandbox of one trial: bubblewrap with no network, no capability and no file of the user.

Started as root, bubblewrap alone would leave the agent the host's root, to whom `/proc/sys` obeys
and for whom many bounds do not hold. So root starts two: the outer one shows what `nobody` may see,
and `nobody` starts the inner one.
"""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from workbench.base import package
from workbench.base.errors import SetupError
from workbench.lab.trials import helper
from workbench.lab.trials.system_calls import filter_program
from workbench.recordings.datasets import workspace
from workbench.recordings.datasets.workspace import program_text

ROOT = "/srv/trial-space"
"""The workspace's root in the sandbox: as long as a temporary folder's name, and in no output."""
PROGRAMS = (f"{ROOT}/bin/python", f"{ROOT}/bin/python3")
HELPER, WORKSPACE = "/srv/trial-tools/helper.py", "/srv/trial-tools/workspace.py"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/alternatives", "/etc/ld.so.cache")
PACKAGE = package.PACKAGE.resolve()
MEGABYTE = 1_000_000
SHARED_MEMORY = "/dev/shm"
DISKS = {
    f"{ROOT}/home": 256 * MEGABYTE,
    f"{ROOT}/tmp": 64 * MEGABYTE,
    "/tmp": 32 * MEGABYTE,
    SHARED_MEMORY: 16 * MEGABYTE,
}
"""The folders that the agent can write, and the bytes that each holds at most, in memory."""
UNPROTECTED = (
    "with --no-sandbox a model's commands run as you: they may read, change and delete every file "
    "that you may, read your keys, reach the network, and go on after the trial"
)
NOBODY = 65_534
_STEP_DOWN = (
    f"import os, sys; os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY});"
    " os.execv(sys.argv[1], sys.argv[1:])"
)


@dataclass(frozen=True, slots=True)
class Launch:
    """A command that starts a helper, and the files that it inherits.

    Attributes:
        words: the command.
        files: to be closed when it has started.
    """

    words: tuple[str, ...]
    files: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Shown:
    """A file or folder of this machine, and where the sandbox shows it, read-only."""

    source: str
    place: str


def plain_launch() -> Launch:
    """The command that starts a helper without a sandbox."""
    files = (str(Path(helper.__file__)), str(Path(workspace.__file__)))
    return Launch((sys.executable, "-I", "-S", *files))


def sandboxed_launch() -> Launch:
    """The command that starts a helper in a sandbox.

    Raises:
        SetupError: bubblewrap is not installed.
    """
    bubblewrap = shutil.which("bwrap")
    if bubblewrap is None:
        raise SetupError(
            "a model's commands need a sandbox, and bubblewrap is not installed: install the "
            f"package bubblewrap (0.8 or newer), or accept that {UNPROTECTED}"
        )
    system_calls = filter_program()
    filters = (_pipe_of(system_calls),) if system_calls else ()
    program = program_text(sys.executable).encode()
    programs = tuple(_pipe_of(program) for _ in PROGRAMS)
    helper_command = (sys.executable, "-I", "-S", HELPER, WORKSPACE)
    inner = (*_isolation(), *_filter(filters), "--", *helper_command)
    if os.geteuid() == 0:
        shown_again = [_Shown(place, place) for place in (*_places(), *PROGRAMS)]
        words = (
            bubblewrap,
            *_outer(programs),
            "--",
            *_step_down(),
            bubblewrap,
            *_disks(),
            *_binds(shown_again),
            *inner,
        )
    else:
        words = (
            bubblewrap,
            *_disks(),
            *_binds(_shown_paths()),
            *_copies(programs),
            *inner,
        )
    return Launch(words, (*programs, *filters))


def _outer(programs: Sequence[int]) -> Iterator[str]:
    """What `nobody` may see, in which the inner sandbox is started."""
    yield from ("--tmpfs", "/tmp")
    yield from _open_folders()
    yield from _binds(_shown_paths())
    yield from _copies(programs)
    yield from _stage()


def _shown_paths() -> Iterator[_Shown]:
    """Programs, this Python, and the two files of the helper."""
    for place in (*SYSTEM, *_pythons()):
        if Path(place).exists():
            yield _Shown(place, place)
    yield _Shown(str(Path(helper.__file__).resolve()), HELPER)
    yield _Shown(str(Path(workspace.__file__).resolve()), WORKSPACE)


def _places() -> Sequence[str]:
    return [mount.place for mount in _shown_paths()]


def _pythons() -> Sequence[str]:
    """The folders of this Python, as it calls them and where they are."""
    prefixes = (sys.prefix, sys.base_prefix)
    real_prefixes = map(os.path.realpath, prefixes)
    return sorted({*prefixes, *real_prefixes})


def _binds(mounts: Iterable[_Shown]) -> Iterator[str]:
    for part in mounts:
        yield from ("--ro-bind", part.source, part.place)


def _copies(programs: Sequence[int]) -> Iterator[str]:
    for place, pipe in zip(PROGRAMS, programs, strict=True):
        yield from ("--perms", "0755", "--file", str(pipe), place)


def _open_folders() -> Iterator[str]:
    """The folders above what is shown, open to all: bubblewrap would close those of root."""
    places = _places()
    parents: set[PurePosixPath] = set()
    for place in (*places, *PROGRAMS):
        parents.update(PurePosixPath(place).parents)
    for folder in sorted(parents, key=lambda parent: len(parent.parts)):
        if len(folder.parts) > 1 and not any(map(folder.is_relative_to, places)):
            yield from ("--perms", "0755", "--dir", str(folder))


def _stage() -> Iterator[str]:
    """What the inner bubblewrap needs of the outer one: processes, devices, a place to build."""
    yield from ("--unshare-pid", "--unshare-net", "--unshare-ipc", "--die-with-parent")
    yield from ("--bind", "/proc", "/proc", "--dev", "/dev")


def _step_down() -> Sequence[str]:
    """Become `nobody`, and go on with the words that follow."""
    return sys.executable, "-I", "-S", "-c", _STEP_DOWN


def _isolation() -> Iterator[str]:
    """What shuts the agent in."""
    yield from ("--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL")
    yield from ("--uid", "1000", "--gid", "1000", "--as-pid-1", "--die-with-parent")
    yield from ("--new-session", "--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev")
    yield from _disk(SHARED_MEMORY)
    if any(map(PACKAGE.is_relative_to, _pythons())):  # the answers to bundled tasks are there
        yield from ("--tmpfs", str(PACKAGE), "--remount-ro", str(PACKAGE))
    yield from ("--remount-ro", "/", "--chdir", "/")


def _disks() -> Iterator[str]:
    """Bounded disks in memory. They come before what is shown, which may lie below one of them:
    a Python in /tmp.
    """
    for folder in DISKS:
        if folder != SHARED_MEMORY:  # it is made once there are devices
            yield from _disk(folder)


def _disk(folder: str) -> Iterator[str]:
    yield from ("--size", str(DISKS[folder]), "--tmpfs", folder)


def _filter(filters: Sequence[int]) -> Iterator[str]:
    for pipe in filters:
        yield from ("--seccomp", str(pipe))


def _pipe_of(text: bytes) -> int:
    """A pipe that gives a short text."""
    reading, writing = os.pipe()
    os.write(writing, text)
    os.close(writing)
    return reading
