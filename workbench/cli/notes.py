"""What a run says on standard error when it is over: what was left out, and what failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.cli.words import complain

if TYPE_CHECKING:
    from workbench.experiment.store import Results

SHOWN = 10
"""Failed cells that are told one by one."""


def tell_notes(results: Results) -> None:
    """Tell them, a line each."""
    sessions = results.sessions
    for row in sessions[sessions["status"] != "ok"].itertuples():
        complain(f"left out: {row.reason}")
    failed = results.cells[results.cells["status"] != "ok"]
    for row in failed.head(SHOWN).itertuples():
        complain(f"failed: {row.session} under {row.strategy}: {row.reason}")
    if len(failed) > SHOWN:
        complain(f"failed: {len(failed) - SHOWN} more, in {results.path / 'cells.parquet'}")
