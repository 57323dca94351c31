"""The page of what filled the context of a recorded agent: over time, at one request, and what
each of its compactions came to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import pandas as pd

from workbench.base.markup import clipped
from workbench.evaluation.analysis.composition import RecordedContexts
from workbench.evaluation.analysis.later_uses import later_uses
from workbench.evaluation.analysis.recorded_compactions import CompactionBill, bills
from workbench.evaluation.analysis.table_rows import rows_with
from workbench.report.explorer import treemap as tm
from workbench.report.explorer.areas import area_chart, first_request
from workbench.report.explorer.sources import MEASURED_NOTE, source_rows, source_words
from workbench.report.view.not_shown import NotShown
from workbench.report.view.page import Page, Query, asking, number
from workbench.report.view.recordings import recording, session_row
from workbench.report.view.runs import RunEntry

DEAREST = 3
"""Sources that the first sentence names."""
LARGEST = 10
"""Messages in the list of the largest."""


@dataclass(frozen=True)
class Filling:
    """What the page shows of one session.

    Attributes:
        rows: as `wb.composition`.
        contexts: for the largest messages at a request.
        uses: as `later_uses`.
        bills: of its compactions.
    """

    rows: pd.DataFrame
    contexts: RecordedContexts
    uses: Mapping[int, int]
    bills: Sequence[CompactionBill]

    @property
    def prompts(self) -> pd.Series[float]:
        """The tokens of each request."""
        by_request = self.rows.groupby("request")
        return by_request["tokens"].sum()

    @property
    def compactions(self) -> dict[int, str]:
        """What the agent did before the message of each of these indices."""
        kinds: dict[int, str] = {}
        for bill in self.bills:
            kinds[bill.message] = bill.kind
        return kinds

    @property
    def reported_requests(self) -> int:
        """Of how many requests the recording says how large they were."""
        is_reported = self.rows["reported"].notna()
        return int(self.rows.loc[is_reported, "request"].nunique())

    def of_request(self, request: int) -> pd.DataFrame:
        """What filled the context of one request, a row a source."""
        return rows_with(self.rows, request=request)


def filling_page(entry: RunEntry, query: Query) -> Page:
    """What filled the context of a session: over all requests, and at one of them."""
    session = query.get("id", "")
    row = session_row(entry.tables(), session)
    filling = _filling(entry, session)
    if filling.rows.empty:
        raise NotShown("The recording has no request: nothing filled a context.")
    prompts = filling.prompts
    last_request = len(prompts) - 1
    request = _request(filling, query)
    address = {"id": session, "request": request}

    def link(**changes: object) -> str:
        return asking(**{**address, **changes})

    sources = _sources(filling, request)
    costs = _costs(filling)
    dearest = costs.head(DEAREST) / costs.sum()
    values = {
        "usd": costs.sum(min_count=1),
        "dearest": list(dearest.items()),
        "run": entry,
        "row": row,
        "request": request,
        "last": last_request,
        "tokens": round(prompts[request]),
        "reported_requests": filling.reported_requests,
        "chart": area_chart(filling.rows, filling.compactions),
        "measured_note": MEASURED_NOTE,
        "tiles": tm.treemap(filling.of_request(request)),
        "width": tm.WIDTH,
        "height": tm.HEIGHT,
        "sources": sources,
        "largest": _largest(filling, request),
        "bills": _bill_rows(filling),
        "link": link,
    }
    title = f"What filled the context of {clipped(row['title'] or session, 60)}"
    return Page("filling", title, values, pd.DataFrame(sources))


def _request(filling: Filling, query: Query) -> int:
    """The request that an address names; the largest where it names none."""
    prompts = filling.prompts
    request = number(query, "request")
    if request is None:
        return int(prompts.idxmax())
    if request not in prompts.index:
        last_request = len(prompts) - 1
        raise NotShown(f"The session has requests 0 to {last_request}.")
    return request


@lru_cache(maxsize=4)
def _filling(entry: RunEntry, session: str) -> Filling:
    prepared = recording(entry, session)
    contexts = RecordedContexts(prepared.session)
    return Filling(
        rows=contexts.composition(),
        contexts=contexts,
        uses=later_uses(prepared.session.messages, prepared.index),
        bills=tuple(bills(contexts.sized)),
    )


def _sources(filling: Filling, request: int) -> list[dict[str, Any]]:
    """Who put how much into the context of one request, the largest first."""
    costs = _costs(filling)
    shares = costs / costs.sum()
    sources = []
    for row in source_rows(filling.of_request(request)):
        source = {
            **asdict(row),
            "usd": costs.get(row.who),
            "usd_share": shares.get(row.who),
        }
        sources.append(source)
    return sources


def _costs(filling: Filling) -> pd.Series[float]:
    """What each source cost in the whole session, in USD, the dearest first; empty where no
    request has a price.
    """
    is_priced = filling.rows["usd"].notna()
    rows = filling.rows[is_priced]
    who = map(source_words, rows["source"], rows["name"])
    by_source = rows["usd"].groupby(list(who))
    costs = by_source.sum()
    return costs.sort_values(ascending=False)


def _largest(filling: Filling, request: int) -> list[dict[str, Any]]:
    """The largest messages in the context of one request, and how often the agent came back to
    them.
    """
    largest = filling.contexts.largest_messages(request, LARGEST)
    messages = []
    for row in largest.to_dict("records"):
        message = {
            "message": row["message"],
            "who": source_words(row["source"], row["name"]),
            "tokens": round(row["tokens"]),
            "uses": filling.uses.get(row["message"], 0),
            "begins": row["begins"],
        }
        messages.append(message)
    return messages


def _bill_rows(filling: Filling) -> list[dict[str, Any]]:
    rows = []
    for bill in filling.bills:
        request = first_request(filling.rows, bill.message)
        row = asdict(bill)
        row["request"] = request
        row["usd"] = bill.usd
        rows.append(row)
    return rows
