"""The headline table of the terminal: its figures, and its cells and columns as they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.base.formats import NOTHING, gap, interval, missing, percent, points
from workbench.cli.output import records
from workbench.evaluation.analysis.paired import interval_columns
from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.figures import LEVELS, StrategyFigures, mean_of
from workbench.evaluation.findings.summaries import RECORDED
from workbench.evaluation.findings.tables import SAVED, Tables
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
"""Heads of the numbers at the same size."""
OWN_COLUMN = {WORK: "work,\nown", NAMES: "names,\nown", CODE: "code,\nown"}
"""Heads of the same on a strategy's own trigger."""
FURTHER_COLUMNS = {
    "bound": "recall_bound:percent", "tokens\nsaved": "tokens_saved:percent", "cost": "cost:dollars",
    "cost saved\n(95 % interval)": "saved_interval", "compactions": "compactions:count",
    "largest\nrequest": "peak_context:amount", "from\ncache": "prefix_reuse:percent",
    "unsupported": "fabrication:percent",
}  # fmt: skip
"""Further columns of `--wide`, with those of the sizes."""
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


def few_columns(run: Tables, rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The columns that everybody sees, by their heads; `--wide` shows all."""
    columns = {"strategy": "strategy"}
    compared = any("against" in row for row in rows)
    for half in halves(run):
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
    return {OWN_COLUMN[half]: f"own_{half}" for half in halves(run)}


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
        larger: mark of a strategy that cannot be cut to the same size.
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
