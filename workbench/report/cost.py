"""What each strategy costs: the bill by part, and how well reported usage is reproduced."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import pandas as pd

from workbench.analysis.estimate import estimate
from workbench.formats import dollars, joined, missing, some
from workbench.palette import REFERENCES
from workbench.report.html import Html, empty, part
from workbench.report.summaries import interval_columns
from workbench.report.tables import Source, plain

Line: TypeAlias = Mapping[Hashable, Any]
PARTS = ("usd_input", "usd_read", "usd_write", "usd_output", "usd_summaries", "usd_fetching")
SHOWN = 40
"""Sessions in the table of reported usage, the worst predicted first."""


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
    found |= interval_columns("saved", saved)
    prompts = mine[["tokens_input", "tokens_read", "tokens_written"]].sum(axis=1)
    found["cache_read"] = float((mine["tokens_read"] / prompts.where(prompts > 0)).mean())
    after = (mine["even_at"] - mine["parted_at"]).dropna()
    found["compacted"], found["paid"] = int(mine["parted_at"].notna().sum()), len(after)
    found["even_after"] = float(after.median()) if len(after) else None
    return found


def costs_html(money: Money) -> Html:
    """The bill of each strategy, cheapest first."""
    if money.costs.empty:
        return empty("No session has a bill: nothing was replayed request by request.")
    rows = bills(money)
    css = {True: "reference", False: ""}
    lines = [one | {"attributes": {"class": css[one["reference"]]}} for one in rows.to_dict("records")]
    return part(
        "costs", data=rows, rows=lines, known=money.strategies, sessions=money.costs["session"].nunique(),
        prices=_prices(money), assumed=bool(money.costs["assumed_summaries"].sum()),
    )  # fmt: skip


def _prices(money: Money) -> str:
    sessions = money.costs.drop_duplicates("session")
    rows = [f"{one['row']} ({one['cache']})" for one in sessions.drop_duplicates(["row", "cache"]).to_dict("records")]
    source = f", from litellm {money.litellm}. " if money.litellm else ". "
    reasons = sessions.loc[sessions["why"] != "", "why"].value_counts()
    why = " ".join(f"In {some(int(n), 'session')}, since {why}." for why, n in reasons.items())
    return f"Prices and cache rules: {joined(rows)}{source}{why}"


def typical(money: Money) -> str | None:
    """The session in the middle by what it costs uncompacted, of those that some strategy compacted."""
    costs = money.costs
    cut = set(costs.loc[costs["parted_at"].notna() & ~costs["strategy"].isin(REFERENCES), "session"])
    whole = costs.drop_duplicates("session").set_index("session")["usd_uncompacted"]
    known = sorted((float(usd), str(session)) for session, usd in whole.items() if session in cut or not cut)
    return known[len(known) // 2][1] if known else None


def spending_words(money: Money, session: str | None = None) -> str:
    """The same as the chart, for those who cannot see it."""
    session = typical(money) if session is None else session
    costs = money.costs[money.costs["session"] == session]
    told = [f"{one['strategy']} {dollars(one['usd'])}{_even(one)}" for one in costs.to_dict("records")]
    return f"What {session} has cost after each request; in the end: {joined(told) or 'no data'}"


def _even(one: Line) -> str:
    if missing(one["even_at"]):
        return ""
    return f", no dearer than without compaction from request {int(one['even_at'])}"


def reconciled_html(money: Money) -> Html:
    """How well the replay without compaction reproduces the usage that providers reported, session by session."""
    rows = money.reconciliation[money.reconciliation["requests"] > 0]
    if rows.empty:
        return empty("No recording reports the usage of its requests, so the bill is not checked.")
    rows = rows.sort_values("prompt_error", ascending=False)
    lines = [one | {"followed": _followed(one)} for one in rows.head(SHOWN).to_dict("records")]
    told = _reconciled(money.reconciliation)
    return part("reconciled", told, rows, rows=lines, told=told)


def _followed(one: Line) -> str:
    """What changed the context other than new messages, and what was left out."""
    named = (
        ("compactions", "compaction", "compactions"), ("clearings", "clearing", "clearings"),
        ("shrunk", "unrecorded cut", "unrecorded cuts"), ("grown", "unrecorded addition", "unrecorded additions"),
    )  # fmt: skip
    told = [some(int(one[column]), word, many) for column, word, many in named if one[column] > 0]
    told += ["a start in another file"] if one["unseen_start"] > 0 else []
    told += [f"{some(int(one['left_out']), 'answer')} left out"] if one["left_out"] > 0 else []
    return joined(told)


def _reconciled(rows: pd.DataFrame) -> str:
    checked = rows[rows["requests"] > 0]
    good = int((checked["prompt_error"] <= 0.02).sum())
    silent = len(rows) - len(checked)
    told = (
        f"Each request of {some(len(checked), 'session')} is predicted without its own report; columns are medians "
        f"over requests. The prompt is within 2 % in {good} of {len(checked)} sessions; in the median session it is "
        f"off by {100 * checked['prompt_error'].median():.1f} %, its dollars by "
        f"{100 * checked['usd_error'].median():.1f} %. Cache missed: requests for which the provider's cache held far "
        "less than its rules promise; they raise the reported sum."
    )
    return told + (f" {some(silent, 'session')} could not be checked: too little usage is reported." if silent else "")
