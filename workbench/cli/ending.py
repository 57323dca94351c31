"""How a run ends on the command line: what failed or waits, on standard error, and the exit
code.
"""

from __future__ import annotations

from workbench.base.formats import joined, some
from workbench.cli.output import FAILED, OK, PENDING, UNUSABLE, complain, records
from workbench.evaluation.analysis.replication import repeated_note
from workbench.evaluation.experiment.combined import steady
from workbench.evaluation.experiment.store import Results
from workbench.evaluation.findings.summaries import answer_sentences, answers

LISTED = 10
"""Failed replays that are listed one by one, and reasons of pending ones."""


def warn_of_replicates(replicates: int, *models: object) -> None:
    """Warn, before anything is paid, that models asked at temperature 0 may repeat their
    answers.
    """
    for name in steady(models) if replicates > 1 else ():
        advice = "" if name.startswith("local") else "; WORKBENCH_TEMPERATURE=1 lets it vary"
        complain(
            f"{name} is asked at temperature 0, so {replicates} replicates may all be the same{advice}"
        )


def finish(results: Results) -> int:
    """Print the notes of a run on standard error.

    Returns:
        The exit code: 0, 1 where a replay failed, 2 where all did, 3 where one is pending.
    """
    if note := repeated_note(results):
        complain(note)
    sessions, replays = results.sessions, results.replays
    for row in sessions[sessions["status"] != "ok"].itertuples():
        complain(f"left out: {row.reason}")
    for row in sessions[sessions["reports_left_out"].fillna("") != ""].itertuples():
        for reports in row.reports_left_out.splitlines():
            complain(f"left out of {row.session}, since it cannot be true: {reports}")
    failed = replays[replays["status"] == "failed"]
    for row in failed.head(LISTED).itertuples():
        complain(f"failed: {row.session} under {row.strategy}: {row.reason}")
    if len(failed) > LISTED:
        complain(f"failed: {len(failed) - LISTED} more, in {results.path / 'replays.parquet'}")
    for reason, names in replays[replays["status"] == "pending"].groupby("reason", sort=False)[
        "strategy"
    ]:
        complain(
            f"pending: {some(len(names), 'replay')} under {joined(list(dict.fromkeys(names)))}:"
            f" {reason}"
        )
    for sentence in answer_sentences(replays):
        complain(sentence)
    if len(failed) == len(replays):
        complain(
            "workbench: no session could be replayed; `workbench list formats` shows what can be"
            " read"
        )
        return UNUSABLE
    return PENDING if results.pending else FAILED if len(failed) else OK


def answered(results: Results) -> dict[str, object]:
    """The replays that failed or wait, the summaries of each model, and the dollars of the
    ledger; None if unknown.
    """
    answers_by_model = answers(results.replays)
    return {
        "failed_replays": results.failed,
        "pending_replays": results.pending,
        "summaries": records(answers_by_model),
        "usd": None
        if answers_by_model["usd"].isna().any()
        else float(answers_by_model["usd"].sum()),
    }
