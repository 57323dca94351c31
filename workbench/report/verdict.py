"""The first screen of a report: the answer in words, how sure it is, and the headline table."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from workbench.analysis.estimate import FEWEST, Estimate
from workbench.formats import interval, joined, missing, p_value, percent, points, some
from workbench.report.comparison import differences, lead, power
from workbench.report.html import Html, part
from workbench.report.summaries import by_size, headline
from workbench.report.tables import (
    RETENTION,
    SAVED,
    Tables,
    baseline,
    contenders,
    equal_size,
    over_target,
    over_window,
    own_trigger,
    replayed,
    shares,
    strategies,
    unranked,
    unreadable,
    values,
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
        return " ".join(part for part in (self.answer, self.price, self.sure, *self.caveats) if part)


def verdict(run: Tables) -> Conclusion:
    """What this run shows, in words and with no more certainty than it has."""
    out = unranked(run)
    names = [name for name in contenders(run) if name not in out]
    kept = {name: found for name in names if (found := equal_size(run, name) or own_trigger(run, name))}
    if not kept:
        return Conclusion(_nothing(run), caveats=_caveats(run))
    best = next(iter(kept))
    rivals = lead(run, best)
    rivals = rivals[~rivals["strategy"].isin(out)]
    return Conclusion(_answer(run, kept, rivals), _price(run, best), _sure(best, rivals), _caveats(run))


def _nothing(run: Tables) -> str:
    if run.replays.empty or replayed(run).empty:
        return "Nothing was compared: no session could be read."
    why = run.scores.loc[(run.scores["metric"] == RETENTION) & run.scores["value"].isna(), "why"]
    reason = next((str(text) for text in why if text), "")
    return "No strategy could be scored" + (f": {reason}." if reason else ".")


def _answer(run: Tables, kept: dict[str, Estimate], rivals: pd.DataFrame) -> str:
    (best, first), *rest = kept.items()
    where = f"Cut to the same size ({_sizes(run)})" if shares(run) else "On its own trigger"
    others = joined([f"{name} {percent(found.mean)}" for name, found in rest])
    what = f"{best} still knows {percent(first.mean)} of what the agent later used" + (f"; {others}" if others else "")
    return f"{_leader(best, first, dict(rest), rivals)} {where}, {what}."


def _leader(best: str, first: Estimate, rest: dict[str, Estimate], rivals: pd.DataFrame) -> str:
    """Which strategy keeps most, with no more certainty than the tests give."""
    if not rest:
        return f"{best} was the only strategy."
    tied = [best, *rivals.loc[rivals["verdict"] == "undecided", "strategy"]]
    if (rivals["verdict"] == "too few sessions").any():
        close = [best, *(name for name, found in rest.items() if first.mean - found.mean < CLOSE)]
        there = "In this session" if first.n == 1 else f"In these {first.n} sessions"
        return f"{there}, {joined(close)} {'keep most, about as much' if len(close) > 1 else 'keeps most'}."
    if len(tied) == 1:
        return f"{best} keeps most."
    if len(tied) > len(rest):
        return f"No strategy is clearly ahead: {joined(tied)} do not differ significantly."
    return f"{joined(tied)} keep most and do not differ significantly."


def _sizes(run: Tables) -> str:
    return joined([percent(share) for share in shares(run)]) + " of the history"


def _price(run: Tables, best: str) -> str:
    saved, kept = own_trigger(run, best, SAVED), own_trigger(run, best)
    if saved is None:
        return ""
    way = "saves" if saved.mean >= 0 else "costs an extra"
    text = f"On its own trigger, {best} {way} {percent(abs(saved.mean))} of an uncompacted agent's tokens"
    if kept is None:
        return f"{text}."
    scored = f" in the {kept.n} of {some(saved.n, 'session')} that can be scored" if kept.n < saved.n else ""
    return f"{text}, and still knows {percent(kept.mean)}{scored}."


def _sure(first: str, rivals: pd.DataFrame) -> str:
    """How sure the order is: the tests over all pairs of strategies, the closest rival first."""
    rows = rivals.to_dict("records")
    few = next((one for one in rows if one["verdict"] == "too few sessions"), None)
    if few:
        return _too_few(first, few)
    clear = [f"{one['strategy']} by {_span(one)}" for one in rows if one["verdict"] == "better"]
    told = [
        f"The lead over {one['strategy']} is not significant: {_span(one)}, ahead in {one['ahead']} of "
        f"{one['sessions']} sessions{power(one)}."
        for one in [one for one in rows if one["verdict"] != "better"][:2]
    ]
    if clear:
        pairs = len(rows) * (len(rows) + 1) // 2
        test = "sign-flip test" + (f" corrected for all {pairs} pairs" if pairs > 1 else "")
        told.insert(0, f"{first} leads {joined(clear)}; {min(one['sessions'] for one in rows)} sessions, {test}.")
    return " ".join(told)


def _too_few(first: str, one: Mapping[Hashable, Any]) -> str:
    if not one["sessions"]:
        return f"No session has a figure for both {first} and {one['strategy']}, so the order is not settled."
    floor = str(one["why"]).rpartition("at least ")[2].partition(" ")[0]
    return (
        f"{some(one['sessions'], 'session is', 'sessions are')} too few for a significance test; "
        f"{f'at least {floor}' if floor.isdigit() else 'more'} would do. "
        f"{first} was ahead of {one['strategy']} in {one['ahead']} of {one['sessions']}. Read it as an example."
    )


def _span(one: Mapping[Hashable, Any]) -> str:
    apart = points(one["difference"])
    unit = f"point{'s' * (apart.lstrip('+-−') != '1')}"
    p = p_value(one["p_holm"])
    sure = (
        ""
        if missing(one["low"])
        else f" (95 % CI {interval(one['low'], one['high'])}, p {p if p[0] == '<' else f'= {p}'})"
    )
    return f"{apart} {unit}{sure}"


def _caveats(run: Tables) -> tuple[str, ...]:
    told: list[str] = []
    if run.manifest.get("shared"):
        told.append(
            "This is a shared copy: its figures are the run's own, and each text of a recording is a keyed hash."
        )
    for name, (large, every) in unranked(run).items():
        where = f"in {large} of {some(every, 'session')}" if large < every else "in any session"
        told.append(f"{name} cannot be cut to {_sizes(run)} {where}, so it is not ranked.")
    sessions = replayed(run)
    if failed := int((run.replays["status"] == "failed").sum()):
        told.append(f"{some(failed, 'replay')} failed and {'is' if failed == 1 else 'are'} missing from every figure.")
    if bad := len(unreadable(run)):
        told.append(f"{some(bad, 'file')} could not be read.")
    if lines := sum(len(str(text).splitlines()) for text in run.sessions["skipped"]):
        told.append(f"{some(lines, 'damaged line was', 'damaged lines were')} left out.")
    if raw := int(sessions["scale"].isna().sum()):
        which = "No session reports its" if raw == len(sessions) else f"{raw} of {len(sessions)} sessions report no"
        told.append(f"{which} usage; their sizes come from a tokenizer and hold no system prompt or tool list.")
    settings = run.manifest.get("settings")
    asked = settings.get("window") if isinstance(settings, Mapping) else None
    if wide := int((sessions["window_used"] > (sessions["window"] if asked is None else asked)).sum()):
        told.append(
            f"In {some(wide, 'session')} the window was widened: the agent's own overhead would have filled it."
        )
    return tuple(told)


def interval_note(run: Tables) -> str:
    """What the small figures of the tables are, or why there are none."""
    every = [found.n for name in contenders(run) if (found := equal_size(run, name) or own_trigger(run, name))]
    most = max(every, default=0)
    if most >= FEWEST:
        return f"Small figures: 95 % intervals over {most} sessions."
    return f"No intervals: {some(most, 'session is', 'sessions are')} too few ({FEWEST} are needed)."


def verdict_html(run: Tables) -> Html:
    """The answer, what it saves, how sure it is, and what to know before quoting it."""
    told = verdict(run)
    first, stop, rest = told.answer.partition(". ")
    lead, answer = (first, rest) if stop else ("", first)
    sentences = (told.price, told.sure)
    return part("verdict", str(told), lead=lead, answer=answer, sentences=sentences, notes=told.caveats)


def headline_html(run: Tables) -> Html:
    """The headline table, one row a strategy, the best first; below it, folded away, the other figures."""
    figures, sizes = headline(run), shares(run)
    at_size = {(one["strategy"], one["share"]): one for one in by_size(run).to_dict("records")}
    larger = {(name, share): found for share in sizes for name, found in over_target(run, share).items()}
    too_large, apart = over_window(run), {one["strategy"]: _worded(one) for one in differences(run).to_dict("records")}
    rows = [
        one | {
            "sizes": {share: _sized(at_size.get((one["strategy"], share)), one) for share in sizes},
            "larger": {share: larger.get((one["strategy"], share)) for share in sizes},
            "difference": None if one["reference"] else apart.get(one["strategy"]),
            "too_large": too_large.get(one["strategy"]),
            "css": (css := "reference" if one["reference"] else ""), "attributes": {"class": css},
        }
        for one in figures.to_dict("records")
    ]  # fmt: skip
    for one in rows[: len(contenders(run)[:1])]:
        one["css"] = "best"
    return part(
        "headline", data=figures, rows=rows, shares=sizes, base=baseline(run) if apart else "",
        priced=bool(len(figures)) and bool(figures["cost"].notna().any()), sessions=len(replayed(run)),
        intervals=interval_note(run), larger=bool(larger), too_large=bool(too_large), unscored=unscored_note(run),
        known=strategies(run),
    )  # fmt: skip


def _sized(at: dict[Hashable, Any] | None, one: Mapping[Hashable, Any]) -> dict[Hashable, Any] | None:
    """The figure of one size under the names by which the template shows a mean with its interval."""
    if at is None:
        return None
    return {"mean": at["mean"], "mean_low": at["low"], "mean_high": at["high"], "reference": one["reference"]}


def _worded(one: Mapping[Hashable, Any]) -> dict[Hashable, Any]:
    return {**one, "word": "not significant" if one["verdict"] == "undecided" else one["verdict"]}


def unscored_note(run: Tables) -> str:
    """Which contenders have fewer sessions with recall than sessions with tokens saved; often empty."""
    parts: dict[tuple[int, int], list[str]] = {}
    for name in contenders(run):
        kept, saved = len(values(run, RETENTION, name)), len(values(run, SAVED, name))
        if kept < saved:
            parts.setdefault((kept, saved), []).append(name)
    if not parts:
        return ""
    told = joined([f"{kept} of {some(saved, 'session')} for {joined(names)}" for (kept, saved), names in parts.items()])
    return (
        f"Recall on its own trigger rests on {told}; the others have no compaction, or need too little after one. "
        "The chart of recall against tokens saved shows sessions that have both figures."
    )
