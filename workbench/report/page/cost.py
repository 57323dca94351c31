"""What each strategy costs: the bill by part, recall and its calls, and how well reported usage
is reproduced.
"""

from collections.abc import Hashable, Mapping

import pandas as pd

from workbench.base.formats import joined, some
from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.summaries import session_titles
from workbench.evaluation.findings.wording import sentences
from workbench.report.page.html import Html, empty, part

SHOWN = 40
"""Sessions in the table of reported usage, the worst predicted first."""
FAR = 0.03
"""The error of a whole bill from which its session is listed in any case, with its reasons."""
CHANGES = (
    ("compactions", "compaction", "compactions"),
    ("clearings", "clearing", "clearings"),
    ("shrunk", "unrecorded cut", "unrecorded cuts"),
    ("grown", "unrecorded addition", "unrecorded additions"),
    ("unseen_start", "", ""),
    ("left_out", "answer left out", "answers left out"),
)
"""What changes a recorded context other than new messages: column, and its word for one and for
several.
"""


def costs_html(findings: Findings) -> Html:
    """The bill of each strategy, cheapest first."""
    run = findings.tables
    if run.costs.empty:
        return empty("No session has a bill: nothing was replayed request by request.")
    sessions = run.costs.drop_duplicates("session")
    reasons = sessions.loc[sessions["why"] != "", "why"].value_counts()
    prices = sentences(
        "prices",
        rows=sessions.drop_duplicates(["row", "cache"]).to_dict("records"),
        litellm=run.manifest.get("packages", {}).get("litellm"),
        reasons=reasons.to_dict(),
    )
    return part(
        "costs",
        findings.figures.bills,
        known=run.strategies,
        sessions=len(sessions),
        simulated=run.simulated is not None,
        prices=" ".join(prices),
        assumed=bool(run.costs["assumed_summaries"].sum()),
    )


def reconciled_html(findings: Findings) -> Html:
    """How well the replay without compaction reproduces the usage that providers reported,
    session by session.
    """
    run = findings.tables
    rows = run.reconciliation[run.reconciliation["requests"] > 0]
    rows = rows.sort_values("prompt_error", ascending=False)
    rows = rows.sort_values("bill_error", key=abs, ascending=False, kind="stable")
    if rows.empty:
        return empty("No recording reports the usage of its requests, so the bill is not checked.")
    medians = 100 * rows[["prompt_error", "usd_error"]].median()
    is_good = rows["prompt_error"] <= 0.02
    checks = sentences(
        "reconciled",
        checked=len(rows),
        silent=len(run.reconciliation) - len(rows),
        medians=medians.to_dict(),
        good=int(is_good.sum()),
        bills=_bills(rows),
    )
    note = " ".join(checks)
    is_far = rows["bill_error"].abs() > FAR
    far_count = int(is_far.sum())
    titles = session_titles(run)
    lines = []
    for session in rows.head(max(SHOWN, far_count)).to_dict("records"):
        line = {
            **session,
            "title": titles.get(session["session"], session["session"]),
            "followed": _followed(session),
            "because": _because(session),
        }
        lines.append(line)
    return part("reconciled", rows, note, rows=lines, note=note)


def _bills(rows: pd.DataFrame) -> dict[str, float]:
    """How far the bills of whole sessions are off, and what the provider's cache has of it, in
    per cent.
    """
    reported = rows["usd_reported"]
    total = reported.sum()
    explained = rows["usd"] + rows["usd_missed"] - rows["usd_found"]
    unexplained = explained / reported - 1
    return {
        "median": 100 * rows["bill_error"].abs().median(),
        "rest": 100 * unexplained.abs().median(),
        "bias": 100 * rows["usd"].sum() / total - 100,
        "missed": 100 * rows["usd_missed"].sum() / total,
        "found": 100 * rows["usd_found"].sum() / total,
    }


def _because(session: Mapping[Hashable, object]) -> str:
    """Why a bill is off, as shares of the reported one, with what it lacks and whose prices it
    has.
    """
    reasons = [str(session["reasons"])]
    answer_count = int(str(session["left_out"]))
    if answer_count:
        answers = some(answer_count, "answer")
        reasons.append(f"{answers} without a report or by another model in neither bill")
    reasons.append(str(session["why"]))
    return "; ".join(filter(None, reasons))


def _followed(session: Mapping[Hashable, int]) -> str:
    """What changed the context other than new messages, and what was left out."""
    changes = []
    for column, singular, plural in CHANGES:
        count = int(session[column])
        if count <= 0:
            continue
        if singular:
            changes.append(some(count, singular, plural))
        else:
            changes.append("a start in another file")
    return joined(changes)


def paging_html(findings: Findings) -> Html:
    """The strategies with recall; nothing where there is none."""
    rows = findings.figures.within_reach
    if rows.empty:
        return empty(data=rows)
    return part("paging", rows, known=findings.tables.strategies)
