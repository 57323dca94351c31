"""Draws a replay as small SVG, put together by hand: redrawing must not be felt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from workbench.compaction.trigger import AtReserve, AtShare, Trigger
from workbench.explore.outcome import Fate
from workbench.markup import shown
from workbench.palette import looks
from workbench.replay.step import CompactionEvent, Replay

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 1000, 230, 62, 14, 26
FATES: dict[Fate, str] = {
    "pinned": "#009e73", "kept": "#0072b2", "rewritten": "#e69f00", "dropped": "#b4bac1", "later": "none",
}  # fmt: skip
MOST_BARS = 1_000
MOST_REACHED = 30
"""Compactions that the keyboard steps through one by one; of more, it reaches the selected one."""
INK, MUTED = "var(--jp-ui-font-color1,currentColor)", "var(--jp-ui-font-color2,currentColor)"


@dataclass(frozen=True, slots=True)
class Scale:
    """Where things stand in the picture; `last` is the last request, `top` the most tokens."""

    last: int
    top: float

    @classmethod
    def of(cls, replay: Replay) -> Scale:
        """One that holds the whole session however far it is replayed, and the window unless it is far above."""
        most = max(replay.sizing.overhead + sum(replay.sizing.sizes), *(step.tokens_sent for step in replay.steps))
        last = max(len(replay.session.requests) - 1, 1)
        return cls(last, 1.06 * max(most, min(replay.window, 2 * most)))

    def x(self, request: int) -> float:
        """From the left."""
        return LEFT + (WIDTH - LEFT - 12) * request / self.last

    def y(self, tokens: float) -> float:
        """From the top."""
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - tokens / self.top)

    def points(self, requests: Iterable[int], tokens: Iterable[int]) -> str:
        """The corners of a line, for SVG; there may be thousands, and they are drawn at every move of a slider."""
        across, high, top, last = WIDTH - LEFT - 12, HEIGHT - TOP - BOTTOM, self.top, self.last
        return " ".join(
            [
                f"{LEFT + across * request / last:.1f},{TOP + high * (1 - size / top):.1f}"
                for request, size in zip(requests, tokens, strict=True)
            ]
        )


def timeline(
    replay: Replay,
    trigger: Trigger,
    selected: CompactionEvent | None,
    threshold: float | None = None,
    *,
    request: int | None = None,
    beside: Replay | None = None,
) -> str:
    """The size of each request as SVG: recorded as an area, sent as a line, with window, trigger and compactions.

    Args:
        replay: with its steps.
        trigger: of the preset, for the trigger line.
        selected: the compaction that is looked at.
        threshold: share of the window in place of the trigger's own.
        request: where one stands; None is at the compaction.
        beside: the same session under another strategy, drawn as a dashed line.
    """
    if not replay.steps:
        return "<p>This session holds no request.</p>"
    scale = Scale.of(replay)
    x, y, last = scale.x, scale.y, scale.last
    steps = replay.steps
    requests = [step.request for step in steps]
    recorded = scale.points(requests, [step.tokens_recorded for step in steps])
    sent = scale.points(requests, [step.tokens_sent for step in steps])
    colour = looks([replay.preset])[replay.preset].colour
    parts = [
        f'<polygon points="{x(0):.1f},{y(0):.1f} {recorded} {x(last):.1f},{y(0):.1f}" fill="#8a8f98" opacity=".25"/>',
        *_ticks(scale),
        *_lines(replay, trigger, threshold, scale),
        *_marks(replay, selected, scale),
        *_recorded(replay, scale),
        f'<polyline points="{sent}" fill="none" stroke="{colour}" stroke-width="2"/>',
        *_beside(replay, beside, scale),
        *([] if request is None else [_cursor(x(request))]),
        f'<text x="{WIDTH - 12}" y="{HEIGHT - 6}" text-anchor="end" fill="{MUTED}">request {last}</text>',
        f'<text x="{LEFT}" y="{HEIGHT - 6}" fill="{MUTED}">request 0</text>',
    ]
    told = f"Tokens of {len(steps)} requests under {replay.preset}; {len(replay.events)} compactions"
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="group" aria-label="{told}" font-size="12">{"".join(parts)}</svg>'


def _request(replay: Replay, at: int) -> int:
    return next((step.request for step in replay.steps if step.index >= at), replay.steps[-1].request)


def _ticks(scale: Scale) -> list[str]:
    y, top = scale.y, scale.top
    step = next(s for s in (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 10**9) if top / s <= 5)
    return [
        f'<line x1="{LEFT}" x2="{WIDTH - 12}" y1="{y(t):.1f}" y2="{y(t):.1f}" stroke="#8a8f98" stroke-opacity=".3"/>'
        f'<text x="{LEFT - 6}" y="{y(t) + 4:.1f}" text-anchor="end" fill="{MUTED}">{t // 1000:,}k</text>'
        for t in range(0, int(top) + 1, step)
    ]


def _lines(replay: Replay, trigger: Trigger, threshold: float | None, scale: Scale) -> list[str]:
    y = scale.y
    due = _due(trigger, threshold, replay.window)
    marks = [(replay.window, "window", "2 3")] + ([(due, "compacts here", "6 4")] if due is not None else [])
    return [
        f'<line x1="{LEFT}" x2="{WIDTH - 12}" y1="{y(t):.1f}" y2="{y(t):.1f}" stroke="{INK}" '
        f'stroke-dasharray="{dash}"/>'
        f'<text x="{LEFT + 6}" y="{y(t) - 4:.1f}" fill="{INK}">{word}, {t:,}</text>'
        for t, word, dash in marks
        if t < scale.top
    ]


def _due(trigger: Trigger, threshold: float | None, window: int) -> int | None:
    if threshold is not None:
        return int(threshold * window)
    if isinstance(trigger, AtShare):
        return int(trigger.threshold * window)
    return window - trigger.reserve if isinstance(trigger, AtReserve) else None


def _marks(replay: Replay, selected: CompactionEvent | None, scale: Scale) -> Iterator[str]:
    """The compactions, each of which can be clicked; the keyboard reaches the selected one and those near it."""
    first = {step.compaction: step.request for step in replay.steps if step.compaction is not None}
    for event in replay.events:
        x = scale.x(first.get(event.number, replay.steps[-1].request))
        width, shade = (3, INK) if event is selected else (1, MUTED)
        reached = len(replay.events) <= MOST_REACHED or event is selected
        told = f"compaction {event.number + 1}, before message {event.at}"
        yield (
            f'<g class="go" data-go="boundary:{event.number}" role="button" tabindex="{0 if reached else -1}" '
            f'aria-label="{told}"><title>{told}</title>'
            f'<rect x="{x - 5:.1f}" y="{TOP - 8}" width="10" height="{HEIGHT - BOTTOM - TOP + 8}" fill="transparent"/>'
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="{shade}" '
            f'stroke-width="{width}"/><path d="M{x - 5:.1f},{TOP - 8} h10 l-5,8 z" fill="{shade}"/></g>'
        )


def _cursor(x: float) -> str:
    return (
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="#e69f00" stroke-width="3" '
        'stroke-dasharray="1 2"><title>here</title></line>'
    )


def _beside(replay: Replay, other: Replay | None, scale: Scale) -> Iterator[str]:
    """The other strategy's line with both names, each at the end of its line."""
    if other is None or not other.steps:
        return
    colours = looks([replay.preset, other.preset])
    points = scale.points([step.request for step in other.steps], [step.tokens_sent for step in other.steps])
    colour = colours[other.preset].colour
    yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="5 3"/>'
    for row, (one, dash) in enumerate(((replay, ""), (other, "5 3"))):
        y = TOP + 6 + 16 * row
        yield (
            f'<line x1="{WIDTH - 190}" x2="{WIDTH - 160}" y1="{y}" y2="{y}" stroke-dasharray="{dash}" '
            f'stroke="{colours[one.preset].colour}" stroke-width="2"/>'
            f'<text x="{WIDTH - 154}" y="{y + 4}" fill="{INK}">{shown(one.preset)}</text>'
        )


def _recorded(replay: Replay, scale: Scale) -> list[str]:
    return [
        f'<circle cx="{scale.x(_request(replay, one.at)):.1f}" cy="{HEIGHT - BOTTOM}" r="5" fill="#cc79a7">'
        "<title>the recorded agent compacted here</title></circle>"
        for one in replay.session.recorded
    ]


def strip(fates: Sequence[Fate], sizes: Sequence[int]) -> str:
    """All messages side by side, as wide as they are long and in the colour of their fate; at most 1,000 bars."""
    bars = _bars(fates, sizes)
    at, drawn = 0.0, []
    for fate, wide in bars:
        edge = f' stroke="{MUTED}" stroke-width=".5"' if fate == "later" else ""
        drawn.append(
            f'<rect x="{at:.2f}" y="1" width="{max(wide - 0.4, 0.3):.2f}" height="22" fill="{FATES[fate]}"{edge}/>'
        )
        at += wide
    return (
        '<svg viewBox="0 0 1000 24" preserveAspectRatio="none" role="img" style="height:24px" '
        f'aria-label="{len(fates)} messages by fate">{"".join(drawn)}</svg>'
    )


def _bars(fates: Sequence[Fate], sizes: Sequence[int]) -> list[tuple[Fate, float]]:
    """Fates with their widths, which add up to 1,000: of a thousand places, if there are more messages than that."""
    whole = max(sum(sizes), 1)
    if len(fates) <= MOST_BARS:
        return [(fate, 1000 * size / whole) for fate, size in zip(fates, sizes, strict=True)]
    places: list[dict[Fate, int]] = [{} for _ in range(MOST_BARS)]
    before = 0
    for fate, size in zip(fates, sizes, strict=True):
        place = places[min(MOST_BARS - 1, MOST_BARS * before // whole)]
        place[fate] = place.get(fate, 0) + size
        before += size
    found: list[tuple[Fate, float]] = []
    for place in places:
        fate = max(place, key=place.__getitem__) if place else found[-1][0]
        if found and found[-1][0] == fate:
            found[-1] = (fate, found[-1][1] + 1000 / MOST_BARS)
        else:
            found.append((fate, 1000 / MOST_BARS))
    return found
