"""`workbench view`: a local page over a folder of runs."""

import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from workbench.base.errors import SettingError
from workbench.cli.options import AsJson
from workbench.cli.output import say, say_json


def view(
    folder: Annotated[Path, typer.Argument(help="A folder of runs, or one run.")] = Path("reports"),
    port: Annotated[
        int, typer.Option("--port", "-p", min=0, max=65535, help="0 takes a free one.")
    ] = 0,
    loss: Annotated[
        str, typer.Option("--loss", help="Open at this loss of a report.", metavar="NAME")
    ] = "",
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    as_json: AsJson = False,
) -> int:
    """Open a local page over the runs of a folder, until Ctrl-C: every context behind their
    figures.

    It answers on this machine alone, and only at the address that it prints, which has a token in
    it. Nothing leaves the machine. Contexts are made again from the recordings, where these are
    still there.

    Examples:

      workbench view

      workbench view reports/compare-1a2b3c4d --no-browser --port 8792
    """
    from workbench.report.view.app import ViewServer
    from workbench.report.view.pages import loss_address
    from workbench.report.view.runs import runs

    server, finished_runs = ViewServer(folder, port), runs(folder)
    address = server.address
    if loss:
        places = [
            place
            for run in finished_runs.values()
            if run.finished and (place := loss_address(run, loss))
        ]
        if not places:
            raise SettingError(
                f"no run in {folder} has a loss {loss!r}; the story of a loss in a report names it"
            )
        address += places[0]
    if as_json:
        say_json({"address": address, "runs": list(finished_runs)})
    else:
        say(f"{address} shows {len(finished_runs)} runs of {folder}; Ctrl-C ends it")
    sys.stdout.flush()
    if browser:
        webbrowser.open(address)
    server.run()
    return 0
