"""One attempt at a task: a workspace with its files, an agent that works in it, and the grade."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from workbench.engine.compaction.strategy import Preset
from workbench.engine.models.model import Model
from workbench.engine.models.prices import Tariff
from workbench.evaluation.experiment.replay_rows import Row
from workbench.lab.trials.agents import Agent
from workbench.lab.trials.grading import grade
from workbench.lab.trials.helper_client import HelperWorkspace
from workbench.lab.trials.loop import Limits, Trial, work
from workbench.lab.trials.repeats import repeats
from workbench.lab.trials.task import TrialTask

MEASURED = Limits()
"""Of the trial that measures a task, whatever the others' are."""
GRADING_SECONDS = 5.0
"""That grading has in any case, also where the agent took all of the trial's time."""


@contextmanager
def opened(task: TrialTask, *, sandbox: bool) -> Iterator[HelperWorkspace]:
    """A workspace with the task's files, which is gone in the end.

    Raises:
        SetupError: the sandbox cannot be had.
    """
    with HelperWorkspace(task.folder, sandbox=sandbox) as workspace:
        task.set_up(workspace)
        yield workspace


def attempt(
    task: TrialTask,
    agent: Agent,
    preset: Preset,
    *,
    sandbox: bool,
    window: int,
    tariff: Tariff,
    writer: Model | None = None,
    limits: Limits = MEASURED,
    mask: Callable[[str], str] = str,
    keep: Callable[[Trial], None] | None = None,
) -> Row:
    """Let an agent work on a task, and grade it; the columns that say what came of it.

    Whatever the agent does, this ends a few seconds after `limits.seconds`, and raises nothing for
    it.

    Raises:
        SetupError: the sandbox cannot be had.
        Unanswered: the agent's provider gave no answer.
    """
    with opened(task, sandbox=sandbox) as workspace:
        trial = work(
            task,
            agent,
            preset,
            workspace,
            window=window,
            tariff=tariff,
            writer=writer,
            limits=limits,
            mask=mask,
        )
        if keep is not None:
            keep(trial)
        return _graded(task, workspace, trial)


def _graded(task: TrialTask, workspace: HelperWorkspace, trial: Trial) -> Row:
    """The columns that say what came of a trial."""
    workspace.until = max(workspace.until, time.monotonic() + GRADING_SECONDS)
    graded = grade(task, workspace, trial.messages)
    failed_checks = [check for check in graded.checks if not check.passed]
    reason = trial.stopped
    if not reason:
        reason = "; ".join(f"{check.name}: {check.why}" for check in failed_checks)
    told_again = repeats(trial.messages, trial.start)
    return {
        "success": int(not failed_checks and not trial.stopped),
        "checks": len(graded.checks),
        "passed": len(graded.checks) - len(failed_checks),
        "violations": graded.violations,
        "reason": reason,
        "steps": trial.steps,
        "calls": told_again.calls,
        "again": told_again.again,
        "tokens": trial.tokens,
        "peak": trial.peak,
        "usd": trial.usd,
        "compactions": trial.compactions,
        **trial.counts,
    }
