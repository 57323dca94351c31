"""`workbench judge behaviour`: how a model goes on with each strategy's context."""

from __future__ import annotations

from dataclasses import asdict

from workbench.analysis.estimate import Estimate
from workbench.analysis.over_target import is_over_target
from workbench.cli.judge.over_target import say_over_target, with_larger
from workbench.cli.options import AsJson, Paths, takes, tell_terms
from workbench.cli.output import percent, printable, say, say_json, share, table
from workbench.judge.behaviour.effects import Compliance, Equivalence, compliances, equivalences
from workbench.judge.behaviour.trials import BehaviourSpec, behave


@takes(BehaviourSpec, reader="local", maker="")
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
        told = {"compliance": [asdict(one) for one in obeyed], "decisions": [asdict(one) for one in same]}
        say_json({"table": str(done.path), **done.notes, **told})
        return 0
    say(f"Next actions of {printable(str(done.notes['reader']))}, means over sessions. `beyond chance`: 0 is as if")
    say("nothing had been compacted, -1 is always another action.")
    say(table(with_larger([_same(one) for one in same], [one.over_target for one in same]), left=["strategy"]))
    if obeyed:
        say()
        say("Steps that obey the user's demands. `effect kept`: 0 is as if they had never been said, 1 as if they had")
        say("been said again just now.")
        lines = with_larger([_obeyed(one) for one in obeyed], [one.over_target for one in obeyed])
        say(table(lines, left=["strategy", "why there is none"]))
    say_over_target(done.table)
    asked = done.table[~is_over_target(done.table)]
    left = int((asked["outcome"] != "answered").sum())
    if left:
        say(f"{left} of {len(asked)} answers cannot be used; the columns `outcome` and `reason` say why.")
    say(f"Table: {done.path}")
    return 0


def _same(one: Equivalence) -> dict[str, str]:
    return {
        "strategy": one.strategy,
        "same as whole": percent(one.same),
        "whole asked twice": percent(one.again),
        "beyond chance": _estimate(one.difference),
        "as recorded": percent(one.as_recorded),
        "boundaries": str(one.n),
    }


def _obeyed(one: Compliance) -> dict[str, str]:
    conditions = {"whole": "whole history", "without": "never said", "compacted": "compacted", "restated": "said again"}
    return {
        "strategy": one.strategy,
        **{title: percent(one.obeyed[condition]) for condition, title in conditions.items()},
        "effect kept": _estimate(one.effect),
        "demands": str(one.n),
        "why there is none": one.why,
    }


def _estimate(one: Estimate | None) -> str:
    if one is None:
        return "-"
    return share(one.mean) if one.low is None else f"{one.mean:.2f} ({one.low:.2f} to {one.high:.2f})"
