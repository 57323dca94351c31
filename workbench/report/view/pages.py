"""The pages with tables: the list of runs, and one run with its sessions and losses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import pandas as pd

from workbench.base.formats import missing, some
from workbench.evaluation.analysis.advice_note import joined_answers
from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.summaries import replayed_contenders, worst_losses
from workbench.evaluation.metrics import HALVES
from workbench.report.page.losses import loss_key
from workbench.report.page.provenance import recorded_html
from workbench.report.page.verdict import headline_html, verdict_html
from workbench.report.view.contexts import SHARED, NotShown
from workbench.report.view.runs import RunEntry

MOST = 200
"""Messages or losses on one page."""
Query = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Page:
    """A template with its values, and as `rows` what it shows, for a download."""

    template: str
    title: str
    values: Mapping[str, Any]
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)


def path_of(run: str, *parts: str, **query: object) -> str:
    """The address of a page below the token."""
    return "/".join(quote(part, safe="") for part in ("runs", run, *parts)) + asking(**query)


def asking(**query: object) -> str:
    """The part of an address after its path; what is empty is left out."""
    return "?" + urlencode(
        {name: value for name, value in query.items() if not missing(value) and value != ""}
    )


def number(query: Query, name: str) -> int | None:
    """A whole number of an address; None where there is none.

    Raises:
        NotShown: it is no number.
    """
    text = query.get(name, "")
    if text and not text.isdecimal():
        raise NotShown(f"`{name}` is {text!r} in this address; it must be a whole number.")
    return int(text) if text else None


def runs_page(entries: Mapping[str, RunEntry], query: Query) -> Page:
    """All runs, newest first, with what each recommends; those that go on with how far they are."""
    rows = [_run_row(entry) for entry in entries.values()]
    search = query.get("q", "").lower()
    searched_columns = ("run", "answer", "because", "strategies")
    fitting = [
        row for row in rows if search in " ".join(row[name] for name in searched_columns).lower()
    ]
    return Page(
        "runs",
        "Runs",
        {"runs": fitting, "count": len(rows), "q": query.get("q", "")},
        pd.DataFrame(fitting),
    )


def _run_row(entry: RunEntry) -> dict[str, Any]:
    row = {
        "run": entry.name,
        "state": "finished",
        "sessions": None,
        "strategies": "",
        "created": None,
    }
    row |= {"answer": "", "because": ""}
    if not entry.finished:
        return row | {
            "state": "going on",
            "answer": f"{some(entry.replays, 'replay is', 'replays are')} done.",
        }
    try:
        findings = entry.findings()
        run = findings.tables
        created = run.manifest.get("created")
        answer, because = _answer(findings)
        return row | {
            "sessions": findings.counts.replayed.sessions,
            "strategies": ", ".join(replayed_contenders(run)),
            "answer": answer,
            "because": because,
            "created": pd.Timestamp(created, unit="s").isoformat() if created else None,
            "state": "shared copy" if run.manifest.get("shared") else "finished",
        }
    except Exception as error:  # noqa: BLE001 - a damaged run must not hide the others
        return row | {"state": "unreadable", "answer": f"{error}"}


def _answer(findings: Findings) -> tuple[str, str]:
    """What a run recommends, and why: that of an advice is its own."""
    if findings.advice:
        return joined_answers(findings.advice)
    decision = findings.decision
    if decision is None:
        return findings.verdict.answer, ""
    return decision.recommendation, " ".join(
        (decision.trade_off, decision.agent, decision.confidence)
    )


def run_page(entry: RunEntry, query: Query) -> Page:
    """One run: its verdict and headline table, its sessions, and its losses; filtered as the
    address says.
    """
    if not entry.finished:
        rows = entry.partial()
        return Page("going_on", entry.name, {"run": entry, "rows": rows.to_dict("records")}, rows)
    findings = entry.findings()
    run = findings.tables
    shared = bool(run.manifest.get("shared"))
    sessions, losses = (
        _sessions(findings),
        worst_losses(run, 10**9).to_dict("records") if not shared else [],
    )
    titles = {row["session"]: row["title"] for row in sessions}
    losses_of = asking(by=findings.recommended) + "#losses"
    filters = {name: query.get(name, "") for name in ("q", "by", "kind", "session")}
    text = filters["q"].lower()
    fitting_sessions = [
        row
        for row in sessions
        if text in f"{row['title']} {row['session']} {row['project']}".lower()
    ]
    lost = [
        {
            "loss": loss_key(loss["session"], loss["kind"], loss["entity"], int(loss["needed_at"])),
            "entity": loss["entity"],
            "kind": loss["kind"],
            "recoverable": loss["recoverable"],
            "said_at": int(loss["evidence_at"]),
            "needed_at": int(loss["needed_at"]),
            "session": loss["session"],
            "title": titles.get(loss["session"], loss["session"]),
            "by": [name for name, _, _ in loss["lost_by"]],
            "evidence": loss["evidence"],
        }
        for loss in losses
    ]

    def fits(row: Mapping[str, Any], without: str = "") -> bool:
        tests = {
            "q": text in f"{row['entity']} {row['evidence']} {row['title']}".lower(),
            "by": filters["by"] in row["by"],
            "kind": filters["kind"] == row["kind"],
            "session": filters["session"] == row["session"],
        }
        return all(ok or not filters[name] or name == without for name, ok in tests.items())

    fitting = [row for row in lost if fits(row)]
    counts = {
        "by": counted(name for row in lost if fits(row, "by") for name in row["by"]),
        "kind": counted(row["kind"] for row in lost if fits(row, "kind")),
        "session": counted(row["session"] for row in lost if fits(row, "session")),
    }
    values = {
        "run": entry,
        "shared": SHARED if shared else "",
        "half": HALVES[run.first_half],
        "verdict": verdict_html(findings, losses_of).html,
        "recorded": recorded_html(findings).html,
        "headline": headline_html(findings).html,
        "sessions": fitting_sessions,
        "all_sessions": len(sessions),
        "losses": fitting[:MOST],
        "fitting": len(fitting),
        "all_losses": len(lost),
        "wanted": filters,
        "counts": counts,
        "titles": titles,
        "known": run.strategies,
        "contenders": replayed_contenders(run),
        "unreadable": run.unreadable.to_dict("records"),
    }
    download = fitting_sessions if query.get("of") == "sessions" else fitting
    return Page("run", entry.name, values, pd.DataFrame(download))


def counted(names: Iterable[str]) -> dict[str, int]:
    """How often each name occurs, the most frequent first."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _sessions(findings: Findings) -> list[dict[str, Any]]:
    run, recall = findings.tables, findings.figures.by_session
    recall_of = {
        (score["session"], score["strategy"]): score["recall"]
        for score in recall.to_dict("records")
    }
    return [
        {
            "session": row["session"],
            "title": row["title"] or row["session"],
            "project": row["project"],
            "messages": row["messages"],
            "requests": row["requests"],
            "tokens": row["tokens"],
            **{name: recall_of.get((row["session"], name)) for name in replayed_contenders(run)},
        }
        for row in run.replayed.to_dict("records")
    ]


def loss_address(entry: RunEntry, key: str) -> str:
    """Where a loss of the run is shown: its session under who lost it and who kept it; empty if
    there is none.
    """
    run = entry.tables()
    for loss in worst_losses(run, 10**9).to_dict("records"):
        if loss_key(loss["session"], loss["kind"], loss["entity"], int(loss["needed_at"])) == key:
            losers = [name for name, _, _ in loss["lost_by"]]
            keeper = next((name for name in replayed_contenders(run) if name not in losers), "")
            place = {"mode": loss["mode"], "share": loss["share"], "at": int(loss["at"])}
            words = {
                "id": loss["session"],
                "left": losers[0],
                "right": keeper,
                **place,
                "loss": key,
            }
            return path_of(entry.name, "session", **words) + "#loss"
    return ""
