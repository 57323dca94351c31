"""What became of an agent's work: trials and simulations that were kept in the run's folder."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pandas as pd

from workbench.evaluation.analysis.simulated import by_strategy as simulated_by_strategy
from workbench.evaluation.analysis.simulated import price_words, unrecorded_words, which_bill
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.run_folder import SIMULATED_FILE
from workbench.evaluation.experiment.table_folder import read_table
from workbench.evaluation.findings import Findings
from workbench.lab.trials.table import TrialResults, by_family
from workbench.lab.trials.table import by_strategy as trials_by_strategy
from workbench.report.page.html import Html, empty, part, rows_in_order


def closed_loop_html(
    run: Results,
    findings: Findings | None = None,
) -> Html:
    """What agents succeeded in on tasks that run, and what recorded actions had to look up; nothing
    without tables.

    The table behind it is that of the trials, or else of the simulations, a row a strategy.

    Args:
        run: its folder may hold the tables.
        findings: of the run: its strategies have their order and colours as in the rest of the
            report; without them those of the tables.
    """
    trials = _trials(run, findings)
    simulated = _simulated(run, findings)
    data = trials.data
    if data is None:
        data = simulated.data
    html = trials.html + simulated.html
    return Html(html, data=data)


def _in_order(
    table: pd.DataFrame,
    findings: Findings | None,
) -> list[dict[Hashable, Any]]:
    """The rows of a table of strategies in the order of the report."""
    if findings is None:
        return rows_in_order(table, ())
    return rows_in_order(table, findings.likeliest_first)


def _all_strategies(
    table: pd.DataFrame,
    findings: Findings | None,
) -> list[str]:
    """The strategies of the report, then those of the table."""
    names: list[str] = table["strategy"].tolist()
    if findings is None:
        return names
    return [*findings.tables.strategies, *names]


def _trials(
    run: Results,
    findings: Findings | None,
) -> Html:
    file = run.path / TrialResults.file
    if not file.is_file():
        return empty()
    table = TrialResults.open(run.path).table
    by_strategy = trials_by_strategy(table)
    completed = table[table["status"] == "ok"]
    if completed.empty:
        return empty()
    successes = by_family(table)
    families = successes.pivot_table(
        values="success",
        index="strategy",
        columns="family",
        sort=False,
    )
    family_names = list(families.columns)
    families = families.reset_index()
    baselines = by_strategy["baseline"]
    tasks_by_strategy = completed.groupby("strategy").size()
    return part(
        "trials",
        by_strategy,
        rows=_in_order(by_strategy, findings),
        known=_all_strategies(by_strategy, findings),
        families=family_names,
        by_family=_in_order(families, findings),
        base=str(baselines.iloc[0]),
        agents=list(completed["agent"].unique()),
        tasks=tasks_by_strategy.max(),
        undone=len(table) - len(completed),
    )


def _simulated(
    run: Results,
    findings: Findings | None,
) -> Html:
    file = run.path / SIMULATED_FILE
    if not file.is_file():
        return empty()
    table = read_table(file)
    means = simulated_by_strategy(table)
    is_known = means.notna()
    shown_means = means.astype(object).where(is_known, None)
    return part(
        "simulated",
        shown_means,
        rows=_in_order(shown_means, findings),
        known=_all_strategies(shown_means, findings),
        projects=table["project"].nunique(),
        unrecorded_words=unrecorded_words(table),
        which_bill=which_bill(table),
        price_words=price_words(table),
    )
