"""A gate's verdicts for others to read: as JSON, as JUnit for a build server, as Markdown for a pull request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from workbench.analysis.gate import Gate, GateResult, outcome
from workbench.markup import render

COLUMNS = ("strategy", "against", "outcome", "sessions", "baseline", "run", "difference", "95 % interval", "why")


def as_json(verdicts: Sequence[GateResult], asked: Gate) -> dict[str, object]:
    """Verdicts as plain JSON: `outcome` of all, what was `asked`, and one of `verdicts` a strategy."""
    return {"outcome": outcome(verdicts), "asked": asdict(asked), "verdicts": [asdict(one) for one in verdicts]}


def as_junit(verdicts: Sequence[GateResult], asked: Gate) -> str:
    """One test case a strategy; an undecided one is an error, so that no build takes it for passed."""
    return render("gate/junit.xml", verdicts=verdicts, asked=asked, figures=number)


def as_markdown(verdicts: Sequence[GateResult], asked: Gate) -> str:
    """A heading with the outcome and a table of the strategies."""
    lines = [[_cell(text) for text in row.values()] for row in rows(verdicts)]
    return render("gate/summary.txt", outcome=outcome(verdicts), asked=asked, columns=COLUMNS, rows=lines)


def rows(verdicts: Sequence[GateResult]) -> list[dict[str, str]]:
    """A row a strategy, in words: the columns are `COLUMNS`."""
    cells = (
        (
            one.strategy, one.against, one.outcome, str(one.sessions), number(one.baseline), number(one.mean),
            number(one.difference, "+"),
            "-" if one.low is None else f"{number(one.low, '+')} to {number(one.high, '+')}", one.why,
        )
        for one in verdicts
    )  # fmt: skip
    return [dict(zip(COLUMNS, row, strict=True)) for row in cells]


def number(value: float | None, sign: str = "") -> str:
    """A value with digits that make sense for its size; a dash where there is none."""
    if value is None:
        return "-"
    return f"{value:{sign},.0f}" if abs(value) >= 100 else f"{value:{sign}.3f}"


def _cell(text: str) -> str:
    """Text that cannot end its cell, nor be taken for markup."""
    return " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")
