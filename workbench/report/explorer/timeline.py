"""The timeline of the explorer: the size of each request, with window, trigger and compactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.base.formats import some
from workbench.base.palette import looks
from workbench.engine.compaction.strategy import AtLimit, AtShare
from workbench.evaluation.replays.step import Replay
from workbench.report.explorer.scale import BOTTOM, LEFT, TOP, WIDTH, Scale
from workbench.report.explorer.view import SessionView

HEIGHT = 230
"""Of the picture."""
LABEL_HEIGHT = 14
"""Of the label above a line; two lines that are nearer share one."""
MOST_REACHED = 30
"""Compactions that the keyboard steps through one by one; of more, it reaches the selected one."""


def scale_of(replay: Replay) -> Scale:
    """One for the whole session however far it is replayed, and for its window unless that is far
    above.
    """
    history_tokens = replay.sizing.overhead + sum(replay.sizing.sizes)
    most_tokens = max(history_tokens, *(step.tokens_sent for step in replay.steps))
    last_request = max(len(replay.session.requests) - 1, 1)
    window = min(replay.window, 2 * most_tokens)
    top = 1.06 * max(most_tokens, window)
    return Scale(last_request, top, HEIGHT)


def timeline(
    view: SessionView,
    strategies: Sequence[str] = (),
) -> dict[str, object] | None:
    """The size of each request, recorded and sent, with window, trigger and compactions; None
    without requests.

    The replay to compare with is a dashed line.

    Args:
        view: the session.
        strategies: of its run, whose colours follow from their order.
    """
    replay = view.replay
    if not replay.steps:
        return None
    scale = scale_of(replay)
    left_edge = scale.x(0)
    right_edge = scale.x(scale.last_request)
    floor = scale.y(0)
    recorded_sizes = [(step.request, step.tokens_recorded) for step in replay.steps]
    recorded_line = " ".join(scale.corners(recorded_sizes))
    label = (
        f"Tokens of {some(len(replay.steps), 'request')} under {replay.preset};"
        f" {some(len(replay.events), 'compaction')}"
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
        "ticks": scale.ticks(),
        "cursor": None if view.request is None else scale.x(view.request),
        "limits": _limit_lines(view, scale),
        "compactions": _compaction_marks(view, scale),
        "recorded_compactions": _recorded_marks(replay, scale),
        "lines": _lines(view, scale, strategies),
    }


def _limit_lines(view: SessionView, scale: Scale) -> list[tuple[float, str, str]]:
    """The window and the trigger, where they are in the picture: height, label and dash."""
    limits = [
        (view.replay.window, "window", "2 3"),
        (_limit(view), "compacts here", "6 4"),
    ]
    lines: list[tuple[float, str, str]] = []
    for tokens, name, dash in limits:
        if tokens is None or tokens >= scale.top:
            continue
        height = scale.y(tokens)
        label = f"{name}, {tokens:,}"
        if lines and abs(height - lines[0][0]) < LABEL_HEIGHT:
            upper_height, upper_label, upper_dash = lines[0]
            lines[0] = (upper_height, f"{upper_label}; {label}", upper_dash)
            label = ""
        lines.append((height, label, dash))
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
        request = first_requests.get(event.number, last_request)
        mark = {
            "number": event.number,
            "x": scale.x(request),
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
        first_step = replay.steps[-1]
        for step in replay.steps:
            if step.index >= compaction.at:
                first_step = step
                break
        marks.append(scale.x(first_step.request))
    return marks


def _lines(
    view: SessionView,
    scale: Scale,
    strategies: Sequence[str],
) -> list[Mapping[str, object]]:
    """The requests of the replay, and dashed those of the replay to compare with."""
    replays = [replay for replay in replays_of(view) if replay.steps]
    names = [replay.preset for replay in replays]
    colours = looks([*strategies, *names])
    lines: list[Mapping[str, object]] = []
    for replay, dash in zip(replays, ("", "5 3"), strict=False):
        sizes = [(step.request, step.tokens_sent) for step in replay.steps]
        line = {
            "name": replay.preset,
            "points": " ".join(scale.corners(sizes)),
            "colour": colours[replay.preset].colour,
            "dash": dash,
        }
        lines.append(line)
    return lines


def replays_of(view: SessionView) -> list[Replay]:
    """The replay, and the one to compare with where there is one."""
    if view.other is None:
        return [view.replay]
    return [view.replay, view.other]


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
