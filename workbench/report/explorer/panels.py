"""What the explorer shows: the timeline above its controls, the panels below; words are in
`templates/explore`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from workbench.base.markup import render
from workbench.engine.transcript.message import Message, Summary, said_texts
from workbench.evaluation.analysis.table_rows import rows_with
from workbench.evaluation.metrics.need import Need
from workbench.evaluation.replays.step import CompactionEvent, Replay
from workbench.report.explorer import treemap
from workbench.report.explorer.outcomes import (
    MessageOutcome,
    Missing,
    held,
    outcomes,
    sent_message,
    takers,
)
from workbench.report.explorer.sources import MEASURED_NOTE, source_rows
from workbench.report.explorer.timeline import replays_of, timeline
from workbench.report.explorer.view import SessionView

MOST_BARS = 1_000
GAP = 0.4
NARROWEST = 0.3
"""Thousandths of the strip."""


class Bar(NamedTuple):
    """A message or several in the strip of all: place and width are in thousandths."""

    outcome: MessageOutcome
    place: float
    width: float

    @classmethod
    def between(cls, outcome: MessageOutcome, start: float, end: float) -> Bar:
        """A bar with a gap behind it."""
        width = max(end - start - GAP, NARROWEST)
        return cls(outcome, round(start, 2), round(width, 2))


def bars(
    outcomes: Sequence[MessageOutcome],
    sizes: Sequence[int],
) -> list[Bar]:
    """All messages side by side, as wide as they are long.

    Of more than a thousand messages, the one at each thousandth is drawn, and neighbours with one
    outcome share a bar.
    """
    edges = 1000 * np.cumsum([0, *sizes]) / max(sum(sizes), 1)
    if len(outcomes) > MOST_BARS:
        thousandths = np.arange(MOST_BARS)
        places = np.searchsorted(edges, thousandths, side="right") - 1
        drawn_outcomes = [outcomes[place] for place in places]
        outcomes = []
        lengths = []
        for outcome, neighbours in groupby(drawn_outcomes):
            length = len(list(neighbours))
            outcomes.append(outcome)
            lengths.append(length)
        edges = np.cumsum([0, *lengths])
    bars: list[Bar] = []
    for outcome, start, end in zip(outcomes, edges, edges[1:], strict=False):
        bar = Bar.between(outcome, float(start), float(end))
        bars.append(bar)
    return bars


FEW = 40
"""Messages of one kind that the list shows around the selected place."""


def overview(view: SessionView) -> str:
    """What the replay comes to in a sentence, and the timeline."""
    return render(
        "explore/overview.html",
        replays=replays_of(view),
        timeline=timeline(view),
        progress=view.progress,
    )


def panels(view: SessionView) -> dict[str, str]:
    """What is below the timeline: title and HTML of each panel."""
    html_by_title = {"Messages": _messages(view)}
    if view.event is not None:
        missing = view.missing(view.replay)
        summaries = summaries_of(view.event)
        html_by_title["Before and after"] = _panel(
            "compaction",
            event=view.event,
            summaries=summaries,
        )
        html_by_title[f"Lost ({len(missing.lost)})"] = _panel("lost", missing=missing)
    if view.other is not None:
        html_by_title["Side by side"] = _comparison(view, view.other)
    if view.progress is None:  # it takes a second or two in a long session
        html_by_title["What fills it"] = _filling(view)
    html_by_title["As code"] = _panel("code", code=view.settings.code())
    return html_by_title


def _filling(view: SessionView) -> str:
    """What filled the recorded agent's context: over time as areas, at the selected place as a
    treemap.
    """
    request = view.nearest_request
    last_request = len(view.ready.session.requests) - 1
    rows = rows_with(view.composition, request=request)
    tokens = rows["tokens"].sum()
    return _panel(
        "filling",
        chart=view.areas,
        sources=source_rows(rows),
        measured_note=MEASURED_NOTE,
        tiles=treemap.treemap(rows),
        width=treemap.WIDTH,
        height=treemap.HEIGHT,
        request=request,
        last=last_request,
        tokens=round(tokens),
    )


def _panel(name: str, **values: Any) -> str:  # noqa: ANN401 - whatever its template shows
    return render("explore/panel.html", panel=f"explore/{name}.html", **values)


def summaries_of(event: CompactionEvent) -> list[Summary]:
    """The summaries in the context after a compaction."""
    messages = event.compaction.sent.messages
    return [message for message in messages if isinstance(message, Summary)]


def _messages(view: SessionView) -> str:
    """All messages as a strip, the ones around the selected place as rows, and the story of the
    selected one.
    """
    sizes = view.replay.sizing.sizes
    message_outcomes = outcomes(view.ready.session, view.event, view.at)
    places = set(_chosen(message_outcomes, view.at))
    story = None
    if view.message is not None:
        places.add(view.message)
        story = story_of(view, view.message, message_outcomes[view.message])
    return _panel(
        "messages",
        story=story,
        here=view.message,
        count=len(message_outcomes),
        bars=bars(message_outcomes, sizes),
        rows=_message_rows(view, message_outcomes, sorted(places)),
    )


def _message_rows(
    view: SessionView,
    message_outcomes: Sequence[MessageOutcome],
    places: Sequence[int],
) -> list[Mapping[str, object]]:
    """The messages at some places, with how many are skipped before each."""
    rows: list[Mapping[str, object]] = []
    previous = -1
    for place in places:
        message = view.ready.session.messages[place]
        first_text = texts_of(message)[0]
        first_words = first_text[:1000].split()
        row = {
            "at": place,
            "message": message,
            "outcome": message_outcomes[place],
            "tokens": view.replay.sizing.sizes[place],
            "text": " ".join(first_words),
            "skipped": place - previous - 1,
        }
        rows.append(row)
        previous = place
    return rows


def _chosen(
    message_outcomes: Sequence[MessageOutcome],
    boundary: int,
) -> list[int]:
    """The messages to show: before the selected place the newest ones that stay and some dropped
    ones; some after.
    """
    stay = []
    dropped = []
    for place, outcome in enumerate(message_outcomes[:boundary]):
        if outcome in ("pinned", "rewritten", "kept"):
            stay.append(place)
        elif outcome == "dropped":
            dropped.append(place)
    end = min(len(message_outcomes), boundary + FEW)
    newest_that_stay = stay[-2 * FEW :]
    newest_dropped = dropped[-FEW:]
    later = range(boundary, end)
    return [*newest_that_stay, *newest_dropped, *later]


def texts_of(message: Message) -> list[str]:
    """Its texts, or a word where it has none."""
    texts = [text for text in said_texts(message) if text.strip()]
    return texts or ["(no text)"]


def story_of(
    view: SessionView,
    place: int,
    outcome: MessageOutcome,
) -> dict[str, object]:
    """What became of one message, seen from the selected place, and whether the context holds what
    others need of it.

    `taker` is the stage that dropped or rewrote it, `after` what is in its place now.
    """
    replay = view.replay
    event = view.event
    message = replay.session.messages[place]
    story: dict[str, object] = {
        "place": place,
        "message": message,
        "tokens": replay.sizing.sizes[place],
        "outcome": outcome,
        "taker": None,
        "before": "\n".join(texts_of(message)),
        "after": [],
        "needs": _needs_of(view, place),
    }
    if event is not None and outcome in ("rewritten", "dropped"):
        stages = takers(replay, event)
        story["taker"] = stages.get(message.id)
        story["after"] = _replacement(event, message, outcome)
    return story


def _needs_of(view: SessionView, place: int) -> list[tuple[Need, bool]]:
    """What is needed later of a message, and whether the context still holds it."""
    demand = view.ready.index.demand(view.at)
    unchanged, texts = held(view.replay.session, view.event, view.at)
    retained = demand.retained(unchanged, texts)
    needs = []
    for need, is_held in zip(demand.needs, retained.bound, strict=True):
        if place in (need.evidence, need.said):
            needs.append((need, bool(is_held)))
    return needs


def _replacement(
    event: CompactionEvent,
    message: Message,
    outcome: MessageOutcome,
) -> list[str]:
    """What is in the place of a message: its new texts, or those of the summaries of it, or of all
    summaries.
    """
    rewritten = sent_message(event, message.id)
    if outcome == "rewritten" and rewritten is not None:
        return list(said_texts(rewritten))
    summaries = summaries_of(event)
    of_message = [summary for summary in summaries if message.id in summary.replaces]
    return [summary.text for summary in of_message or summaries]


def _comparison(view: SessionView, second_replay: Replay) -> str:
    """Both strategies in figures, and what each alone lost."""
    missing = view.missing(view.replay)
    second_missing = view.missing(second_replay)
    sides = [
        _side(view.replay, missing, second_missing),
        _side(second_replay, second_missing, missing),
    ]
    return _panel("comparison", at=view.at, sides=sides)


def _side(
    replay: Replay,
    missing: Missing,
    other_missing: Missing,
) -> dict[str, object]:
    """One strategy in figures, with what it lost and the other one did not."""
    lost_by_other = {lost.need.entity for lost in other_missing.lost}
    lost_alone = {}
    for lost in missing.lost:
        entity = lost.need.entity
        if entity not in lost_by_other:
            lost_alone[entity] = lost
    return {
        "replay": replay,
        "missing": missing,
        "tokens": [step.tokens_sent for step in replay.steps] or [0],
        "alone": list(lost_alone.values()),
    }
