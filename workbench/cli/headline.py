"""A run's main figures, as the command line prints them."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill

from workbench.cli.output import count, number, percent, printable, say, share, table
from workbench.experiment.store import Results
from workbench.formats import dollars
from workbench.report.comparison import differences
from workbench.report.tables import Tables, over_target, over_window, values
from workbench.report.tables import baseline as chosen_baseline
from workbench.report.verdict import verdict

METRICS = (
    "recall", "tokens_saved", "peak_context", "over_window", "compactions", "prefix_reuse", "violations", "cost",
    "net_saving", "cost_saved",
)  # fmt: skip
"""Of the headline, under each strategy's own trigger."""


def headline(results: Results) -> list[dict[str, float | str | None]]:
    """A row a strategy: means over the sessions of the main metrics; None where no session has the metric."""
    scores, run = results.scores, Tables.of(results)
    found = []
    budgets = sorted(scores["share"].dropna().unique())
    for name in dict.fromkeys(results.replays["strategy"]):
        own = scores[scores["strategy"] == name]
        natural = own[own["mode"] == "natural"]
        row: dict[str, float | str | None] = {"strategy": str(name)}
        for metric in METRICS:
            found_of = natural[natural["metric"] == metric]["value"].dropna()
            row[metric] = float(found_of.mean()) if len(found_of) else None
        for budget in budgets:
            at = values(run, "recall", str(name), "matched", budget)
            row[f"recall_at_{budget:g}"] = float(at.mean()) if len(at) else None
        found.append(row)
    return found


def against(results: Results, baseline: str = "") -> tuple[str | None, list[dict[str, object]], str]:
    """The baseline, every strategy against it on the same sessions, and what the run says in words."""
    run = Tables.of(results, baseline)
    rows = differences(run).to_dict("records")
    plain = [{str(column): None if value != value else value for column, value in row.items()} for row in rows]
    return chosen_baseline(run), plain, str(verdict(run))


def outcome(results: Results, no_report: bool, baseline: str) -> dict[str, object]:
    """The run as JSON."""
    base, rows, told = against(results, baseline)
    return {
        "run": str(results.path),
        "report": None if no_report else str(results.report),
        "sessions": int((results.sessions["status"] == "ok").sum()),
        "unreadable": [
            {"path": str(row.path), "reason": str(row.reason)}
            for row in results.sessions[results.sessions["status"] != "ok"].itertuples()
        ],
        "failed_replays": results.failed,
        "verdict": told,
        "baseline": base,
        "against_baseline": rows,
        "strategies": headline(results),
    }


def _each_of(found: Mapping[str, tuple[int, int]]) -> str:
    return ", ".join(f"{name} in {n} of {every}" for name, (n, every) in found.items())


def show(results: Results, no_report: bool, baseline: str) -> None:
    """Print the run's table, its verdict and where its report is."""
    rows = headline(results)
    run = Tables.of(results)
    large, over = over_target(run), over_window(run)
    base, differences, told = against(results, baseline)
    apart = {str(row["strategy"]): row for row in differences if not row["reference"]}
    shown = []
    for row in rows:
        too_large = "!" if str(row["strategy"]) in over else ""
        line = {"strategy": str(row["strategy"]), "still knows": share(number(row["recall"])) + too_large}
        for name in row:
            if name.startswith("recall_at_"):
                mark = "*" if str(row["strategy"]) in large else ""
                line[f"still knows at {float(name.removeprefix('recall_at_')):.0%}"] = share(number(row[name])) + mark
        if apart:
            line[f"against {base}"] = _apart(apart.get(str(row["strategy"])))
        line["tokens saved"] = percent(number(row["tokens_saved"]))
        line["cost"] = dollars(number(row["cost"]))
        line["cost saved"] = percent(number(row["cost_saved"]))
        line["peak tokens"] = count(number(row["peak_context"]))
        line["compactions"] = f"{number(row['compactions']) or 0:.1f}"
        shown.append(line)
    n = int((results.sessions["status"] == "ok").sum())
    say(table(shown, left=["strategy"]))
    say()
    say(
        f"Means over {n} session{'s' * (n != 1)}. Still knows: share of what is needed later that the context still"
        " holds, with its context"
    )
    say("words; `still knows at N %` compares all strategies at the same size. Higher is better.")
    if large:
        told_of = _each_of(large)
        say(f"* stays larger than that size ({told_of} sessions); the figures leave out sessions in which one does.")
    if over:
        say(f"! sends requests larger than the window ({_each_of(over)} sessions), which no provider would have taken.")
    say(f"Cost: USD a session, {_whose(results)}; cost saved: after summaries and fetching again what was lost.")
    say()
    say(fill(printable(told).replace(" %", "\0%"), width=100).replace("\0", " "))
    say()
    say(f"Tables: {results.path}" if no_report else f"Report: {results.report}")


def _whose(results: Results) -> str:
    """Whose prices the money is reckoned with."""
    rows = [str(row) for row in results.costs["row"].unique()]
    return f"at the prices of {rows[0]}" if len(rows) == 1 else f"at the prices of {len(rows)} models"


def _apart(row: Mapping[str, object] | None) -> str:
    """A difference of shares with what the test over all strategies says of it."""
    if row is None or not isinstance(row["difference"], float):
        return "-"
    word = {"better": "better", "worse": "worse", "undecided": "may be chance"}.get(str(row["verdict"]), "too few")
    return f"{row['difference']:+.2f} {word}"
