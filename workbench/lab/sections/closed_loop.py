"""What became of an agent's work: trials and simulations that were kept in the run's folder."""

from workbench.evaluation.analysis.simulated import by_strategy as simulated_by_strategy
from workbench.evaluation.analysis.simulated import price_words, unrecorded_words, which_bill
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.run_folder import SIMULATED_FILE
from workbench.evaluation.experiment.table_folder import read_table
from workbench.lab.trials.table import TrialResults, by_family
from workbench.lab.trials.table import by_strategy as trials_by_strategy
from workbench.report.page.html import Html, empty, part


def closed_loop_html(run: Results) -> Html:
    """What agents succeeded in on tasks that run, and what recorded actions had to look up; nothing
    without tables.

    The table behind it is that of the trials, or else of the simulations, a row a strategy.
    """
    trials = _trials(run)
    simulated = _simulated(run)
    data = trials.data
    if data is None:
        data = simulated.data
    html = trials.html + simulated.html
    return Html(html, data=data)


def _trials(run: Results) -> Html:
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
    baselines = by_strategy["baseline"]
    tasks_by_strategy = completed.groupby("strategy").size()
    return part(
        "trials",
        by_strategy,
        families=list(families.columns),
        by_family=families.reset_index().to_dict("records"),
        base=str(baselines.iloc[0]),
        agents=list(completed["agent"].unique()),
        tasks=tasks_by_strategy.max(),
        undone=len(table) - len(completed),
    )


def _simulated(run: Results) -> Html:
    file = run.path / SIMULATED_FILE
    if not file.is_file():
        return empty()
    table = read_table(file)
    means = simulated_by_strategy(table)
    rows = means.astype(object).where(means.notna(), None)
    return part(
        "simulated",
        rows,
        projects=table["project"].nunique(),
        unrecorded_words=unrecorded_words(table),
        which_bill=which_bill(table),
        price_words=price_words(table),
    )
