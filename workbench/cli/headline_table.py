"""The headline table of the terminal: its figures, and its cells and columns as they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.base.formats import NOTHING, OF_UNIT, gap, interval, missing, percent, points
from workbench.cli.output import records
from workbench.evaluation.analysis.paired import interval_columns
from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.figures import LEVELS, StrategyFigures, mean_of
from workbench.evaluation.findings.run_tables import SAVED
from workbench.evaluation.findings.summaries import RECORDED
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.metrics import CODE, NAMES, WORK

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
"""Heads of the numbers."""
FURTHER_COLUMNS = {
    "tokens\nsaved": "tokens_saved:percent", "cost": "cost:dollars",
    "bill saved\n(95 % interval)": "saved_interval", "compactions": "compactions:count",
    "largest\nrequest": "peak_context:amount", "from\ncache": "prefix_reuse:percent",
    "unsupported": "fabrication:percent",
}  # fmt: skip
"""Further columns of `--wide` on the strategies' own triggers."""
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


def halves(run: Tables) -> list[str]:
    """The numbers of the headline that the run has, the leading one first."""
    return sorted(run.halves, key=lambda half: half != run.first_half)


def own_columns(run: Tables, rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The columns of what each strategy does on its own trigger, by their heads."""
    columns = {"strategy": "strategy"}
    for half in halves(run):
        columns[COLUMN[half]] = f"own_{half}"
        if not run.shares and half == run.first_half:
            columns |= _against_column(run, rows)
    columns["bill\nsaved"] = "saved"
    if any("likely" in row for row in rows):
        columns["as good\nas the best"] = "likely"
    if any("recorded" in row for row in rows):
        columns["where agent\ncompacted"] = "recorded"
    return columns


def same_size_columns(run: Tables, rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The columns of what each strategy tells at the same size, by their heads."""
    columns = {"strategy": "strategy"}
    for half in halves(run):
        columns[COLUMN[half]] = f"same_{half}"
        if half == run.first_half:
            columns |= _against_column(run, rows)
    return columns


def _against_column(run: Tables, rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The column of differences from the baseline, where there are any."""
    if not any("against" in row for row in rows):
        return {}
    return {f"vs {run.baseline}": "against"}


def size_columns(run: Tables) -> dict[str, str]:
    """A column for each size that the history was cut to."""
    return {f"{percent(share)}\n(kept)": f"at_{share:g}" for share in run.shares}


def table_rows(findings: Findings) -> list[dict[str, Any]]:
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
    chances = findings.chances
    rows = []
    for row in headline(findings):
        name = str(row["strategy"])
        larger = "*" if name in over_target else ""
        refused = "!" if name in over_window else ""
        cells = row | _shown_figures(findings, row, larger, refused)
        if name in chances:
            cells["likely"] = chances[name]
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


def own_metric_rows(findings: Findings) -> list[dict[str, Any]]:
    """The rows of the table of metrics that are not built in, each figure as it is shown."""
    over_target = findings.tables.over_target()
    rows = []
    for row in records(findings.figures.own_metrics):
        show = OF_UNIT[str(row["unit"])]
        larger = "*" if row["strategy"] in over_target else ""
        figure = show(row["mean"])
        if not missing(row["low"]):
            low = show(row["low"])
            high = show(row["high"])
            figure += f" ({low} to {high})"
        figures = {
            "figure": figure,
            "figure_same_size": show(row["same_size"]) + larger,
        }
        rows.append(row | figures)
    return rows


def _shown_figures(
    findings: Findings, row: Mapping[str, Any], larger: str, refused: str
) -> dict[str, str]:
    """The figures of a strategy as they are shown.

    Args:
        findings: of the run.
        row: the figures.
        larger: mark of a strategy that cannot be cut to the same size.
        refused: mark of a strategy that sends requests larger than the window.
    """
    name = str(row["strategy"])
    run = findings.tables
    marked = findings.recommended or next(iter(run.contenders), "")
    style = "bold" if name == marked else ""
    cells = {
        f"same_{WORK}": _with_interval(row, "work") + larger,
        f"same_{NAMES}": _with_interval(row, "names") + larger,
        f"same_{CODE}": percent(row["code"]) + larger,
        f"own_{WORK}": _with_interval(row, "work_own") + refused,
        f"own_{NAMES}": _with_interval(row, "names_own") + refused,
        f"own_{CODE}": percent(row["code_own"]) + refused,
        "saved": percent(row["cost_saved"]) + refused,
        "saved_interval": _with_interval(row, "cost_saved"),
        "style": OF_ROW.get(name, style),
    }
    for share in run.shares:
        cells[f"at_{share:g}"] = _at(row, share)
    return cells


def _with_interval(row: Mapping[str, Any], name: str) -> str:
    """A share with its interval over projects, where there is one: `15 % (5 to 24)`."""
    mean, low, high = row[name], row[f"{name}_low"], row[f"{name}_high"]
    if missing(low):
        return percent(mean)
    return f"{percent(mean)} ({points(low)} to {points(high)})"


def _at(row: Mapping[str, Any], share: float) -> str:
    """Recall where the history was cut to a share, and in brackets the share kept where that is
    another.
    """
    recall, used = row[f"recall_at_{share:g}"], row[f"used_at_{share:g}"]
    if missing(used) or points(used) == points(share):
        return percent(recall)
    return f"{percent(recall)} ({points(used)})"


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


def has_figures(findings: Findings) -> bool:
    """Whether a strategy has any number of the headline."""
    run = findings.tables
    for name in run.contenders:
        strategy = findings.figures.strategies[name]
        for half in run.halves:
            if strategy.own_trigger[half] is not None or strategy.same_size[half] is not None:
                return True
    return False
