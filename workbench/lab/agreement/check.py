"""The check that the exam orders strategies as what comes of them does, on tasks that run."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from workbench.base.formats import missing
from workbench.lab.agreement.measured import on_tasks
from workbench.lab.agreement.orders import ALL, Agreement
from workbench.lab.trials.families import FAMILIES, tasks
from workbench.lab.trials.run import trial
from workbench.lab.trials.table import by_family
from workbench.lab.validation.checks import Check, check

STRATEGIES = (
    "truncate",
    "summarize",
    "pipeline",
    "claude_code",
    "pi",
    "codex_local",
    "hermes_lean",
)
TARGETS = ("success", "blind")
LEAST = 0.5
"""The rank correlation that the exam must have with each target."""


def same_order(
    strategies: tuple[str, ...] = STRATEGIES,
    families: tuple[str, ...] = tuple(FAMILIES),
) -> Check:
    """The exam orders strategies as the success of an agent and its simulated blind actions do.

    Args:
        strategies: names of presets that keep to their window.
        families: of each one task is tried.
    """
    success = _success(strategies, families)
    tried_tasks = [tasks(family, [0])[0] for family in families]
    agreement = Agreement.of(on_tasks(tried_tasks, strategies), success)
    ranks = _ranks_of_exam(agreement)
    cases = agreement.cases
    cases = cases[cases["metric"] == "exam"]
    cases = cases[cases["target"].isin(TARGETS)]
    wrong = [f"{case.better} before {case.worse} by {case.target}" for case in cases.itertuples()]
    known_ranks = [rank for rank in ranks.values() if not missing(rank)]
    holds = min(known_ranks) >= LEAST if known_ranks else None
    return check(
        "order of strategies",
        "on tasks that run, the exam orders strategies as success and simulated blind actions do,"
        f" by {LEAST} or more",
        holds,
        f"rank correlation {ranks['success']:.2f} with success, {ranks['blind']:.2f} with fewer"
        f" blind actions ({len(strategies)} strategies, {len(families)} tasks); the other way"
        f" round: {', '.join(wrong) or 'none'}",
        wrong if holds is False else (),
    )


def _success(strategies: tuple[str, ...], families: tuple[str, ...]) -> pd.DataFrame:
    """What an agent succeeds in under each strategy, by family of tasks."""
    with TemporaryDirectory() as folder:
        results = trial(
            strategies=strategies,
            families=families,
            seeds=1,
            out=Path(folder),
            quiet=True,
        )
        assert results is not None
        return by_family(results.table)


def _ranks_of_exam(agreement: Agreement) -> dict[str, float]:
    """The exam's rank correlation with each target, over all families."""
    ranks = agreement.ranks
    ranks = ranks[ranks["family"] == ALL]
    ranks = ranks[ranks["metric"] == "exam"].set_index("target")
    return {target: float(ranks.loc[target, "rank"]) for target in TARGETS}
