"""What `compare` prints of a finished run: the answer, its table, and the same as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from textwrap import fill

from workbench.base.formats import first_sentence, joined, paragraph
from workbench.base.palette import REFERENCES
from workbench.cli.ending import answered
from workbench.cli.headline_notes import NARROW, few_notes, notes
from workbench.cli.headline_table import (
    FURTHER_COLUMNS,
    halves,
    has_figures,
    headline,
    own_columns,
    own_metric_rows,
    same_size_columns,
    size_columns,
    table_rows,
)
from workbench.cli.next_steps import (
    ADVICE,
    advice_on,
    agent_files,
    in_a_smaller_window,
    say_next,
    typed_line,
)
from workbench.cli.output import (
    WIDTH,
    line_width,
    printable,
    records,
    say,
    table,
    while_read,
    without_twins,
    write,
)
from workbench.evaluation.experiment.progress import ongoing
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.readers import calibrations
from workbench.evaluation.findings.summaries import RECORDED
from workbench.evaluation.metrics import HALVES
from workbench.evaluation.replays.boundaries import filled_twice
from workbench.report.page.rendering import render

WITHIN_REACH = {
    "strategy": "strategy",
    "visible": "visible:percent",
    "recoverable": "recoverable:percent",
    "lost": "lost:percent",
    "calls/100": "calls:count",
    "saved": "saved:percent",
    "without": "saved_without:percent",
}


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
        "priced_at": findings.priced_at,
        "read_by": findings.read_by,
        "written_by": asdict(figures.summaries) | {"words": findings.written_by},
        "ranked_by": run.first_half,
        "sessions_with_work": counts.with_work,
        "unknown": findings.unknown_work,
        "calibration": calibration,
        "kinds": dict(figures.kinds),
        "warnings": list(findings.warnings),
        "notes": list(filter(None, (findings.same_size, findings.each_size, *notes(findings)))),
        "names_only": names_only,
        "baseline": run.baseline,
        "against_baseline": records(figures.against_baseline),
        "strategies": headline(findings),
        "same_size_places": asdict(run.same_size_places),
        "by_size": records(figures.by_size),
        "recorded": records(figures.recorded),
        "within_reach": records(figures.within_reach),
        "own_metrics": records(figures.own_metrics),
        "panel": None if panel is None else {"words": findings.panel_words, "rank": panel.rank},
    }


def page(results: Results, findings: Findings, no_report: bool, *, quiet: bool) -> str | None:
    """Write the report of a run, unless none is wanted, and say so; where it is."""
    if no_report:
        return None
    with ongoing("writing the report", quiet=quiet):
        return str(render(results.path, findings.tables.named_baseline, findings=findings))


def show_places(
    results: Results, report: str | None, paths: Sequence[str] = (), window: int | None = None
) -> None:
    """Print where the page is, or the tables, and what to type next.

    Args:
        results: the run.
        report: its page.
        paths: of the user's own recordings, for which settings can be found; none for bundled ones.
        window: that was asked for.
    """
    say(f"\nReport: {report}" if report else f"\nTables: {results.place}")
    view = typed_line(["workbench", "view", results.place])
    commands = {view: "every context behind these figures, in a browser"}
    fitting_window = smaller_window(results)
    advise = advice_on(paths, window)
    is_of_an_agent = agent_files(paths) is not None
    if is_of_an_agent:
        commands[advise] = ADVICE
    if paths and not was_compacted(results):
        commands |= in_a_smaller_window(paths, fitting_window)
    elif paths:
        commands[advise] = ADVICE
    say_next(commands)


def smaller_window(results: Results) -> int | None:
    """A window that the largest session fills twice, where nothing was compacted in the one that
    was used; None where something was, or no session is large enough.
    """
    sessions = results.sessions
    sizes = sessions["tokens"] + sessions["overhead"].fillna(0)
    sizes = sizes.dropna()
    if was_compacted(results) or sizes.empty:
        return None
    return filled_twice(int(sizes.max()))


def was_compacted(results: Results) -> bool:
    """Whether a strategy compacted anything on its own trigger."""
    compactions = results.compactions
    is_reference = compactions["strategy"].isin(REFERENCES)
    is_on_own_trigger = compactions["mode"] == "natural"
    return bool((is_on_own_trigger & ~is_reference).any())


@while_read()
def show(findings: Findings, *, wide: bool = False) -> None:
    """Print what the run says in words, then its table: few columns in 80 characters, or all."""
    _say_decision(findings, wide=wide)
    if not (wide or has_figures(findings)):
        _say_caveats(findings)
        write(NARROW)
        return
    _say_tables(findings, wide=wide)
    _say_own_metrics(findings)
    sources = paragraph(findings.written_by, findings.priced_at)
    for text in (sources, findings.read_by, findings.unknown_work):
        if text:
            write(text)
    _say_within_reach(findings)
    if wide and findings.decision is not None:
        _say_evidence(findings)
    for note in notes(findings) if wide else few_notes(findings):
        write(note)
    _say_caveats(findings)


def _say_evidence(findings: Findings) -> None:
    """Print who leads beyond chance."""
    run = findings.tables
    half = HALVES[run.first_half].capitalize()
    comparison = "at the same size" if run.shares else "on its own trigger"
    write(f"{half} {comparison}: {findings.verdict.evidence}")


def _say_caveats(findings: Findings) -> None:
    """Print what limits the answer."""
    caveats = list(findings.verdict.caveats)
    if findings.unknown_work in caveats:
        caveats.remove(findings.unknown_work)
    if caveats:
        write(" ".join(caveats))


def _say_decision(findings: Findings, *, wide: bool) -> None:
    """Print what to use, what that trades and what would change it; without a decision, the
    answer. Of each reason the first sentence, or all.
    """
    decision = findings.decision
    if findings.opening:
        write(findings.opening, "bold")
    if decision is None:
        write(findings.verdict.answer, "bold")
        return
    if decision.disagreement:
        write(decision.disagreement)
    write(decision.recommendation, "bold")
    for reason in decision.reasons.values():
        summary, details = first_sentence(reason)
        write(paragraph(summary, details) if wide else summary)
    if decision.changes:
        write("What would change it:")
    for change in decision.changes:
        item = fill(
            printable(change),
            line_width(),
            initial_indent="  - ",
            subsequent_indent="    ",
            break_on_hyphens=False,
        )
        say(item)


def _say_tables(findings: Findings, *, wide: bool) -> None:
    """Print what each strategy does on its own trigger, then what all tell at the same size."""
    run = findings.tables
    rows = table_rows(findings)
    columns = own_columns(run, rows)
    if wide:
        columns |= FURTHER_COLUMNS
    names = [HALVES[half] for half in halves(run)]
    where = "on its own trigger"
    if "recorded" in columns.values():
        where += " and where the agent compacted"
    if findings.wider_windows:
        where += f" ({findings.wider_windows})"
    room = None if wide else WIDTH
    write(f"{joined(names).capitalize()} {where}:")
    say()
    order = findings.likeliest_first
    rows.sort(key=lambda row: order.index(str(row["strategy"])))
    say(table(rows, columns, room=room))
    if not run.shares:
        return
    columns = same_size_columns(run, rows)
    if wide:
        columns |= {**size_columns(run), "bound": "recall_bound:percent"}
    say(f"\n{joined(names).capitalize()} at the same size:")
    if findings.same_size:
        write(findings.same_size)
    if wide and findings.each_size:
        write(findings.each_size)
    contexts = []
    for row in rows:
        if row["strategy"] != RECORDED:
            contexts.append(row)
    say("\n" + table(contexts, columns, room=room))


def _say_own_metrics(findings: Findings) -> None:
    """Print what each strategy has in metrics that are not built in, if there are any."""
    columns = {
        "strategy": "strategy",
        "metric": "metric",
        "own trigger": "figure",
        "sessions": "sessions:count",
        "same size": "figure_same_size",
        "sessions there": "sessions_same_size:count",
    }
    rows = own_metric_rows(findings)
    if not rows:
        return
    if not findings.tables.shares:
        del columns["same size"], columns["sessions there"]
    say("\nYour metrics, means over projects:\n")
    say(table(rows, columns, room=WIDTH))
    sentences: list[str] = []
    for row in rows:
        sentence = f"{row['metric']}, where it has no value: {row['why']}."
        if row["why"] and sentence not in sentences:
            sentences.append(sentence)
    for sentence in sentences:
        write(sentence)


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


def show_sizes(findings: Findings) -> None:
    """Print the leading number of each strategy at each size, and what it kept there, if there
    are any.
    """
    run = findings.tables
    if not run.shares:
        return
    columns = {"strategy": "strategy", **size_columns(run)}
    if len(findings.figures.against_baseline):
        columns[f"vs {run.baseline}"] = "against"
    columns["bound"] = "recall_bound:percent"
    half = HALVES[run.first_half].capitalize()
    say(f"\n{half}, the same history cut to these sizes; in brackets the size kept:\n")
    figures = dict(columns)
    figures.pop(f"vs {run.baseline}", None)  # the baseline has none
    rows, notes_on_rows = without_twins(table_rows(findings), figures)
    say(table(rows, columns, room=WIDTH))
    for text in notes_on_rows:
        write(text)
    if findings.each_size:
        write(findings.each_size)
