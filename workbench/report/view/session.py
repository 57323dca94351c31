"""The page of a session under two strategies: which message each context holds at a chosen
request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd

from workbench.base.markup import clipped
from workbench.evaluation.experiment.run_notes import loss_key
from workbench.evaluation.findings.summaries import RECORDED
from workbench.evaluation.metrics.exam.rule_verdicts import RuleVerdict, rule_verdicts
from workbench.evaluation.metrics.view import view as held_by
from workbench.report.explorer.outcomes import MessageOutcome, outcomes
from workbench.report.explorer.panels import bars, story_of, summaries_of
from workbench.report.explorer.timeline import timeline
from workbench.report.explorer.view import SessionView
from workbench.report.view.contexts import ContextPlace, differs, known_strategies, side
from workbench.report.view.difference import context_difference
from workbench.report.view.losses import all_losses
from workbench.report.view.not_shown import NotShown
from workbench.report.view.page import Page, Query, counted, number
from workbench.report.view.pages import MOST
from workbench.report.view.recordings import session_row
from workbench.report.view.runs import RunEntry
from workbench.report.view.session_links import Links, moves
from workbench.report.view.session_loss import loss_told
from workbench.report.view.session_messages import (
    SHOWS,
    MessageFilters,
    filter_counts,
    message_rows,
    rewritten_texts,
)
from workbench.report.view.summary_requests import summary_spans

MADE_UP = ("oracle", "random", RECORDED)
"""What no preset makes: references that know what will be needed or draw lots, and the agents'
own compaction.
"""


def session_page(entry: RunEntry, query: Query) -> Page:
    """A session under two strategies, message by message, at one request."""
    run = entry.tables()
    session = query.get("id", "")
    row = session_row(run, session)
    names = known_strategies(run, (query.get("left", ""), query.get("right", "")))
    place, views = _place_and_views(query, entry, session, names)
    left, right = views
    is_pair = names[0] != names[1]
    left.message = _chosen_message(left, query)
    outcomes_of = [outcomes(view.ready.session, view.event, view.at) for view in views]
    left.other = None
    difference = None
    if is_pair:
        left.other = right.replay
        difference = context_difference(left, right, outcomes_of)
    messages = message_rows(views, outcomes_of)
    filters = _filters(query)
    rows = [message for message in messages if filters.fits(message)]
    links = Links(left, place, session, names, asdict(filters))
    loss = _named_loss(entry, views, session, query)
    message_to_show = left.message
    if loss:
        message_to_show = loss["need"]["said"]
    first_row = _first_row(rows, number(query, "from"), message_to_show, left.at)
    sides = []
    for view, name, message_outcomes in zip(views, names, outcomes_of, strict=True):
        note = ""
        if place.mode == "natural":
            note = differs(run, view, session, name)
        sides.append(_side(view, name, message_outcomes, note))
    values = {
        "run": entry,
        "row": row,
        "names": names,
        "known": run.strategies,
        "presets": [name for name in run.strategies if name not in MADE_UP],
        "place": place,
        "link": links.link,
        "goto": links.goto,
        "sides": sides,
        "timeline": timeline(left, run.strategies),
        "request": left.request,
        "at": left.at,
        "last": len(left.replay.steps) - 1,
        "rows": _shown_rows(views, rows[first_row : first_row + MOST]),
        "first": first_row,
        "most": MOST,
        "fitting": len(rows),
        "count": len(messages),
        "asked": asdict(filters),
        "counts": filter_counts(messages, filters),
        "shows": SHOWS,
        "message": left.message,
        "loss": loss,
        "moves": moves(left, right, links),
        "loss_key": loss_key,
        "stories": _stories(views, outcomes_of, left.message),
        "difference": difference,
    }
    download = pd.DataFrame(rows).drop(columns="by", errors="ignore")
    title = clipped(row["title"] or session, 80)
    return Page("session", f"{title} in {entry.name}", values, download)


def _filters(query: Query) -> MessageFilters:
    """Which messages an address asks for."""
    return MessageFilters(
        q=query.get("q", ""),
        show=query.get("show", ""),
        who=query.get("who", ""),
    )


def _named_loss(
    entry: RunEntry, views: list[SessionView], session: str, query: Query
) -> dict[str, Any] | None:
    """The loss that an address names, and whether the run lists it; None where it names none."""
    loss = loss_told(views, session, query.get("loss", ""))
    if loss:
        keys = [row["loss"] for row in all_losses(entry)]
        loss["is_listed"] = loss["key"] in keys
    return loss


def _shown_rows(
    views: Sequence[SessionView],
    messages: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Messages with what they became on each side."""
    rows = []
    for message in messages:
        row = dict(message)
        row["rewritten"] = rewritten_texts(views, message)
        rows.append(row)
    return rows


def _stories(
    views: Sequence[SessionView],
    outcomes_of: Sequence[tuple[MessageOutcome, ...]],
    message: int | None,
) -> list[dict[str, object]]:
    """What became of the chosen message on each side; nothing where none is chosen."""
    if message is None:
        return []
    stories = []
    for view, message_outcomes in zip(views, outcomes_of, strict=True):
        story = story_of(view, message, message_outcomes[message])
        stories.append(story)
    return stories


def _chosen_message(view: SessionView, query: Query) -> int | None:
    """The message that an address names; None where it names none."""
    message = number(query, "message")
    last_message = len(view.ready.session.messages) - 1
    if message is not None and message > last_message:
        raise NotShown(f"The session has messages 0 to {last_message}.")
    return message


def _place_and_views(
    query: Query,
    entry: RunEntry,
    session: str,
    names: Sequence[str],
) -> tuple[ContextPlace, list[SessionView]]:
    """The place that an address names, and the session under both strategies there."""
    mode = query.get("mode", "natural") or "natural"
    boundary = number(query, "at")
    if mode not in ("natural", "matched", "recorded"):
        raise NotShown(
            f"`mode` is {mode!r} in this address; it must be natural, matched or recorded."
        )
    place = ContextPlace(
        mode,  # type: ignore[arg-type]  # checked above
        share=_share(query),
        at=-1 if boundary is None else boundary,
    )
    views = [side(entry, session, name, place) for name in names]
    if mode == "natural":
        request = _request(views[0], query, boundary)
        for view in views:
            view.look(request)
    return place, views


def _share(query: Query) -> float | None:
    text = query.get("share")
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        raise NotShown(f"`share` is {text!r} in this address; it must be a number.") from None


def _request(view: SessionView, query: Query, at: int | None) -> int:
    """The request that an address names: by its number, by a compaction, or by a message."""
    request = number(query, "request")
    compaction = number(query, "compaction") or 0
    if request is not None:
        return request
    steps = view.replay.steps
    events = view.replay.events
    if at is None and events:
        last_compaction = len(events) - 1
        at = events[min(compaction, last_compaction)].at
    for step in steps:
        if at is not None and step.index >= at:
            return step.request
    return len(steps) - 1


def _first_row(
    rows: Sequence[Mapping[str, Any]],
    row_asked_for: int | None,
    message: int | None,
    context_end: int,
) -> int:
    """The first row to show: as asked, else so that the chosen message, or the end of the
    context, is among them.
    """
    if row_asked_for is not None or len(rows) <= MOST:
        last_row = len(rows) - 1
        row = min(row_asked_for or 0, last_row)
        return max(0, row)
    message_to_show = message
    if message_to_show is None:
        message_to_show = context_end - MOST // 2
    rows_before = sum(int(row["message"]) < message_to_show for row in rows)
    return max(0, rows_before - MOST // 4)


def _side(
    view: SessionView,
    name: str,
    kinds: tuple[MessageOutcome, ...],
    note: str,
) -> dict[str, Any]:
    replay = view.replay
    event = view.event
    tokens_sent = None
    if view.request is not None and replay.steps:
        tokens_sent = replay.steps[view.request].tokens_sent
    elif event:
        tokens_sent = event.compaction.sent.tokens
    return {
        "name": name,
        "note": note,
        "event": event,
        "tokens": tokens_sent,
        "events": replay.events,
        "window": replay.window,
        "counts": counted(kinds),
        "bars": bars(kinds, view.ready.sizing.sizes),
        "summaries": summaries_of(event) if event else [],
        "spans": summary_spans(view, event) if event else [],
        "missing": view.missing(replay),
        "rules": _rules(view),
    }


def _rules(view: SessionView) -> list[RuleVerdict]:
    """What became of the user's rules at the compaction that is shown."""
    if view.event is None:
        return []
    session = view.ready.session
    context = held_by(session, view.event.compaction.after)
    return rule_verdicts(session.messages, view.event.at, context)
