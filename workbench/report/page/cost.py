"""What each strategy costs: the bill by part, recall and its calls, and how well reported usage
is reproduced.
"""

from collections.abc import Mapping

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
    ("compactions", "compaction", "compactions"), ("clearings", "clearing", "clearings"),
    ("shrunk", "unrecorded cut", "unrecorded cuts"), ("grown", "unrecorded addition", "unrecorded additions"),
    ("unseen_start", "", ""), ("left_out", "answer left out", "answers left out"),
)  # fmt: skip
"""What changes a recorded context other than new messages: column, and its word for one and for
several.
"""


def costs_html(findings: Findings) -> Html:
    """The bill of each strategy, cheapest first."""
    run = findings.tables
    if run.costs.empty:
        return empty("No session has a bill: nothing was replayed request by request.")
    sessions = run.costs.drop_duplicates("session")
    prices = sentences(
        "prices",
        rows=sessions.drop_duplicates(["row", "cache"]).to_dict("records"),
        litellm=run.manifest.get("packages", {}).get("litellm"),
        reasons=sessions.loc[sessions["why"] != "", "why"].value_counts().to_dict(),
    )
    return part(
        "costs",
        findings.figures.bills,
        sessions=len(sessions),
        prices=" ".join(prices),
        assumed=bool(run.costs["assumed_summaries"].sum()),
    )


def reconciled_html(findings: Findings) -> Html:
    """How well the replay without compaction reproduces the usage that providers reported,
    session by session.
    """
    run = findings.tables
    rows = run.reconciliation[run.reconciliation["requests"] > 0].sort_values(
        "prompt_error", ascending=False
    )
    rows = rows.sort_values("bill_error", key=abs, ascending=False, kind="stable")
    if rows.empty:
        return empty("No recording reports the usage of its requests, so the bill is not checked.")
    medians = 100 * rows[["prompt_error", "usd_error"]].median()
    note = " ".join(
        sentences(
            "reconciled",
            checked=len(rows),
            silent=len(run.reconciliation) - len(rows),
            medians=medians.to_dict(),
            good=int((rows["prompt_error"] <= 0.02).sum()),
            bills=_bills(rows),
        )
    )
    far, titles = int((rows["bill_error"].abs() > FAR).sum()), session_titles(run)
    lines = [
        session
        | {
            "title": titles.get(session["session"], session["session"]),
            "followed": _followed(session),
            "because": _because(session),
        }
        for session in rows.head(max(SHOWN, far)).to_dict("records")
    ]
    return part("reconciled", rows, note, rows=lines, note=note)


def _bills(rows: pd.DataFrame) -> dict[str, float]:
    """How far the bills of whole sessions are off, and what the provider's cache has of it, in
    per cent.
    """
    reported = rows["usd_reported"]
    unexplained = (rows["usd"] + rows["usd_missed"] - rows["usd_found"]) / reported - 1
    sums = {
        name: 100 * rows[name].sum() / reported.sum() for name in ("usd", "usd_missed", "usd_found")
    }
    return {
        "median": 100 * rows["bill_error"].abs().median(),
        "rest": 100 * unexplained.abs().median(),
        "bias": sums["usd"] - 100,
        "missed": sums["usd_missed"],
        "found": sums["usd_found"],
    }


def _because(session: Mapping[str, object]) -> str:
    """Why a bill is off, as shares of the reported one, with what it lacks and whose prices it
    has.
    """
    answer_count = int(str(session["left_out"]))
    lacks = (
        f"{some(answer_count, 'answer')} without a report or by another model in neither bill"
        if answer_count
        else ""
    )
    return "; ".join(filter(None, (str(session["reasons"]), lacks, str(session["why"]))))


def _followed(session: Mapping[str, int]) -> str:
    """What changed the context other than new messages, and what was left out."""
    changes = [
        (int(session[column]), word, many) for column, word, many in CHANGES if session[column] > 0
    ]
    return joined([some(*named) if named[1] else "a start in another file" for named in changes])


def paging_html(findings: Findings) -> Html:
    """The strategies with recall; nothing where there is none."""
    rows = findings.figures.within_reach
    return empty(data=rows) if rows.empty else part("paging", rows)
