"""Options of the commands that try real models on the contexts of several strategies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

Paths: TypeAlias = Annotated[
    list[str] | None, typer.Argument(help="Recordings: files, folders or patterns. None: the bundled sessions.")
]
Strategies: TypeAlias = Annotated[
    str, typer.Option("--strategies", "-s", help="Names between commas; see `workbench list strategies`.")
]
Shares: TypeAlias = Annotated[str, typer.Option("--shares", help="Budgets at which all compact the same history.")]
Boundaries: TypeAlias = Annotated[
    str, typer.Option("--boundaries", help="Where they compact, as shares of the messages.")
]
Summariser: TypeAlias = Annotated[str, typer.Option("--model", "-m", help="Who writes summaries.")]
ReaderWindow: TypeAlias = Annotated[
    int | None, typer.Option("--reader-window", min=500, help="Tokens that the reader takes. None: it is asked.")
]
Limit: TypeAlias = Annotated[int | None, typer.Option("--limit", min=1, help="Sessions at most.")]
Answers: TypeAlias = Annotated[Path, typer.Option("--out", "-o", help="Folder for the answers.")]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
