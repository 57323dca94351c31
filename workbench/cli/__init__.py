"""The command line: `workbench`."""

import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from workbench.base.errors import missing_extra
from workbench.base.garbage import look_later
from workbench.base.pulse import PULSE
from workbench.cli.commands import shows_its_pulse
from workbench.cli.termination import CODE, SENTENCE, Terminated, terminable

SYSTEM_MEMORY = "system"
"""Where pyarrow takes its memory from: its own pool holds 20 MB more for tables as small as ours."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, with the arguments of the process if none are given; returns its exit code.

    No process that it starts imports from the current folder: a `json.py` beside a recording is not
    Python's.
    """
    os.environ["PYTHONSAFEPATH"] = "1"
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", SYSTEM_MEMORY)
    if arguments is None:
        look_later()
    try:
        with terminable(), _pulse(arguments):
            return _run(arguments)
    except Terminated:
        print(SENTENCE, file=sys.stderr)  # noqa: T201 - nothing else is loaded yet
        return CODE


def _pulse(arguments: Sequence[str] | None) -> AbstractContextManager[None]:
    """Signs of life of a program; a function that is called gives none."""
    if arguments is None and shows_its_pulse(sys.argv[1:]):
        return PULSE.beating()
    return nullcontext()


def _run(arguments: Sequence[str] | None) -> int:
    try:
        from workbench.cli import app
    except ModuleNotFoundError as error:
        advice = missing_extra("the command line", error)
        if advice is error:
            raise
        print(advice, file=sys.stderr)  # noqa: T201 - what else prints comes with the missing package
        return 2
    return app.main(arguments)
