"""The sandbox of one trial: bubblewrap with no network, no capability, no file of the user, and bounds on all it takes.

Started as root, bubblewrap alone would leave the agent the host's root, for whom many bounds do not hold and to whom
`/proc/sys` obeys. So root starts two: the outer one shows what `nobody` may see, and `nobody` starts the inner one.
"""

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from workbench.datasets import workspace
from workbench.datasets.workspace import program_text
from workbench.errors import SetupError
from workbench.trials import helper

ROOT = "/srv/trial-space"
"""The workspace's root in the sandbox; as long as a temporary folder's name, and a word of no output."""
TOOLS = "/srv/trial-tools"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/alternatives", "/etc/ld.so.cache")
PACKAGE = Path(__file__).resolve().parents[1]
NOBODY = 65_534
MEGABYTE = 1_000_000
DISKS = {f"{ROOT}/home": 256 * MEGABYTE, f"{ROOT}/tmp": 64 * MEGABYTE, "/tmp": 32 * MEGABYTE, "/dev/shm": 16 * MEGABYTE}
"""The folders that the agent can write, and the bytes that each holds at most, in memory."""
UNPROTECTED = (
    "with --no-sandbox a model's commands run as you: they may read, change and delete every file that you may, read "
    "your keys, reach the network, and go on after the trial"
)
_STEP_DOWN = (
    f"import os, sys; os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY}); os.execv(sys.argv[1], sys.argv[1:])"
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


def sandboxed_launch() -> Launch:
    """The command that starts a helper in a sandbox.

    Raises:
        SetupError: bubblewrap is not installed.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise SetupError(
            "a model's commands need a sandbox, and bubblewrap is not installed: install the package bubblewrap (0.8 "
            f"or newer), or accept that {UNPROTECTED}"
        )
    shown = [*_shown()]
    programs = {f"{ROOT}/bin/{name}": _pipe_of(program_text(sys.executable)) for name in ("python", "python3")}
    data = [word for place, number in programs.items() for word in ("--perms", "0755", "--file", str(number), place)]
    there = [_Shown(one.place, one.place) for one in (*shown, *(_Shown(place, place) for place in programs))]
    helper_words = (sys.executable, "-I", "-S", f"{TOOLS}/helper.py", f"{TOOLS}/workspace.py")
    if os.geteuid() == 0:
        outer = (program, *_folders(shown, programs), *_binds(shown), *data, *_OUTER, "--", *_step_down())
        words = (*outer, program, *_binds(there), *_inner(), "--", *helper_words)
    else:
        words = (program, *_binds(shown), *data, *_inner(), "--", *helper_words)
    return Launch(words, tuple(programs.values()))


def plain_launch() -> Launch:
    """The command that starts a helper without a sandbox."""
    return Launch((sys.executable, "-I", "-S", str(Path(helper.__file__)), str(Path(workspace.__file__))))


_OUTER = (
    "--unshare-pid", "--unshare-net", "--unshare-ipc", "--die-with-parent", "--bind", "/proc", "/proc", "--dev", "/dev",
    "--tmpfs", "/tmp",  # where the inner one builds
)  # fmt: skip


def _inner() -> Iterator[str]:
    """What makes the sandbox that the agent is in."""
    yield from ("--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL")
    yield from ("--uid", "1000", "--gid", "1000", "--as-pid-1", "--die-with-parent", "--new-session")
    yield from ("--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev")
    for folder, size in DISKS.items():
        yield from ("--size", str(size), "--tmpfs", folder)
    if any(PACKAGE.is_relative_to(place) for place in _pythons()):
        yield from ("--tmpfs", str(PACKAGE), "--remount-ro", str(PACKAGE))  # the answers to bundled tasks are there
    yield from ("--remount-ro", "/", "--chdir", "/")


def _step_down() -> Sequence[str]:
    """Become `nobody`, and go on with the words that follow."""
    return sys.executable, "-I", "-S", "-c", _STEP_DOWN


def _pythons() -> Sequence[str]:
    """The folders of this Python, as it calls them and where they are."""
    prefixes = (sys.prefix, sys.base_prefix)
    return sorted({*prefixes, *map(os.path.realpath, prefixes)})


def _shown() -> Iterator[_Shown]:
    for place in (*SYSTEM, *_pythons()):
        if Path(place).exists():
            yield _Shown(place, place)
    yield _Shown(str(Path(helper.__file__).resolve()), f"{TOOLS}/helper.py")
    yield _Shown(str(Path(workspace.__file__).resolve()), f"{TOOLS}/workspace.py")


def _binds(shown: Sequence[_Shown]) -> Iterator[str]:
    for part in shown:
        yield from ("--ro-bind", part.source, part.place)


def _folders(shown: Sequence[_Shown], programs: Sequence[str] | dict[str, int]) -> Iterator[str]:
    """The folders above what is shown, open to everybody: those of root are closed to `nobody`."""
    places = [*(part.place for part in shown), *programs]
    above = {str(parent) for place in places for parent in PurePosixPath(place).parents} - {"/"}
    for folder in sorted(above - {part.place for part in shown}, key=len):
        if not any(PurePosixPath(folder).is_relative_to(part.place) for part in shown):
            yield from ("--perms", "0755", "--dir", folder)


def _pipe_of(text: str) -> int:
    """A pipe that gives a short text."""
    reading, writing = os.pipe()
    os.write(writing, text.encode())
    os.close(writing)
    return reading
