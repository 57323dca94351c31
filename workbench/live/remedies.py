"""What is done against an error of the provider: compact, mend pairs, or drop the oldest."""

from dataclasses import replace

from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.stages.truncate import RepairPairs
from workbench.engine.compaction.strategy import Strategy
from workbench.engine.models.provider_errors import Diagnosis
from workbench.live.hooks import Cause
from workbench.live.runner import Runner

REPAIR = Strategy("repair", (RepairPairs(),))
ENOUGH_AFTER_REFUSAL = 0.8
"""The part of a refused request above which a compaction of it helps too little, so that the
last resort follows.
"""


def remedy(runner: Runner, diagnosis: Diagnosis) -> bool:
    """Do what helps against a provider's error; whether the next request differs from the
    one that failed.
    """
    if diagnosis.action == "lower_output":
        return diagnosis.output is not None
    if diagnosis.action == "repair":
        budget = Budget(
            target=runner.gauge.tokens,
            window=runner.gauge.window,
            reason="repair",
            force=True,
        )
        repair = replace(REPAIR, recall=runner.gauge.preset.strategy.recall)
        compaction = runner.run(budget, "error", repair)
        return compaction is not None and compaction.outcome != "unchanged"
    if diagnosis.kind == "bytes":
        return overcome(runner, "error")
    if diagnosis.action == "compact":
        # what a quota counts is no size of the prompt: it has the output that was asked for
        if diagnosis.kind != "rate_permanent":
            runner.gauge.take_refusal(diagnosis.used)
        return overcome(runner, "error")
    return False


def overcome(runner: Runner, cause: Cause) -> bool:
    """Compact since a provider found the request too large; whether the next one differs."""
    budget = runner.budgets.forced("overflow")
    compaction = runner.run(budget, cause, runner.gauge.preset.recovery)
    if compaction is None or compaction.outcome == "unchanged":
        return runner.fit(refused=True)
    most_tokens = ENOUGH_AFTER_REFUSAL * compaction.before.tokens
    runner.fit(refused=compaction.sent.tokens > most_tokens)
    return True
