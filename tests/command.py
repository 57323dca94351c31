"""The command, run in this process: what it prints for a person, and with `--json`."""

from __future__ import annotations

import json
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from workbench import Results
from workbench.cli import main


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that has ended: its exit code, and what it printed."""

    code: int
    printed: str

    @property
    def answer(self) -> Any:
        """What it printed with `--json`."""
        return json.loads(self.printed)


def ended(*words: object) -> Ended:
    """The command with these words, once it has ended."""
    out = StringIO()
    with redirect_stdout(out):
        code = main([str(word) for word in words])
    return Ended(code, out.getvalue())


def printed(*words: object) -> str:
    """What a command prints that ends well."""
    command = ended(*words)
    assert command.code == 0
    return command.printed


def answer(*words: object) -> Any:
    """What a command answers with `--json` that ends well."""
    return json.loads(printed(*words, "--json"))


def shared_copy(run: Path, out: Path) -> Results:
    """The copy of a run that `workbench runs share` makes, without a report."""
    printed("runs", "share", run, "--no-report", "--out", out)
    return Results.open(out)
