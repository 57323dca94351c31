"""What each strategy costs: the bill by part, recall and its calls, and how well reported usage is reproduced."""

from collections.abc import Mapping

import pandas as pd

from workbench.base.formats import joined, some
from workbench.base.palette import REFERENCES
from workbench.evaluation.analysis.paired import interval_columns
from workbench.report.page.html import Html, empty, part, sentences
from workbench.report.page.once import once
from workbench.report.page.summaries import session_titles
from workbench.report.page.tables import Tables

PARTS = ("usd_input", "usd_read", "usd_write", "usd_output", "usd_summaries", "usd_fetching")
SHOWN = 40
"""Sessions in the table of reported usage, the worst predicted first."""
FAR = 0.03
"""The error of a whole bill from which its session is listed in any case, with its reasons."""
CHANGES = (
    ("compactions", "compaction", "compactions"), ("clearings", "clearing", "clearings"),
    ("shrunk", "unrecorded cut", "unrecorded cuts"), ("grown", "unrecorded addition", "unrecorded additions"),
    ("unseen_start", "", ""), ("left_out", "answer left out", "answers left out"),
)  # fmt: skip
"""What changes a recorded context other than new messages: column, and its word for one and for several."""


def by_cost(run: Tables) -> list[str]:
    """Contenders by what they cost, cheapest first, then the references."""
    means = run.costs.groupby("strategy", sort=True)["usd"].mean().sort_values(kind="stable").index
    known = [name for name in means if name not in REFERENCES]
    return [*known, *(name for name in REFERENCES if name in set(means))]


def bills(run: Tables) -> pd.DataFrame:
    """One row a strategy, means over sessions in USD; docs/reference/tables.md has the columns."""
    return pd.DataFrame([_bill(run, name) for name in by_cost(run)])


def _bill(run: Tables, name: str) -> dict[str, object]:
    mine = run.costs[run.costs["strategy"] == name]
    prompts = mine[["tokens_input", "tokens_read", "tokens_written"]].sum(axis=1)
    after = (mine["even_at"] - mine["parted_at"]).dropna()
    return {
        "strategy": name, "reference": name in REFERENCES, "sessions": len(mine),
        **mine[["usd", *PARTS, "usd_uncompacted", "net_saving", "breaks"]].mean().to_dict(),
        **interval_columns("saved", run.net_saving(name)),
        "cache_read": float((mine["tokens_read"] / prompts.where(prompts > 0)).mean()),
        "compacted": int(mine["parted_at"].notna().sum()), "paid": len(after),
        "even_after": float(after.median()) if len(after) else None,
    }  # fmt: skip


def costs_html(run: Tables) -> Html:
    """The bill of each strategy, cheapest first."""
    if run.costs.empty:
        return empty("No session has a bill: nothing was replayed request by request.")
    sessions = run.costs.drop_duplicates("session")
    prices = sentences(
        "prices", rows=sessions.drop_duplicates(["row", "cache"]).to_dict("records"),
        litellm=run.manifest.get("packages", {}).get("litellm"),
        reasons=sessions.loc[sessions["why"] != "", "why"].value_counts().to_dict(),
    )  # fmt: skip
    return part(
        "costs", bills(run), sessions=len(sessions), prices=" ".join(prices),
        assumed=bool(run.costs["assumed_summaries"].sum()),
    )  # fmt: skip


def typical(run: Tables) -> str | None:
    """The session in the middle by what it costs uncompacted, of those that some strategy compacted."""
    costs = run.costs
    cut = set(costs.loc[costs["parted_at"].notna() & ~costs["strategy"].isin(REFERENCES), "session"])
    whole = costs.drop_duplicates("session").set_index("session")["usd_uncompacted"]
    known = sorted((float(usd), str(session)) for session, usd in whole.items() if session in cut or not cut)
    return known[len(known) // 2][1] if known else None


def reconciled_html(run: Tables) -> Html:
    """How well the replay without compaction reproduces the usage that providers reported, session by session."""
    rows = run.reconciliation[run.reconciliation["requests"] > 0].sort_values("prompt_error", ascending=False)
    rows = rows.sort_values("bill_error", key=abs, ascending=False, kind="stable")
    if rows.empty:
        return empty("No recording reports the usage of its requests, so the bill is not checked.")
    medians = 100 * rows[["prompt_error", "usd_error"]].median()
    note = " ".join(
        sentences(
            "reconciled", checked=len(rows), silent=len(run.reconciliation) - len(rows), medians=medians.to_dict(),
            good=int((rows["prompt_error"] <= 0.02).sum()), bills=_bills(rows),
        )
    )  # fmt: skip
    far, titles = int((rows["bill_error"].abs() > FAR).sum()), session_titles(run)
    lines = [
        one
        | {"title": titles.get(one["session"], one["session"]), "followed": _followed(one), "because": _because(one)}
        for one in rows.head(max(SHOWN, far)).to_dict("records")
    ]
    return part("reconciled", rows, note, rows=lines, note=note)


def _bills(rows: pd.DataFrame) -> dict[str, float]:
    """How far the bills of whole sessions are off, and what the provider's cache has of it, in per cent."""
    said = rows["usd_reported"]
    rest = (rows["usd"] + rows["usd_missed"] - rows["usd_found"]) / said - 1
    sums = {name: 100 * rows[name].sum() / said.sum() for name in ("usd", "usd_missed", "usd_found")}
    return {
        "median": 100 * rows["bill_error"].abs().median(), "rest": 100 * rest.abs().median(),
        "bias": sums["usd"] - 100, "missed": sums["usd_missed"], "found": sums["usd_found"],
    }  # fmt: skip


def _because(one: Mapping[str, object]) -> str:
    """Why a bill is off, as shares of the reported one, with what it lacks and whose prices it has."""
    left = int(str(one["left_out"]))
    lacks = f"{some(left, 'answer')} without a report or by another model in neither bill" if left else ""
    return "; ".join(filter(None, (str(one["reasons"]), lacks, str(one["why"]))))


def _followed(one: Mapping[str, int]) -> str:
    """What changed the context other than new messages, and what was left out."""
    found = [(int(one[column]), word, many) for column, word, many in CHANGES if one[column] > 0]
    return joined([some(*named) if named[1] else "a start in another file" for named in found])


@once
def within_reach(run: Tables) -> pd.DataFrame:
    """One row a strategy with recall, on its own trigger; docs/reference/tables.md has the columns."""
    mine = run.paging[run.paging["mode"] == "natural"]
    known = (name for name in run.strategies if (mine["strategy"] == name).any())
    return pd.DataFrame([_row(run, name, mine[mine["strategy"] == name]) for name in known])


def _row(run: Tables, name: str, mine: pd.DataFrame) -> dict[str, object]:
    means = {
        column: run.mean_over_projects(mine.set_index("session")[column])
        for column in ("visible", "recoverable", "lost")
    }
    costs = run.costs[(run.costs["strategy"] == name) & run.costs["session"].isin(mine["session"])]
    priced = mine[mine["session"].isin(costs["session"])]
    whole, requests = costs["usd_uncompacted"].sum(), mine["requests"].sum()
    return {
        "strategy": name, "sessions": len(mine),
        **{column: None if mean is None else mean.mean for column, mean in means.items()},
        "fault_rate": mine["asked"].sum() / mine["items"].sum(),
        "calls": 100 * mine["calls"].sum() / requests if requests else None,
        "usd_recall": priced["usd_recall"].mean(),
        "saved": priced["net_saving"].sum() / whole if whole else None,
        "saved_without": costs["net_saving"].sum() / whole if whole else None,
    }  # fmt: skip


def paging_html(run: Tables) -> Html:
    """The strategies with recall; nothing where there is none."""
    rows = within_reach(run)
    return empty(data=rows) if rows.empty else part("paging", rows)
