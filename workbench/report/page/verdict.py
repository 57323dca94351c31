"""The first screen of a report: the answer in words, how sure it is, and the headline table."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from workbench.base.formats import paragraph
from workbench.evaluation.analysis.paired import FEWEST
from workbench.evaluation.analysis.trade import MARGIN, WORTH
from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.sized_tables import PartOf
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.metrics import HALVES
from workbench.evaluation.metrics.work_exam.error_draws import DRAWS
from workbench.report.page.html import Html, part, rows_in_order

if TYPE_CHECKING:
    import pandas as pd


def verdict_html(findings: Findings, losses: str = "#losses") -> Html:
    """What to use, what that trades and what would change it; where nothing can be chosen, the
    answer at the same size.

    In the run of an advice, what the advice said.

    Args:
        findings: of the run.
        losses: the address of what the recommended strategy lost.
    """
    opening, decision, verdict = findings.opening, findings.decision, findings.verdict
    use = findings.recommended
    has_losses = use in set(findings.tables.losses["strategy"])
    reader = paragraph(findings.written_by, findings.priced_at, findings.read_by)
    if findings.advice:
        plain = " ".join([*map(str, findings.advice), reader])
        return part(
            "advice",
            None,
            plain,
            notes=findings.advice,
            reader=reader,
            lost=has_losses,
            losses=losses,
            use=use,
        )
    if decision is not None:
        plain = paragraph(opening, str(decision), reader, str(verdict))
        return part(
            "decision",
            None,
            plain,
            decision=decision,
            lost=has_losses,
            losses=losses,
            opening=opening,
            reader=reader,
        )
    lead, stop, answer = verdict.answer.partition(". ")
    if not stop:
        lead, answer = "", verdict.answer
    sentences = (verdict.price, verdict.sure, reader)
    return part(
        "verdict",
        None,
        paragraph(opening, str(verdict), reader),
        lead=lead,
        answer=answer,
        sentences=sentences,
        notes=verdict.caveats,
        opening=opening,
    )


def headline_html(findings: Findings) -> Html:
    """The headline table, one row a strategy; the one that is recommended is marked. Below it
    all figures.
    """
    run, figures, verdict = findings.tables, findings.figures, findings.verdict
    compared = figures.against_baseline
    best = next(iter(run.contenders), "")
    if findings.advice or findings.decision is not None:
        best = findings.recommended
    by_size = {}
    for row in figures.by_size.to_dict("records"):
        by_size[row["strategy"], row["share"]] = row
    headline = figures.headline
    return part(
        "headline",
        headline,
        rows=rows_in_order(headline, findings.likeliest_first),
        shares=run.shares,
        base=run.baseline if len(compared) else "",
        by_size=by_size,
        strategies=figures.strategies,
        halves=run.halves,
        titles=HALVES,
        leading=run.first_half,
        work_sessions=findings.counts.with_work,
        larger=_larger_by_share(run),
        differences=_by_strategy(compared),
        too_large=run.over_window,
        same_size=findings.same_size,
        wider_windows=findings.wider_windows,
        each_size=findings.each_size,
        ceiling=findings.ceiling,
        doing=findings.what_strategies_do,
        best=best,
        priced=len(headline) > 0 and bool(headline["cost"].notna().any()),
        recorded=_by_strategy(figures.recorded),
        decided=findings.decision is not None,
        chances=findings.chances,
        drawn=findings.has_drawn_chances,
        margin=MARGIN,
        worth=WORTH,
        draws=DRAWS,
        evidence=verdict.evidence,
        notes=verdict.caveats,
        sessions=findings.means_over,
        scored=_most_projects(findings),
        fewest=FEWEST,
        over_target=run.over_target(),
        own_metrics=figures.own_metrics.to_dict("records"),
        unscored=findings.unscored,
    )


def own_metrics_html(findings: Findings) -> Html:
    """What each strategy has in metrics that are not built in; nothing where there are none."""
    rows = findings.figures.own_metrics
    return part(
        "own_metrics",
        rows,
        known=findings.tables.strategies,
        over_target=findings.tables.over_target(),
        own_metrics=rows.to_dict("records"),
    )


def _larger_by_share(run: Tables) -> dict[tuple[str, float], PartOf]:
    """By strategy and share, in how many sessions it stays larger."""
    larger = {}
    for share in run.shares:
        for name, counts in run.over_target(share).items():
            larger[name, share] = counts
    return larger


def _most_projects(findings: Findings) -> int:
    """Of how many projects the means of the contenders are at most."""
    run = findings.tables
    project_count = 0
    for name in run.contenders:
        mean = findings.figures.strategies[name].same_size[run.first_half]
        if mean is not None:
            project_count = max(project_count, mean.projects)
    return project_count


def _by_strategy(rows: pd.DataFrame) -> dict[str, dict[Hashable, Any]]:
    return {row["strategy"]: row for row in rows.to_dict("records")}
