"""The decision that a run supports: one recommendation, what it trades, how sure it is, and what
would change it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf, nan

import pandas as pd

from workbench.base.formats import missing
from workbench.base.markup import render
from workbench.evaluation.analysis.compared import ALPHA
from workbench.evaluation.analysis.paired import FEWEST, Estimate, holm, sign_flip
from workbench.evaluation.analysis.trade import MARGIN, WORTH, Trade, choice, difference
from workbench.evaluation.findings.figures import Figures
from workbench.evaluation.findings.readers import bias_between, no_winner
from workbench.evaluation.findings.summaries import RECORDED
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.findings.wording import sentences
from workbench.evaluation.metrics import HALVES, PANEL

FIELDS = ("recommendation", "trade_off", "agent", "confidence")
"""The blocks of the template, in its order."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What to use, in words. All but the recommendation is empty where nothing could be decided.

    Attributes:
        use: the strategy that is recommended; empty for none.
        recommendation: in a sentence.
        trade_off: what it keeps and saves, and what the others would.
        agent: what the recorded agents' own compactions kept beside it; often empty.
        confidence: the lead over the runner-up, with its interval over projects.
        changes: what would make it another one.
        points: of each strategy: 100 times the work (names where it is unknown) on its own trigger,
            and `WORTH` a tenth of the bill saved.
        no_winner: why nothing is recommended, where the reader's own error may be larger than the
            lead; else empty.
    """

    use: str
    recommendation: str
    trade_off: str = ""
    agent: str = ""
    confidence: str = ""
    changes: tuple[str, ...] = ()
    points: Mapping[str, float] | None = None
    no_winner: str = ""

    def __str__(self) -> str:
        return " ".join(
            filter(None, (self.recommendation, self.trade_off, self.agent, self.confidence))
        )


def decide(figures: Figures) -> Decision | None:
    """The decision between the contenders that can be used as they are; None where none has a
    figure.

    A strategy whose requests are larger than the window, with replays that failed or wait, or whose
    contexts read like a list of names, is not recommended.
    """
    run = figures.tables
    out = {*run.over_window, *run.incomplete, *run.names_only, RECORDED}
    names = [name for name in run.contenders if name not in out]
    rows = _rows(run, names)
    points = Trade(WORTH).points(rows) if rows["recall"].notna().any() else pd.DataFrame()
    if points.dropna().empty:
        return None
    points = points.dropna()
    recall = Trade(0).points(rows).dropna().mean() / 100
    # shares of the bill, of the sessions that count
    saved_shares = ((points.mean() - 100 * recall) / (10 * WORTH)).to_dict()
    saved: dict[str, float] = {}
    for name in map(str, points):
        bill = figures.strategies[name].net_saving
        saved[name] = bill.mean if bill else nan
    trade_choice = choice(points, saved)
    use, alternatives, means = trade_choice.use, list(trade_choice.others), trade_choice.means
    half = run.leading("natural")
    unsettled = set[str]()
    for name in alternatives:
        bias = bias_between(run, use, name, half, "natural")
        if abs(means[use] - means[name]) < 100 * bias:
            unsettled |= {name, *trade_choice.level}
    rivals = sorted(unsettled - {use}, key=alternatives.index)
    why_none = no_winner(run, use, rivals, half, "natural")
    text = render(
        "report/decision.txt",
        half=half,
        no_winner=why_none,
        use=use,
        level=list(trade_choice.level),
        others=alternatives,
        recall=recall.to_dict(),
        saved=saved,
        margin=MARGIN,
        alone=len(set(run.contenders) - {RECORDED}) == 1,
        idle=not (run.compactions["mode"] == "natural").any(),
        ahead=_ahead(points, use, alternatives),
        fewest=FEWEST,
        recorded={row["strategy"]: row for row in figures.recorded.to_dict("records")},
        projects=len(points),
        priced=any(not missing(share) for share in saved.values()),
        reach={row["strategy"]: row for row in figures.within_reach.to_dict("records")}.get(use),
        lists=[name for name in run.contenders if name in run.names_only],
    )
    words = dict(zip(FIELDS, (" ".join(block.split()) for block in text.split("---")), strict=True))
    rounded = {name: round(mean, 1) for name, mean in means.items()}
    changes = tuple(_changes(figures, rows, use, alternatives, recall.to_dict(), saved_shares))
    return Decision(
        "" if why_none else use, changes=changes, points=rounded, no_winner=why_none, **words
    )


def _rows(run: Tables, names: Sequence[str]) -> pd.DataFrame:
    """A row a session and strategy on its own trigger, as `analysis.trade.Trade` reads them."""
    costs = run.costs.set_index(["session", "strategy"])
    half = run.leading("natural")
    recalls = [
        run.values(half, name).rename("recall").to_frame().assign(candidate=name) for name in names
    ]
    rows = (
        pd.concat(recalls).reset_index()
        if recalls
        else pd.DataFrame(columns=["session", "recall", "candidate"])
    )
    rows["project"] = [run.project(session) for session in rows["session"]]
    bills = costs.reindex(pd.MultiIndex.from_arrays([rows["session"], rows["candidate"]]))
    for column, of in (
        ("saved", "net_saving"),
        ("plain", "usd_uncompacted"),
        ("fetching", "usd_fetching"),
    ):
        rows[column] = bills[of].to_numpy(dtype=float)
    return rows


def _ahead(points: pd.DataFrame, use: str, alternatives: Sequence[str]) -> dict[str, object] | None:
    """The lead over the next strategy: its estimate, whether it is beyond chance over all pairs,
    and where it leads.
    """
    if not alternatives:
        return None
    pairs = list(combinations(points.columns, 2))
    enough = len(points) >= FEWEST
    adjusted = holm(
        [
            float(sign_flip((points[strategy] - points[rival]).to_numpy())) if enough else None
            for strategy, rival in pairs
        ]
    )
    p = next(
        p for pair, p in zip(pairs, adjusted, strict=True) if set(pair) == {use, alternatives[0]}
    )
    lead = difference(points, use, alternatives[0]) or Estimate(0.0, 0, 0)
    is_beyond_chance = lead.low is not None and lead.low > 0 and p is not None and p <= ALPHA
    projects_led = int((points[use] > points[alternatives[0]]).sum())
    return {
        "of": alternatives[0],
        "lead": lead,
        "p": p,
        "beyond_chance": is_beyond_chance,
        "first": projects_led,
    }


def _changes(
    figures: Figures,
    rows: pd.DataFrame,
    use: str,
    alternatives: Sequence[str],
    recall: Mapping[str, float],
    saved: Mapping[str, float],
) -> list[str]:
    """What would make another strategy the better one, nearest first."""
    run, panel = figures.tables, figures.panel
    rates = [
        (name, rate)
        for name in alternatives
        if (rate := _rate(recall[use] - recall[name], saved[name] - saved[use]))
    ]
    dearer = sorted((one for one in rates if one[1] > WORTH), key=lambda one: one[1])[:1]
    cheaper = sorted((one for one in rates if one[1] <= WORTH), key=lambda one: -one[1])[:1]
    plain = Trade(WORTH).points(rows.assign(saved=rows["saved"] + rows["fetching"])).dropna().mean()
    sizes = figures.by_size
    sizes = sizes[sizes["strategy"].isin([use, *alternatives])]
    best = sizes.loc[sizes.groupby("share")["mean"].idxmax()] if len(sizes) else sizes
    windows = run.replayed["window_used"].dropna().astype(int)
    ahead_by_panel = (
        []
        if panel is None
        else [name for name in alternatives if panel.rank.get(name, inf) < panel.rank.get(use, 0)]
    )
    return sentences(
        "decision_changes",
        half=HALVES[run.leading("natural")],
        dearer=dearer,
        cheaper=cheaper,
        worth=WORTH,
        unfetched=str(plain.idxmax()) if len(plain) and plain.max() - plain[use] >= MARGIN else "",
        at_sizes=[
            (one["strategy"], one["share"])
            for one in best.to_dict("records")
            if one["strategy"] != use
        ],
        by_panel=[
            (name, by)
            for name in ahead_by_panel
            if panel and (by := [PANEL[one] for one in panel.ahead[name, use]])
        ],
        windows=(int(windows.min()), int(windows.max())) if len(windows) else None,
        projects=len({run.project(name) for name in rows["session"]}),
        fewest=FEWEST,
        counts=figures.summaries,
    )


def _rate(fewer: float, more: float) -> float | None:
    """Points that a tenth of the bill must be worth for another strategy to be as good; None
    where none would do.
    """
    if missing(more) or not more:
        return None
    points = 10 * fewer / more
    return points if 0 < points <= 100 else None
