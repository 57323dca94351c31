"""`workbench judge behaviour`: how a model goes on with each strategy's context."""

from __future__ import annotations

from dataclasses import asdict

from workbench.analysis.over_target import is_over_target
from workbench.cli.judge.tables import estimated, say_over_target, table_with_larger
from workbench.cli.options import AsJson, Paths, takes, tell_terms
from workbench.cli.output import printable, say, say_json
from workbench.judge.behaviour.effects import compliances, equivalences
from workbench.judge.behaviour.trials import BehaviourSpec, behave

DECISIONS = {
    "strategy": "strategy", "same as whole": "same:percent", "whole asked twice": "again:percent",
    "beyond chance": "estimate", "as recorded": "as_recorded:percent", "boundaries": "n",
}  # fmt: skip
DEMANDS = {
    "strategy": "strategy", "whole history": "whole:percent", "never said": "without:percent",
    "compacted": "compacted:percent", "said again": "restated:percent", "effect kept": "estimate", "demands": "n",
    "why there is none": "why",
}  # fmt: skip


@takes(BehaviourSpec)
def behaviour(spec: BehaviourSpec, paths: Paths = None, as_json: AsJson = False) -> int:
    """Test how a model goes on with each strategy's context: does it obey, and does it do the same next?

    A change of the next action counts only beyond what the model changes anyway when it is asked twice. Obedience lies
    between two ends: the demand cut out of the history, and repeated behind the compacted context.

    Example:

      workbench judge behaviour session.jsonl --reader litellm:gpt-4o-mini --maker litellm:gpt-4o
    """
    if not spec.quiet:
        tell_terms(spec.reader, spec.maker)
    done = behave(paths or (), spec=spec.changed(quiet=spec.quiet or as_json))
    obeyed, same = compliances(done.table), equivalences(done.table)
    if as_json:
        found = {"compliance": [asdict(one) for one in obeyed], "decisions": [asdict(one) for one in same]}
        say_json({"table": str(done.path), **done.notes, **found})
        return 0
    say(f"Next actions of {printable(str(done.notes['reader']))}, means over sessions. `beyond chance`: 0 is as if")
    say("nothing had been compacted, -1 is always another action.")
    say(table_with_larger([{**asdict(one), "estimate": estimated(one.difference)} for one in same], DECISIONS))
    if obeyed:
        say(
            "\nSteps that obey the user's demands. `effect kept`: 0 is as if they had never been said, 1 as if they had"
        )
        say("been said again just now.")
        rows = [{**asdict(one), **one.obeyed, "estimate": estimated(one.effect)} for one in obeyed]
        say(table_with_larger(rows, DEMANDS))
    say_over_target(done.table)
    asked = done.table[~is_over_target(done.table)]
    left = int((asked["outcome"] != "answered").sum())
    if left:
        say(f"{left} of {len(asked)} answers cannot be used; the columns `outcome` and `reason` say why.")
    say(f"Table: {done.path}")
    return 0
