"""The widgets of the explorer: they change its settings and show its panels."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import anywidget
import ipywidgets as w
import traitlets

from workbench.errors import WorkbenchError
from workbench.explore.panels import overview, panels
from workbench.explore.view import SessionView
from workbench.markup import TEMPLATES, render

WINDOWS = (4_000, 8_000, 12_000, 16_000, 24_000, 32_000, 48_000, 64_000, 96_000, 128_000, 200_000, 400_000, 1_000_000)
TAILS = (0, 1_000, 2_000, 4_000, 8_000, 12_000, 16_000, 24_000, 32_000, 64_000)

OWN = -1
"""The slider's place for what the strategy's own setting."""
ALONE = ""
"""The name for no second strategy."""
FIRST, THEN = 0.2, 0.4
"""Seconds of replaying before the picture is drawn, and between that and the next."""


class Pane(anywidget.AnyWidget):
    """A piece of HTML in which a click, or Enter, on a part with `data-go` is sent back."""

    _esm = TEMPLATES / "explore" / "pane.js"
    html = traitlets.Unicode("").tag(sync=True)


class Controls:
    """The widgets, and what each does. A long replay does not block: it is drawn as far as it has come."""

    def __init__(self, view: SessionView) -> None:
        self.view, self._quiet, self._turn = view, False, 0
        settings, wide = view.settings, {"description_width": "90px"}
        look = {"style": wide, "layout": w.Layout(width="340px"), "continuous_update": False}
        names = list(view.presets)
        steps = max(len(view.ready.session.requests) - 1, 0)
        self.strategy = w.Dropdown(options=names, value=settings.strategy, description="strategy", style=wide)
        self.beside = w.Dropdown(
            options=[("nothing", ALONE), *((name, name) for name in names)], value=settings.beside or ALONE,
            description="beside it", style=wide,
        )  # fmt: skip
        self.strategy.layout = self.beside.layout = look["layout"]
        self.window = w.SelectionSlider(
            options=_labelled(WINDOWS, settings.window), value=settings.window, description="window", **look
        )
        self.threshold = w.FloatSlider(
            value=settings.threshold or 0.8, min=0.2, max=1.0, step=0.05, description="threshold",
            readout_format=".0%", **look,
        )  # fmt: skip
        self.tail = w.SelectionSlider(
            options=[("its own", OWN), *_labelled(TAILS, settings.tail)],
            value=OWN if settings.tail is None else settings.tail, description="kept tail", **look,
        )  # fmt: skip
        self.boundary = w.SelectionSlider(options=[("none", 0)], value=0, description="compaction", **look)
        self.request = w.IntSlider(min=0, max=steps, description="request", **{**look, "continuous_update": True})
        self.play = w.Play(min=0, max=steps, step=max(steps // 200, 1), interval=250, description="play")
        self.overview, self.tabs = Pane(), w.Tab()
        self.overview.on_msg(self._clicked)
        self._listen()
        row = w.Layout(flex_flow="row wrap")
        moves = w.HBox([self.play, self.request], layout=row)
        columns = ([self.strategy, self.beside], [self.window, self.threshold], [self.tail, self.boundary])
        self.box = w.VBox([w.HBox([w.VBox(one) for one in columns], layout=row), moves, self.overview, self.tabs])
        self.redraw()

    def _listen(self) -> None:
        sizing = self.view.ready.sizing
        self._on(self.strategy, lambda value: self.change(strategy=value))
        self._on(self.beside, lambda value: self.change(beside=value or None))
        self._on(self.window, lambda value: self.change(window=sizing.window(value)))
        self._on(self.threshold, lambda value: self.change(threshold=value))
        self._on(self.tail, lambda value: self.change(tail=None if value == OWN else value))
        self._on(self.boundary, lambda value: self.moved(lambda: self.view.select(value)))
        self._on(self.request, lambda value: self.moved(lambda: self.view.look(value)))
        self._linked = w.jslink((self.play, "value"), (self.request, "value"))

    def _on(self, widget: Any, then: Callable[[Any], None]) -> None:  # noqa: ANN401 - any widget, any value
        def heard(change: dict[str, Any]) -> None:
            if not self._quiet and change["new"] is not None:
                then(change["new"])

        widget.observe(heard, "value")

    def change(self, **changes: Any) -> None:  # noqa: ANN401 - the fields of Settings
        """Take new settings and draw what is replayed after a moment; the rest follows."""
        self._turn += 1
        self._replay(lambda: self.view.begin(FIRST, **changes), self._turn)

    def _replay(self, how: Callable[[], bool], turn: int) -> None:
        if turn != self._turn:
            return  # the settings are others by now
        try:
            done = how()
        except WorkbenchError as error:
            self.overview.html = render("explore/error.html", error=error)
            return
        self.redraw()
        if not done:
            _soon(lambda: self._replay(lambda: self.view.go_on(THEN), turn))

    def moved(self, how: Callable[[], object]) -> None:
        """Look at another place of the same replay."""
        how()
        self.redraw()

    def _clicked(self, _: object, message: dict[str, Any], __: object) -> None:
        panel = self.view.go(str(message["go"]))
        self.redraw()
        titles = list(panels(self.view))
        self.tabs.selected_index = next((i for i, title in enumerate(titles) if title.startswith(panel)), 0)

    def redraw(self) -> None:
        """Draw the view as it is now."""
        self.overview.html = overview(self.view)
        drawn = panels(self.view)
        panes = list(self.tabs.children[: len(drawn)])
        while len(panes) < len(drawn):
            panes.append(Pane())
            panes[-1].on_msg(self._clicked)
        self.tabs.children = panes
        for i, (title, html) in enumerate(drawn.items()):
            panes[i].html = html
            self.tabs.set_title(i, title)
        self._follow()

    def _follow(self) -> None:
        """Set the two sliders of places to the selected place, without acting on their change."""
        view, self._quiet = self.view, True
        try:
            events = view.replay.events
            options = [(f"{one.number + 1} of {len(events)}", one.number) for one in events]
            options = [("none yet", -1), *options] if view.selected < 0 else options or [("none", 0)]
            if list(self.boundary.options) != options:
                self.boundary.options = options
            self.boundary.value = view.selected
            here = view.at
            at = (step.request for step in view.replay.steps if step.index >= here)
            self.request.value = view.request if view.request is not None else next(at, self.request.max)
        finally:
            self._quiet = False


def _soon(what: Callable[[], None]) -> None:
    """Do it when the kernel has answered; at once where no loop runs."""
    try:
        asyncio.get_running_loop().call_later(0.01, what)
    except RuntimeError:
        what()


def _labelled(values: tuple[int, ...], own: int | None) -> list[tuple[str, int]]:
    return [(f"{value:,}", value) for value in sorted({*values, *([own] if own is not None else [])})]
