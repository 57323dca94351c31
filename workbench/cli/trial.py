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
    named = [one for one in (spec.agent, spec.writer) if one != READER]
    tell_terms(*named)
    how = Foresight(
        named, spec.jobs, spec.model_settings, dry_run, as_json, "If it follows the plan: "
    )
    purposes = ("summaries",) if spec.is_reader else ("the agent", "summaries")
    done = run_of(spec=spec, before=how.before(spec.quiet, *purposes))
    if done is None:
        return 0
    whole = by_strategy(done.table)
    if as_json:
        families = {name: records(by_strategy(done.table, name)) for name in spec.families}
        pending = {"pending": done.pending} if done.pending else {}
        say_json(
            {"table": str(done.path), **pending, "strategies": records(whole), "families": families}
        )
    else:
        if not whole.empty:
            _show(done.table, whole, spec.families)
        say(f"Table: {done.path / done.file}")
    if done.failed:
        bad = done.table[done.table["status"] == "failed"]
        complain(
            f"{done.failed} of {len(done.table)} trials failed:"
            f" {printable(str(bad['reason'].iloc[0]))}"
        )
    if done.pending:
        complain(f"{printable(done.pending)}; the same command asks again")
    return PENDING if done.pending else FAILED if done.failed else OK


def _show(trials: pd.DataFrame, whole: pd.DataFrame, families: Sequence[str]) -> None:
    base = str(whole["baseline"].iloc[0])
    rows = [row | {"against": _against(row)} for row in records(whole)]
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
    own = trials[trials["status"] == "ok"].pivot_table(
        "success", "strategy", "family", "mean", sort=False
    )
    each = [
        {"strategy": name, **values}
        for name, values in zip(own.index, records(own.astype(float)), strict=True)
    ]
    say("Success by family:\n")
    say(
        tables(
            each,
            {"strategy": "strategy", **{name.replace("_", " "): f"{name}:percent" for name in own}},
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
