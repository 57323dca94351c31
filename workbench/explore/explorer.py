"""`explore(session)`: the settings and the panels; what they show is worked out in `page` and `timeline`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import inf
from time import monotonic
from typing import Any

from workbench.compaction.presets import BUILTIN, preset
from workbench.compaction.strategy import Preset
from workbench.experiment.prepared import Prepared, prepared
from workbench.explore import page, story
from workbench.explore.outcome import Missing, missing
from workbench.explore.settings import Settings, telling_window, tuned
from workbench.explore.timeline import timeline
from workbench.markup import shown
from workbench.models import find_model
from workbench.models.model import Model
from workbench.replay.natural import Walk
from workbench.replay.step import CompactionEvent, Replay
from workbench.transcript.session import Session

REMEMBERED = 24
"""Replays that an explorer keeps."""


def explore(
    session: Session,
    *,
    strategy: str | Preset = "summarize",
    window: int | None = None,
    threshold: float | None = None,
    tail: int | None = None,
    beside: str | Preset | None = None,
    model: str | Model = "extractive",
    strategies: Iterable[str] = (),
) -> Explorer:
    """A session under a strategy, with controls to play with; without widgets, a picture of how they stand.

    Args:
        session: any recorded session.
        strategy: a name, or a preset of your own.
        window: tokens; None takes the session's own, or half its size if that is never filled.
        threshold: share of the window at which to compact, in (0, 1]; None is the strategy's own.
        tail: tokens of newest messages to keep; None is the strategy's own.
        beside: a second strategy to compare with.
        model: who writes summaries.
        strategies: names to choose from; all built-in ones if none are given.

    Raises:
        UnknownName: no strategy or model of that name.
    """
    ready = prepared(session, window)
    presets = {name: preset(name) for name in (tuple(strategies) or tuple(BUILTIN))}
    chosen = preset(strategy) if isinstance(strategy, str) else strategy
    other = preset(beside) if isinstance(beside, str) else beside
    presets |= {part.name: part for part in (chosen, other) if part is not None}
    used = telling_window(ready) if window is None else ready.sizing.window(window)
    found = find_model(model) if isinstance(model, str) else model
    settings = Settings(chosen.name, used, threshold, tail, None if other is None else other.name)
    return Explorer(ready, presets, found, settings)


class Explorer:
    """A session and how it is looked at.

    Attributes:
        settings: the strategy and what it is given.
        replay: of the session under them; `other` is the one beside it, if there is one.
        selected: number of the compaction that is looked at; -1 before the first.
        request: the request at which one stands; None is at the compaction.
        message: a message that is looked at; None for none.
    """

    def __init__(self, ready: Prepared, presets: dict[str, Preset], model: Model, settings: Settings) -> None:
        self.ready, self.presets, self.model = ready, presets, ready.reader(model)
        self.settings = settings
        self.selected = 0
        self.request: int | None = None
        self.message: int | None = None
        self._seen: dict[Settings, Replay] = {}
        self._walks: dict[Settings, Walk] = {}
        self._missing: dict[tuple[Settings, int, int], Missing] = {}
        self.replay: Replay
        self.other: Replay | None = None
        self.go_on()
        self._widget: Any = None

    def set(self, **changes: Any) -> Explorer:  # noqa: ANN401 - the fields of Settings
        """Change settings by name and replay; the same explorer comes back."""
        self.begin(inf, **changes)
        return self

    def begin(self, seconds: float, **changes: Any) -> bool:  # noqa: ANN401 - the fields of Settings
        """Change settings and replay for about so many seconds; whether that was enough. `go_on` does the rest."""
        self.settings = replace(self.settings, **changes)
        wanted = self._wanted()
        self._walks = {one: walk for one, walk in self._walks.items() if one in wanted}
        self._missing.clear()
        return self.go_on(seconds)

    def go_on(self, seconds: float = inf) -> bool:
        """Replay on for about so many seconds; whether the end is reached."""
        until = monotonic() + seconds
        replays = [self._walked(one, until) for one in self._wanted()]
        self.replay, self.other = replays[0], replays[1] if len(replays) > 1 else None
        if self.request is not None:
            self.look(self.request)
        else:
            self.select(self.selected)
        return not self._walks

    def _wanted(self) -> list[Settings]:
        """The settings of each strategy alone."""
        names = [self.settings.strategy, *([self.settings.beside] if self.settings.beside else [])]
        return [replace(self.settings, strategy=name, beside=None) for name in names]

    def _walked(self, wanted: Settings, until: float) -> Replay:
        """The replay of these settings as far as it comes; the latest ones are remembered."""
        if wanted in self._seen:
            return self._seen[wanted]
        walk = self._walks.get(wanted) or self._walk(wanted)
        self._walks[wanted] = walk
        while not walk.done:
            walk.go_on()
            if monotonic() > until:
                break
        if walk.done:
            if len(self._seen) >= REMEMBERED:
                del self._seen[next(iter(self._seen))]
            self._seen[wanted] = self._walks.pop(wanted).replay()
            return self._seen[wanted]
        return walk.replay()

    def _walk(self, wanted: Settings) -> Walk:
        chosen = tuned(self.presets[wanted.strategy], wanted)
        return Walk(self.ready.session, chosen, self.model, self.ready.sizing, window=wanted.window)

    def select(self, number: int) -> Explorer:
        """Look at the compaction of that number, from 0."""
        self.selected, self.request = max(0, min(number, len(self.replay.events) - 1)), None
        return self

    def look(self, request: int) -> Explorer:
        """Stand at that request, from 0: what it would have been sent, after the compactions up to there."""
        steps = self.replay.steps
        self.request = max(0, min(request, len(steps) - 1)) if steps else None
        before = [event.number for event in self.replay.events if event.at <= self.at]
        self.selected = before[-1] if before else -1
        return self

    def go(self, where: str) -> str:
        """Go where a click leads, such as `boundary:2` or `message:17`; how the title of the panel to show begins."""
        kind, _, number = where.partition(":")
        if kind == "boundary":
            self.select(int(number))
            return "Lost"
        self.message = max(0, min(int(number), len(self.ready.session.messages) - 1))
        return "Messages"

    @property
    def event(self) -> CompactionEvent | None:
        """The compaction that is looked at; None if there is none."""
        return self.replay.events[self.selected] if self.replay.events and self.selected >= 0 else None

    @property
    def at(self) -> int:
        """The message before which one stands."""
        if self.request is not None and self.replay.steps:
            return self.replay.steps[self.request].index
        return len(self.ready.session.messages) if self.event is None else self.event.at

    def missing(self, replay: Replay) -> Missing:
        """What a replay's context lacks, where one stands, of what is needed afterwards."""
        before = [event for event in replay.events if event.at <= self.at]
        event = before[-1] if before else None
        where = (self._wanted()[replay is self.other], len(before), self.at)  # the same however far the rest has come
        if where not in self._missing:
            self._missing[where] = missing(self.ready.session, self.ready.index, replay, event, self.at)
        return self._missing[where]

    def overview(self) -> str:
        """The sentence and the timeline, as HTML."""
        trigger = self.presets[self.settings.strategy].trigger
        drawn = timeline(
            self.replay, trigger, self.event, self.settings.threshold, request=self.request, beside=self.other
        )
        said = "".join(page.headline(one) for one in (self.replay, self.other) if one is not None)
        walks = self._walks.values()
        on_its_way = page.so_far(min(walk.at for walk in walks), len(self.ready.session.messages)) if walks else ""
        return f'<div class="wb-x">{page.STYLE}{said}{drawn}{on_its_way}</div>'

    def panels(self) -> dict[str, str]:
        """What is below the timeline: title and HTML of each panel."""
        event, index = self.event, self.ready.index
        told = "" if self.message is None else story.told(story.story(self.replay, index, event, self.at, self.message))
        found = {"Messages": told + page.message_list(self.replay, event, self.at, self.message)}
        if event is not None:
            needed = self.missing(self.replay)
            found["Before and after"] = page.before_and_after(event)
            found[f"Lost ({len(needed.missed)})"] = page.lost(needed)
        if self.other is not None:
            both = [(one, self.missing(one)) for one in (self.replay, self.other)]
            found["Side by side"] = page.side_by_side(both, self.at)
        found["As code"] = f"<pre>{shown(self.settings.code())}</pre>"
        return {title: f'<div class="wb-x">{html}</div>' for title, html in found.items()}

    def html(self) -> str:
        """All of it as one static piece of HTML."""
        panels = "".join(f'<div class="wb-x"><h4>{title}</h4></div>{html}' for title, html in self.panels().items())
        return self.overview() + panels

    @property
    def widget(self) -> Any:  # noqa: ANN401 - ipywidgets says nothing of types
        """The controls and panels as a widget."""
        if self._widget is None:
            from workbench.explore.controls import controls

            self._widget = controls(self)
        return self._widget

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:  # noqa: ANN401 - as IPython gives them
        bundle = {"text/plain": repr(self), "text/html": self.html()}
        shown = self.widget._repr_mimebundle_(**kwargs)
        return {**bundle, **{kind: data for kind, data in (shown or {}).items() if kind != "text/plain"}}

    def __repr__(self) -> str:
        return f"<{self.ready.session.id} under {self.settings.strategy}: {len(self.replay.events)} compactions>"
