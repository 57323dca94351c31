"""What `compare` and `sweep` say besides their tables: a forecast, warnings before a run, and notes after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from workbench.analysis.replication import repeated_note
from workbench.cli.output import complain, say, say_json, table
from workbench.experiment.combined import steady
from workbench.experiment.forecast import Forecast
from workbench.experiment.store import Results
from workbench.formats import dollars, joined, some
from workbench.report import render
from workbench.report.answers import answer_sentences

FAILED_REPLAY, UNUSABLE, PENDING = 1, 2, 3
LISTED = 10
"""Failed replays that are listed one by one, and reasons of pending ones."""
COLUMNS = {
    "strategy": "strategy", "model": "model", "requests": "requests:count", "tokens read": "input_tokens:count",
    "tokens written": "output_tokens:count", "cost": "usd:dollars",
}  # fmt: skip


def show_forecast(found: Forecast, as_json: bool, besides: Mapping[str, object] | None = None) -> int:
    """Print what a run would take; `besides` has further fields of the JSON. The exit code is 0."""
    if as_json:
        say_json({**(besides or {}), **asdict(found), "requests": found.requests, "usd": found.usd})
        return 0
    left = f" and {found.unreadable} that cannot be replayed" * bool(found.unreadable)
    say(f"{found.sessions} sessions{left}; {found.replays} replays, {found.done} of them on disk already.")
    say(f"{found.tokens:,} tokens to replay in the other {found.replays - found.done}.")
    if not found.asked:
        say("No provider's model would be asked: it costs nothing.")
        return 0
    say(f"\n{table(map(asdict, found.asked), COLUMNS)}\n")
    unknown = sorted({one.model for one in found.asked if one.usd is None})
    if unknown:
        say(f"No price is known for {', '.join(unknown)}; docs/my-provider.md says how to give one.")
    else:
        say(f"At most about {dollars(found.usd)}, if each summary takes all its room and none is in the cache.")
    return 0


def warn_of_replicates(replicates: int, *models: object) -> None:
    """Warn, before anything is paid, that models asked at temperature 0 may repeat their answers."""
    for name in steady(models) if replicates > 1 else ():
        how = "" if name.startswith("local") else "; WORKBENCH_TEMPERATURE=1 lets it vary"
        complain(f"{name} is asked at temperature 0, so {replicates} replicates may all be the same{how}")


def finish(results: Results, no_report: bool, baseline: str = "") -> int:
    """Print the notes of a run on standard error, and write its report.

    Returns:
        The exit code: 0, 1 where a replay failed, 2 where all did, 3 where one is pending.
    """
    if note := repeated_note(results):
        complain(note)
    sessions, replays = results.sessions, results.replays
    for row in sessions[sessions["status"] != "ok"].itertuples():
        complain(f"left out: {row.reason}")
    failed = replays[replays["status"] == "failed"]
    for row in failed.head(LISTED).itertuples():
        complain(f"failed: {row.session} under {row.strategy}: {row.reason}")
    if len(failed) > LISTED:
        complain(f"failed: {len(failed) - LISTED} more, in {results.path / 'replays.parquet'}")
    for reason, names in replays[replays["status"] == "pending"].groupby("reason", sort=False)["strategy"]:
        complain(f"pending: {some(len(names), 'replay')} under {joined(list(dict.fromkeys(names)))}: {reason}")
    for sentence in answer_sentences(replays):
        complain(sentence)
    if len(failed) == len(replays):
        complain("workbench: no session could be replayed; `workbench list formats` shows what can be read")
        return UNUSABLE
    if not no_report:
        render(results.path, baseline)
    return PENDING if results.pending else FAILED_REPLAY if len(failed) else 0
