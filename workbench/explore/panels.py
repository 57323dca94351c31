"""What the explorer shows above and below the controls, as HTML; the words are in `templates/explore`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.explore.outcome import LostNeed, MessageOutcome, Missing, Taker, held, outcomes, takers
from workbench.explore.timeline import bars, timeline
from workbench.explore.view import SessionView
from workbench.markup import render
from workbench.metrics.demand import Need
from workbench.replay.step import CompactionEvent, Replay
from workbench.transcript.message import Message, Summary, said_texts

FEW = 40
"""Messages of one kind that the list shows around the selected place."""


def overview(view: SessionView) -> str:
    """What the replay comes to in a sentence, and the timeline."""
    replays = [one for one in (view.replay, view.other) if one is not None]
    drawn = timeline(
        view.replay, view.presets[view.settings.strategy].trigger, view.event, view.settings.threshold,
        request=view.request, beside=view.other,
    )  # fmt: skip
    return render("explore/overview.html", replays=replays, timeline=drawn, progress=view.progress)


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


def _summaries(event: CompactionEvent) -> list[str]:
    return [message.text for message in event.compaction.sent.messages if isinstance(message, Summary)]


def _messages(view: SessionView) -> str:
    """All messages as a strip, the ones around the selected place as rows, and the story of the selected one."""
    session, sizes = view.ready.session, view.replay.sizing.sizes
    found = outcomes(session, view.event, view.at)
    chosen = sorted({*_chosen(found, view.at), *([] if view.message is None else [view.message])})
    rows = [
        _row(session.messages[place], found[place], sizes[place], place)
        | {"skipped": place - before - 1, "here": place == view.message}
        for before, place in zip([-1, *chosen], chosen, strict=False)
    ]
    told = None if view.message is None else story(view, view.message)
    return _panel("messages", story=told, count=len(found), bars=bars(found, sizes), rows=rows)


def _chosen(found: Sequence[MessageOutcome], at: int) -> list[int]:
    """The messages to show: before the selected place the newest ones that stay and some dropped ones; some after."""
    stay = [place for place in range(at) if found[place] in ("pinned", "rewritten", "kept")][-2 * FEW :]
    gone = [place for place in range(at) if found[place] == "dropped"][-FEW:]
    return [*stay, *gone, *range(at, min(len(found), at + FEW))]


def _row(message: Message, outcome: MessageOutcome, tokens: int, at: int) -> dict[str, object]:
    text = next((text for text in said_texts(message) if text.strip()), "(no text)")
    return {
        "at": at, "role": message.role, "outcome": outcome, "tokens": tokens, "text": " ".join(text[:1000].split()),
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Story:
    """What became of one message.

    Attributes:
        place: its index among the session's messages.
        outcome: whether it is kept, rewritten or dropped at the selected place.
        taker: the stage that dropped or rewrote it; None if none did.
        before: its text.
        after: the texts in its place now.
        needs: what later messages need of it, and whether the context still holds that.
    """

    place: int
    message: Message
    tokens: int
    outcome: MessageOutcome
    taker: Taker | None
    before: str
    after: tuple[str, ...]
    needs: tuple[tuple[Need, bool], ...]


def story(view: SessionView, place: int) -> Story:
    """The story of one message, seen from the selected place."""
    replay, event, at = view.replay, view.event, view.at
    session, demand = replay.session, view.ready.index.demand(at)
    message, outcome = session.messages[place], outcomes(session, event, at)[place]
    bound = demand.retained(*held(session, event, at)).bound
    needs = tuple(
        (need, bool(there))
        for need, there in zip(demand.needs, bound, strict=True)
        if place in (need.evidence, need.said)
    )
    changed = event is not None and outcome in ("rewritten", "dropped")
    return Story(
        place, message, replay.sizing.sizes[place], outcome,
        takers(replay, event).get(message.id) if changed else None,
        "\n".join(text for text in said_texts(message) if text.strip()) or "(no text)",
        _after(event, message, outcome) if event is not None and changed else (),
        needs,
    )  # fmt: skip


def _after(event: CompactionEvent, message: Message, outcome: MessageOutcome) -> tuple[str, ...]:
    sent = event.compaction.sent.messages
    if outcome == "rewritten":
        return next((tuple(said_texts(one)) for one in sent if one.id == message.id), ())
    summaries = [one for one in sent if isinstance(one, Summary)]
    naming = [one for one in summaries if message.id in one.replaces]
    return tuple(one.text for one in naming or summaries)


def _comparison(view: SessionView, other: Replay) -> str:
    """Both strategies in figures, and what each alone lost."""
    pairs = [(one, view.missing(one)) for one in (view.replay, other)]
    lost = [{one.need.entity: one for one in missing.lost} for _, missing in pairs]
    sides = [_side(*pairs[i], lost[i], lost[1 - i]) for i in (0, 1)]
    return _panel("comparison", at=view.at, sides=sides)


def _side(
    replay: Replay, missing: Missing, own: Mapping[Any, LostNeed], theirs: Mapping[Any, LostNeed]
) -> dict[str, object]:
    return {
        "replay": replay, "missing": missing, "sent": sum(step.tokens_sent for step in replay.steps),
        "largest": max((step.tokens_sent for step in replay.steps), default=0),
        "alone": [one for entity, one in own.items() if entity not in theirs],
    }  # fmt: skip
