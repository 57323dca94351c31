"""`workbench lab validate trials` and `detours`: do metrics and judges order strategies as what
comes of them does?
"""

from collections.abc import Iterator, Sequence
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
from workbench.evaluation.experiment.prepared import Prepared, read
from workbench.evaluation.experiment.sources import limited, sources_of
from workbench.evaluation.experiment.spec import DEFAULT_MODEL
from workbench.lab.agreement.measured import Judge, on_recordings, on_tasks
from workbench.lab.agreement.orders import ALL, TARGETS, Agreement
from workbench.lab.simulation.simulate import reader_of, simulate
from workbench.lab.simulation.simulation_spec import SimulationSpec
from workbench.lab.trials.families import FAMILIES, tasks
from workbench.lab.trials.spec import TrialSpec
from workbench.lab.trials.table import TrialResults, by_family
from workbench.lab.trials.task import TrialTask

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
    table = TrialResults.open(folder).table
    finished = table[(table["status"] == "ok") & table["family"].isin(FAMILIES)]
    strategies = []
    for name in finished["strategy"].unique():
        if name.removesuffix(RECALL) in NAMES:
            strategies.append(name)
    trial_tasks: list[TrialTask] = []
    for family in finished["family"].unique():
        trial_tasks += tasks(family, range(seeds))
    if len(strategies) < FEWEST or not trial_tasks:
        raise SettingError(
            f"{folder} holds trials of {len(strategies)} built-in strategies; {FEWEST} or more are"
            " compared"
        )
    compacted = finished[finished["strategy"] != "none"].drop_duplicates(["family", "seed"])
    windows = {}
    for row in compacted.itertuples():
        windows[row.family, int(row.seed)] = int(row.window)
    reader = _judge(judge, spec.model_settings, folder)
    measured = on_tasks(trial_tasks, strategies, windows, reader)
    if reader is not None:
        reader.require_answers()
    _show(Agreement.of(measured, by_family(finished)), as_json)
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
            f"{some(len(spec.strategies), 'strategy is', 'strategies are')} named;"
            f" {FEWEST} or more are compared"
        )
    simulation = simulate(paths or (), spec.changed(quiet=True, model=spec.model or DEFAULT_MODEL))
    sessions = _prepared_sessions(paths or (), spec)
    reader = _judge(judge, spec.model_settings, Path())
    measured = on_recordings(sessions, simulation.simulated, spec.strategies, reader)
    if reader is not None:
        reader.require_answers()
    _show(Agreement.of(measured), as_json)
    return OK


def _prepared_sessions(paths: Sequence[str], spec: SimulationSpec) -> Iterator[Prepared]:
    """The sessions that a simulation follows, ready to be replayed."""
    for source in limited(sources_of(paths), spec.limit):
        loaded = read(source, spec.window, redaction=spec.redaction)
        yield from loaded.ready[: source.most]


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
    left_out = dict.fromkeys(agreement.over, "larger than the window")
    left_out |= dict.fromkeys(agreement.recall, "recall")
    if as_json:
        say_json(
            {
                "over all families": records(agreement.by_target()),
                "ranks": records(agreement.ranks),
                "the other way round": records(agreement.cases),
                "not compared": left_out,
            }
        )
        return
    say("Rank correlation of metrics and judges with what came of the contexts:\n")
    say(_table(agreement.by_target()))
    if left_out:
        say("\nOver all strategies but the references, those that are not compared included:\n")
        say(_table(agreement.by_target("rank_all")))
    ranks = agreement.ranks
    has_families = len(ranks["family"].unique()) > 2
    for target, title in TARGETS.items():
        if has_families and (ranks["target"] == target).any():
            say(f"\nBy family of tasks, or project, {title}:\n")
            say(_table(agreement.by_family(target).drop(columns=ALL)))
    say("\nThe other way round:\n")
    for target, (cases, more_count) in agreement.told().items():
        more = f"; and {some(more_count, 'pair')} more, which --json has" if more_count else ""
        say(f"{target}: {'; '.join(cases)}{more}.")
    for name, reason in left_out.items():
        say(f"Not compared: {name} ({reason}).")


def _table(rows: pd.DataFrame) -> str:
    """Words of the headings apart, so that a line has 80 characters."""
    columns = {"metric": "metric"}
    for name in rows.columns[1:]:
        columns[str(name).replace("_", " ")] = f"{name}:decimal"
    return tables(records(rows), columns)
