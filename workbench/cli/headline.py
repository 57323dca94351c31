"""A run's main figures, as the command line prints them."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill

from workbench.cli.output import printable, records, say, table
from workbench.experiment.store import Results
from workbench.formats import decimal
from workbench.report.comparison import differences
from workbench.report.tables import (
    Tables,
    cost_a_session,
    equal_size,
    net_saving,
    over_target,
    over_window,
    own_trigger,
    shares,
)  # fmt: skip
from workbench.report.tables import baseline as chosen_baseline
from workbench.report.verdict import over_sessions, verdict

METRICS = (
    "recall", "tokens_saved", "peak_context", "over_window", "compactions", "prefix_reuse", "violations",
)  # fmt: skip
"""Of the headline, under each strategy's own trigger."""
COLUMNS = {
    "tokens saved": "tokens_saved:percent", "cost": "cost:dollars", "cost saved": "cost_saved:percent",
    "peak tokens": "peak_context:count", "compactions": "compactions:count",
}  # fmt: skip
WORDS = {"better": "better", "worse": "worse", "undecided": "may be chance"}


def headline(results: Results) -> list[dict[str, float | str | None]]:
    """A row a strategy: means of the main metrics; None where no session has the metric."""
    run, found = Tables.of(results), []
    for name in map(str, dict.fromkeys(results.replays["strategy"])):
        means = {metric: own_trigger(run, name, metric) for metric in METRICS}
        means |= {"cost_saved": net_saving(run, name)}
        means |= {f"recall_at_{share:g}": equal_size(run, name, share) for share in shares(run)}
        numbers = {metric: None if mean is None else mean.mean for metric, mean in means.items()}
        found.append({"strategy": name, "cost": cost_a_session(run, name), **numbers})
    return found


def against(results: Results, baseline: str = "") -> tuple[str | None, list[dict[str, object]], str]:
    """The baseline, every strategy against it on the same sessions, and what the run says in words."""
    run = Tables.of(results, baseline)
    return chosen_baseline(run), records(differences(run)), str(verdict(run))


def outcome(results: Results, no_report: bool, baseline: str) -> dict[str, object]:
    """The run as JSON."""
    base, rows, words = against(results, baseline)
    sessions = results.sessions
    return {
        "run": str(results.path),
        "report": None if no_report else str(results.report),
        "sessions": int((sessions["status"] == "ok").sum()),
        "unreadable": records(sessions.loc[sessions["status"] != "ok", ["path", "reason"]]),
        "failed_replays": results.failed,
        "verdict": words,
        "baseline": base,
        "against_baseline": rows,
        "strategies": headline(results),
    }


def show(results: Results, no_report: bool, baseline: str) -> None:
    """Print the run's table, its verdict and where its report is."""
    run = Tables.of(results)
    large, over = over_target(run), over_window(run)
    base, differences, words = against(results, baseline)
    apart = {str(row["strategy"]): row for row in differences if not row["reference"]}
    found = headline(results)
    budgets = [name for name in found[0] if name.startswith("recall_at_")]
    columns = {"strategy": "strategy", "still knows": "recall"}
    columns |= {f"still knows at {float(name.removeprefix('recall_at_')):.0%}": name for name in budgets}
    columns |= {f"against {base}": "against"} if apart else {}
    rows = []
    for row in found:
        name = str(row["strategy"])
        marked = {"recall": _recall(row["recall"]) + "!" * (name in over)}
        marked |= {budget: _recall(row[budget]) + "*" * (name in large) for budget in budgets}
        rows.append({**row, **marked, "against": _difference(apart.get(name))})
    say(f"{table(rows, columns | COLUMNS)}\n")
    say(f"Means over {over_sessions(run)}. Still knows: share of what is needed later that the context still holds,")
    say("with its context words; `still knows at N %` compares all strategies at the same size. Higher is better.")
    if large:
        where = _sessions(large)
        say(f"* stays larger than that size ({where} sessions); the figures leave out sessions in which one does.")
    if over:
        where = _sessions(over)
        say(f"! sends requests larger than the window ({where} sessions), which no provider would have taken.")
    priced = [str(row) for row in results.costs["row"].unique()]
    whose = f"at the prices of {priced[0]}" if len(priced) == 1 else f"at the prices of {len(priced)} models"
    say(f"Cost: USD a session, {whose}, with summaries and fetching again what was lost; cost saved: of the bill")
    say("of all sessions without compaction, below 0 where it costs more.\n")
    say(fill(printable(words).replace(" %", "\0%"), width=100).replace("\0", " "))
    say(f"\nTables: {results.path}" if no_report else f"\nReport: {results.report}")


def _recall(value: object) -> str:
    return decimal(value if isinstance(value, float) else None)


def _sessions(found: Mapping[str, tuple[int, int]]) -> str:
    return ", ".join(f"{name} in {n} of {every}" for name, (n, every) in found.items())


def _difference(row: Mapping[str, object] | None) -> str:
    """A difference of shares with what the test over all strategies says of it."""
    if row is None or not isinstance(row["difference"], float):
        return decimal(None)
    return f"{row['difference']:+.2f} {WORDS.get(str(row['verdict']), 'too few')}"
