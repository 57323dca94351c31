"""A gate's verdicts for others to read: as JSON, as JUnit for a build server, as Markdown for a pull request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from xml.etree import ElementTree

from workbench.analysis.gate import Gate, GateResult, outcome

COLUMNS = ("strategy", "against", "outcome", "sessions", "baseline", "run", "difference", "95 % interval", "why")


def as_json(verdicts: Sequence[GateResult], asked: Gate) -> dict[str, object]:
    """Verdicts as plain JSON: `outcome` of all, what was `asked`, and one of `verdicts` a strategy."""
    return {"outcome": outcome(verdicts), "asked": asdict(asked), "verdicts": [asdict(one) for one in verdicts]}


def as_junit(verdicts: Sequence[GateResult], asked: Gate) -> str:
    """One test case a strategy; an undecided one is an error, so that no build takes it for passed."""
    count = {kind: sum(one.outcome == kind for one in verdicts) for kind in ("failed", "undecided")}
    suite = ElementTree.Element(
        "testsuite", name="workbench gate", tests=str(len(verdicts)),
        failures=str(count["failed"]), errors=str(count["undecided"]),
    )  # fmt: skip
    for one in verdicts:
        case = ElementTree.SubElement(suite, "testcase", classname=f"gate.{asked.metric}", name=one.strategy)
        if one.outcome != "passed":
            kind = "failure" if one.outcome == "failed" else "error"
            ElementTree.SubElement(case, kind, message=_xml(one.why)).text = _xml(_figures(one))
        else:
            ElementTree.SubElement(case, "system-out").text = _xml(f"{one.why}\n{_figures(one)}")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"


def as_markdown(verdicts: Sequence[GateResult], asked: Gate) -> str:
    """A heading with the outcome and a table of the strategies."""
    where = asked.mode + (f", budget {asked.share:.0%}" if asked.share is not None else "")
    lines = [
        f"### Gate on `{asked.metric}`: {outcome(verdicts)}",
        "",
        f"Margin {asked.margin:g}; {where}; {'each session by itself' if asked.each else 'mean over sessions'}.",
        "",
        f"| {' | '.join(COLUMNS)} |",
        "|---|---|---|---:|---:|---:|---:|---:|---|",
        *(f"| {' | '.join(map(_cell, row.values()))} |" for row in rows(verdicts)),
    ]
    return "\n".join(lines) + "\n"


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


def _figures(one: GateResult) -> str:
    return (
        f"{one.strategy} against {one.against}: run {number(one.mean)}, baseline {number(one.baseline)}, difference "
        f"{number(one.difference, '+')} over {one.sessions} sessions; worst {one.worst} "
        f"{number(one.worst_difference, '+')}"
    )


def _cell(text: str) -> str:
    """Text that cannot end its cell, nor be taken for markup."""
    plain = "".join(char if char.isprintable() else " " for char in text)
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")


def _xml(text: str) -> str:
    """Text without the characters that no XML may hold."""
    return "".join(char if char.isprintable() or char == "\n" else " " for char in text)
