"""The page that searches a text in all recordings of a run."""

from __future__ import annotations

import re
import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from workbench.engine.transcript.message import Message
from workbench.report.explorer.panels import texts_of
from workbench.report.view.not_shown import SHARED, NotShown
from workbench.report.view.page import Page, Query, asking, counted, number
from workbench.report.view.pages import MOST
from workbench.report.view.recordings import recorded_session
from workbench.report.view.runs import RunEntry

AROUND = 160
"""Characters shown before and behind what was found."""
LONGEST = 5.0
"""Seconds until a search shows what it has, and offers to go on."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that holds the text.

    Attributes:
        title: of its session.
        message: its number.
        role: who wrote it.
        times: how often it holds the text.
        start, text, end: the text as it is written the first time, between what is around it.
    """

    session: str
    title: str
    message: int
    role: str
    times: int
    start: str
    text: str
    end: str


@dataclass
class Search:
    """What a search has come to.

    Attributes:
        hits: the messages that hold the text, in the order of the run's sessions.
        unread: why recordings could not be searched.
        place: the session at which it goes on.
    """

    hits: list[Hit]
    unread: list[str]
    place: int


def search_page(entry: RunEntry, query: Query) -> Page:
    """The messages of a run's recordings that hold a text.

    Raises:
        NotShown: the run goes on, or is a shared copy.
    """
    if not entry.finished:
        raise NotShown("This run goes on; its recordings can be searched when it is finished.")
    run = entry.tables()
    if run.manifest.get("shared"):
        raise NotShown(SHARED)
    words = query.get("q", "").strip()
    role = query.get("who", "")
    sessions = run.replayed[["session", "title"]].to_dict("records")
    start = number(query, "from") or 0
    search = Search([], [], start)
    if words:
        _go_on(search, entry, sessions, words)
    fitting_hits = []
    for hit in search.hits:
        if role in ("", hit.role):
            fitting_hits.append(hit)
    next_query = {"q": words, "who": role, "from": search.place}
    values = {
        "run": entry,
        "q": words,
        "who": role,
        "roles": counted(hit.role for hit in search.hits),
        "hits": fitting_hits[:MOST],
        "fitting": len(fitting_hits),
        "start": start,
        "place": search.place,
        "count": len(sessions),
        "next": asking(**next_query),
        "unread": search.unread,
    }
    title = f"{words or 'Search'} in {entry.name}"
    return Page("search", title, values, pd.DataFrame(fitting_hits))


def _go_on(
    search: Search,
    entry: RunEntry,
    sessions: Sequence[Mapping[Hashable, Any]],
    words: str,
) -> None:
    """Search session after session, until enough was found or the time is up."""
    pattern = re.compile(re.escape(words), re.IGNORECASE)
    ends_at = time.monotonic() + LONGEST
    for row in sessions[search.place :]:
        session = row["session"]
        try:
            messages = recorded_session(entry, session).messages
        except NotShown as error:
            search.unread.append(str(error))
            messages = ()
        search.hits += _hits(messages, session, row["title"] or session, pattern)
        search.place += 1
        if time.monotonic() > ends_at or len(search.hits) >= MOST:
            return


def _hits(
    messages: Sequence[Message],
    session: str,
    title: str,
    pattern: re.Pattern[str],
) -> Iterator[Hit]:
    """The messages of a session that hold the text, in whatever case."""
    for index, message in enumerate(messages):
        text = "\n".join(texts_of(message))
        matches = list(pattern.finditer(text))
        if not matches:
            continue
        start, end = matches[0].span()
        yield Hit(
            session=session,
            title=title,
            message=index,
            role=message.role,
            times=len(matches),
            start=text[max(start - AROUND, 0) : start],
            text=text[start:end],
            end=text[end : end + AROUND],
        )
