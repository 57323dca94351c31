"""`workbench agent mcp`: what compactions took, for a running agent."""

from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.options import takes
from workbench.cli.output import complain
from workbench.cli.termination import ended_at_once
from workbench.evaluation.experiment.spec import Masking
from workbench.evaluation.watching.server import serve


@takes(Masking)
def mcp(
    spec: Masking,
    file: Annotated[
        Path | None,
        typer.Argument(
            help=(
                "A session file, or a folder of them. None: the newest of the agents in this"
                " folder."
            )
        ),
    ] = None,
) -> int:
    """Serve the tools `what_was_lost` and `recall` to a running agent, by the Model Context
    Protocol on standard input.

    Example:

      claude mcp add workbench -- workbench agent mcp
    """
    if file is not None and not file.exists():
        complain(f"workbench: {file} is not there yet; the tools answer once it is")
    with ended_at_once():
        serve(file, Path.cwd(), spec.redaction)
    return 0
