"""What became of the user's rules: a small table a session, each figure with the rules behind it."""

from __future__ import annotations

from typing import Any

import pandas as pd

from workbench.evaluation.analysis.table_rows import rows_with
from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.summaries import session_titles
from workbench.report.page.html import Html, empty, part

MOST_ROWS = 60
OUTCOMES = (
    "word for word",
    "other words",
    "unsure",
    "contradicted",
    "lost",
)
SHOWN_OF_CHANGED = [
    "outcome",
    "rule",
    "evidence",
    "reason",
]
"""Columns that are shown of a rule that is not kept as it was."""


def rules_html(findings: Findings) -> Html:
    """What each strategy left of the user's rules at its last compaction of each session."""
    run = findings.tables
    rules = rows_with(run.rules, mode="natural")
    if rules.empty:
        return empty("The user set no rule before a compaction, or nothing was compacted.", rules)
    compactions = rules.groupby(["session", "strategy"])
    last_numbers = compactions["number"].transform("max")
    is_last = rules["number"] == last_numbers
    replays = rules[is_last].groupby(["session", "strategy"], sort=False)
    titles = session_titles(run)
    rows = []
    for (session, strategy), group in replays:
        title = titles.get(str(session), str(session))
        rows.append(_row(title, str(strategy), group))
    rows.sort(key=_gravity, reverse=True)
    table = pd.DataFrame(rows)
    data = table.drop(columns="changed")
    return part(
        "rules",
        data,
        rows=rows[:MOST_ROWS],
        count=len(rows),
        outcomes=OUTCOMES,
        known=run.strategies,
    )


def _gravity(row: dict[str, Any]) -> tuple[int, int]:
    """What stands first: what contradicts most, then what loses most."""
    return row["contradicted"], row["lost"]


def _row(title: str, strategy: str, rules: pd.DataFrame) -> dict[str, Any]:
    """How many rules came to each end in a session, and those that are not kept as they were."""
    counts = rules["outcome"].value_counts()
    is_changed = rules["outcome"] != "word for word"
    changed = rules.loc[is_changed, SHOWN_OF_CHANGED]
    row: dict[str, Any] = {
        "title": title,
        "strategy": strategy,
        "changed": changed.to_dict("records"),
    }
    for outcome in OUTCOMES:
        row[outcome] = int(counts.get(outcome, 0))
    return row
