"""What each strategy costs: the bill by part, the sum over one session, and how well reported usage is reproduced."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd

from workbench.analysis.estimate import estimate
from workbench.markup import shown
from workbench.palette import REFERENCES, looks
from workbench.report.digits import NOTHING, count, dollars, listed, percent, some
from workbench.report.html import Cell, Html, bullets, dot, row, table
from workbench.report.plot_style import Label, name_ends, paper, words
from workbench.report.tables import Source, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Line: TypeAlias = Mapping[Hashable, Any]
PARTS = ("usd_input", "usd_read", "usd_write", "usd_output", "usd_summaries", "usd_fetching")
SHOWN = 40
"""Sessions that the table of reported usage lists; the worst predicted first."""


@dataclass(frozen=True, slots=True)
class Money:
    """The tables of a run that are about money, with plain columns."""

    costs: pd.DataFrame
    reconciliation: pd.DataFrame
    steps: pd.DataFrame
    litellm: str = ""

    @classmethod
    def of(cls, run: Source) -> Money:
        """Read them."""
        packages = run.manifest.get("packages")
        version = packages.get("litellm") if isinstance(packages, Mapping) else None
        names = ("costs", "reconciliation", "steps")
        return cls(**{name: plain(run.table(name)) for name in names}, litellm=str(version or ""))

    @property
    def strategies(self) -> tuple[str, ...]:
        """Contenders by what they cost, cheapest first, then the references."""
        means = self.costs.groupby("strategy", sort=True)["usd"].mean().sort_values(kind="stable").index
        known = [name for name in means if name not in REFERENCES]
        return (*known, *(name for name in REFERENCES if name in set(means)))


def bills(money: Money) -> pd.DataFrame:
    """One row a strategy, means over sessions in USD.

    Columns: `strategy`, `reference`, `sessions`; `usd` and its parts `usd_input usd_read usd_write usd_output
    usd_summaries`, `usd_fetching` beside them; `usd_uncompacted`; `net_saving`, `saved` (its share of the uncompacted
    cost) with `saved_low`, `saved_high`; `cache_read` (share of prompt tokens), `breaks`; `compacted` and `paid`
    (sessions that were compacted, and of those the ones that broke even), `even_after` (median requests until then).
    """
    return pd.DataFrame([_bill(money.costs, name) for name in money.strategies])


def _bill(costs: pd.DataFrame, name: str) -> dict[str, object]:
    mine = costs[costs["strategy"] == name]
    found: dict[str, object] = {"strategy": name, "reference": name in REFERENCES, "sessions": len(mine)}
    for column in ("usd", *PARTS, "usd_uncompacted", "net_saving", "breaks"):
        found[column] = float(mine[column].mean())
    priced = mine[mine["usd_uncompacted"] > 0]
    saved = estimate((priced["net_saving"] / priced["usd_uncompacted"]).tolist(), most=1.0)
    for column, value in (("saved", "mean"), ("saved_low", "low"), ("saved_high", "high")):
        found[column] = getattr(saved, value) if saved is not None else None
    prompts = mine[["tokens_input", "tokens_read", "tokens_written"]].sum(axis=1)
    found["cache_read"] = float((mine["tokens_read"] / prompts.where(prompts > 0)).mean())
    after = (mine["even_at"] - mine["parted_at"]).dropna()
    found["compacted"], found["paid"] = int(mine["parted_at"].notna().sum()), len(after)
    found["even_after"] = float(after.median()) if len(after) else None
    return found


def costs_html(money: Money) -> Html:
    """The bill of each strategy, cheapest first."""
    if money.costs.empty:
        return Html('<p class="empty">No session has a bill: nothing was replayed request by request.</p>')
    rows = bills(money)
    heads: list[Cell] = [("Strategy", ""), ("Cost of a session", "n"), ("Net saving", "n"), ("Pays after", "n")]
    heads += [(title, "n") for title in ("Input", "Cache read", "Cache written", "Answers", "Summaries", "Fetch again")]
    heads.append(("From the cache", "n"))
    lines = [row(_cells(one, money), "reference" if one["reference"] else "") for one in rows.to_dict("records")]
    return Html(table(heads, lines, kind="costs", caption=_caption(money), label="costs"), data=rows)


def _cells(one: Line, money: Money) -> list[Cell]:
    span = "" if _none(one["saved_low"]) else f", {percent(one['saved_low'])} to {percent(one['saved_high'])}"
    share = "" if one["strategy"] == "none" else f" <small>{percent(one['saved'])}{span}</small>"
    figures = [dollars(one["usd"]), dollars(one["net_saving"]) + share, _pays(one)]
    figures += [dollars(one[part]) for part in PARTS]
    figures.append(f"{percent(one['cache_read'])} <small>{count(one['breaks'])} {_breaks(one)}</small>")
    return [(dot(str(one["strategy"]), money.strategies), ""), *((figure, "n") for figure in figures)]


def _breaks(one: Line) -> str:
    return "break" if count(one["breaks"]) == "1" else "breaks"


def _pays(one: Line) -> str:
    if not one["compacted"]:
        return NOTHING
    if not one["paid"]:
        return f"never <small>in {some(int(one['compacted']), 'session')}</small>"
    late = int(one["compacted"] - one["paid"])
    never = f" <small>never in {late} of {int(one['compacted'])}</small>" if late else ""
    return f"{some(round(one['even_after']), 'request')}{never}"


def _caption(money: Money) -> str:
    """What the figures mean and rest on, in a few sentences."""
    n = money.costs["session"].nunique()
    told = [
        f"Means over {some(n, 'session')} in USD, lower is cheaper. Net saving: what the same requests would have cost "
        "uncompacted, less the cost, less fetching again what was lost and needed; higher is better. Pays after: "
        "requests from the first compaction until the sum was no higher than without any, in the median session. "
        "From the cache: share of the prompts' tokens; a break is a request that does not begin like the one before.",
        _priced(money),
    ]
    assumed = int(money.costs["assumed_summaries"].sum())
    if assumed:
        told.append(
            "Summaries were written by a writer without a price; they are reckoned as if the priced model had written "
            "them, reading what they replace without a cache."
        )
    return bullets(shown(text, 2000) for text in told if text)


def _priced(money: Money) -> str:
    whose = money.costs.drop_duplicates("session")
    rows = [f"{one['row']} ({one['cache']})" for one in whose.drop_duplicates(["row", "cache"]).to_dict("records")]
    told = f"Prices and cache rules: {listed(rows)}"
    told += f", from litellm {money.litellm}. " if money.litellm else ". "
    reasons = whose.loc[whose["why"] != "", "why"].value_counts()
    return told + " ".join(f"In {some(int(n), 'session')}, since {why}." for why, n in reasons.items())


def typical(money: Money) -> str | None:
    """The session in the middle by what it costs uncompacted, of those that some strategy compacted."""
    costs = money.costs
    cut = set(costs.loc[costs["parted_at"].notna() & ~costs["strategy"].isin(REFERENCES), "session"])
    whole = costs.drop_duplicates("session").set_index("session")["usd_uncompacted"]
    known = sorted((float(usd), str(session)) for session, usd in whole.items() if session in cut or not cut)
    return known[len(known) // 2][1] if known else None


def spending(money: Money, session: str | None = None) -> Figure:
    """What one session has cost after each request, under each strategy, with where compaction has paid off.

    Args:
        money: the tables.
        session: its id; the one in the middle if None.
    """
    title = "What one session has cost, request by request"
    session = typical(money) if session is None else session
    steps = money.steps[(money.steps["session"] == session) & money.steps["usd"].notna()]
    if steps.empty:
        return words(title, "Nothing to draw: no session with prices was replayed request by request.")
    costs = money.costs[money.costs["session"] == session].set_index("strategy")
    n = int(steps["request"].nunique())
    note = f"n = {some(n, 'request')} of one session · ● no dearer than no compaction from here · lower is cheaper"
    figure, axes = paper(title, note)
    names = [name for name in money.strategies if name in set(steps["strategy"])]
    ends = [_line(axes, steps, costs, name, money.strategies) for name in names]
    axes.set(xlabel="request", ylabel="all requests so far, USD")
    axes.set_ylim(0, 1.08 * max((end.y for end in ends), default=1.0))
    axes.margins(x=0.01)
    name_ends(figure, axes, ends)
    return figure


def _line(axes: Axes, steps: pd.DataFrame, costs: pd.DataFrame, name: str, known: tuple[str, ...]) -> Label:
    mine = steps[steps["strategy"] == name].sort_values("request")
    total, colour = mine["usd"].cumsum().to_numpy(), looks(known)[name].colour
    axes.plot(mine["request"], total, "--" if name in REFERENCES else "-", color=colour, lw=1.7)
    even = costs["even_at"].get(name)
    if name not in REFERENCES and even is not None and not _none(even):
        axes.plot([even], [total[int(even)]], "o", color=colour, ms=7, mec="none")
    return Label(name, float(mine["request"].iloc[-1]), float(total[-1]), colour)


def spending_words(money: Money, session: str | None = None) -> str:
    """The same as the chart, for those who cannot see it."""
    session = typical(money) if session is None else session
    costs = money.costs[money.costs["session"] == session]
    told = [f"{one['strategy']} {dollars(one['usd'])}{_even(one)}" for one in costs.to_dict("records")]
    return f"What {session} has cost after each request; in the end: {listed(told) or 'no data'}"


def _even(one: Line) -> str:
    return "" if _none(one["even_at"]) else f", no dearer than no compaction from request {int(one['even_at'])}"


def reconciled_html(money: Money) -> Html:
    """How well the replay without compaction reproduces what providers reported, session by session."""
    rows = money.reconciliation[money.reconciliation["requests"] > 0]
    if rows.empty:
        return Html('<p class="empty">No recording reports the usage of its requests, so the bill is not checked.</p>')
    rows = rows.sort_values("prompt_error", ascending=False)
    heads: list[Cell] = [("Session", ""), ("Requests", "n"), ("Prompt off by", "n"), ("Cache read off by", "n")]
    heads += [("Dollars off by", "n"), ("Together", "n"), ("Reported", "n"), ("Cache missed", "n"), ("Followed", "")]
    lines = [row(_matched(one)) for one in rows.head(SHOWN).to_dict("records")]
    told = _told(money.reconciliation)
    return Html(table(heads, lines, caption=shown(told, 2000), label="reported usage"), told, rows)


def _matched(one: Line) -> list[Cell]:
    errors = [f"{100 * one[name]:.1f} %" for name in ("prompt_error", "read_error", "usd_error")]
    sums = [dollars(one["usd"]), dollars(one["usd_reported"])]
    figures = [f"{one['requests']:,.0f}", *errors, *sums, count(one["missed"])]
    return [(shown(str(one["session"])), ""), *((figure, "n") for figure in figures), (shown(_followed(one)), "")]


def _followed(one: Line) -> str:
    """What changed the context otherwise than by what was said, and what was left out."""
    named = (
        ("compactions", "compaction", "compactions"), ("clearings", "clearing", "clearings"),
        ("shrunk", "unrecorded cut", "unrecorded cuts"), ("grown", "unrecorded addition", "unrecorded additions"),
    )  # fmt: skip
    told = [some(int(one[column]), word, many) for column, word, many in named if one[column] > 0]
    told += ["a start that another file holds"] if one["unseen_start"] > 0 else []
    told += [f"{some(int(one['left_out']), 'answer')} left out"] if one["left_out"] > 0 else []
    return listed(told)


def _told(rows: pd.DataFrame) -> str:
    checked = rows[rows["requests"] > 0]
    good = int((checked["prompt_error"] <= 0.02).sum())
    silent = len(rows) - len(checked)
    told = (
        f"Each request of {some(len(checked), 'session')} was predicted before its own report was looked at; columns "
        f"are medians over requests. The prompt is within 2 % in {good} of {len(checked)} sessions; in the median one "
        f"it is off by {100 * checked['prompt_error'].median():.1f} %, its dollars by "
        f"{100 * checked['usd_error'].median():.1f} %. Cache missed: requests for which the provider held far less "
        "than its rules promise; they make the reported sum larger."
    )
    return told + (f" {some(silent, 'session')} could not be checked: too little usage is reported." if silent else "")


def _none(value: object) -> bool:
    return value is None or value != value
