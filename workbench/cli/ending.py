"""How a run ends on the command line: what failed or waits, on standard error, and the exit
code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.formats import joined, some
from workbench.cli.headline_table import has_figures
from workbench.cli.output import FAILED, OK, PENDING, UNUSABLE, complain, records
from workbench.evaluation.analysis.replication import repeated_note
from workbench.evaluation.experiment.combined import steady
from workbench.evaluation.experiment.prepared import NO_ANSWER
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.authors import answer_sentences, answers
from workbench.evaluation.findings.tables import Tables

if TYPE_CHECKING:
    import pandas as pd

LISTED = 10
"""Failed replays that are listed one by one, and reasons of pending ones."""


def warn_of_replicates(replicates: int, *models: object) -> None:
    """Warn, before anything is paid, that models asked at temperature 0 may repeat their
    answers.
    """
    if replicates <= 1:
        return
    for name in steady(models):
        advice = "" if name.startswith("local") else "; WORKBENCH_TEMPERATURE=1 lets it vary"
        complain(
            f"{name} is asked at temperature 0, so {replicates} replicates may all be the same{advice}"
        )


def finish(results: Results) -> int:
    """Print the notes of a run on standard error.

    Returns:
        The exit code: 0, 1 where a replay failed, 2 where all did, 3 where one is pending.
    """
    note = repeated_note(results)
    if note:
        complain(note)
    _tell_left_out(results.sessions)
    replays = results.replays
    failed = replays[replays["status"] == "failed"]
    for row in failed.head(LISTED).itertuples():
        complain(f"failed: {row.session} under {row.strategy}: {row.reason}")
    if len(failed) > LISTED:
        complain(f"failed: {len(failed) - LISTED} more, in {results.path / 'replays.parquet'}")
    pending = replays[replays["status"] == "pending"]
    for reason, names in pending.groupby("reason", sort=False)["strategy"]:
        strategies = joined(list(dict.fromkeys(names)))
        complain(f"pending: {some(len(names), 'replay')} under {strategies}: {reason}")
    for sentence in answer_sentences(replays):
        complain(sentence)
    if len(failed) == len(replays):
        complain(
            "workbench: no session could be replayed; `workbench list formats` shows what can be"
            " read"
        )
        return UNUSABLE
    if results.pending:
        return PENDING
    return FAILED if len(failed) else OK


def code_of_figures(code: int, findings: Findings) -> int:
    """The exit code of a run: 2 where all replays ended well and no strategy has a figure nor
    changes the bill, which is said on standard error.
    """
    run = findings.tables
    is_scored = has_figures(findings) or _has_own_values(run)
    has_answer = is_scored or findings.figures.bill_savings
    if code != OK or has_answer or not run.contenders:
        return code
    complain(f"workbench: {findings.verdict.answer}")
    return UNUSABLE


def _has_own_values(run: Tables) -> bool:
    """Whether a metric of the user's own has a value."""
    own_metrics = run.manifest["settings"].get("metrics") or ()
    is_own = run.scores["metric"].isin(own_metrics)
    return bool(run.scores.loc[is_own, "value"].notna().any())


def _tell_left_out(sessions: pd.DataFrame) -> None:
    """Say which sessions are in no figure, and which reports of usage were not believed."""
    left_out = sessions[sessions["status"] != "ok"]
    for path, file_rows in left_out.groupby("path", sort=False):
        reasons = file_rows["reason"]
        is_unanswered = reasons.str.endswith(NO_ANSWER)
        unanswered_count = int(is_unanswered.sum())
        if unanswered_count > 1:
            complain(f"left out: {path}: {unanswered_count} sessions hold no answer of a model")
            reasons = reasons[~is_unanswered]
        for reason in reasons:
            complain(f"left out: {reason}")
    for row in sessions[sessions["reports_left_out"].fillna("") != ""].itertuples():
        for reports in row.reports_left_out.splitlines():
            complain(f"left out of {row.session}, since it cannot be true: {reports}")
    for row in sessions[sessions["copied"].fillna("") != ""].itertuples():
        complain(f"{row.session}: {row.copied}")


def answered(results: Results) -> dict[str, object]:
    """The replays that failed or wait, the summaries of each model, and the dollars of the
    ledger; None if unknown.
    """
    answers_by_model = answers(results.replays)
    usd = answers_by_model["usd"]
    return {
        "failed_replays": results.failed,
        "pending_replays": results.pending,
        "summaries": records(answers_by_model),
        "usd": None if usd.isna().any() else float(usd.sum()),
    }
