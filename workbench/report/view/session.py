"""The page of a session under two strategies: which message each context holds at a chosen
request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from workbench.base.markup import clipped
from workbench.evaluation.experiment.run_notes import loss_key
from workbench.evaluation.findings.summaries import RECORDED
from workbench.evaluation.metrics.demand import Need
from workbench.evaluation.metrics.exam.rule_verdicts import RuleVerdict, rule_verdicts
from workbench.evaluation.metrics.view import view as held_by
from workbench.report.explorer.panels import bars, story_of, summaries_of, texts_of, timeline
from workbench.report.explorer.view import MessageOutcome, SessionView, held, outcomes, takers
from workbench.report.view.contexts import (
    ContextPlace,
    NotShown,
    differs,
    known_strategies,
    session_row,
    side,
)
from workbench.report.view.difference import context_difference
from workbench.report.view.pages import MOST, Page, Query, all_losses, asking, counted, number
from workbench.report.view.runs import RunEntry
from workbench.report.view.summary_requests import summary_spans

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
    left, right = views
    left.other = right.replay if names[0] != names[1] else None
    left.message = _chosen_message(left, query)
    outcomes_of = [outcomes(view.ready.session, view.event, view.at) for view in views]
    messages = _messages(views, outcomes_of)
    filters = MessageFilters(query.get("q", ""), query.get("show", ""), query.get("who", ""))
    rows = [message for message in messages if filters.fits(message)]
    links = Links(left, place, session, names, asdict(filters))
    loss = _loss(views, session, query.get("loss", ""))
    if loss:
        loss["is_listed"] = any(listed["loss"] == loss["key"] for listed in all_losses(entry))
    message_to_show = loss["need"]["said"] if loss else left.message
    first_row = _first(rows, number(query, "from"), message_to_show, left.at)
    sides, stories = [], []
    for view, name, kinds in zip(views, names, outcomes_of, strict=True):
        note = differs(run, view, session, name) if place.mode == "natural" else ""
        sides.append(_side(view, name, kinds, note))
        if left.message is not None:
            stories.append(story_of(view, left.message, kinds[left.message]))
    shown_rows = []
    for message in rows[first_row : first_row + MOST]:
        shown_rows.append({**message, "rewritten": _rewritten(views, message)})
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
        "timeline": timeline(left),
        "request": left.request,
        "at": left.at,
        "last": len(left.replay.steps) - 1,
        "rows": shown_rows,
        "first": first_row,
        "most": MOST,
        "fitting": len(rows),
        "count": len(messages),
        "asked": asdict(filters),
        "counts": _filter_counts(messages, filters),
        "shows": SHOWS,
        "message": left.message,
        "loss": loss,
        "moves": _moves(left, right, links),
        "loss_key": loss_key,
        "stories": stories,
        "difference": context_difference(left, right, outcomes_of)
        if names[0] != names[1]
        else None,
    }
    download = pd.DataFrame(rows).drop(columns="by", errors="ignore")
    title = clipped(row["title"] or session, 80)
    return Page("session", f"{title} in {entry.name}", values, download)


def _chosen_message(view: SessionView, query: Query) -> int | None:
    """The message that an address names; None where it names none."""
    message = number(query, "message")
    last_message = len(view.ready.session.messages) - 1
    if message is not None and message > last_message:
        raise NotShown(f"The session has messages 0 to {last_message}.")
    return message


def _messages(
    views: Sequence[SessionView], outcomes_of: Sequence[tuple[MessageOutcome, ...]]
) -> list[dict[str, Any]]:
    """Each message with what became of it on either side, and by which stage."""
    left = views[0]
    takers_of = [takers(view.replay, view.event) for view in views]
    messages = []
    for index, message in enumerate(left.ready.session.messages):
        messages.append(
            {
                "message": index,
                "role": message.role,
                "name": message.name or "",
                "tokens": left.ready.sizing.sizes[index],
                "text": "\n".join(texts_of(message)),
                "left": outcomes_of[0][index],
                "right": outcomes_of[1][index],
                "by": [stages.get(message.id) for stages in takers_of],
            }
        )
    return messages


@dataclass(frozen=True, slots=True)
class MessageFilters:
    """What an address asks of the messages; an empty text asks nothing.

    Attributes:
        q: a text that stands in the message.
        show: what became of it, a key of `SHOWS`.
        who: its role.
    """

    q: str
    show: str
    who: str

    def fits(self, message: Mapping[str, Any], without: str = "") -> bool:
        """Whether a message is asked for; `without` names a filter that is left out."""
        if self.q and self.q.lower() not in message["text"].lower():
            return False
        if self.who and without != "who" and self.who != message["role"]:
            return False
        return without == "show" or _shows(self.show)(message)


def _filter_counts(
    messages: Sequence[Mapping[str, Any]], filters: MessageFilters
) -> dict[str, dict[str, int]]:
    """How many messages each choice of a filter would show beside the other filters."""
    without_show = [message for message in messages if filters.fits(message, "show")]
    show = {name: sum(map(_shows(name), without_show)) for name in SHOWS}
    who = counted(message["role"] for message in messages if filters.fits(message, "who"))
    return {"show": show, "who": who}


@dataclass(frozen=True, slots=True)
class Links:
    """The addresses within the page of one session.

    Attributes:
        filters: what stays in an address while one moves about.
    """

    view: SessionView
    place: ContextPlace
    session: str
    strategies: tuple[str, str]
    filters: Mapping[str, str]

    @property
    def _page(self) -> dict[str, object]:
        left, right = self.strategies
        mode, share = self.place.mode, self.place.share
        return {"id": self.session, "left": left, "right": right, "mode": mode, "share": share}

    def link(self, **changes: object) -> str:
        """The same request and filters with some changes."""
        address = dict(self._page)
        if self.place.mode == "natural":
            address["request"] = self.view.request
        else:
            address["at"] = self.place.at
        return asking(**{**address, **self.filters, **changes})

    def goto(self, kind: str, number: int) -> str:
        """A compaction's contexts, or the story of a message."""
        if kind == "boundary":
            return asking(**self._page, compaction=number) + "#contexts"
        return self.link(message=number) + "#story"


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
    place = ContextPlace(mode, _share(query), -1 if at is None else at)  # type: ignore[arg-type]  # checked above
    views = [side(entry, session, name, place) for name in names]
    if mode == "natural":
        request = _request(views[0], query, at)
        for view in views:
            view.look(request)
    return place, views


def _share(query: Query) -> float | None:
    text = query.get("share")
    try:
        return float(text) if text else None
    except ValueError:
        raise NotShown(f"`share` is {text!r} in this address; it must be a number.") from None


def _request(view: SessionView, query: Query, at: int | None) -> int:
    """The request that an address names: by its number, by a compaction, or by a message."""
    request, compaction = number(query, "request"), number(query, "compaction")
    if request is not None:
        return request
    steps, events = view.replay.steps, view.replay.events
    if at is None and events:
        at = events[min(compaction or 0, len(events) - 1)].at
    for step in steps:
        if at is not None and step.index >= at:
            return step.request
    return len(steps) - 1


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


def _rewritten(views: Sequence[SessionView], row: Mapping[str, Any]) -> list[str]:
    """What a message became under each of the two; empty where it was not rewritten."""
    id = views[0].ready.session.messages[row["message"]].id
    return [
        _text_sent(view, id) if outcome == "rewritten" else ""
        for view, outcome in zip(views, (row["left"], row["right"]), strict=True)
    ]


def _text_sent(view: SessionView, id: str) -> str:
    """What is sent of a message; empty where nothing is."""
    for message in view.event.compaction.sent.messages if view.event else ():
        if message.id == id:
            return "\n".join(texts_of(message))
    return ""


def _loss(views: list[SessionView], session: str, key: str) -> dict[str, Any] | None:
    """What an address says was lost: who stated it, who needs it, and what became of it under
    both strategies.
    """
    if not key:
        return None
    view = views[0]
    demand = view.ready.index.demand(view.at)
    keys = [_key(session, need) for need in demand.needs]
    if key not in keys:
        raise NotShown(
            f"Nothing of the name {key!r} is needed after message {view.at} of this session."
        )
    place = keys.index(key)
    need = demand.needs[place]
    sides = []
    for side_view in views:
        retained = demand.retained(*held(side_view.ready.session, side_view.event, side_view.at))
        if retained.bound[place]:
            state = "kept"
        elif retained.presence[place]:
            state = "named"
        else:
            state = "gone"
        evidence_id = side_view.ready.session.messages[need.evidence].id
        stages = takers(side_view.replay, side_view.event)
        sides.append({"there": state, "taker": stages.get(evidence_id)})
    return {
        "key": key,
        "need": {
            "said": need.evidence,
            "by": need.said_by,
            "evidence": need.evidence_text,
            "entity": need.entity.text,
            "kind": need.entity.kind,
            "use": need.use,
            "use_text": need.use_text,
        },
        "sides": sides,
    }


def _key(session: str, need: Need) -> str:
    return loss_key(session, need.entity.kind, need.entity.text[:400], need.use)


def _moves(left: SessionView, right: SessionView, links: Links) -> list[tuple[str, str]]:
    """Links to the requests and compactions before and after."""
    if left.request is None:
        return []
    current, last_request = left.request, len(left.replay.steps) - 1
    compactions = _requests_after_compactions(left, right)
    earlier = [request for request in compactions if request < current]
    later = [request for request in compactions if request > current]
    moves = []
    if earlier:
        moves.append(("Compaction before", earlier[-1]))
    if current > 0:
        moves.append(("Request before", current - 1))
    if current < last_request:
        moves.append(("Next request", current + 1))
    if later:
        moves.append(("Next compaction", later[0]))
    return [(words, links.link(request=request) + "#contexts") for words, request in moves]


def _requests_after_compactions(left: SessionView, right: SessionView) -> list[int]:
    """The first request after each compaction of either side, in order."""
    steps = left.replay.steps
    requests = set()
    for event in (*left.replay.events, *right.replay.events):
        later = [step.request for step in steps if step.index >= event.at]
        requests.add(min(later, default=steps[-1].request))
    return sorted(requests)
