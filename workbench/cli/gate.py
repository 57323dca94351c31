"""`workbench gate` and `workbench runs diff`: a run against an earlier one."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from workbench.base.errors import SettingError, UnknownName
from workbench.base.formats import some
from workbench.base.markup import render
from workbench.base.palette import REFERENCES
from workbench.base.private_files import write_private
from workbench.cli.options import AsJson, Run
from workbench.cli.output import (
    FAILED,
    OK,
    UNUSABLE,
    complain,
    printable,
    records,
    say,
    say_json,
    table,
)
from workbench.evaluation.analysis.gate import (
    Gate,
    GateResult,
    of_the_model,
    outcome,
)
from workbench.evaluation.analysis.gate import gate as judge
from workbench.evaluation.analysis.run_changes import ComparableScores, RunChanges
from workbench.evaluation.analysis.scores import leading_metric
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.spec_fields import listed
from workbench.evaluation.metrics import HALVES

COLUMNS = (
    "strategy",
    "against",
    "outcome",
    "sessions",
    "baseline",
    "run",
    "difference",
    "95 % interval",
    "why",
)


def as_junit(verdicts: Sequence[GateResult], rule: Gate) -> str:
    """One test case a strategy; an undecided one is an error, so that no build takes it for
    passed.
    """
    return render("gate/junit.xml", verdicts=verdicts, asked=rule, figures=number)


def as_markdown(verdicts: Sequence[GateResult], rule: Gate) -> str:
    """A heading with the outcome and a table of the strategies."""
    rows = []
    for row in verdict_rows(verdicts):
        rows.append([_cell(text) for text in row.values()])
    return render(
        "gate/summary.txt", outcome=outcome(verdicts), asked=rule, columns=COLUMNS, rows=rows
    )


def verdict_rows(verdicts: Sequence[GateResult]) -> list[dict[str, str]]:
    """A row a strategy, in words: the columns are `COLUMNS`."""
    return [_verdict_row(verdict) for verdict in verdicts]


def _verdict_row(verdict: GateResult) -> dict[str, str]:
    interval = "-"
    if verdict.low is not None:
        interval = f"{number(verdict.low, '+')} to {number(verdict.high, '+')}"
    return {
        "strategy": verdict.strategy,
        "against": verdict.against,
        "outcome": verdict.outcome,
        "sessions": str(verdict.sessions),
        "baseline": number(verdict.baseline),
        "run": number(verdict.mean),
        "difference": number(verdict.difference, "+"),
        "95 % interval": interval,
        "why": verdict.why,
    }


def number(value: float | None, sign: str = "") -> str:
    """A value with digits that make sense for its size; a dash where there is none."""
    if value is None:
        return "-"
    if abs(value) >= 100:
        return f"{value:{sign},.0f}"
    return f"{value:{sign}.3f}"


def _cell(text: str) -> str:
    """Text that cannot end its cell, nor be taken for markup."""
    return " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")


Margin = Annotated[
    float,
    typer.Option("--margin", help="The largest loss that is accepted, in the metric's unit."),
]
Each = Annotated[bool, typer.Option("--each", help="Judge each session by itself, not their mean.")]
Junit = Annotated[Path | None, typer.Option("--junit", help="Write a JUnit file here.")]
Markdown = Annotated[
    Path | None, typer.Option("--markdown", help="Write a summary in Markdown here.")
]

CODES = {"passed": OK, "failed": FAILED, "undecided": UNUSABLE}
VALUES = {
    "session": "session", "strategy": "strategy", "mode": "place", "before": "before:figure", "after": "after:figure",
    "by size": "by_size:figure", "difference": "difference:figure",
}  # fmt: skip
ENTITIES = {
    "change": "change", "entity": "entity", "kind": "kind", "session": "session", "strategy": "strategy",
    "mode": "place", "said by": "said_by", "at": "evidence_at", "needed at": "needed_at", "removed by": "stage",
    "evidence": "evidence",
}  # fmt: skip


def gate(
    run: Run,
    margin: Margin,
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", "-b", help="The run to compare with. None: the same run."),
    ] = None,
    metric: Annotated[
        str,
        typer.Option(
            "--metric",
            help="One of the run's metrics. None: the work where both runs have it, else names.",
        ),
    ] = "",
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy",
            "-s",
            help="The strategies to judge, between commas. None: all in both runs.",
        ),
    ] = "",
    against: Annotated[
        str,
        typer.Option("--against", help="The baseline's strategy. None: the one of the same name."),
    ] = "",
    share: Annotated[
        float | None,
        typer.Option("--share", help="Compare at the same size, at this share of the history."),
    ] = None,
    each: Each = False,
    junit: Junit = None,
    markdown: Markdown = None,
    as_json: AsJson = False,
) -> int:
    """Stop a build when a strategy is worse than in an earlier run by more than a margin.

    Ends with 0 if no strategy is worse, with 1 if one is or may be, with 2 if the data cannot
    decide or the input cannot be used. A strategy passes where the 95 % interval of the mean
    difference over projects lies within the margin, or where no session is worse. An interval
    needs sessions of six projects.

    Examples:

      workbench gate reports/today --baseline reports/main --metric exam_recall --margin 0.02

      workbench gate reports/today --strategy mine --against truncate --share 0.2 --margin 0.05

      workbench gate reports/today -b reports/main --margin 0.02 --each --junit gate.xml --markdown
      gate.md
    """
    results = Results.open(run)
    if baseline is None and not against:
        raise SettingError(
            "nothing to compare with; name another run with --baseline, or a strategy with"
            " --against"
        )
    baseline_results = results if baseline is None else Results.open(baseline)
    mode = "natural" if share is None else "matched"
    metric = metric or leading_metric(results.scores, baseline_results.scores, mode=mode)
    rule = Gate(metric, margin, mode, share, each)
    pairs = _pairs(results, baseline_results, listed(strategy), against)
    verdicts = judge(
        *_scores(results, baseline_results),
        rule,
        pairs,
        (results.baseline_at_sizes, baseline_results.baseline_at_sizes),
    )
    verdicts = of_models(verdicts, mode, results, baseline_results)
    write_verdicts(verdicts, rule, junit, markdown)
    if as_json:
        say_json(plain_verdicts(verdicts, rule))
    else:
        say_verdicts(verdicts, metric)
    code = CODES[outcome(verdicts)]
    compared = set() if pairs is None else {*pairs.keys(), *pairs.values()}
    if code == OK and _tell_pending((results, baseline_results), compared):
        return UNUSABLE
    return code


def of_models(
    verdicts: Sequence[GateResult], mode: str, run: Results, baseline: Results
) -> tuple[GateResult, ...]:
    """The verdicts; none passes where a stand-in wrote most summaries of one side."""
    checked = []
    for verdict in verdicts:
        checked.append(of_the_model(verdict, mode, run.compactions, baseline.compactions))
    return tuple(checked)


def write_verdicts(
    verdicts: Sequence[GateResult], rule: Gate, junit: Path | None, markdown: Path | None
) -> None:
    """Write the verdicts to the files that are asked for."""
    if junit is not None:
        write_private(junit, as_junit(verdicts, rule))
    if markdown is not None:
        write_private(markdown, as_markdown(verdicts, rule))


def plain_verdicts(verdicts: Sequence[GateResult], rule: Gate) -> dict[str, object]:
    """The verdicts as plain JSON."""
    return {
        "outcome": outcome(verdicts),
        "asked": asdict(rule),
        "verdicts": [asdict(verdict) for verdict in verdicts],
    }


def say_verdicts(verdicts: Sequence[GateResult], metric: str) -> None:
    """Print the verdicts as a table."""
    say(f"By {HALVES.get(metric, metric)}:\n")
    say(table(verdict_rows(verdicts)))


def _pairs(
    results: Results, baseline: Results, strategies: Sequence[str], against: str
) -> dict[str, str] | None:
    """The strategy of the baseline that each strategy is held against; None pairs equal names.

    Where none is named, each but the references is judged; in one run, a strategy is not held
    against itself.
    """
    if strategies:
        return {name: against or name for name in strategies}
    if not against:
        return None
    own_names = {against} if baseline is results else set[str]()
    pairs: dict[str, str] = {}
    for name in results.replays["strategy"].astype(str).unique():
        if name not in own_names.union(REFERENCES):
            pairs[name] = against
    return pairs


def diff(
    earlier: Annotated[
        Path, typer.Argument(help="The folder of the earlier run.", metavar="before")
    ],
    later: Annotated[Path, typer.Argument(help="The folder of the later run.", metavar="after")],
    metric: Annotated[
        str,
        typer.Option(
            "--metric",
            help="Whose values to compare. None: the work where both runs have it, else names.",
        ),
    ] = "",
    strategy: Annotated[
        str, typer.Option("--strategy", "-s", help="Strategies between commas. None: all.")
    ] = "",
    row_limit: Annotated[
        int, typer.Option("--most", min=1, help="Rows to print of each table.")
    ] = 20,
    as_json: AsJson = False,
) -> int:
    """Show what changed from one run to another: values and needed entities, largest regressions
    first.

    An entity is new among the losses, or mended, as far as the thirty worst losses of each session,
    strategy and budget go, which is what a run writes down. By size: what the baseline gains from
    the size that was used before to the one used after; the difference is without it.

    Example:

      workbench runs diff reports/main reports/today --strategy mine
    """
    old_run, new_run = Results.open(earlier), Results.open(later)
    strategies = listed(strategy)
    changes = RunChanges.of(old_run, new_run, metric)
    _tell_mismatched(changes.scores, old_run)
    scores = (changes.scores.later, changes.scores.earlier)
    _refuse_unknown("strategy", strategies, scores)
    _refuse_unknown("metric", [changes.metric], scores)
    changes = replace(
        changes,
        values=_of_strategies(changes.values, strategies),
        entities=_of_strategies(changes.entities, strategies),
    )
    if as_json:
        tables = {"values": records(changes.values), "entities": records(changes.entities)}
        say_json({"metric": changes.metric, **tables})
        return 0
    if changes.values.empty and changes.entities.empty:
        say(f"No {changes.metric} and no loss differs between {earlier} and {later}.")
        return 0
    _show(
        f"{HALVES.get(changes.metric, changes.metric)}: {some(changes.regressions, 'value')} worse,"
        f" {changes.improvements} better, without what another size alone would change.",
        changes.values,
        VALUES,
        row_limit,
    )
    counts = []
    for change, count in changes.entity_counts.items():
        counts.append(f"{count} {change}")
    _show(f"Needed later: {', '.join(counts)}.", changes.entities, ENTITIES, row_limit)
    return 0


def _refuse_unknown(
    column: str, names: Collection[str], scores_of_runs: Sequence[pd.DataFrame]
) -> None:
    """Refuse the name of a strategy or metric that no run has."""
    known_names = set[str]()
    for scores in scores_of_runs:
        known_names.update(map(str, scores[column]))
    for name in names:
        if name not in known_names:
            raise UnknownName(f"{column} of these runs", name, known_names)


def _of_strategies(rows: pd.DataFrame, strategies: Sequence[str]) -> pd.DataFrame:
    """The rows of these strategies; all rows where none is named."""
    return rows[rows["strategy"].isin(strategies)] if strategies else rows


def _tell_pending(runs: Sequence[Results], strategies: Collection[str]) -> bool:
    """Say where a replay of these strategies (none named: of all) still waits for its model.

    Returns whether any does.
    """
    waits = False
    replays_by_path = {run.path: run.replays for run in runs}
    for path, replays in replays_by_path.items():
        pending = replays[replays["status"] == "pending"]
        if strategies:
            pending = pending[pending["strategy"].isin(strategies)]
        if len(pending):
            waits = True
            complain(
                f"{some(len(pending), 'pending replay')} in {path}; run its command again, then"
                " this one"
            )
    return waits


def _scores(run: Results, baseline: Results) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The scores of both, but for sessions that are another recording in the baseline than their
    names say.
    """
    scores = ComparableScores.of(baseline, run)
    _tell_mismatched(scores, baseline)
    return scores.later, scores.earlier


def _tell_mismatched(scores: ComparableScores, earlier: Results) -> None:
    for name in scores.mismatched:
        complain(f"left out: session {printable(name)} is another recording in {earlier.path}")


def _show(heading: str, rows: pd.DataFrame, columns: Mapping[str, str], row_limit: int) -> None:
    say(heading)
    table_rows = []
    for row in records(rows.head(row_limit)):
        place = "in use" if row["share"] is None else f"at {row['share']:.0%}"
        table_rows.append({**row, "place": place})
    if table_rows:
        say(table(table_rows, columns))
    if len(rows) > row_limit:
        say(f"... and {len(rows) - row_limit} more; --most shows more of them")
