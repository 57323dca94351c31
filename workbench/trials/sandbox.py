"""Where a model's shell commands run: in bubblewrap, without a network and without this machine's files."""

import os
import shutil
import sys
from pathlib import Path

from workbench.errors import SetupError

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/alternatives", "/etc/ld.so.cache")


def sandboxed(root: Path) -> tuple[str, ...]:
    """The words before a command: it sees programs, read-only, and may write under `root` alone.

    Raises:
        SetupError: bubblewrap is not installed.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise SetupError(
            "a model's commands need a sandbox, and bubblewrap is not installed: install the package bubblewrap, or "
            "accept that the model may do what you may with --no-sandbox"
        )
    python = {os.path.realpath(one) for one in (sys.prefix, sys.base_prefix)}
    seen = [
        word for place in (*SYSTEM, *sorted(python)) if Path(place).exists() for word in ("--ro-bind", place, place)
    ]
    own = str(root.resolve())
    return (
        program, "--unshare-all", "--die-with-parent", "--new-session", *seen, "--proc", "/proc", "--dev", "/dev",
        "--tmpfs", "/tmp", "--bind", own, own, "--",
    )  # fmt: skip
