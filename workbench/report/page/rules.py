"""What became of the user's rules: a small table a session, each figure with the rules behind it."""

from __future__ import annotations

from typing import Any

import pandas as pd

from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.summaries import session_titles
from workbench.report.page.html import Html, empty, part

MOST_ROWS = 60
OUTCOMES = ("word for word", "other words", "unsure", "contradicted", "lost")


def rules_html(findings: Findings) -> Html:
    """What each strategy left of the user's rules at its last compaction of each session."""
    run = findings.tables
    rules = run.rules
    rules = rules[rules["mode"] == "natural"]
    if rules.empty:
        return empty("The user set no rule before a compaction, or nothing was compacted.", rules)
    last_numbers = rules.groupby(["session", "strategy"])["number"].transform("max")
    rules = rules[rules["number"] == last_numbers]
    titles = session_titles(run)
    rows = []
    groups = rules.groupby(["session", "strategy"], sort=False)
    for (session, strategy), group in groups:
        title = titles.get(str(session), str(session))
        rows.append(_row(title, str(strategy), group))
    rows.sort(key=_gravity, reverse=True)
    data = pd.DataFrame(rows).drop(columns="changed")
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
    changed = rules[rules["outcome"] != "word for word"]
    row: dict[str, Any] = {"title": title, "strategy": strategy}
    for outcome in OUTCOMES:
        row[outcome] = int(counts.get(outcome, 0))
    row["changed"] = changed[["outcome", "rule", "evidence", "reason"]].to_dict("records")
    return row
