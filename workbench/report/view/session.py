"""The page of a session under two strategies: which message each context holds at a chosen
request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from workbench.base.markup import clipped
from workbench.evaluation.findings.summaries import RECORDED
from workbench.evaluation.metrics.demand import Need
from workbench.report.explorer.panels import bars, story_of, summaries_of, texts_of, timeline
from workbench.report.explorer.view import MessageOutcome, SessionView, held, outcomes, takers
from workbench.report.page.losses import loss_key
from workbench.report.view.contexts import (
    ContextPlace,
    NotShown,
    differs,
    known_strategies,
    session_row,
    side,
)
from workbench.report.view.pages import MOST, Page, Query, asking, counted, number
from workbench.report.view.runs import RunEntry

MADE_UP = ("oracle", "random", RECORDED)
"""What no preset makes: references that know what will be needed or draw lots, and the agents'
own compaction.
"""
SHOWS = {
    "all": "all", "sent": "what either sends", "differ": "where the two differ", "rewritten": "rewritten by either",
    "dropped": "dropped by either",
}  # fmt: skip


def session_page(entry: RunEntry, query: Query) -> Page:
    """A session under two strategies, message by message, at one request."""
    run, session = entry.tables(), query.get("id", "")
    row = session_row(run, session)
    names = known_strategies(run, (query.get("left", ""), query.get("right", "")))
    place, views = _at(query, entry, session, names)
    left = views[0]
    left.other = views[1].replay if names[0] != names[1] else None
    left.message = number(query, "message")
    if left.message is not None and left.message >= len(left.ready.session.messages):
        raise NotShown(f"The session has messages 0 to {len(left.ready.session.messages) - 1}.")
    fixed = {
        "id": session,
        "left": names[0],
        "right": names[1],
        "mode": place.mode,
        "share": place.share,
    }
    where = {"request": left.request} if place.mode == "natural" else {"at": place.at}
    filters = {name: query.get(name, "") for name in ("q", "show", "who")}

    def link(**changes: object) -> str:
        return asking(**{**fixed, **where, **filters, **changes})

    def goto(kind: str, number: int) -> str:
        if kind == "boundary":
            return asking(**fixed, compaction=number) + "#contexts"
        return link(message=number) + "#story"

    outcomes_by_side = [outcomes(one.ready.session, one.event, one.at) for one in views]
    takers_by_side = [takers(one.replay, one.event) for one in views]
    messages: list[dict[str, Any]] = [
        {
            "message": index,
            "role": message.role,
            "name": message.name or "",
            "tokens": left.ready.sizing.sizes[index],
            "text": "\n".join(texts_of(message)),
            "left": outcomes_by_side[0][index],
            "right": outcomes_by_side[1][index],
            "by": [one.get(message.id) for one in takers_by_side],
        }
        for index, message in enumerate(left.ready.session.messages)
    ]
    text = filters["q"].lower()
    searched = [one for one in messages if text in one["text"].lower()] if text else messages
    by_who = [one for one in searched if filters["who"] in ("", one["role"])]
    counts = {
        "show": {name: sum(map(_shows(name), by_who)) for name in SHOWS},
        "who": counted(one["role"] for one in searched if _shows(filters["show"])(one)),
    }
    rows = [one for one in by_who if _shows(filters["show"])(one)]
    loss = _loss(views, session, query.get("loss", ""))
    first_row = _first(
        rows, number(query, "from"), loss["need"]["said"] if loss else left.message, left.at
    )
    values = {
        "run": entry,
        "row": row,
        "names": names,
        "known": run.strategies,
        "presets": [name for name in run.strategies if name not in MADE_UP],
        "place": place,
        "link": link,
        "goto": goto,
        "sides": [
            _side(
                one,
                name,
                kinds,
                differs(run, one, session, name) if place.mode == "natural" else "",
            )
            for one, name, kinds in zip(views, names, outcomes_by_side, strict=True)
        ],
        "timeline": timeline(left),
        "request": left.request,
        "at": left.at,
        "last": len(left.replay.steps) - 1,
        "rows": [
            {**one, "rewritten": _rewritten(views, one)}
            for one in rows[first_row : first_row + MOST]
        ],
        "first": first_row,
        "most": MOST,
        "fitting": len(rows),
        "count": len(messages),
        "asked": filters,
        "counts": counts,
        "shows": SHOWS,
        "message": left.message,
        "loss": loss,
        "moves": _moves(left, views[1], link, goto),
        "loss_key": loss_key,
        "stories": []
        if left.message is None
        else [
            story_of(one, left.message, kinds[left.message])
            for one, kinds in zip(views, outcomes_by_side, strict=True)
        ],
    }
    download = pd.DataFrame(
        [{name: value for name, value in one.items() if name != "by"} for one in rows]
    )
    return Page(
        "session", f"{clipped(row['title'] or session, 80)} in {entry.name}", values, download
    )


def _at(
    query: Query, entry: RunEntry, session: str, names: Sequence[str]
) -> tuple[ContextPlace, list[SessionView]]:
    """The place that an address names, and the session under both strategies there."""
    mode = query.get("mode", "natural") or "natural"
    at = number(query, "at")
    if mode not in ("natural", "matched", "recorded"):
        raise NotShown(
            f"`mode` is {mode!r} in this address; it must be natural, matched or recorded."
        )
    try:
        share = float(query["share"]) if query.get("share") else None
    except ValueError:
        raise NotShown(
            f"`share` is {query['share']!r} in this address; it must be a number."
        ) from None
    place = ContextPlace(mode, share, -1 if at is None else at)  # type: ignore[arg-type]  # checked above
    views = [side(entry, session, name, place) for name in names]
    if mode == "natural":
        steps, events = views[0].replay.steps, views[0].replay.events
        request, event = number(query, "request"), number(query, "compaction")
        if request is None:
            if at is None and events:
                at = events[min(event or 0, len(events) - 1)].at
            request = next(
                (one.request for one in steps if at is not None and one.index >= at), len(steps) - 1
            )
        for one in views:
            one.look(request)
    return place, views


def _first(
    rows: Sequence[Mapping[str, Any]],
    row_asked_for: int | None,
    message: int | None,
    context_end: int,
) -> int:
    """The first row to show: as asked, else so that the chosen message, or the end of the
    context, is among them.
    """
    if row_asked_for is not None or len(rows) <= MOST:
        return max(0, min(row_asked_for or 0, len(rows) - 1))
    message_to_show = context_end - MOST // 2 if message is None else message
    return max(0, sum(int(row["message"]) < message_to_show for row in rows) - MOST // 4)


def _shows(name: str) -> Callable[[Mapping[str, Any]], bool]:
    """Whether a row is among what is shown under that name."""
    sent = ("pinned", "kept", "rewritten")
    return {
        "sent": lambda row: row["left"] in sent or row["right"] in sent,
        "differ": lambda row: row["left"] != row["right"],
        "rewritten": lambda row: "rewritten" in (row["left"], row["right"]),
        "dropped": lambda row: "dropped" in (row["left"], row["right"]),
    }.get(name, lambda row: True)


def _side(
    view: SessionView, name: str, kinds: tuple[MessageOutcome, ...], note: str
) -> dict[str, Any]:
    replay, event = view.replay, view.event
    step = replay.steps[view.request] if view.request is not None and replay.steps else None
    sent = step.tokens_sent if step else event.compaction.sent.tokens if event else None
    return {
        "name": name,
        "note": note,
        "event": event,
        "tokens": sent,
        "events": replay.events,
        "window": replay.window,
        "counts": counted(kinds),
        "bars": bars(kinds, view.ready.sizing.sizes),
        "summaries": summaries_of(event) if event else [],
        "missing": view.missing(replay),
    }


def _rewritten(views: list[SessionView], row: Mapping[str, Any]) -> list[str]:
    """What a message became under each of the two; empty where it was not rewritten."""
    id, texts = views[0].ready.session.messages[row["message"]].id, []
    for view, kind in zip(views, (row["left"], row["right"]), strict=True):
        sent = view.event.compaction.sent.messages if view.event and kind == "rewritten" else ()
        texts.append(
            next(("\n".join(texts_of(message)) for message in sent if message.id == id), "")
        )
    return texts


def _loss(views: list[SessionView], session: str, key: str) -> dict[str, Any] | None:
    """What an address says was lost: who stated it, who needs it, and what became of it under
    both strategies.
    """
    if not key:
        return None
    view = views[0]
    demand = view.ready.index.demand(view.at)
    place = next((n for n, need in enumerate(demand.needs) if _key(session, need) == key), None)
    if place is None:
        raise NotShown(
            f"Nothing of the name {key!r} is needed after message {view.at} of this session."
        )
    need, sides = demand.needs[place], []
    for one in views:
        retained = demand.retained(*held(one.ready.session, one.event, one.at))
        taker = takers(one.replay, one.event).get(one.ready.session.messages[need.evidence].id)
        state = "kept" if retained.bound[place] else "named" if retained.presence[place] else "gone"
        sides.append({"there": state, "taker": taker})
    evidence = {
        "said": need.evidence,
        "by": need.said_by,
        "evidence": need.evidence_text,
        "entity": need.entity.text,
    }
    return {
        "need": {**evidence, "kind": need.entity.kind, "use": need.use, "use_text": need.use_text},
        "sides": sides,
    }


def _key(session: str, need: Need) -> str:
    return loss_key(session, need.entity.kind, need.entity.text[:400], need.use)


def _moves(
    left: SessionView, right: SessionView, link: Callable[..., str], goto: Callable[[str, int], str]
) -> list[tuple[str, str]]:
    """Links to the requests and compactions before and after."""
    if left.request is None:
        return []
    current, steps = left.request, left.replay.steps
    request_of = {step.index: step.request for step in reversed(steps)}
    requests = sorted(
        {
            next(
                (number for index, number in sorted(request_of.items()) if index >= event.at),
                steps[-1].request,
            )
            for view in (left, right)
            for event in view.replay.events
        }
    )
    previous_compaction = next((target for target in reversed(requests) if target < current), None)
    next_compaction = next((target for target in requests if target > current), None)
    moves = [
        ("Compaction before", previous_compaction),
        ("Request before", current - 1 if current else None),
        ("Next request", current + 1 if current < len(steps) - 1 else None),
        ("Next compaction", next_compaction),
    ]
    return [
        (words, link(request=target) + "#contexts") for words, target in moves if target is not None
    ]
