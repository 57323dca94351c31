"""Programs that answer as command-line tools do, well and badly: each is a command line for a
`command:` model.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path


def program(folder: Path, body: str, name: str = "answers.py") -> str:
    """The command line of a Python program with this body; `asked` is what it reads on standard
    input.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"import os, sys, time\nasked = sys.stdin.buffer.read().decode()\n{body}\n")
    return shlex.join([sys.executable, "-S", str(path)])


def counting(folder: Path, body: str) -> str:
    """The same, with `tries` as the number of the times that it was started, this one included."""
    log = folder / "tries"
    folder.mkdir(parents=True, exist_ok=True)
    count = f"open({str(log)!r}, 'a').write('x')\ntries = os.path.getsize({str(log)!r})\n"
    return program(folder, count + body)


def starts(folder: Path) -> int:
    """How often a counting program was started."""
    log = folder / "tries"
    return log.stat().st_size if log.exists() else 0
