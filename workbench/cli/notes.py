"""What a run says on standard error: of its replicates, of what was left out, and of what failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.cli.words import complain

if TYPE_CHECKING:
    from workbench.experiment.store import Results

SHOWN = 10
"""Failed replays that are told one by one."""


def warn_of_replicates(model: str, replicates: int) -> None:
    """Before anything is paid: models that are asked at temperature 0 may repeat themselves."""
    if replicates < 2:
        return
    from workbench.experiment.replicates import steady
    from workbench.models.settings import model_names

    for name in steady(model_names(model)):
        how = "" if name.startswith("local") else "; WORKBENCH_TEMPERATURE=1 lets it vary"
        complain(f"{name} is asked at temperature 0, so {replicates} replicates may all be the same{how}")


def tell_notes(results: Results) -> None:
    """When it is over, a line each."""
    from workbench.analysis.replication import repeated_note

    if note := repeated_note(results):
        complain(note)
    sessions = results.sessions
    for row in sessions[sessions["status"] != "ok"].itertuples():
        complain(f"left out: {row.reason}")
    failed = results.replays[results.replays["status"] != "ok"]
    for row in failed.head(SHOWN).itertuples():
        complain(f"failed: {row.session} under {row.strategy}: {row.reason}")
    if len(failed) > SHOWN:
        complain(f"failed: {len(failed) - SHOWN} more, in {results.path / 'replays.parquet'}")
