"""What became of an agent's work: trials and simulations that were kept in the run's folder."""

from workbench.evaluation.analysis.simulated import by_strategy as simulated_by_strategy
from workbench.evaluation.analysis.simulated import price_words, which_bill
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.table_folder import read_table
from workbench.lab.simulation.simulate import SIMULATED_FILE
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
    data = simulated.data if trials.data is None else trials.data
    return Html(trials.html + simulated.html, data=data)


def _trials(run: Results) -> Html:
    if not (run.path / TrialResults.file).is_file():
        return empty()
    table = TrialResults.open(run.path).table
    by_strategy = trials_by_strategy(table)
    completed = table[table["status"] == "ok"]
    if completed.empty:
        return empty()
    successes = by_family(table)
    families = successes.pivot_table("success", "strategy", "family", sort=False)
    return part(
        "trials",
        by_strategy,
        families=list(families.columns),
        by_family=families.reset_index().to_dict("records"),
        base=str(by_strategy["baseline"].iloc[0]),
        agents=list(completed["agent"].unique()),
        tasks=completed.groupby("strategy").size().max(),
        undone=len(table) - len(completed),
    )


def _simulated(run: Results) -> Html:
    if not (run.path / SIMULATED_FILE).is_file():
        return empty()
    table = read_table(run.path / SIMULATED_FILE)
    means = simulated_by_strategy(table)
    rows = means.astype(object).where(means.notna(), None)
    return part(
        "simulated",
        rows,
        projects=table["project"].nunique(),
        which_bill=which_bill(table),
        price_words=price_words(table),
    )
