"""`workbench view`: a local page over a folder of runs."""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workbench.base.errors import SettingError
from workbench.base.formats import some
from workbench.base.remote import name_of
from workbench.cli.options import AsJson
from workbench.cli.output import say, say_json

if TYPE_CHECKING:
    from workbench.report.view.runs import RunEntry


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
    from workbench.evaluation.experiment.run_copies import fetched
    from workbench.report.view.app import ViewServer
    from workbench.report.view.page import path_of
    from workbench.report.view.runs import runs

    place, folder = name_of(folder), fetched(folder)
    server = ViewServer(folder, port)
    runs_by_name = runs(folder)
    address = server.address
    if loss:
        address += _loss_address(runs_by_name.values(), folder, loss)
    elif len(runs_by_name) == 1:
        (only_run,) = runs_by_name
        address += path_of(only_run)
    if as_json:
        say_json({"address": address, "runs": list(runs_by_name)})
    else:
        say(f"{address} shows {some(len(runs_by_name), 'run')} of {place}; Ctrl-C ends it")
    sys.stdout.flush()
    if browser:
        webbrowser.open(address)
    server.run()
    return 0


def _loss_address(entries: Iterable[RunEntry], folder: Path, loss: str) -> str:
    """Where the page shows a loss: in the first run that has it."""
    from workbench.report.view.losses import loss_address

    for entry in entries:
        address = loss_address(entry, loss) if entry.finished else ""
        if address:
            return address
    raise SettingError(
        f"no run in {folder} has a loss {loss!r}; the story of a loss in a report names it"
    )
