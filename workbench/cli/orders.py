"""`workbench lab validate trials` and `detours`: do metrics and judges order strategies as what
comes of them does?
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, TypeAlias

import pandas as pd
import typer

from workbench.base.errors import SettingError
from workbench.base.formats import some
from workbench.cli.options import AsJson, Paths, takes, tell_terms
from workbench.cli.output import OK, records, say, say_json, tables
from workbench.engine.compaction.presets import NAMES, RECALL
from workbench.engine.models.settings import ModelSettings
from workbench.evaluation.experiment.prepared import read
from workbench.evaluation.experiment.sources import limited, sources_of
from workbench.evaluation.experiment.spec import DEFAULT_MODEL
from workbench.lab.agreement.measured import Judge, on_recordings, on_tasks
from workbench.lab.agreement.orders import ALL, TARGETS, Agreement
from workbench.lab.simulation.simulate import SimulationSpec, reader_of, simulate
from workbench.lab.trials.families import FAMILIES, tasks
from workbench.lab.trials.run import TrialSpec
from workbench.lab.trials.table import TrialResults, by_family

FEWEST = 4
"""Strategies of which an order says something."""
JudgeName: TypeAlias = Annotated[
    str,
    typer.Option(
        "--judge", help="Model that reads a sample of the contexts, such as local or litellm:NAME."
    ),
]


@takes(TrialSpec, only=("model_settings",))
def trials(
    spec: TrialSpec,
    folder: Annotated[Path, typer.Argument(help="Folder with the table of `workbench lab trial`.")],
    seeds: Annotated[
        int, typer.Option(min=1, help="Tasks of each family that are asked about.")
    ] = 1,
    judge: JudgeName = "",
    as_json: AsJson = False,
) -> int:
    """Compare metrics and judges with success and simulated detours: do they order strategies
    alike, and where not?

    The conversations of the tasks are replayed and simulated in the windows of the trials, and the
    metrics asked where a value is needed. Compared are strategies that keep to their window and
    have no recall, which no metric of a context sees.

    Example:

      workbench lab validate trials reports/trial-1a2b3c4d --seeds 3
    """
    finished_trials = TrialResults.open(folder).table
    finished_trials = finished_trials[
        (finished_trials["status"] == "ok") & finished_trials["family"].isin(FAMILIES)
    ]
    names = [
        name for name in finished_trials["strategy"].unique() if name.removesuffix(RECALL) in NAMES
    ]
    trial_tasks = [
        task
        for family in finished_trials["family"].unique()
        for task in tasks(family, range(seeds))
    ]
    if len(names) < FEWEST or not trial_tasks:
        raise SettingError(
            f"{folder} holds trials of {len(names)} built-in strategies; {FEWEST} or more are"
            " compared"
        )
    compacted = finished_trials[finished_trials["strategy"] != "none"].drop_duplicates(
        ["family", "seed"]
    )
    windows = {
        (first_trial.family, int(first_trial.seed)): int(first_trial.window)
        for first_trial in compacted.itertuples()
    }
    reader = _judge(judge, spec.model_settings, folder)
    measured = on_tasks(trial_tasks, names, windows, reader)
    if reader is not None:
        reader.require_answers()
    _show(Agreement.of(measured, by_family(finished_trials)), as_json)
    return OK


@takes(
    SimulationSpec, only=("strategies", "window", "limit", "redact", "unmasked", "jobs", "model_settings"), jobs=None,
    strategies=("truncate", "summarize", "pipeline", "opencode", "pi", "claude_code"),
)  # fmt: skip
def detours(
    spec: SimulationSpec, paths: Paths = None, judge: JudgeName = "", as_json: AsJson = False
) -> int:
    """Compare metrics and judges with what `workbench lab simulate` says of recordings: do they
    order strategies alike?

    The metrics are asked at four places of each session. Detours are look-ups and blind actions;
    the dollars saved include what they cost. Strategies are ranked within each session: by the
    share of the others that do worse.

    Examples:

      workbench lab validate detours --window 32000

      workbench lab validate detours my-sessions/ --strategies truncate,summarize,pipeline,pi
      --judge local
    """
    if len(spec.strategies) < FEWEST:
        raise SettingError(
            f"{len(spec.strategies)} strategies are named; {FEWEST} or more are compared"
        )
    simulation = simulate(paths or (), spec.changed(quiet=True, model=spec.model or DEFAULT_MODEL))
    sources = limited(sources_of(paths or ()), spec.limit)
    sessions = (
        session
        for source in sources
        for session in read(source, spec.window, redaction=spec.redaction).ready[: source.most]
    )
    reader = _judge(judge, spec.model_settings, Path())
    measured = on_recordings(sessions, simulation.simulated, spec.strategies, reader)
    if reader is not None:
        reader.require_answers()
    _show(Agreement.of(measured), as_json)
    return OK


def _judge(name: str, settings: ModelSettings | None, run: Path) -> Judge | None:
    """The model of that name after its test; None without a name."""
    if not name:
        return None
    tell_terms(name)
    reader = reader_of(name, replace(settings or ModelSettings(), run=str(run.resolve())))
    if reader is None:
        raise SettingError(
            "the lexical reader is in every row; --judge takes local or litellm:NAME"
        )
    return Judge.tested(reader)


def _show(agreement: Agreement, as_json: bool) -> None:
    left_out = {name: "larger than the window" for name in agreement.over} | {
        name: "recall" for name in agreement.recall
    }
    if as_json:
        compared = {
            "over all families": records(agreement.by_target()),
            "ranks": records(agreement.ranks),
        }
        say_json(
            {**compared, "the other way round": records(agreement.cases), "not compared": left_out}
        )
        return
    say("Rank correlation of metrics and judges with what came of the contexts:\n")
    say(_table(agreement.by_target()))
    if left_out:
        say("\nOver all strategies but the references, those that are not compared included:\n")
        say(_table(agreement.by_target("rank_all")))
    for target, title in TARGETS.items():
        if (
            len(agreement.ranks["family"].unique()) > 2
            and (agreement.ranks["target"] == target).any()
        ):
            say(
                "\nBy family of tasks, or project,"
                f" {title}:\n\n{_table(agreement.by_family(target).drop(columns=ALL))}"
            )
    say("\nThe other way round:\n")
    for target, (cases, more) in agreement.told().items():
        more_words = f"; and {some(more, 'pair')} more, which --json has" if more else ""
        say(f"{target}: {'; '.join(cases)}{more_words}.")
    for name, reason in left_out.items():
        say(f"Not compared: {name} ({reason}).")


def _table(rows: pd.DataFrame) -> str:
    """Words of the headings apart, so that a line has 80 characters."""
    names = {str(name).replace("_", " "): f"{name}:decimal" for name in rows.columns[1:]}
    return tables(records(rows), {"metric": "metric", **names})
