"""What the explorer shows: the timeline above its controls, the panels below; words are in
`templates/explore`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from workbench.base.markup import render
from workbench.base.palette import looks
from workbench.engine.compaction.strategy import AtLimit, AtShare
from workbench.engine.transcript.message import Message, Summary, said_texts
from workbench.evaluation.replays.step import CompactionEvent, Replay, Step
from workbench.report.explorer.view import MessageOutcome, SessionView, held, outcomes, takers

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 1000, 230, 62, 14, 26
MOST_BARS = 1_000
MOST_REACHED = 30
"""Compactions that the keyboard steps through one by one; of more, it reaches the selected one."""


@dataclass(frozen=True, slots=True)
class Scale:
    """From requests and tokens to places in the picture; `last` is the last request, `top` the
    most tokens.
    """

    last: int
    top: float

    @classmethod
    def of(cls, replay: Replay) -> Scale:
        """One for the whole session however far it is replayed, and for its window unless that
        is far above.
        """
        most_tokens = max(
            replay.sizing.overhead + sum(replay.sizing.sizes),
            *(step.tokens_sent for step in replay.steps),
        )
        last_request = max(len(replay.session.requests) - 1, 1)
        return cls(last_request, 1.06 * max(most_tokens, min(replay.window, 2 * most_tokens)))

    def x(self, request: int) -> float:
        """From the left."""
        return round(LEFT + (WIDTH - LEFT - 12) * request / self.last, 1)

    def y(self, tokens: float) -> float:
        """From the top."""
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - tokens / self.top), 1)

    def points(self, steps: Iterable[Step], column: str = "tokens_sent") -> str:
        """The corners of a line."""
        return " ".join(f"{self.x(step.request)},{self.y(getattr(step, column))}" for step in steps)


def timeline(view: SessionView) -> dict[str, object] | None:
    """The size of each request, recorded and sent, with window, trigger and compactions; None
    without requests.

    The replay to compare with is a dashed line.
    """
    replay, selected = view.replay, view.event
    if not replay.steps:
        return None
    scale, last_request = Scale.of(replay), replay.steps[-1].request
    left_edge, right_edge, floor = scale.x(0), scale.x(scale.last), scale.y(0)
    lines = [one for one in (replay, view.other) if one is not None and one.steps]
    colours, few = looks(one.preset for one in lines), len(replay.events) <= MOST_REACHED
    first_requests = {
        step.compaction: step.request for step in replay.steps if step.compaction is not None
    }
    limits = ((replay.window, "window", "2 3"), (_limit(view), "compacts here", "6 4"))
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "top": TOP,
        "bottom": BOTTOM,
        "last": scale.last,
        "label": f"Tokens of {len(replay.steps)} requests under {replay.preset}; {len(replay.events)} compactions",
        "recorded": f"{left_edge},{floor} {scale.points(replay.steps, 'tokens_recorded')} {right_edge},{floor}",
        "ticks": _ticks(scale),
        "cursor": None if view.request is None else scale.x(view.request),
        "limits": [
            (scale.y(tokens), f"{name}, {tokens:,}", dash)
            for tokens, name, dash in limits
            if tokens is not None and tokens < scale.top
        ],
        "compactions": [
            {
                "number": event.number,
                "x": scale.x(first_requests.get(event.number, last_request)),
                "selected": event is selected,
                "label": f"compaction {event.number + 1}, before message {event.at}",
                "reachable": few or event is selected,
            }
            for event in replay.events
        ],
        "recorded_compactions": [
            scale.x(
                next((step.request for step in replay.steps if step.index >= one.at), last_request)
            )
            for one in replay.session.recorded
        ],
        "lines": [
            {
                "name": one.preset,
                "points": scale.points(one.steps),
                "colour": colours[one.preset].colour,
                "dash": dash,
            }
            for one, dash in zip(lines, ("", "5 3"), strict=False)
        ],
    }


def _ticks(scale: Scale) -> list[tuple[float, str]]:
    sizes = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 10**9)
    step = next(size for size in sizes if scale.top / size <= 5)
    return [
        (scale.y(tokens), f"{tokens // 1000:,}k") for tokens in range(0, int(scale.top) + 1, step)
    ]


def _limit(view: SessionView) -> int | None:
    """Tokens at which the strategy compacts, where they are known beforehand."""
    window, trigger = view.replay.window, view.presets[view.settings.strategy].trigger
    if view.settings.threshold is not None:
        return int(view.settings.threshold * window)
    if isinstance(trigger, AtShare):
        return int(trigger.threshold * window)
    return trigger.limit(window) if isinstance(trigger, AtLimit) else None


def bars(
    outcomes: Sequence[MessageOutcome], sizes: Sequence[int]
) -> list[tuple[MessageOutcome, float, float]]:
    """All messages side by side, as wide as they are long: outcome, place and width in thousandths.

    Of more than a thousand messages, the one at each thousandth is drawn, and neighbours with one
    outcome share a bar.
    """
    edges = 1000 * np.cumsum([0, *sizes]) / max(sum(sizes), 1)
    if len(outcomes) > MOST_BARS:
        drawn_outcomes = (
            outcomes[place]
            for place in np.searchsorted(edges, np.arange(MOST_BARS), side="right") - 1
        )
        runs = [(outcome, len(list(run))) for outcome, run in groupby(drawn_outcomes)]
        outcomes, edges = (
            [outcome for outcome, _ in runs],
            np.cumsum([0, *(length for _, length in runs)]),
        )
    return [
        (outcome, round(float(start), 2), round(max(float(end - start) - 0.4, 0.3), 2))
        for outcome, start, end in zip(outcomes, edges, edges[1:], strict=False)
    ]


FEW = 40
"""Messages of one kind that the list shows around the selected place."""


def overview(view: SessionView) -> str:
    """What the replay comes to in a sentence, and the timeline."""
    replays = [replay for replay in (view.replay, view.other) if replay is not None]
    return render(
        "explore/overview.html", replays=replays, timeline=timeline(view), progress=view.progress
    )


def panels(view: SessionView) -> dict[str, str]:
    """What is below the timeline: title and HTML of each panel."""
    html_by_title = {"Messages": _messages(view)}
    if view.event is not None:
        missing = view.missing(view.replay)
        html_by_title["Before and after"] = _panel(
            "compaction", event=view.event, summaries=summaries_of(view.event)
        )
        html_by_title[f"Lost ({len(missing.lost)})"] = _panel("lost", missing=missing)
    if view.other is not None:
        html_by_title["Side by side"] = _comparison(view, view.other)
    html_by_title["As code"] = _panel("code", code=view.settings.code())
    return html_by_title


def _panel(name: str, **values: Any) -> str:  # noqa: ANN401 - whatever its template shows
    return render("explore/panel.html", panel=f"explore/{name}.html", **values)


def summaries_of(event: CompactionEvent) -> list[Summary]:
    """The summaries in the context after a compaction."""
    return [message for message in event.compaction.sent.messages if isinstance(message, Summary)]


def _messages(view: SessionView) -> str:
    """All messages as a strip, the ones around the selected place as rows, and the story of the
    selected one.
    """
    session, sizes = view.ready.session, view.replay.sizing.sizes
    message_outcomes = outcomes(session, view.event, view.at)
    places = sorted(
        {*_chosen(message_outcomes, view.at), *([] if view.message is None else [view.message])}
    )
    rows = [
        {
            "at": place,
            "message": session.messages[place],
            "outcome": message_outcomes[place],
            "tokens": sizes[place],
            "text": " ".join(next(iter(texts_of(session.messages[place])))[:1000].split()),
            "skipped": place - previous - 1,
        }
        for previous, place in zip([-1, *places], places, strict=False)
    ]
    story = (
        None
        if view.message is None
        else story_of(view, view.message, message_outcomes[view.message])
    )
    return _panel(
        "messages",
        story=story,
        here=view.message,
        count=len(message_outcomes),
        bars=bars(message_outcomes, sizes),
        rows=rows,
    )


def _chosen(message_outcomes: Sequence[MessageOutcome], boundary: int) -> list[int]:
    """The messages to show: before the selected place the newest ones that stay and some dropped
    ones; some after.
    """
    stay = [
        place
        for place in range(boundary)
        if message_outcomes[place] in ("pinned", "rewritten", "kept")
    ][-2 * FEW :]
    dropped = [place for place in range(boundary) if message_outcomes[place] == "dropped"][-FEW:]
    return [*stay, *dropped, *range(boundary, min(len(message_outcomes), boundary + FEW))]


def texts_of(message: Message) -> list[str]:
    """Its texts, or a word where it has none."""
    return [text for text in said_texts(message) if text.strip()] or ["(no text)"]


def story_of(view: SessionView, place: int, outcome: MessageOutcome) -> dict[str, object]:
    """What became of one message, seen from the selected place, and whether the context holds what
    others need of it.

    `taker` is the stage that dropped or rewrote it, `after` what is in its place now.
    """
    replay, event = view.replay, view.event
    message, demand = replay.session.messages[place], view.ready.index.demand(view.at)
    bound = demand.retained(*held(replay.session, event, view.at)).bound
    needs = [
        (need, bool(is_present))
        for need, is_present in zip(demand.needs, bound, strict=True)
        if place in (need.evidence, need.said)
    ]
    changed = event is not None and outcome in ("rewritten", "dropped")
    return {
        "place": place,
        "message": message,
        "tokens": replay.sizing.sizes[place],
        "outcome": outcome,
        "taker": takers(replay, event).get(message.id) if changed else None,
        "before": "\n".join(texts_of(message)),
        "after": _after(event, message, outcome) if event is not None and changed else [],
        "needs": needs,
    }


def _after(event: CompactionEvent, message: Message, outcome: MessageOutcome) -> list[str]:
    if outcome == "rewritten":
        return next(
            list(said_texts(one)) for one in event.compaction.sent.messages if one.id == message.id
        )
    summaries = summaries_of(event)
    return [
        one.text for one in [one for one in summaries if message.id in one.replaces] or summaries
    ]


def _comparison(view: SessionView, second_replay: Replay) -> str:
    """Both strategies in figures, and what each alone lost."""
    replays = (view.replay, second_replay)
    missing = [view.missing(one) for one in replays]
    lost = [{one.need.entity: one for one in lack.lost} for lack in missing]
    sides = [
        {
            "replay": replay,
            "missing": lack,
            "tokens": [step.tokens_sent for step in replay.steps] or [0],
            "alone": [one for entity, one in own_lost.items() if entity not in other_lost],
        }
        for replay, lack, own_lost, other_lost in zip(
            replays, missing, lost, reversed(lost), strict=True
        )
    ]
    return _panel("comparison", at=view.at, sides=sides)
