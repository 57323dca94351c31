"""The command line: `workbench`."""

import os
import sys
from collections.abc import Sequence

from workbench.errors import missing_extra


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, with the arguments of the process if none are given; returns its exit code.

    No process that it starts imports from the current folder: a `json.py` beside a recording is not Python's.
    """
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        from workbench.cli import app
    except ModuleNotFoundError as error:
        found = missing_extra("the command line", error)
        if found is error:
            raise
        print(found, file=sys.stderr)  # noqa: T201 - what else prints comes with the missing package
        return 2
    return app.main(arguments)
