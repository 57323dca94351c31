"""What the explorer shows: the timeline above its controls, the panels below; words are in
`templates/explore`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from workbench.base.markup import render
from workbench.base.palette import looks
from workbench.engine.compaction.strategy import AtLimit, AtShare
from workbench.engine.transcript.message import Message, Summary, said_texts
from workbench.evaluation.metrics.demand import Need
from workbench.evaluation.replays.step import CompactionEvent, Replay, Step
from workbench.report.explorer import treemap
from workbench.report.explorer.view import (
    MessageOutcome,
    Missing,
    SessionView,
    held,
    outcomes,
    takers,
)

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 1000, 230, 62, 14, 26
MOST_BARS = 1_000
MOST_REACHED = 30
"""Compactions that the keyboard steps through one by one; of more, it reaches the selected one."""


@dataclass(frozen=True, slots=True)
class Scale:
    """From requests and tokens to places in the picture; `top` is the most tokens."""

    last_request: int
    top: float

    @classmethod
    def of(cls, replay: Replay) -> Scale:
        """One for the whole session however far it is replayed, and for its window unless that
        is far above.
        """
        history_tokens = replay.sizing.overhead + sum(replay.sizing.sizes)
        most_tokens = max(history_tokens, *(step.tokens_sent for step in replay.steps))
        last_request = max(len(replay.session.requests) - 1, 1)
        window = min(replay.window, 2 * most_tokens)
        return cls(last_request, 1.06 * max(most_tokens, window))

    def x(self, request: int) -> float:
        """From the left."""
        return round(LEFT + (WIDTH - LEFT - 12) * request / self.last_request, 1)

    def y(self, tokens: float) -> float:
        """From the top."""
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - tokens / self.top), 1)

    def points(self, steps: Iterable[Step], column: str = "tokens_sent") -> str:
        """The corners of a line."""
        corners = []
        for step in steps:
            tokens = getattr(step, column)
            corners.append(f"{self.x(step.request)},{self.y(tokens)}")
        return " ".join(corners)


def timeline(view: SessionView) -> dict[str, object] | None:
    """The size of each request, recorded and sent, with window, trigger and compactions; None
    without requests.

    The replay to compare with is a dashed line.
    """
    replay = view.replay
    if not replay.steps:
        return None
    scale = Scale.of(replay)
    left_edge, right_edge, floor = scale.x(0), scale.x(scale.last_request), scale.y(0)
    recorded_line = scale.points(replay.steps, "tokens_recorded")
    request_count, compaction_count = len(replay.steps), len(replay.events)
    label = (
        f"Tokens of {request_count} requests under {replay.preset}; {compaction_count} compactions"
    )
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "top": TOP,
        "bottom": BOTTOM,
        "last": scale.last_request,
        "label": label,
        "recorded": f"{left_edge},{floor} {recorded_line} {right_edge},{floor}",
        "ticks": _ticks(scale),
        "cursor": None if view.request is None else scale.x(view.request),
        "limits": _limit_lines(view, scale),
        "compactions": _compaction_marks(view, scale),
        "recorded_compactions": _recorded_marks(replay, scale),
        "lines": _lines(view, scale),
    }


def _limit_lines(view: SessionView, scale: Scale) -> list[tuple[float, str, str]]:
    """The window and the trigger, where they are in the picture: height, label and dash."""
    limits = [(view.replay.window, "window", "2 3"), (_limit(view), "compacts here", "6 4")]
    lines = []
    for tokens, name, dash in limits:
        if tokens is not None and tokens < scale.top:
            lines.append((scale.y(tokens), f"{name}, {tokens:,}", dash))
    return lines


def _compaction_marks(view: SessionView, scale: Scale) -> list[dict[str, object]]:
    replay = view.replay
    first_requests: dict[int, int] = {}
    for step in replay.steps:
        if step.compaction is not None:
            first_requests[step.compaction] = step.request
    last_request = replay.steps[-1].request
    has_few = len(replay.events) <= MOST_REACHED
    marks = []
    for event in replay.events:
        is_selected = event is view.event
        mark = {
            "number": event.number,
            "x": scale.x(first_requests.get(event.number, last_request)),
            "selected": is_selected,
            "label": f"compaction {event.number + 1}, before message {event.at}",
            "reachable": has_few or is_selected,
        }
        marks.append(mark)
    return marks


def _recorded_marks(replay: Replay, scale: Scale) -> list[float]:
    """Where the recorded agent compacted: at the first request after each of its compactions."""
    marks = []
    for compaction in replay.session.recorded:
        requests = (step.request for step in replay.steps if step.index >= compaction.at)
        marks.append(scale.x(next(requests, replay.steps[-1].request)))
    return marks


def _lines(view: SessionView, scale: Scale) -> list[Mapping[str, object]]:
    """The requests of the replay, and dashed those of the replay to compare with."""
    replays = [replay for replay in _replays(view) if replay.steps]
    colours = looks(replay.preset for replay in replays)
    lines: list[Mapping[str, object]] = []
    for replay, dash in zip(replays, ("", "5 3"), strict=False):
        line = {
            "name": replay.preset,
            "points": scale.points(replay.steps),
            "colour": colours[replay.preset].colour,
            "dash": dash,
        }
        lines.append(line)
    return lines


def _replays(view: SessionView) -> list[Replay]:
    """The replay, and the one to compare with where there is one."""
    if view.other is None:
        return [view.replay]
    return [view.replay, view.other]


def _ticks(scale: Scale) -> list[tuple[float, str]]:
    sizes = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 10**9)
    step = next(size for size in sizes if scale.top / size <= 5)
    ticks = []
    for tokens in range(0, int(scale.top) + 1, step):
        ticks.append((scale.y(tokens), f"{tokens // 1000:,}k"))
    return ticks


def _limit(view: SessionView) -> int | None:
    """Tokens at which the strategy compacts, where they are known beforehand."""
    window = view.replay.window
    trigger = view.presets[view.settings.strategy].trigger
    if view.settings.threshold is not None:
        return int(view.settings.threshold * window)
    if isinstance(trigger, AtShare):
        return int(trigger.threshold * window)
    if isinstance(trigger, AtLimit):
        return trigger.limit(window)
    return None


def bars(
    outcomes: Sequence[MessageOutcome], sizes: Sequence[int]
) -> list[tuple[MessageOutcome, float, float]]:
    """All messages side by side, as wide as they are long: outcome, place and width in thousandths.

    Of more than a thousand messages, the one at each thousandth is drawn, and neighbours with one
    outcome share a bar.
    """
    edges = 1000 * np.cumsum([0, *sizes]) / max(sum(sizes), 1)
    if len(outcomes) > MOST_BARS:
        places = np.searchsorted(edges, np.arange(MOST_BARS), side="right") - 1
        drawn_outcomes = [outcomes[place] for place in places]
        outcomes, lengths = [], []
        for outcome, neighbours in groupby(drawn_outcomes):
            outcomes.append(outcome)
            lengths.append(len(list(neighbours)))
        edges = np.cumsum([0, *lengths])
    bars = []
    for outcome, start, end in zip(outcomes, edges, edges[1:], strict=False):
        width = max(float(end - start) - 0.4, 0.3)
        bars.append((outcome, round(float(start), 2), round(width, 2)))
    return bars


FEW = 40
"""Messages of one kind that the list shows around the selected place."""


def overview(view: SessionView) -> str:
    """What the replay comes to in a sentence, and the timeline."""
    return render(
        "explore/overview.html",
        replays=_replays(view),
        timeline=timeline(view),
        progress=view.progress,
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
    if view.progress is None:  # it takes a second or two in a long session
        html_by_title["What fills it"] = _filling(view)
    html_by_title["As code"] = _panel("code", code=view.settings.code())
    return html_by_title


def _filling(view: SessionView) -> str:
    """What filled the recorded agent's context at the selected place, as a treemap."""
    rows = view.composition
    request = view.nearest_request
    of_request = rows[rows["request"] == request]
    return _panel(
        "filling",
        tiles=treemap.treemap(of_request),
        width=treemap.WIDTH,
        height=treemap.HEIGHT,
        request=request,
        last=len(view.ready.session.requests) - 1,
        tokens=round(of_request["tokens"].sum()),
    )


def _panel(name: str, **values: Any) -> str:  # noqa: ANN401 - whatever its template shows
    return render("explore/panel.html", panel=f"explore/{name}.html", **values)


def summaries_of(event: CompactionEvent) -> list[Summary]:
    """The summaries in the context after a compaction."""
    return [message for message in event.compaction.sent.messages if isinstance(message, Summary)]


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
    view: SessionView, message_outcomes: Sequence[MessageOutcome], places: Sequence[int]
) -> list[Mapping[str, object]]:
    """The messages at some places, with how many are skipped before each."""
    rows: list[Mapping[str, object]] = []
    previous = -1
    for place in places:
        message = view.ready.session.messages[place]
        first_text = texts_of(message)[0]
        row = {
            "at": place,
            "message": message,
            "outcome": message_outcomes[place],
            "tokens": view.replay.sizing.sizes[place],
            "text": " ".join(first_text[:1000].split()),
            "skipped": place - previous - 1,
        }
        rows.append(row)
        previous = place
    return rows


def _chosen(message_outcomes: Sequence[MessageOutcome], boundary: int) -> list[int]:
    """The messages to show: before the selected place the newest ones that stay and some dropped
    ones; some after.
    """
    stay, dropped = [], []
    for place, outcome in enumerate(message_outcomes[:boundary]):
        if outcome in ("pinned", "rewritten", "kept"):
            stay.append(place)
        elif outcome == "dropped":
            dropped.append(place)
    later = range(boundary, min(len(message_outcomes), boundary + FEW))
    return [*stay[-2 * FEW :], *dropped[-FEW:], *later]


def texts_of(message: Message) -> list[str]:
    """Its texts, or a word where it has none."""
    texts = [text for text in said_texts(message) if text.strip()]
    return texts or ["(no text)"]


def story_of(view: SessionView, place: int, outcome: MessageOutcome) -> dict[str, object]:
    """What became of one message, seen from the selected place, and whether the context holds what
    others need of it.

    `taker` is the stage that dropped or rewrote it, `after` what is in its place now.
    """
    replay, event = view.replay, view.event
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
        story["taker"] = takers(replay, event).get(message.id)
        story["after"] = _after(event, message, outcome)
    return story


def _needs_of(view: SessionView, place: int) -> list[tuple[Need, bool]]:
    """What is needed later of a message, and whether the context still holds it."""
    demand = view.ready.index.demand(view.at)
    bound = demand.retained(*held(view.replay.session, view.event, view.at)).bound
    needs = []
    for need, is_held in zip(demand.needs, bound, strict=True):
        if place in (need.evidence, need.said):
            needs.append((need, bool(is_held)))
    return needs


def _after(event: CompactionEvent, message: Message, outcome: MessageOutcome) -> list[str]:
    """What is in the place of a message: its new texts, or those of the summaries of it, or of all
    summaries.
    """
    if outcome == "rewritten":
        by_id = {sent.id: sent for sent in reversed(event.compaction.sent.messages)}
        return list(said_texts(by_id[message.id]))
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


def _side(replay: Replay, missing: Missing, other_missing: Missing) -> dict[str, object]:
    """One strategy in figures, with what it lost and the other one did not."""
    lost_by_entity = {lost.need.entity: lost for lost in missing.lost}
    lost_by_other = {lost.need.entity for lost in other_missing.lost}
    return {
        "replay": replay,
        "missing": missing,
        "tokens": [step.tokens_sent for step in replay.steps] or [0],
        "alone": [lost for entity, lost in lost_by_entity.items() if entity not in lost_by_other],
    }
