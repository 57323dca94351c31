"""`workbench lab validate`: whether the metrics measure what they claim."""

import re
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, TypeAlias

import pandas as pd
import typer

from workbench.base.errors import SettingError
from workbench.base.private_files import write_private
from workbench.cli.options import AsJson, Paths, takes
from workbench.cli.output import FAILED, OK, frame_table, records, say, say_json, table
from workbench.evaluation.experiment.exports import csv_text
from workbench.evaluation.experiment.spec import RunSpec
from workbench.lab.agreement.check import same_order
from workbench.lab.judge.exam.scores import readers_agreement
from workbench.lab.judge.exam.sitting import ExamResults
from workbench.lab.sides.catalogue import SIDES, Source
from workbench.lab.sides.planted import SEEDS, planted
from workbench.lab.sides.side import SideTable
from workbench.lab.simulation.held import held_things
from workbench.lab.validation.fetched_again import (
    by_way,
    figures,
    lead_note,
    precision_table,
    ranks,
    with_intervals,
)
from workbench.lab.validation.marked_losses import marked_losses, marked_table
from workbench.lab.validation.needs import LABELS, labelled, sheet, still_asked
from workbench.lab.validation.selfcheck import selfcheck, sessions_of
from workbench.lab.validation.used_things import CONTROL, METRICS, compacted, used_things
from workbench.recordings.datasets.bundled import bundled_files

Out: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", help="Folder for the tables, as CSV files. None: they are only shown."
    ),
]
Folders: TypeAlias = Annotated[
    list[Path] | None,
    typer.Argument(
        help="Folders of `workbench lab judge work`. None: the project's own, which a checkout has."
    ),
]


@takes(RunSpec, only=("window", "limit", "redact", "unmasked"))
def validate(spec: RunSpec, paths: Paths = None, out: Out = None, as_json: AsJson = False) -> int:
    """Validate the metrics: checks that must hold, then each side that they are held against, in
    one short table.

    Without recordings it takes the bundled sessions and generated ones. `workbench lab validate
    SIDE` shows one side with its longer tables. Ends with 0 if no check fails, else with 1.

    Examples:

      workbench lab validate

      workbench lab validate my-sessions/ --json

      workbench lab validate readers --out tables
    """
    checks = [
        *selfcheck(paths or (), window=spec.window, limit=spec.limit, redaction=spec.redaction),
        same_order(),
    ]
    source = _source(spec, paths)
    sides = {name: side.measure(source) for name, side in SIDES.items()}
    if as_json:
        tables = {name: _side_as_json(side) for name, side in sides.items()}
        say_json({"checks": [asdict(check) for check in checks], "sides": tables})
    else:
        say(table(map(asdict, checks), {"check": "name", "outcome": "outcome", "found": "found"}))
        for check in checks:
            if check.failed:
                say(f"{check.name}: {check.claim}; but:")
                for place in check.where:
                    say(f"  {place}")
        for name, side in sides.items():
            _say_side(name, side)
    for name, side in sides.items():
        _write_side(out, name, side)
    return FAILED if any(check.failed for check in checks) else OK


def readers(folders: Folders = None, out: Out = None, as_json: AsJson = False) -> int:
    """Compare what the measures predict with what real readers answered from the same contexts.

    `auc`: of a right and a wrong answer, how often the right one has the higher value. `order`:
    rank correlation of the strategies within a recording. `pairs`: of contexts that real readers
    hold a tenth apart; `pairs alike`: the share that the measure orders as they do.

    Examples:

      workbench lab validate readers

      workbench lab validate readers reports/work
    """
    return _show_side("readers", Source(list, tuple(folders or ())), out, as_json)


def wordings(out: Out = None, as_json: AsJson = False) -> int:
    """Tell the same facts in the exam's own words, in notes, and in other words; show what the
    measures see.

    Example:

      workbench lab validate wordings
    """
    return _show_side("wordings", Source(list), out, as_json)


def answers(
    folders: Annotated[list[Path], typer.Argument(help="Graded answers, see docs/validity.md.")],
    out: Out = None,
    as_json: AsJson = False,
) -> int:
    """Compare the metrics with graded answers of others: agreement a question, AUC, rank and sign
    of contexts.

    Examples:

      workbench lab validate answers graded/native-vs-text

      workbench lab validate answers my-answers.jsonl --json
    """
    return _show_side("answers", Source(list, tuple(folders)), out, as_json)


def errors(
    seeds: Annotated[int, typer.Option(min=1, help="Histories to generate.")] = SEEDS,
    out: Out = None,
    as_json: AsJson = False,
) -> int:
    """Plant errors of known kinds in true summaries: stale, reversed, negated, swapped. Count which
    each metric finds.

    `intact` is the share of true statements that the metric accepts; the other rows are the share
    of errors found.

    Examples:

      workbench lab validate errors --seeds 5
    """
    return _show_table("errors", planted(seeds), out, as_json)


@takes(RunSpec, only=("window", "limit", "redact", "unmasked"))
def gamers(spec: RunSpec, paths: Paths = None, out: Out = None, as_json: AsJson = False) -> int:
    """Search contexts that are made to please the fitted reader; show what the measures and real
    readers give them.

    Examples:

      workbench lab validate gamers

      workbench lab validate gamers my-sessions/ --limit 5
    """
    return _show_side("gamers", _source(spec, paths), out, as_json)


def _source(spec: RunSpec, paths: list[str] | None) -> Source:
    """The sessions that are named, or the bundled ones."""
    named = paths or bundled_files()
    return Source(lambda: sessions_of(named, spec.window, spec.limit, spec.redaction))


@takes(RunSpec, only=("limit", "redact", "unmasked"))
def behaviour(spec: RunSpec, paths: Paths = None, as_json: AsJson = False) -> int:
    """After each recorded compaction: is what a metric calls lost fetched again more often than
    what it calls kept?

    `fetched` is the share of things fetched again, `if_lost` and `if_kept` that of things of one
    verdict. `auc`: of two things of one compaction, how often the one fetched again has the lower
    value; `alike`: the same of two of one kind and time; `lead`: `auc` less that of presence. With
    95 % intervals over sessions. A context that no agent had stands beside it: what it keeps can
    change nothing. `simulated` is the verdict of `workbench lab simulate`: the exam at the moment
    of the use, without what the agent had looked up until then.

    Examples:

      workbench lab validate behaviour my-sessions/

      workbench lab validate behaviour my-sessions/ --json
    """
    compactions = compacted(paths or (), spec.limit, spec.redaction)
    rows = used_things(compactions)
    held_rows = held_things(compactions, rows)
    by_context = figures(held_rows, metrics=(*METRICS, "simulated"))
    tables = {
        "how the agents came by what they used": by_way(rows),
        "by the context that the agent went on with": by_context,
        f"by a context that no agent had: {CONTROL} to the same size": figures(
            rows[rows["context"] == CONTROL]
        ),
    }
    if as_json:
        for name in ("kind", "source", "recoverable", "when"):
            tables[name] = figures(held_rows, [name])
        tables["project"] = figures(held_rows, unit="project")
        tables["ranks of sessions"] = ranks(rows)
        return _show(tables, as_json)
    _show({title: with_intervals(frame) for title, frame in tables.items()}, as_json)
    say(
        f"{lead_note(by_context)} --json has it by kind, source and time as well, and with"
        " intervals over projects."
    )
    return OK


def models(
    folders: Annotated[
        list[Path], typer.Argument(help="Folders with the answers of `workbench lab judge exam`.")
    ],
    as_json: AsJson = False,
) -> int:
    """Compare the readers of an exam with each other: the same verdict an item, the same rank of
    strategies.

    `agreement` is the share of items that both call known, or neither, `kappa` the same beyond
    chance, `rank` the mean rank correlation of the strategies' scores at a boundary.

    Example:

      workbench lab validate models reports/exam reports/exam-other-model
    """
    tables_of_readers = [ExamResults.open(folder).table for folder in folders]
    return _show({"readers": readers_agreement(tables_of_readers)}, as_json)


@takes(RunSpec, only=("limit", "redact", "unmasked"))
def needs(
    spec: RunSpec,
    paths: Paths = None,
    sheet_file: Annotated[
        Path | None, typer.Option("--sheet", help="Write items to be labelled to this CSV file.")
    ] = None,
    items: Annotated[int, typer.Option("--items", min=1, help="Items of such a sheet.")] = 300,
    label_files: Annotated[
        list[Path] | None,
        typer.Option("--labels", help="A filled sheet; give two, of two readers."),
    ] = None,
    marked_runs: Annotated[
        list[Path] | None,
        typer.Option("--marks", help="A run whose losses were marked; give several."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Show which share of the exam's items readers call needed, how far they agree, and which give
    their answer away.

    Without options it takes the labels that ship with the package. With recordings it counts only
    those of their labelled items that the exam still asks. With --marks it counts what was said of
    losses, in `workbench view` by you and in `workbench lab judge losses` by models.

    Examples:

      workbench lab validate needs

      workbench lab validate needs my-sessions/ --sheet items.csv

      workbench lab validate needs --labels first.csv --labels second.csv

      workbench lab validate needs --marks reports/compare-1a2b3c4d
    """
    if marked_runs:
        return _show({"marked losses": marked_table(marked_losses(marked_runs))}, as_json)
    if sheet_file is not None:
        rows = sheet(sessions_of(paths or (), None, spec.limit, spec.redaction), items)
        write_private(sheet_file, csv_text(rows))
        say(
            f"{len(rows)} items are in {sheet_file}; fill the columns {' and '.join(LABELS)}, "
            "as reports/studies/validity/README.md says."
        )
        return OK
    if label_files and len(label_files) != 2:
        raise SettingError(
            f"--labels was given {len(label_files)} time(s); it takes two filled sheets, of two readers"
        )
    labels = labelled(*label_files) if label_files else labelled()
    if paths:
        labels = still_asked(labels, sessions_of(paths, None, spec.limit, spec.redaction))
    return _show({"items that the agent needed": precision_table(labels)}, as_json)


def _show_side(name: str, source: Source, out: Path | None, as_json: bool) -> int:
    return _show_table(name, SIDES[name].measure(source), out, as_json)


def _show_table(name: str, side: SideTable, out: Path | None, as_json: bool) -> int:
    """A side with its longer tables; the exit code."""
    _write_side(out, name, side)
    if as_json:
        say_json(_side_as_json(side))
        return OK
    _say_side(name, side)
    for title, rows in side.details.items():
        say(f"\n{title}\n{frame_table(rows)}")
    return OK


def _say_side(name: str, side: SideTable) -> None:
    say(f"\n{name}: {SIDES[name].question}")
    if not side.rows.empty:
        say(frame_table(side.rows))
    say(side.says)


def _side_as_json(side: SideTable) -> dict[str, object]:
    details = {title: records(rows) for title, rows in side.details.items()}
    return {"says": side.says, "rows": records(side.rows), **details}


def _write_side(out: Path | None, name: str, side: SideTable) -> None:
    """The tables of a side as CSV files."""
    if out is None or side.rows.empty:
        return
    for title, rows in {"": side.rows, **side.details}.items():
        file_name = "-".join(re.findall(r"\w+", f"{name} {title}"))
        write_private(out / f"{file_name}.csv", csv_text(rows))


def _show(tables: dict[str, pd.DataFrame], as_json: bool) -> int:
    """Tables under their titles, or all of them as one JSON object; the exit code."""
    if as_json:
        say_json({title: records(rows) for title, rows in tables.items()})
        return OK
    for title, rows in tables.items():
        say(f"{title}: none\n" if rows.empty else f"{title}\n{frame_table(rows)}\n")
    return OK
