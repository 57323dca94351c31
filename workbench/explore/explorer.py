"""`explore(session)`: the settings and the panels; what they show is worked out in `page` and `timeline`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from workbench.compaction.presets import BUILTIN, preset
from workbench.compaction.strategy import Preset
from workbench.experiment.prepared import Prepared, prepared
from workbench.explore import page
from workbench.explore.fate import missing
from workbench.explore.settings import Settings, telling_window, tuned
from workbench.explore.timeline import timeline
from workbench.markup import shown
from workbench.models import find_model
from workbench.models.model import Model
from workbench.replay.natural import natural
from workbench.replay.step import Firing, Replay
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
        model: who writes summaries.
        strategies: names to choose from; all built-in ones if none are given.

    Raises:
        UnknownName: no strategy or model of that name.
    """
    ready = prepared(session, window)
    presets = {name: preset(name) for name in (tuple(strategies) or tuple(BUILTIN))}
    chosen = preset(strategy) if isinstance(strategy, str) else strategy
    presets[chosen.name] = chosen
    used = telling_window(ready) if window is None else ready.sizing.window(window)
    found = find_model(model) if isinstance(model, str) else model
    return Explorer(ready, presets, found, Settings(chosen.name, used, threshold, tail))


class Explorer:
    """A session and how it is looked at: `settings`, and the number of the compaction that is `selected`."""

    def __init__(self, ready: Prepared, presets: dict[str, Preset], model: Model, settings: Settings) -> None:
        self.ready, self.presets, self.model = ready, presets, model
        self.settings = settings
        self.selected = 0
        self._seen: dict[Settings, Replay] = {}
        self.replay = self._replayed()
        self._widget: Any = None

    def _replayed(self) -> Replay:
        """The replay of the present settings; the latest ones are remembered, so that going back takes no time."""
        if self.settings not in self._seen:
            if len(self._seen) >= REMEMBERED:
                del self._seen[next(iter(self._seen))]
            self._seen[self.settings] = self._fresh()
        return self._seen[self.settings]

    def _fresh(self) -> Replay:
        chosen = tuned(self.presets[self.settings.strategy], self.settings)
        return natural(self.ready.session, chosen, self.model, self.ready.sizing, window=self.settings.window)

    def set(self, **changes: Any) -> Explorer:  # noqa: ANN401 - the fields of Settings
        """Change settings by name and replay; the same explorer comes back."""
        self.settings = replace(self.settings, **changes)
        self.replay = self._replayed()
        self.selected = min(self.selected, max(len(self.replay.firings) - 1, 0))
        return self

    def select(self, number: int) -> Explorer:
        """Look at the compaction of that number, from 0."""
        self.selected = max(0, min(number, len(self.replay.firings) - 1))
        return self

    @property
    def firing(self) -> Firing | None:
        """The compaction that is looked at; None if there is none."""
        return self.replay.firings[self.selected] if self.replay.firings else None

    def overview(self) -> str:
        """The sentence and the timeline, as HTML."""
        trigger = self.presets[self.settings.strategy].trigger
        drawn = timeline(self.replay, trigger, self.firing, self.settings.threshold)
        return f'<div class="wb-x">{page.STYLE}{page.headline(self.replay)}{drawn}</div>'

    def panels(self) -> dict[str, str]:
        """What is below the timeline: title and HTML of each panel."""
        firing = self.firing
        found = {"Messages": page.message_list(self.replay, firing)}
        if firing is not None:
            needed = missing(self.ready.session, self.ready.index, firing)
            found["Before and after"] = page.before_and_after(firing)
            found[f"Lost ({len(needed.missed)})"] = page.lost(needed)
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
        return f"<{self.ready.session.id} under {self.settings.strategy}: {len(self.replay.firings)} compactions>"
