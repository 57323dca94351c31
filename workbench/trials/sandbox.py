"""Where a model's shell commands run: in bubblewrap, without a network and without this machine's files."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from workbench.errors import SetupError

ELSE = "or accept that the model may do what you may with --no-sandbox"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/alternatives", "/etc/ld.so.cache")


def sandboxed(root: Path) -> tuple[str, ...]:
    """The words before a command: it sees programs, read-only, and may write under `root` alone, but not in its `bin`.

    Raises:
        SetupError: bubblewrap is not installed, or may not start here.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise SetupError(
            "a model's commands need a sandbox, and bubblewrap is not installed: install the package bubblewrap, "
            + ELSE
        )
    python = {os.path.realpath(one) for one in (sys.prefix, sys.base_prefix)}
    seen = [
        word for place in (*SYSTEM, *sorted(python)) if Path(place).exists() for word in ("--ro-bind", place, place)
    ]
    own = str(root.resolve())
    words = (
        program, "--unshare-all", "--die-with-parent", "--new-session", "--tmpfs", "/tmp", *seen, "--proc", "/proc",
        "--dev", "/dev", "--bind", own, own, "--ro-bind-try", f"{own}/bin", f"{own}/bin", "--",
    )  # fmt: skip
    tried = subprocess.run([*words, "true"], capture_output=True, text=True)
    if tried.returncode:
        raise SetupError(f"bubblewrap does not start ({tried.stderr.strip()}): allow user namespaces, {ELSE}")
    return words
