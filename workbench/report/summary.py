"""The first screen of a report: the answer in words, and the headline table."""

from __future__ import annotations

from typing import Any

from workbench.analysis.estimate import Estimate
from workbench.markup import shown
from workbench.palette import REFERENCES
from workbench.report.differences import beside, differences
from workbench.report.digits import NOTHING, amount, count, dollars, percent, scale, some, spread
from workbench.report.html import Cell, Html, bullets, dot, row, table
from workbench.report.points import unscored_note
from workbench.report.ranked import over_target
from workbench.report.tables import (
    Tables,
    baseline,
    by_size,
    contenders,
    headline,
    over_window,
    replayed,
    shares,
    strategies,
)
from workbench.report.verdict import interval_note, verdict

ROLES = {
    "none": "nothing is cut: the ceiling", "null": "last message only: the floor",
    "oracle": "knows what will be needed", "random": "messages by chance",
}  # fmt: skip

OTHERS: tuple[Cell, ...] = (
    ("Strategy", ""), ("Kept, scaled", "n"), ("Mean request", "n"), ("Largest request", "n"), ("Compactions", "n"),
    ("Prompt reused", "n"), ("Made up", "n"),
)  # fmt: skip
"""Columns of the figures below the headline."""


def verdict_html(run: Tables) -> Html:
    """The answer, what it saves, how sure it is, and what to know before quoting it."""
    told = verdict(run)
    first, stop, rest = told.answer.partition(". ")
    lead = f"<strong>{shown(first)}.</strong> {shown(rest)}" if stop else shown(first)
    more = "".join(f"<p>{shown(text)}</p>" for text in (told.price, told.sure) if text)
    notes = bullets(shown(text) for text in told.caveats)
    inside = f'<p class="answer">{lead}</p>{more}{notes}'.replace(" %", "&nbsp;%")
    return Html(f'<div class="verdict">{inside}</div>', str(told))


def headline_html(run: Tables) -> Html:
    """The headline table, one row a strategy, the best first; below it, folded away, the other figures."""
    sizes = shares(run)
    kept_at = {(one["strategy"], one["share"]): one for one in by_size(run).to_dict("records")}
    large = {(name, share): found for share in sizes for name, found in over_target(run, share).items()}
    over = over_window(run)
    figures = headline(run)
    priced = bool(figures["cost"].notna().any()) if len(figures) else False
    heads: list[Cell] = [
        ("Strategy", ""),
        *((f"Kept at {percent(share).replace(' ', '&nbsp;')} of the size", "n") for share in sizes),
    ]
    base = baseline(run)
    apart = {one["strategy"]: one for one in differences(run).to_dict("records")}
    if apart:
        heads.append((f"Against {shown(base)}", "n"))
    heads += [("Kept on its own trigger", "n"), ("Tokens saved", "n"), *([("Cost", "n")] if priced else [])]
    lines, more = [], []
    for one in figures.to_dict("records"):
        name = one["strategy"]
        at_sizes = [_kept(kept_at.get((name, share)), large.get((name, share))) for share in sizes]
        if apart:
            at_sizes.append((beside(apart[name]) if name in apart and name not in REFERENCES else NOTHING, "n"))
        css = "best" if contenders(run)[:1] == (name,) else _css(name)
        lines.append(row([_name(one, run), *at_sizes, *_own(one, priced, over.get(name))], css))
        more.append(row([(dot(name, strategies(run)), ""), *_others(one)], _css(name)))
    sessions = some(len(replayed(run)), "session")
    note = f"Means over {sessions}, each of which counts the same. {shown(interval_note(run))}"
    if large:
        note += (
            " Larger: sessions in which the strategy cannot be cut to that size. Nobody's figure there counts them,"
            " unless they are more than a tenth: then the strategy is not ranked."
        )
    if over:
        note += (
            " Too large: sessions with requests that did not fit into the window; no provider would have taken them."
        )
    if apart:
        where = "kept at equal size" if sizes else "kept on its own trigger"
        note += f" Against {shown(base)}: {where}, points of percent, on the same sessions."
    note = f"{note} {shown(unscored_note(run), 2000)}".rstrip()
    first = table(heads, lines, kind="headline", caption=note, label="headline")
    rest = table(OTHERS, more, kind="others", label="more figures")
    return Html(f"{first}<details><summary>More figures</summary>{rest}</details>", data=figures)


def _css(name: str) -> str:
    return "reference" if name in REFERENCES else ""


def _name(one: dict[Any, Any], run: Tables) -> Cell:
    name = one["strategy"]
    role = ROLES.get(name, "reference" if name in REFERENCES else "")
    small = f" <small>{role}</small>" if role else ""
    failed = f' <small class="bad">{one["failed"]} failed</small>' if one["failed"] else ""
    return dot(name, strategies(run)) + small + failed, ""


def _kept(at: dict[Any, Any] | None, large: tuple[int, int] | None) -> Cell:
    """What is kept at one size, and in how many sessions the strategy stays larger."""
    if at is None:
        return (f'{NOTHING} <small class="why">stays larger</small>' if large else NOTHING, "n")
    figure = _figure(at["strategy"], at["mean"], at["low"], at["high"])
    return figure + (f' <small class="why">larger in {_of(large)}</small>' if large else ""), "n"


def _own(one: dict[Any, Any], priced: bool, over: tuple[int, int] | None) -> list[Cell]:
    """What is kept and saved on the own trigger, and in how many sessions requests were larger than the window."""
    kept, saved = (
        _figure(one["strategy"], one[key], one[f"{key}_low"], one[f"{key}_high"]) for key in ("recall", "saved")
    )
    if over:
        kept += f' <small class="why">too large in {_of(over)}</small>'
    return [(kept, "n"), (saved, "n"), *([(_cost(one), "n")] if priced else [])]


def _of(counts: tuple[int, int]) -> str:
    return f"{counts[0]}&nbsp;of&nbsp;{counts[1]}"


def _others(one: dict[Any, Any]) -> list[Cell]:
    times = NOTHING if one["strategy"] == "null" else count(one["compactions"])
    figures = (
        scale(one["scaled"]), amount(one["mean_context"]), amount(one["peak_context"]), times,
        percent(one["prefix_reuse"]), percent(one["fabrication"]),
    )  # fmt: skip
    return [(figure, "n") for figure in figures]


def _cost(one: dict[Any, Any]) -> str:
    """What a session costs, and below it the share that this saves or adds."""
    share = one["cost_saved"]
    if one["strategy"] == "none" or share is None or share != share:
        return dollars(one["cost"])
    word = f"{percent(share)} saved" if share >= 0 else f"{percent(-share)} more"
    return f"{dollars(one['cost'])} <small>{word}</small>"


def _figure(strategy: str, mean: float | None, low: float | None, high: float | None) -> str:
    interval = "" if strategy in REFERENCES else spread(Estimate(0.0, 0, low, high))
    return percent(mean) + (f" <small>{interval}</small>" if interval else "")
