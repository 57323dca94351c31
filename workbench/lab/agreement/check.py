"""The check that the exam orders strategies as what comes of them does, on tasks that run."""

from pathlib import Path
from tempfile import TemporaryDirectory

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
    strategies: tuple[str, ...] = STRATEGIES, families: tuple[str, ...] = tuple(FAMILIES)
) -> Check:
    """The exam orders strategies as the success of an agent and its simulated blind actions do.

    Args:
        strategies: names of presets that keep to their window.
        families: of each one task is tried.
    """
    with TemporaryDirectory() as folder:
        results = trial(
            strategies=strategies, families=families, seeds=1, out=Path(folder), quiet=True
        )
        assert results is not None
        success = by_family(results.table)
    agreement = Agreement.of(
        on_tasks([tasks(family, [0])[0] for family in families], strategies), success
    )
    rows = agreement.ranks[
        (agreement.ranks["family"] == ALL) & (agreement.ranks["metric"] == "exam")
    ].set_index("target")
    ranks = {target: float(rows.loc[target, "rank"]) for target in TARGETS}
    known_ranks = [rank for rank in ranks.values() if not missing(rank)]
    cases = agreement.cases[
        (agreement.cases["metric"] == "exam") & agreement.cases["target"].isin(TARGETS)
    ]
    wrong = [f"{case.better} before {case.worse} by {case.target}" for case in cases.itertuples()]
    return check(
        "order of strategies",
        f"on tasks that run, the exam orders strategies as success and simulated blind actions do, by {LEAST} or more",
        min(known_ranks) >= LEAST if known_ranks else None,
        f"rank correlation {ranks['success']:.2f} with success, {ranks['blind']:.2f} with fewer blind actions "
        f"({len(strategies)} strategies, {len(families)} tasks); the other way round: {', '.join(wrong) or 'none'}",
        wrong if known_ranks and min(known_ranks) < LEAST else (),
    )
