"""`workbench lab trial`: an agent works on tasks that run, under strategies that keep its
context small.
"""

from collections.abc import Mapping, Sequence

import pandas as pd

from workbench.base.formats import decimal, some
from workbench.cli.foresee import Foresight
from workbench.cli.options import AsJson, DryRun, takes, tell_terms
from workbench.cli.output import (
    FAILED,
    OK,
    PENDING,
    complain,
    printable,
    records,
    say,
    say_json,
    tables,
)
from workbench.lab.trials.run import trial as run_of
from workbench.lab.trials.spec import READER, TrialSpec
from workbench.lab.trials.table import TrialResults, by_strategy

COLUMNS = {
    "look-ups": "look_ups:decimal",
    "blind": "blind:decimal",
    "misread": "misread:decimal",
    "bad acts": "violations:decimal",
    "tokens": "tokens:amount",
    "USD": "usd:dollars",
}
"""Means a trial, behind those of success."""


@takes(TrialSpec, jobs=None)
def trial(spec: TrialSpec, dry_run: DryRun = False, as_json: AsJson = False) -> int:
    """Let an agent work on tasks that run, under each strategy, and grade what it did.

    The agent `reader` needs no model: it carries the plan, and reads its context for every value
    that it must know. Any other agent is a language model with the same tools, all of which run in
    a sandbox (bubblewrap). Only the strategy changes from trial to trial of a task. Finished trials
    are kept, and the same command goes on where it stopped.

    Examples:

      workbench lab trial

      workbench lab trial --strategies truncate,summarize,pi+recall --seeds 20

      workbench lab trial --agent litellm:gpt-4o-mini --seeds 2 --max-dollars 3 --dry-run
    """
    spec = spec.changed(quiet=spec.quiet or as_json)
    models = [model for model in (spec.agent, spec.writer) if model != READER]
    tell_terms(*models)
    foresight = Foresight(
        models, spec.jobs, spec.model_settings, dry_run, as_json, "If it follows the plan: "
    )
    purposes = ("summaries",) if spec.is_reader else ("the agent", "summaries")
    results = run_of(spec=spec, before=foresight.before(spec.quiet, *purposes))
    if results is None:
        return OK
    means = by_strategy(results.table)
    if as_json:
        say_json(_as_json(results, means, spec.families))
    else:
        if not means.empty:
            _show(results.table, means)
        say(f"Table: {results.path / results.file}")
    if results.failed:
        failed = results.table[results.table["status"] == "failed"]
        reason = printable(str(failed["reason"].iloc[0]))
        complain(f"{results.failed} of {some(len(results.table), 'trial')} failed: {reason}")
    if results.pending:
        complain(f"{printable(results.pending)}; the same command asks again")
        return PENDING
    return FAILED if results.failed else OK


def _as_json(
    results: TrialResults, means: pd.DataFrame, families: Sequence[str]
) -> dict[str, object]:
    document: dict[str, object] = {"table": str(results.path)}
    if results.pending:
        document["pending"] = results.pending
    document["strategies"] = records(means)
    document["families"] = {
        family: records(by_strategy(results.table, family)) for family in families
    }
    return document


def _show(trials: pd.DataFrame, means: pd.DataFrame) -> None:
    """Print the means of each strategy, and its success by family of tasks."""
    baseline = str(means["baseline"].iloc[0])
    columns = {"strategy": "strategy", "success": "success:percent"}
    if baseline:
        columns[f"vs {baseline}"] = "against"
    columns |= COLUMNS
    rows = []
    for row in records(means):
        rows.append({**row, "against": _against(row)})
    say(tables(rows, columns))
    say("\nMeans a trial.")
    if baseline:
        say(
            f"`vs {baseline}`: the difference in success, with its 95 % interval over families,"
            " paired by task."
        )
    say("Bad acts: prohibitions not kept, and things done twice.\n")
    finished = trials[trials["status"] == "ok"]
    success = finished.pivot_table("success", "strategy", "family", "mean", sort=False)
    say("Success by family:\n")
    family_columns = {"strategy": "strategy"}
    for family in success:
        family_columns[family.replace("_", " ")] = f"{family}:percent"
    say(tables(records(success.astype(float).reset_index()), family_columns))


def _against(row: Mapping[str, object]) -> str:
    """The difference in success from the baseline, with its interval if it has one."""
    low, high, mean = row["low"], row["high"], row["difference"]
    if not isinstance(mean, float):
        return ""
    if isinstance(low, float) and isinstance(high, float):
        return f"{mean:+.2f} ({decimal(low)} to {decimal(high)})"
    return f"{mean:+.2f}"
