"""What the explorer shows above and below the controls, as HTML; the words are in `templates/explore`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.explore.outcome import MessageOutcome, held, outcomes, takers
from workbench.explore.timeline import bars, timeline
from workbench.explore.view import SessionView
from workbench.markup import render
from workbench.replay.step import CompactionEvent, Replay
from workbench.transcript.message import Message, Summary, said_texts

FEW = 40
"""Messages of one kind that the list shows around the selected place."""


def overview(view: SessionView) -> str:
    """What the replay comes to in a sentence, and the timeline."""
    replays = [one for one in (view.replay, view.other) if one is not None]
    return render("explore/overview.html", replays=replays, timeline=timeline(view), progress=view.progress)


def panels(view: SessionView) -> dict[str, str]:
    """What is below the timeline: title and HTML of each panel."""
    found = {"Messages": _messages(view)}
    if view.event is not None:
        missing = view.missing(view.replay)
        found["Before and after"] = _panel("compaction", event=view.event, summaries=_summaries(view.event))
        found[f"Lost ({len(missing.lost)})"] = _panel("lost", missing=missing)
    if view.other is not None:
        found["Side by side"] = _comparison(view, view.other)
    found["As code"] = _panel("code", code=view.settings.code())
    return found


def page(view: SessionView) -> str:
    """All of it as one static piece of HTML."""
    return render("explore/explorer.html", overview=overview(view), panels=panels(view))


def _panel(name: str, **values: Any) -> str:  # noqa: ANN401 - whatever its template shows
    return render("explore/panel.html", panel=f"explore/{name}.html", **values)


def _summaries(event: CompactionEvent) -> list[Summary]:
    return [message for message in event.compaction.sent.messages if isinstance(message, Summary)]


def _messages(view: SessionView) -> str:
    """All messages as a strip, the ones around the selected place as rows, and the story of the selected one."""
    session, sizes = view.ready.session, view.replay.sizing.sizes
    found = outcomes(session, view.event, view.at)
    chosen = sorted({*_chosen(found, view.at), *([] if view.message is None else [view.message])})
    rows = [
        {
            "at": place, "message": session.messages[place], "outcome": found[place], "tokens": sizes[place],
            "text": " ".join(next(iter(_texts(session.messages[place])))[:1000].split()), "skipped": place - before - 1,
        }
        for before, place in zip([-1, *chosen], chosen, strict=False)
    ]  # fmt: skip
    story = None if view.message is None else _story(view, view.message, found[view.message])
    return _panel("messages", story=story, here=view.message, count=len(found), bars=bars(found, sizes), rows=rows)


def _chosen(found: Sequence[MessageOutcome], at: int) -> list[int]:
    """The messages to show: before the selected place the newest ones that stay and some dropped ones; some after."""
    stay = [place for place in range(at) if found[place] in ("pinned", "rewritten", "kept")][-2 * FEW :]
    gone = [place for place in range(at) if found[place] == "dropped"][-FEW:]
    return [*stay, *gone, *range(at, min(len(found), at + FEW))]


def _texts(message: Message) -> list[str]:
    return [text for text in said_texts(message) if text.strip()] or ["(no text)"]


def _story(view: SessionView, place: int, outcome: MessageOutcome) -> dict[str, object]:
    """What became of one message, seen from the selected place, and whether the context holds what others need of it.

    `taker` is the stage that dropped or rewrote it, `after` what is in its place now.
    """
    replay, event = view.replay, view.event
    message, demand = replay.session.messages[place], view.ready.index.demand(view.at)
    bound = demand.retained(*held(replay.session, event, view.at)).bound
    needs = [
        (need, bool(there))
        for need, there in zip(demand.needs, bound, strict=True)
        if place in (need.evidence, need.said)
    ]
    changed = event is not None and outcome in ("rewritten", "dropped")
    return {
        "place": place, "message": message, "tokens": replay.sizing.sizes[place], "outcome": outcome,
        "taker": takers(replay, event).get(message.id) if changed else None, "before": "\n".join(_texts(message)),
        "after": _after(event, message, outcome) if event is not None and changed else [], "needs": needs,
    }  # fmt: skip


def _after(event: CompactionEvent, message: Message, outcome: MessageOutcome) -> list[str]:
    if outcome == "rewritten":
        return next(list(said_texts(one)) for one in event.compaction.sent.messages if one.id == message.id)
    summaries = _summaries(event)
    return [one.text for one in [one for one in summaries if message.id in one.replaces] or summaries]


def _comparison(view: SessionView, other: Replay) -> str:
    """Both strategies in figures, and what each alone lost."""
    replays = (view.replay, other)
    missing = [view.missing(one) for one in replays]
    lost = [{one.need.entity: one for one in found.lost} for found in missing]
    sides = [
        {
            "replay": replay, "missing": found, "tokens": [step.tokens_sent for step in replay.steps] or [0],
            "alone": [one for entity, one in own.items() if entity not in theirs],
        }
        for replay, found, own, theirs in zip(replays, missing, lost, reversed(lost), strict=True)
    ]  # fmt: skip
    return _panel("comparison", at=view.at, sides=sides)
