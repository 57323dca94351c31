"""What a run says on standard error: of its replicates, of what was left out, and of what failed."""

from __future__ import annotations

from workbench.analysis.replication import repeated_note
from workbench.cli.output import complain
from workbench.experiment.replicates import steady
from workbench.experiment.store import Results
from workbench.models.settings import model_names

SHOWN = 10
"""Failed replays that are listed one by one."""


def warn_of_replicates(model: object, replicates: int) -> None:
    """Before anything is paid: models that are asked at temperature 0 may repeat themselves."""
    if replicates < 2:
        return
    for name in steady(model_names(model) if isinstance(model, str) else ()):
        how = "" if name.startswith("local") else "; WORKBENCH_TEMPERATURE=1 lets it vary"
        complain(f"{name} is asked at temperature 0, so {replicates} replicates may all be the same{how}")


def tell_notes(results: Results) -> None:
    """When it is over, a line each."""
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
