"""What `compare` prints of a finished run: the answer, its table, and the same as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from textwrap import fill
from typing import Any

import pandas as pd

from workbench.base.formats import NOTHING, gap, interval, joined, missing, percent, points, some
from workbench.cli.ending import answered
from workbench.cli.output import (
    WIDTH,
    complain,
    painted,
    printable,
    records,
    say,
    table,
    while_read,
    write,
)
from workbench.evaluation.analysis.paired import interval_columns
from workbench.evaluation.experiment.store import Results
from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.figures import LEVELS, StrategyFigures, mean_of
from workbench.evaluation.findings.readers import calibrations
from workbench.evaluation.findings.summaries import RECORDED
from workbench.evaluation.findings.tables import SAVED, Tables
from workbench.evaluation.metrics import CODE, HALVES, NAMES, WORK
from workbench.report.page.rendering import render

METRICS = (
    "tokens_saved",
    "peak_context",
    "over_window",
    "compactions",
    "prefix_reuse",
    "violations",
)
"""Of the headline, under each strategy's own trigger."""
TWICE = {"saved", "saved_low", "saved_high", "bound", "presence", "coverage"}
"""Figures of the report's headline that have longer names here."""
COLUMN = {WORK: "the\nwork", NAMES: "\nnames", CODE: "\ncode"}
"""Heads of the numbers at the same size."""
OWN_COLUMN = {WORK: "work,\nown", NAMES: "names,\nown", CODE: "code,\nown"}
"""Heads of the same on a strategy's own trigger."""
ALL = {
    "bound": "recall_bound:percent", "tokens\nsaved": "tokens_saved:percent", "cost": "cost:dollars",
    "cost saved\n(95 % interval)": "saved_interval", "compactions": "compactions:count",
    "largest\nrequest": "peak_context:amount", "from\ncache": "prefix_reuse:percent",
    "unsupported": "fabrication:percent",
}  # fmt: skip
"""Further columns of `--wide`, with those of the sizes."""
WITHIN_REACH = {
    "strategy": "strategy", "visible": "visible:percent", "recoverable": "recoverable:percent", "lost": "lost:percent",
    "calls/100": "calls:count", "saved": "saved:percent", "without": "saved_without:percent",
}  # fmt: skip
OF_ROW = {"none": "dim", "null": "dim", "oracle": "dim", "random": "dim", RECORDED: "cyan"}


def headline(findings: Findings) -> list[dict[str, Any]]:
    """A row a strategy: the main figures with their intervals; None where no session has the
    metric.
    """
    replayed = set(findings.tables.replays["strategy"])
    means = {str(row["strategy"]): row for row in records(findings.figures.headline)}
    rows = []
    for name, figures in findings.figures.strategies.items():
        if name in replayed:
            rows.append(_figures(figures, findings.tables, means[name]))
    return rows


def _figures(figures: StrategyFigures, run: Tables, row: Mapping[str, Any]) -> dict[str, Any]:
    same_size = figures.same_size[run.first_half] if run.shares else None
    cells = dict(row)
    for column in TWICE:
        cells.pop(column, None)
    for metric in METRICS:
        cells[metric] = mean_of(figures.own_trigger[metric])
    for metric in LEVELS:
        cells[metric] = mean_of(figures.levels[metric])
    for share, estimate in figures.at_share.items():
        cells[f"recall_at_{share:g}"] = mean_of(estimate)
    cells["same_size"] = mean_of(same_size)
    for share, used in figures.used.items():
        cells[f"used_at_{share:g}"] = used
    return cells | interval_columns("tokens_saved", figures.own_trigger[SAVED])


def outcome(results: Results, findings: Findings, no_report: bool) -> dict[str, object]:
    """The run as JSON: all that the terminal and the first screen of the report say."""
    run, figures, counts = findings.tables, findings.figures, findings.counts
    panel, decision = figures.panel, findings.decision
    calibration = {}
    if run.has_work:
        calibration = {kind: asdict(reader) for kind, reader in calibrations().items()}
    names_only = {}
    for name, (presence, exam) in run.names_only.items():
        names_only[name] = {"presence": presence, "exam": exam}
    return {
        "run": str(results.path),
        "report": None if no_report else str(results.report),
        "sessions": counts.replayed.sessions,
        "projects": counts.replayed.projects,
        "unreadable": records(run.unreadable[["path", "reason"]]),
        **answered(results),
        "opening": findings.opening,
        "decision": None if decision is None else asdict(decision),
        "recommended": findings.recommended,
        "advice": [asdict(note) for note in findings.advice],
        "verdict": str(findings.verdict),
        "read_by": findings.read_by,
        "written_by": asdict(figures.summaries) | {"words": findings.written_by},
        "ranked_by": run.first_half,
        "sessions_with_work": counts.with_work,
        "unknown": findings.unknown_work,
        "calibration": calibration,
        "kinds": dict(figures.kinds),
        "warnings": list(findings.warnings),
        "notes": list(notes(findings)),
        "names_only": names_only,
        "baseline": run.baseline,
        "against_baseline": records(figures.against_baseline),
        "strategies": headline(findings),
        "by_size": records(figures.by_size),
        "recorded": records(figures.recorded),
        "within_reach": records(figures.within_reach),
        "panel": None if panel is None else {"words": findings.panel_words, "rank": panel.rank},
    }


def page(results: Results, findings: Findings, no_report: bool, *, quiet: bool) -> str | None:
    """Write the report of a run, unless none is wanted, and say so; where it is."""
    if no_report:
        return None
    if not quiet:
        complain("writing the report ...")
    return str(render(results.path, findings.tables.named_baseline, findings=findings))


def show_places(results: Results, report: str | None) -> None:
    """Print where the page is, or the tables, and what shows the contexts behind the figures."""
    say(f"\nReport: {report}" if report else f"\nTables: {results.path}")
    say(
        f"Next: {painted(shlex.join(['workbench', 'view', str(results.path)]), 'bold')} shows every"
        " context behind it"
    )


@while_read()
def show(findings: Findings, *, wide: bool = False) -> None:
    """Print what the run says in words, then its table: few columns in 80 characters, or all."""
    _say_decision(findings)
    _say_table(findings, wide=wide)
    for text in (findings.written_by, findings.read_by, findings.unknown_work):
        if text:
            write(text)
    _say_within_reach(findings)
    verdict = findings.verdict
    if findings.decision is not None:
        write(" ".join(filter(None, (verdict.answer, verdict.sure))))
    for note in notes(findings) if wide else _few_notes(findings):
        write(note)
    caveats = [text for text in verdict.caveats if text != findings.unknown_work]
    if caveats:
        write(" ".join(caveats))


def _say_decision(findings: Findings) -> None:
    """Print what to use, what that trades and what would change it; without a decision, the
    answer.
    """
    decision = findings.decision
    if findings.opening:
        write(findings.opening, "bold")
    if decision is None:
        write(findings.verdict.answer, "bold")
        return
    write(decision.recommendation, "bold")
    write(decision.trade_off)
    for text in (decision.agent, decision.confidence):
        if text:
            write(text)
    write("What would change it:")
    for change in decision.changes:
        item = fill(
            printable(change),
            WIDTH,
            initial_indent="  - ",
            subsequent_indent="    ",
            break_on_hyphens=False,
        )
        say(item)


def _say_table(findings: Findings, *, wide: bool) -> None:
    run = findings.tables
    rows = _rows(findings)
    columns = _few_columns(run, rows)
    if wide:
        columns |= {**own_columns(run), **_sizes(run), **ALL}
    places = []
    if run.shares:
        places.append("at the same size")
    if any(key.startswith("own_") for key in columns.values()):
        places.append("on its own trigger")
    if "recorded" in columns.values():
        places.append("where the agent compacted")
    halves = joined([HALVES[half] for half in _halves(run)]).capitalize()
    say(f"\n{halves} {joined(places)}:\n")
    say(table(rows, columns, room=None if wide else WIDTH))


def _say_within_reach(findings: Findings) -> None:
    """Print what recall keeps within reach, for strategies that have it."""
    rows = records(findings.figures.within_reach)
    if not rows:
        return
    say("\nWithin reach of recall, each on its own trigger:\n")
    say(table(rows, WITHIN_REACH, room=WIDTH))
    write(
        "Recoverable: of the questions for names, those answered only with what a call of recall"
        " gives back for words of the question that stand in the context. Calls in 100 requests;"
        " cost saved with and without."
    )


def _halves(run: Tables) -> list[str]:
    """The numbers of the headline that the run has, the leading one first."""
    return sorted(run.halves, key=lambda half: half != run.first_half)


def _few_columns(run: Tables, rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The columns that everybody sees, by their heads; `--wide` shows all."""
    columns = {"strategy": "strategy"}
    compared = any("against" in row for row in rows)
    for half in _halves(run):
        if run.shares:
            columns[COLUMN[half]] = f"same_{half}"
        if compared and half == run.first_half:
            columns[f"vs {run.baseline}"] = "against"
    if not run.shares or not run.has_work:
        columns |= own_columns(run)
    columns["cost\nsaved"] = "saved"
    if any("recorded" in row for row in rows):
        columns["where agent\ncompacted"] = "recorded"
    return columns


def own_columns(run: Tables) -> dict[str, str]:
    """The columns of the same numbers on a strategy's own trigger."""
    return {OWN_COLUMN[half]: f"own_{half}" for half in _halves(run)}


def _rows(findings: Findings) -> list[dict[str, Any]]:
    """The rows of the table, each figure as it is shown; the agent's own compaction behind the
    contenders.
    """
    run, figures = findings.tables, findings.figures
    compared = {}
    for row in records(figures.against_baseline):
        if not row["reference"]:
            compared[str(row["strategy"])] = row
    recorded = {str(row["strategy"]): row for row in records(figures.recorded)}
    over_target, over_window = run.over_target(), run.over_window
    rows = []
    for row in headline(findings):
        name = str(row["strategy"])
        larger = "*" if name in over_target else ""
        refused = "!" if name in over_window else ""
        cells = row | _shown_figures(run, row, larger, refused)
        if name in compared:
            cells["against"] = _difference(compared[name])
        if name in recorded:
            cells["recorded"] = _with_interval(recorded[name], "recall")
        rows.append(cells)
    if RECORDED in recorded:
        agent_row = {
            "strategy": RECORDED,
            "recorded": _with_interval(recorded[RECORDED], "recall"),
            "style": OF_ROW[RECORDED],
        }
        contender_count = sum(not row["reference"] for row in rows)
        rows.insert(contender_count, agent_row)
    return rows


def _shown_figures(
    run: Tables, row: Mapping[str, Any], larger: str, refused: str
) -> dict[str, str]:
    """The figures of a strategy as they are shown.

    Args:
        run: its tables.
        row: the figures.
        larger: mark of a strategy that stays larger than the size asked for.
        refused: mark of a strategy that sends requests larger than the window.
    """
    name = str(row["strategy"])
    style = "bold" if name == next(iter(run.contenders), "") else ""
    cells = {
        f"same_{WORK}": _with_interval(row, "work") + larger,
        f"same_{NAMES}": _with_interval(row, "names") + larger,
        f"same_{CODE}": percent(row["code"]) + larger,
        f"own_{WORK}": percent(row["work_own"]) + refused,
        f"own_{NAMES}": percent(row["names_own"]) + refused,
        f"own_{CODE}": percent(row["code_own"]) + refused,
        "saved": percent(row["cost_saved"]) + refused,
        "saved_interval": _with_interval(row, "cost_saved"),
        "style": OF_ROW.get(name, style),
    }
    for share in run.shares:
        cells[f"at_{share:g}"] = _at(row, share)
    return cells


def show_sizes(findings: Findings) -> None:
    """Print the leading number of each strategy at each size, and what it really used, if there
    are any.
    """
    run = findings.tables
    if not run.shares:
        return
    columns = {"strategy": "strategy", **_sizes(run)}
    if len(findings.figures.against_baseline):
        columns[f"vs {run.baseline}"] = "against"
    columns["bound"] = "recall_bound:percent"
    half = HALVES[run.first_half].capitalize()
    say(f"\n{half}, asked to cut the same history to these shares; used: really kept:\n")
    say(table(_rows(findings), columns, room=WIDTH))


def _sizes(run: Tables) -> dict[str, str]:
    return {f"{percent(share)}\n(used)": f"at_{share:g}" for share in run.shares}


NARROW = (
    "--wide shows all columns, --json every figure with its interval; docs/method.md says how each"
    " is made."
)
MEANS = {
    WORK: (
        "The work: the foretold chance that a real model rightly answers a question about how the"
        " work stands, from the context alone; its intervals hold the reader's own error."
    ),
    NAMES: (
        "Names: of the exact names that the agent later used, each asked among look-alikes, the"
        " share that the context tells, corrected for guessing."
    ),
    CODE: (
        "Code: of the lines that the agent later edits or quotes, how much the context has in its"
        " place: next to a line that it stood next to, or in words beside the name of its file."
    ),
}
"""What each number of the headline is."""


def _few_notes(findings: Findings) -> Iterator[str]:
    """The notes below the few columns."""
    yield from _essential(findings)
    yield NARROW


def _essential(findings: Findings) -> Iterator[str]:
    """What must be known to read the few columns."""
    run = findings.tables
    meanings = [MEANS[half] for half in _halves(run)]
    yield " ".join([*meanings, f"Means over {findings.counts}."])
    if len(findings.figures.against_baseline):
        if run.shares and run.curve_range is None:
            credit = f"who kept less is credited with what {run.baseline} gains by the rest"
            yield f"Same size: at the size asked for; {credit}."
        where = "at equal size" if run.shares else "on its own trigger"
        compared = f"{HALVES[run.first_half]}, points {where}, with the 95 % interval"
        yield f"vs {run.baseline}: {compared}; ✓ or ✗: better or worse beyond chance."
    yield _windows(run.replayed)
    yield from _limits(run)


def notes(findings: Findings) -> Iterator[str]:
    """What each column stands on, and which figures are not comparable."""
    run = findings.tables
    if findings.panel_words:
        yield findings.panel_words
    yield from _essential(findings)
    yield (
        "Bound: the share of what the agent used that stands in the context with two words of its"
        " line."
    )
    yield from size_notes(run)
    models = [str(model) for model in run.costs["row"].unique()]
    whose_prices = models[0] if len(models) == 1 else f"{len(models)} models"
    yield (
        f"Cost: USD a session at the prices of {whose_prices}, with summaries and with fetching"
        " again what was lost. Cost saved: of the bill of all sessions without compaction (95 %"
        " interval over projects), below 0 where compaction costs more."
    )


def _limits(run: Tables) -> Iterator[str]:
    """Which strategies' figures cannot be compared, and why."""
    incomplete, larger, over_window = run.incomplete, run.over_target(), run.over_window
    if incomplete:
        yield (
            "Not comparable with the others, as replays are pending or failed:"
            f" {_sessions(incomplete)} sessions."
        )
    if larger:
        yield (
            f"* stays larger than the size asked for ({_sessions(larger)} sessions); such sessions"
            " are in no mean."
        )
    if over_window:
        yield (
            f"! sends requests larger than the window ({_sessions(over_window)} sessions). A"
            " provider would refuse them, and what the strategy would do then is in no figure here:"
            " workbench replay --refusals shows it."
        )


def size_notes(run: Tables) -> Iterator[str]:
    """What the figures at equal size stand on: the sizes really used, and the boundaries that
    are in none.
    """
    if len(run.at_used_sizes):
        yield (
            f"vs {run.baseline}: against {run.baseline}, cut to the very sizes that each strategy"
            " used."
        )
    counts = []
    for share, (too_small, boundaries) in run.too_small.items():
        counts.append(f"{too_small} of {boundaries} at {share:.0%}")
    if counts:
        yield (
            "Boundaries in no figure, since what must stay is larger than the size:"
            f" {', '.join(counts)}."
        )


def _windows(sessions: pd.DataFrame) -> str:
    """The windows that were wanted, where they are from, and those that were used."""
    requested_windows = sessions["window_wanted"].dropna().astype(int)
    used_windows = sessions["window_used"].dropna().astype(int)
    sources = []
    for source, count in sessions["window_source"].value_counts().items():
        sources.append(f"{source} ({count})")
    wider_count = int((used_windows > requested_windows).sum())
    widening = ""
    if wider_count:
        windows = some(wider_count, "window")
        widening = f"; {windows} widened to twice what system prompt and tools take"
    return (
        f"Windows: {_span(requested_windows)} tokens, by {joined(sources)};"
        f" used {_span(used_windows)}{widening}."
    )


def _span(values: pd.Series[int]) -> str:
    """The least and the largest value; one of them where they are equal."""
    least, largest = f"{values.min():,}", f"{values.max():,}"
    return least if least == largest else f"{least} to {largest}"


def _with_interval(row: Mapping[str, Any], name: str) -> str:
    """A share with its interval over projects, where there is one: `15 % (5 to 24)`."""
    mean, low, high = row[name], row[f"{name}_low"], row[f"{name}_high"]
    if missing(low):
        return percent(mean)
    return f"{percent(mean)} ({points(low)} to {points(high)})"


def _at(row: Mapping[str, Any], share: float) -> str:
    """Recall where a share was asked for, and in brackets the size really used where that is
    another.
    """
    recall, used = row[f"recall_at_{share:g}"], row[f"used_at_{share:g}"]
    if missing(used) or points(used) == points(share):
        return percent(recall)
    return f"{percent(recall)} ({points(used)})"


def _sessions(counts: Mapping[str, tuple[int, int]]) -> str:
    """In how many of its sessions something holds of each strategy."""
    phrases = []
    for name, (affected, sessions) in counts.items():
        phrases.append(f"{name} in {affected} of {sessions}")
    return ", ".join(phrases)


def _difference(row: Mapping[str, Any]) -> str:
    """A difference in points, its interval over projects where there is one, and whether it is
    beyond chance.
    """
    if missing(row["difference"]):
        return NOTHING
    mark = {"better": " ✓", "worse": " ✗"}.get(str(row["verdict"]), "")
    difference = gap(row["difference"])
    if missing(row["low"]):
        return f"{difference}{mark}"
    return f"{difference} ({interval(row['low'], row['high'])}){mark}"
