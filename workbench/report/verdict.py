"""The first screen of a report: the answer in words, how sure it is, and the headline table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from workbench.analysis.estimate import FEWEST, Estimate
from workbench.formats import interval, joined, missing, p_value, percent, points, some
from workbench.report.comparison import Line, differences, lead, power
from workbench.report.html import Html, part, sentences
from workbench.report.summaries import by_size, dots, headline
from workbench.report.tables import (
    RETENTION,
    SAVED,
    Tables,
    baseline,
    best_recall,
    contenders,
    over_target,
    over_window,
    own_trigger,
    ranked,
    replayed,
    shares,
    unranked,
    unreadable,
)  # fmt: skip

CLOSE = 0.02
"""Difference of two shares that does not matter in practice, where sessions are too few to test it."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """Four sentences, each of which may be empty.

    Attributes:
        answer: which strategy keeps most.
        price: what it saves on its own trigger.
        sure: how sure the answer is.
        caveats: what a reader must know before quoting it, one sentence each.
    """

    answer: str
    price: str = ""
    sure: str = ""
    caveats: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join(text for text in (self.answer, self.price, self.sure, *self.caveats) if text)


def verdict(run: Tables) -> Conclusion:
    """What this run shows, in words and with no more certainty than it has."""
    recall = {name: found for name in ranked(run, contenders(run)) if (found := best_recall(run, name))}
    if not recall:
        return Conclusion(_no_answer(run), caveats=_caveats(run))
    best = next(iter(recall))
    rivals = lead(run, best)
    rows = rivals[~rivals["strategy"].isin(unranked(run))].to_dict("records")
    return Conclusion(_answer(run, recall, rows), _price(run, best), _sure(best, rows), _caveats(run))


def _no_answer(run: Tables) -> str:
    if run.replays.empty or replayed(run).empty:
        return "Nothing was compared: no session could be read."
    why = run.scores.loc[(run.scores["metric"] == RETENTION) & run.scores["value"].isna(), "why"]
    reason = next((f": {text}" for text in why if text), "")
    return f"No strategy could be scored{reason}."


def _answer(run: Tables, recall: Mapping[str, Estimate], rivals: Sequence[Line]) -> str:
    (best, first), *rest = recall.items()
    where = f"Cut to the same size ({_sizes(run)})" if shares(run) else "On its own trigger"
    others = joined([f"{name} {percent(found.mean)}" for name, found in rest])
    what = f"{best} still knows {percent(first.mean)} of what the agent later used" + (f"; {others}" if others else "")
    return f"{_leader(recall, rivals)} {where}, {what}."


def _leader(recall: Mapping[str, Estimate], rivals: Sequence[Line]) -> str:
    """Which strategy keeps most, with no more certainty than the tests give."""
    best, first = next(iter(recall.items()))
    tied = [best, *(one["strategy"] for one in rivals if one["verdict"] == "undecided")]
    if len(recall) == 1:
        return f"{best} was the only strategy."
    if any(one["verdict"] == "too few sessions" for one in rivals):
        close = [name for name, found in recall.items() if name == best or first.mean - found.mean < CLOSE]
        there = "In this session" if first.n == 1 else f"In these {first.n} sessions"
        return f"{there}, {joined(close)} {'keep most, about as much' if len(close) > 1 else 'keeps most'}."
    if len(tied) == 1:
        return f"{best} keeps most."
    if len(tied) == len(recall):
        return f"No strategy is clearly ahead: {joined(tied)} do not differ significantly."
    return f"{joined(tied)} keep most and do not differ significantly."


def _sizes(run: Tables) -> str:
    return joined([percent(share) for share in shares(run)]) + " of the history"


def _price(run: Tables, best: str) -> str:
    saved, recall = own_trigger(run, best, SAVED), own_trigger(run, best)
    if saved is None:
        return ""
    way = "saves" if saved.mean >= 0 else "costs an extra"
    text = f"On its own trigger, {best} {way} {percent(abs(saved.mean))} of an uncompacted agent's tokens"
    if recall is None:
        return f"{text}."
    scored = f" in the {recall.n} of {some(saved.n, 'session')} that can be scored" if recall.n < saved.n else ""
    return f"{text}, and still knows {percent(recall.mean)}{scored}."


def _sure(first: str, rivals: Sequence[Line]) -> str:
    """How sure the order is: the tests over all pairs of strategies, the closest rival first."""
    for one in rivals:
        if one["verdict"] == "too few sessions":
            return _too_few(first, one)
    clear = [f"{one['strategy']} by {_span(one)}" for one in rivals if one["verdict"] == "better"]
    told = [
        f"The lead over {one['strategy']} is not significant: {_span(one)}, ahead in {one['ahead']} of "
        f"{one['sessions']} sessions{power(one)}."
        for one in [one for one in rivals if one["verdict"] != "better"][:2]
    ]
    if clear:
        pairs = len(rivals) * (len(rivals) + 1) // 2
        test = "sign-flip test" + (f" corrected for all {pairs} pairs" if pairs > 1 else "")
        told.insert(0, f"{first} leads {joined(clear)}; {min(one['sessions'] for one in rivals)} sessions, {test}.")
    return " ".join(told)


def _too_few(first: str, one: Line) -> str:
    if not one["sessions"]:
        return f"No session has a figure for both {first} and {one['strategy']}, so the order is not settled."
    floor = str(one["why"]).rpartition("at least ")[2].partition(" ")[0]
    return (
        f"{some(one['sessions'], 'session is', 'sessions are')} too few for a significance test; "
        f"{f'at least {floor}' if floor.isdigit() else 'more'} would do. "
        f"{first} was ahead of {one['strategy']} in {one['ahead']} of {one['sessions']}. Read it as an example."
    )


def _span(one: Line) -> str:
    apart, p = points(one["difference"]), p_value(one["p_holm"])
    sure = f" (95 % CI {interval(one['low'], one['high'])}, p {p if p[0] == '<' else f'= {p}'})"
    return f"{apart} point{'s' * (apart.lstrip('+-−') != '1')}{'' if missing(one['low']) else sure}"


def _caveats(run: Tables) -> tuple[str, ...]:
    sessions, window = replayed(run), run.settings.get("window")
    return tuple(
        sentences(
            "caveats", shared=bool(run.manifest.get("shared")), unranked=unranked(run), sizes=_sizes(run),
            failed=int((run.replays["status"] == "failed").sum()), unreadable=len(unreadable(run)),
            damaged=sum(len(str(text).splitlines()) for text in run.sessions["skipped"]), sessions=len(sessions),
            unreported=int(sessions["scale"].isna().sum()),
            widened=int((sessions["window_used"] > (sessions["window"] if window is None else window)).sum()),
        )
    )  # fmt: skip


def interval_note(run: Tables) -> str:
    """What the small figures of the tables are, or why there are none."""
    most = max((found.n for name in contenders(run) if (found := best_recall(run, name))), default=0)
    if most >= FEWEST:
        return f"Small figures: 95 % intervals over {most} sessions."
    return f"No intervals: {some(most, 'session is', 'sessions are')} too few ({FEWEST} are needed)."


def verdict_html(run: Tables) -> Html:
    """The answer, what it saves, how sure it is, and what to know before quoting it."""
    found = verdict(run)
    first, stop, rest = found.answer.partition(". ")
    lead, answer = (first, rest) if stop else ("", first)
    sentences = (found.price, found.sure)
    return part("verdict", None, str(found), lead=lead, answer=answer, sentences=sentences, notes=found.caveats)


def headline_html(run: Tables) -> Html:
    """The headline table, one row a strategy, the best first; below it, folded away, the other figures."""
    figures, sizes, differing = headline(run), shares(run), differences(run)
    at = {(one["strategy"], one["share"]): one for one in by_size(run).to_dict("records")}
    return part(
        "headline", figures, shares=sizes, base=baseline(run) if len(differing) else "", by_size=at,
        larger={(name, share): found for share in sizes for name, found in over_target(run, share).items()},
        differences={one["strategy"]: one for one in differing.to_dict("records")}, too_large=over_window(run),
        best=next(iter(contenders(run)), ""), priced=bool(figures.get("cost", pd.Series()).notna().any()),
        sessions=len(replayed(run)), intervals=interval_note(run), unscored=unscored_note(run),
    )  # fmt: skip


def unscored_note(run: Tables) -> str:
    """Which contenders have fewer sessions with recall than sessions with tokens saved; often empty."""
    parts: dict[tuple[int, int], list[str]] = {}
    for name in contenders(run):
        scored, saved = dots(run, name).count()
        if scored < saved:
            parts.setdefault((scored, saved), []).append(name)
    if not parts:
        return ""
    told = joined([f"{n} of {some(saved, 'session')} for {joined(names)}" for (n, saved), names in parts.items()])
    return (
        f"Recall on its own trigger rests on {told}; the others have no compaction, or need too little after one. "
        "The chart of recall against tokens saved shows sessions that have both figures."
    )
