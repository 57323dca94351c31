"""`workbench lab simulate`: what an agent that knows only its context would have had to look up
again.
"""

import pandas as pd

from workbench.base.formats import some
from workbench.cli.foresee import Foresight
from workbench.cli.options import AsJson, DryRun, Paths, takes, tell_terms
from workbench.cli.output import FAILED, OK, complain, records, say, say_json, table, write
from workbench.evaluation.analysis.simulated import (
    by_strategy,
    price_words,
    unrecorded_words,
    which_bill,
)
from workbench.lab.simulation.simulate import forecast
from workbench.lab.simulation.simulate import simulate as simulation_of
from workbench.lab.simulation.simulation_spec import SimulationSpec

SHOWN = {
    "look-ups": "look_ups:count", "tokens": "look_up_tokens:amount", "blind": "blind:count", "spirals": "spirals:count",
    "steps": "steps_until_work:count", "saved $": "saved_usd:dollars", "net $": "saved_usd_net:dollars",
    "with blind $": "saved_usd_blind:dollars",
}  # fmt: skip


@takes(SimulationSpec, jobs=None)
def simulate(
    spec: SimulationSpec, paths: Paths = None, dry_run: DryRun = False, as_json: AsJson = False
) -> int:
    """Follow recorded actions under strategies; what a context no longer tells is looked up again
    and paid for.

    Means a session. `look-ups`: calls made again, and their `tokens`. `blind`: actions that use
    what no call brings back. `spirals`: things lost again as often as they were looked up. `steps`:
    look-ups after a compaction before the work goes on. `saved` and `net`: dollars against no
    compaction, without look-ups and with them; `with blind`: each blind action costs
    `--blind-step-cost` steps more. Then 95 % intervals over projects, with six projects
    or more. The same command continues where a stopped one ended.

    Examples:

      workbench lab simulate

      workbench lab simulate my-sessions/ --strategies truncate,summarize,summarize+recall --window
      64000

      workbench lab simulate session.jsonl --reader litellm:gpt-4o-mini --max-dollars 2 --dry-run
    """
    named = [model for model in (spec.model, spec.reader) if model and model != "lexical"]
    tell_terms(*named)
    condition = "If it reads as the lexical reader does: "
    foresight = Foresight(named, spec.jobs, spec.model_settings, dry_run, as_json, condition)
    tells_forecast = dry_run or not spec.quiet
    if tells_forecast and not foresight.tell(forecast(paths or (), spec)):
        return OK
    simulation = simulation_of(paths or (), spec.changed(quiet=spec.quiet or as_json))
    for line in simulation.failed:
        complain(f"workbench: left out: {line}")
    for line in simulation.left_out:
        complain(f"workbench: left out, since it cannot be true: {line}")
    means = by_strategy(simulation.simulated)
    code = FAILED if simulation.failed else OK
    if as_json:
        tables = {
            "strategies": means,
            "simulated": simulation.simulated,
            "look_ups": simulation.look_ups,
        }
        say_json({title: records(rows) for title, rows in tables.items()})
        return code
    sessions = simulation.simulated["session"].nunique()
    projects = simulation.simulated["project"].nunique()
    say(f"Means over {some(projects, 'project')}, {some(sessions, 'session')}\n")
    say(table(records(means), {"strategy": "strategy", **SHOWN}, room=80))
    texts = (
        unrecorded_words(simulation.simulated),
        which_bill(simulation.simulated),
        price_words(simulation.simulated),
    )
    for text in texts:
        if text:
            write(text)
    _say_intervals(means)
    return code


def _say_intervals(means: pd.DataFrame) -> None:
    """Print the intervals of the main figures, if there are enough projects for any."""
    columns = {"strategy": "strategy"}
    for title in ("look-ups", "net $"):
        name, _, form = SHOWN[title].partition(":")
        if means[f"{name}_low"].notna().any():
            columns[f"{title} low"] = f"{name}_low:{form}"
            columns[f"{title} high"] = f"{name}_high:{form}"
    if len(columns) > 1:
        say("\n95 % intervals over projects\n")
        say(table(records(means), columns, room=80))
