"""`workbench compare`, and what is made of a finished run: `report`, `export` and `share`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from workbench.base.errors import SettingError
from workbench.base.private_files import write_private
from workbench.cli.ending import code_of_figures, finish, warn_of_replicates
from workbench.cli.foresee import Foresight, tell_forecast
from workbench.cli.headline import outcome, page, show, show_places
from workbench.cli.options import AsJson, DryRun, NoReport, Paths, Run, takes, tell_terms
from workbench.cli.output import UNUSABLE, complain, say, say_json
from workbench.evaluation.experiment.compare import Run as PlannedRun
from workbench.evaluation.experiment.compare import compared, forecast, simulate_too
from workbench.evaluation.experiment.exports import csv_text
from workbench.evaluation.experiment.exports import share as shared
from workbench.evaluation.experiment.inspect_logs import to_inspect
from workbench.evaluation.experiment.leaks import leak
from workbench.evaluation.experiment.processes import lasting_workers
from workbench.evaluation.experiment.progress import ongoing
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.sources import sources_of
from workbench.evaluation.experiment.spec import RunSpec
from workbench.evaluation.experiment.table_columns import COLUMNS
from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.preliminary import lines_so_far
from workbench.report.page.rendering import render

Baseline = Annotated[
    str,
    typer.Option(
        "--baseline",
        "-b",
        help="Strategy that all others are compared with. None: that of the run.",
    ),
]


@takes(RunSpec, jobs=None)
def compare(
    spec: RunSpec,
    paths: Paths = None,
    dry_run: DryRun = False,
    no_report: NoReport = False,
    wide: Annotated[bool, typer.Option("--wide", help="Print all columns and notes.")] = False,
    simulate: Annotated[
        bool,
        typer.Option(help="Simulate too where no model is asked: the bill then pays look-ups."),
    ] = True,
    as_json: AsJson = False,
) -> int:
    """Replay recorded sessions under several strategies; write a report of what each keeps, saves
    and loses.

    Examples:

      workbench compare

      workbench compare my-sessions/ --strategies truncate,summarize --window 64000

      workbench compare session.jsonl --model litellm:gpt-4o-mini --dry-run

      workbench compare session.jsonl --model extractive,litellm:gpt-4o-mini --max-dollars 2
    """
    silent = spec.changed(quiet=spec.quiet or as_json)
    if not dry_run:
        tell_terms(*spec.model)
        warn_of_replicates(spec.replicates, *spec.model)
    foresight = Foresight(spec.model, spec.jobs, spec.model_settings, dry_run, as_json)
    tells_forecast = dry_run or (foresight.asks and not spec.quiet)
    if tells_forecast and not tell_forecast(foresight, forecast(paths or (), spec=silent)):
        return 0
    sources = sources_of(paths or ())
    run = PlannedRun.of(sources, silent)
    with run.claimed():  # another run in it would be told as the outcome of this one
        with lasting_workers():
            results = compared(run, lines_so_far)
            code = finish(results)
            if code == UNUSABLE:
                return code
            if simulate:
                simulate_too(run, results)
        with ongoing("working out the answer", quiet=silent.quiet):  # the page takes seconds
            findings = Findings.of(results, spec.baseline)
        code = code_of_figures(code, findings)
        if not silent.quiet:
            show(findings, wide=wide)
        report_path = page(results, findings, no_report, quiet=silent.quiet)
        if as_json:
            say_json(outcome(results, findings, no_report))
        elif not spec.quiet:
            show_places(results, report_path, paths or (), spec.window)
        return code


def report(
    run: Run,
    other: Annotated[
        Path | None,
        typer.Argument(
            help="Another run over the same sessions: begin with what changed since it."
        ),
    ] = None,
    baseline: Baseline = "",
    as_json: AsJson = False,
) -> int:
    """Render the report of a finished run again, or of what changed between two.

    Examples:

      workbench runs report reports/compare-1a2b3c4d

      workbench runs report reports/new-prompt reports/old-prompt
    """
    folder = Results.open(run).path
    other_folder: Path | str = ""
    if other is not None:
        other_folder = Results.open(other).path
    path = render(folder, baseline, other_folder)
    if as_json:
        say_json({"report": str(path)})
    else:
        say(str(path))
    return 0


def export(
    run: Run,
    out: Annotated[Path, typer.Option("--out", "-o", help="A folder for the files.")],
    to: Annotated[
        Literal["inspect", "csv", "otel"],
        typer.Option(
            "--to", help="inspect: a log a strategy; csv: a file a table; otel: OTLP in JSON lines."
        ),
    ] = "inspect",
    texts: Annotated[
        bool,
        typer.Option("--texts", help="otel: with prompts and summaries, from the recordings."),
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Write a run's scores as logs of Inspect, its tables as CSV, or its compactions as spans of
    OpenTelemetry.

    Examples:

      workbench runs export reports/compare-1a2b3c4d --out logs

      workbench runs export reports/compare-1a2b3c4d --to csv --out tables

      workbench runs export reports/compare-1a2b3c4d --to otel --texts --out traces
    """
    results = Results.open(run)
    if texts and to != "otel":
        raise SettingError("--texts belongs to --to otel; the other formats hold no texts")
    if to == "otel":
        from workbench.report.view.otel import to_otel

        files = [to_otel(results, out, texts=texts)]
    elif to == "inspect":
        files = to_inspect(results, out)
    else:
        files = [out / f"{name}.csv" for name in COLUMNS]
        for name, file in zip(COLUMNS, files, strict=True):
            write_private(file, csv_text(results.table(name)))
    names = [str(file) for file in files]
    if as_json:
        say_json({"files": names})
    else:
        say("\n".join(names))
    return 0


def share(
    run: Run,
    out: Annotated[Path, typer.Option("--out", "-o", help="A new folder for the copy.")],
    check: Annotated[
        bool, typer.Option("--check", help="Search the copy for texts of the run; fail on one.")
    ] = False,
    no_report: NoReport = False,
    as_json: AsJson = False,
) -> int:
    """Export a run without any session text: texts become keyed hashes, numbers stay as they are.

    Examples:

      workbench runs share reports/compare-1a2b3c4d --out shared

      workbench runs share reports/compare-1a2b3c4d --out shared --check
    """
    copy = shared(run, out)
    report = None if no_report else str(render(copy.path))
    leaked_text = leak(Results.open(run), copy.path) if check else None
    if leaked_text:
        complain(
            f"workbench: {leaked_text.path} holds a text of the run's {leaked_text.column}: do not"
            " pass this copy on"
        )
        return 1
    if as_json:
        say_json({"run": str(copy.path), "report": report})
    else:
        say(report or str(copy.path))
    return 0
