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
from workbench.report.view.page import Page, Query, asking, number
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
        is_before = answers < message
        return min(int(is_before.sum()), len(answers) - 1)


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
    for row in filling.rows[filling.rows["request"] == request].to_dict("records"):
        who = source_words(row["source"], row["name"])
        source = {
            "who": who,
            "colour": COLOURS.get(row["source"], OTHER),
            "tokens": round(row["tokens"]),
            "share": row["share"],
            "usd": costs.get(who),
            "usd_share": shares.get(who),
        }
        sources.append(source)
    return sources


def _costs(filling: Filling) -> pd.Series[float]:
    """What each source cost in the whole session, in USD, the dearest first; empty where no
    request has a price.
    """
    rows = filling.rows[filling.rows["usd"].notna()]
    who = list(map(source_words, rows["source"], rows["name"]))
    costs = rows["usd"].groupby(who).sum()
    return costs.sort_values(ascending=False)


def _largest(filling: Filling, request: int) -> list[dict[str, Any]]:
    """The largest messages in the context of one request, and how often the agent came back to
    them.
    """
    messages = []
    for row in filling.contexts.largest_messages(request, LARGEST).to_dict("records"):
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
        request = filling.request_before(bill.message)
        rows.append({**asdict(bill), "request": request, "usd": bill.usd})
    return rows


@dataclass(frozen=True, slots=True)
class _Scale:
    """From requests and tokens to places in the chart; `top` is the most tokens."""

    last_request: int
    top: float

    def x(self, request: int) -> float:
        """From the left."""
        width = WIDTH - LEFT - 12
        return round(LEFT + width * request / self.last_request, 1)

    def y(self, tokens: float) -> float:
        """From the top."""
        height = HEIGHT - TOP - BOTTOM
        return round(TOP + height * (1 - tokens / self.top), 1)

    def corners(self, tokens_by_request: pd.Series[float]) -> list[str]:
        """The corners of a line."""
        corners = []
        for request, tokens in tokens_by_request.items():
            corners.append(f"{self.x(request)},{self.y(tokens)}")
        return corners


def _chart(filling: Filling, request: int) -> dict[str, Any]:
    """The layers of each request as corners of areas, with their colours."""
    tokens = filling.rows.pivot_table(
        index="request",
        columns="source",
        values="tokens",
        aggfunc="sum",
        fill_value=0.0,
    )
    tokens = tokens.clip(lower=0.0)
    most_tokens = float(tokens.sum(axis=1).max() or 1.0)
    scale = _Scale(max(len(tokens) - 1, 1), 1.06 * most_tokens)
    step = -(-len(tokens) // MOST_COLUMNS)
    prompts = filling.prompts.iloc[::step]
    ticks = []
    for size in _ticks(scale.top):
        ticks.append((scale.y(size), f"{size / 1000:,.0f}k"))
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "top": TOP,
        "bottom": BOTTOM,
        "last": len(tokens) - 1,
        "layers": _layers(scale, tokens.iloc[::step]),
        "marks": _marks(scale, filling),
        "prompts": " ".join(scale.corners(prompts)),
        "cursor": scale.x(request),
        "ticks": ticks,
    }


def _layers(scale: _Scale, tokens: pd.DataFrame) -> list[dict[str, str]]:
    """An area a source, each on top of those before."""
    layers = []
    below = pd.Series(0.0, index=tokens.index)
    for source, colour in COLOURS.items():
        if source not in tokens:
            continue
        above = below + tokens[source]
        corners = scale.corners(above)
        corners += reversed(scale.corners(below))
        layers.append({"source": source, "colour": colour, "points": " ".join(corners)})
        below = above
    return layers


def _marks(scale: _Scale, filling: Filling) -> list[dict[str, object]]:
    """Where the agent compacted."""
    marks = []
    for bill in filling.bills:
        request = filling.request_before(bill.message)
        mark = {
            "x": scale.x(request),
            "label": f"{bill.kind} before message {bill.message}",
            "request": request,
        }
        marks.append(mark)
    return marks


def _ticks(top: float) -> list[int]:
    """Round sizes from 0 to the top, at most six."""
    for size in (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000):
        if top / size <= 5:
            return list(range(0, int(top) + 1, size))
    return list(range(0, int(top) + 1, 1_000_000))
