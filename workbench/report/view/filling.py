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
from workbench.report.explorer import treemap as tm
from workbench.report.explorer.sources import COLOURS, OTHER, source_words
from workbench.report.view.contexts import NotShown, recording, session_row
from workbench.report.view.pages import Page, Query, asking, number
from workbench.report.view.runs import RunEntry

DEAREST = 3
"""Sources that the first sentence names."""
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 1000, 260, 62, 14, 26
MOST_COLUMNS = 400
"""Requests that the chart draws; of more, every second, third and so on."""
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
        return self.rows.groupby("request")["tokens"].sum()

    @property
    def answers(self) -> pd.Series[int]:
        """The index of each request's answer."""
        return self.rows.groupby("request")["message"].first()

    def request_before(self, message: int) -> int:
        """The first request whose answer is the message or comes after it."""
        answers = self.answers
        return min(int((answers < message).sum()), len(answers) - 1)


def filling_page(entry: RunEntry, query: Query) -> Page:
    """What filled the context of a session: over all requests, and at one of them."""
    session = query.get("id", "")
    row = session_row(entry.tables(), session)
    filling = _filling(entry, session)
    if filling.rows.empty:
        raise NotShown("The recording has no request: nothing filled a context.")
    prompts = filling.prompts
    request = number(query, "request")
    if request is None:
        request = int(prompts.idxmax())
    if request not in prompts.index:
        raise NotShown(f"The session has requests 0 to {len(prompts) - 1}.")

    def link(**changes: object) -> str:
        return asking(**{"id": session, "request": request, **changes})

    sources = _sources(filling, request)
    costs = _costs(filling)
    dearest = costs.head(DEAREST) / costs.sum()
    values = {
        "usd": costs.sum(min_count=1),
        "dearest": list(dearest.items()),
        "run": entry,
        "row": row,
        "request": request,
        "last": len(prompts) - 1,
        "tokens": round(prompts[request]),
        "is_reported": bool(filling.rows["reported"].notna().any()),
        "chart": _chart(filling, request),
        "tiles": tm.treemap(filling.rows[filling.rows["request"] == request]),
        "width": tm.WIDTH,
        "height": tm.HEIGHT,
        "sources": sources,
        "largest": _largest(filling, request),
        "bills": _bill_rows(filling),
        "link": link,
    }
    title = f"What filled the context of {clipped(row['title'] or session, 60)}"
    return Page("filling", title, values, pd.DataFrame(sources))


def _filling(entry: RunEntry, session: str) -> Filling:
    return _made(entry, session, entry.stamp)


@lru_cache(maxsize=4)
def _made(entry: RunEntry, session: str, stamp: str) -> Filling:
    prepared = recording(entry, session)
    contexts = RecordedContexts(prepared.session)
    return Filling(
        contexts.composition(),
        contexts,
        later_uses(prepared.session.messages, prepared.index),
        tuple(bills(contexts.sized)),
    )


def _sources(filling: Filling, request: int) -> list[dict[str, Any]]:
    """Who put how much into the context of one request, the largest first."""
    costs = _costs(filling)
    shares = costs / costs.sum()
    sources = []
    for row in filling.rows[filling.rows["request"] == request].to_dict("records"):
        who = source_words(row["source"], row["name"])
        sources.append(
            {
                "who": who,
                "colour": COLOURS.get(row["source"], OTHER),
                "tokens": round(row["tokens"]),
                "share": row["share"],
                "usd": costs.get(who),
                "usd_share": shares.get(who),
            }
        )
    return sources


def _costs(filling: Filling) -> pd.Series[float]:
    """What each source cost in the whole session, in USD, the dearest first; empty where no
    request has a price.
    """
    rows = filling.rows[filling.rows["usd"].notna()]
    who = list(map(source_words, rows["source"], rows["name"]))
    return rows["usd"].groupby(who).sum().sort_values(ascending=False)


def _largest(filling: Filling, request: int) -> list[dict[str, Any]]:
    """The largest messages in the context of one request, and how often the agent came back to
    them.
    """
    messages = []
    for row in filling.contexts.largest_messages(request, LARGEST).to_dict("records"):
        messages.append(
            {
                "message": row["message"],
                "who": source_words(row["source"], row["name"]),
                "tokens": round(row["tokens"]),
                "uses": filling.uses.get(row["message"], 0),
                "begins": row["begins"],
            }
        )
    return messages


def _bill_rows(filling: Filling) -> list[dict[str, Any]]:
    rows = []
    for bill in filling.bills:
        request = filling.request_before(bill.message)
        rows.append({**asdict(bill), "request": request, "usd": bill.usd})
    return rows


def _chart(filling: Filling, request: int) -> dict[str, Any]:
    """The layers of each request as corners of areas, with their colours."""
    tokens = filling.rows.pivot_table(
        index="request", columns="source", values="tokens", aggfunc="sum", fill_value=0.0
    )
    tokens = tokens.clip(lower=0.0)
    last_request = max(len(tokens) - 1, 1)
    step = -(-len(tokens) // MOST_COLUMNS)
    sampled_tokens = tokens.iloc[::step]
    top = 1.06 * float(tokens.sum(axis=1).max() or 1.0)

    def x(request: int) -> float:
        return round(LEFT + (WIDTH - LEFT - 12) * request / last_request, 1)

    def y(tokens: float) -> float:
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - tokens / top), 1)

    layers = []
    below = pd.Series(0.0, index=sampled_tokens.index)
    for source, colour in COLOURS.items():
        if source not in sampled_tokens:
            continue
        above = below + sampled_tokens[source]
        upper = [f"{x(number)},{y(value)}" for number, value in above.items()]
        lower = [f"{x(number)},{y(value)}" for number, value in below.items()]
        corners = " ".join([*upper, *reversed(lower)])
        layers.append({"source": source, "colour": colour, "points": corners})
        below = above
    marks = []
    for bill in filling.bills:
        place = filling.request_before(bill.message)
        label = f"{bill.kind} before message {bill.message}"
        marks.append({"x": x(place), "label": label, "request": place})
    prompts = filling.prompts.iloc[::step]
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "top": TOP,
        "bottom": BOTTOM,
        "last": len(tokens) - 1,
        "layers": layers,
        "marks": marks,
        "prompts": " ".join(f"{x(number)},{y(value)}" for number, value in prompts.items()),
        "cursor": x(request),
        "ticks": [(y(value), f"{value / 1000:,.0f}k") for value in _ticks(top)],
    }


def _ticks(top: float) -> list[int]:
    """Round sizes from 0 to the top, at most six."""
    for size in (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000):
        if top / size <= 5:
            return list(range(0, int(top) + 1, size))
    return list(range(0, int(top) + 1, 1_000_000))
