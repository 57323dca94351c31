"""`workbench lab trial`: an agent works on tasks that run, under strategies that keep its
context small.
"""

from collections.abc import Sequence

import pandas as pd

from workbench.base.formats import decimal
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
from workbench.lab.trials.run import READER, TrialSpec
from workbench.lab.trials.run import trial as run_of
from workbench.lab.trials.table import by_strategy


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
    named = [model for model in (spec.agent, spec.writer) if model != READER]
    tell_terms(*named)
    foresight = Foresight(
        named, spec.jobs, spec.model_settings, dry_run, as_json, "If it follows the plan: "
    )
    purposes = ("summaries",) if spec.is_reader else ("the agent", "summaries")
    results = run_of(spec=spec, before=foresight.before(spec.quiet, *purposes))
    if results is None:
        return 0
    by_strategy_rows = by_strategy(results.table)
    if as_json:
        families = {name: records(by_strategy(results.table, name)) for name in spec.families}
        pending = {"pending": results.pending} if results.pending else {}
        say_json(
            {
                "table": str(results.path),
                **pending,
                "strategies": records(by_strategy_rows),
                "families": families,
            }
        )
    else:
        if not by_strategy_rows.empty:
            _show(results.table, by_strategy_rows, spec.families)
        say(f"Table: {results.path / results.file}")
    if results.failed:
        failed_trials = results.table[results.table["status"] == "failed"]
        complain(
            f"{results.failed} of {len(results.table)} trials failed:"
            f" {printable(str(failed_trials['reason'].iloc[0]))}"
        )
    if results.pending:
        complain(f"{printable(results.pending)}; the same command asks again")
    return PENDING if results.pending else FAILED if results.failed else OK


def _show(trials: pd.DataFrame, means: pd.DataFrame, families: Sequence[str]) -> None:
    base = str(means["baseline"].iloc[0])
    rows = [row | {"against": _against(row)} for row in records(means)]
    columns = {
        "strategy": "strategy",
        "success": "success:percent",
        **({f"vs {base}": "against"} if base else {}),
        "look-ups": "look_ups:decimal",
        "blind": "blind:decimal",
        "misread": "misread:decimal",
        "bad acts": "violations:decimal",
        "tokens": "tokens:amount",
        "USD": "usd:dollars",
    }
    say(tables(rows, columns))
    say("\nMeans a trial.")
    if base:
        say(
            f"`vs {base}`: the difference in success, with its 95 % interval over families, paired"
            " by task."
        )
    say("Bad acts: prohibitions not kept, and things done twice.\n")
    success = trials[trials["status"] == "ok"].pivot_table(
        "success", "strategy", "family", "mean", sort=False
    )
    family_rows = [
        {"strategy": name, **values}
        for name, values in zip(success.index, records(success.astype(float)), strict=True)
    ]
    say("Success by family:\n")
    say(
        tables(
            family_rows,
            {
                "strategy": "strategy",
                **{name.replace("_", " "): f"{name}:percent" for name in success},
            },
        )
    )


def _against(row: dict[str, object]) -> str:
    low, high, mean = (row[name] for name in ("low", "high", "difference"))
    if not isinstance(mean, float):
        return ""
    ends = (
        f" ({decimal(low)} to {decimal(high)})"
        if isinstance(low, float) and isinstance(high, float)
        else ""
    )
    return f"{mean:+.2f}{ends}"
