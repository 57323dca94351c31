"""The widgets of the explorer: they change its settings and show its panels."""

import asyncio
from collections.abc import Callable
from typing import Any

import anywidget
import ipywidgets as w
import traitlets

from workbench.base.errors import WorkbenchError
from workbench.base.markup import TEMPLATES, render
from workbench.report.explorer.panels import overview, panels
from workbench.report.explorer.view import SessionView

WINDOWS = (
    4_000,
    8_000,
    12_000,
    16_000,
    24_000,
    32_000,
    48_000,
    64_000,
    96_000,
    128_000,
    200_000,
    400_000,
    1_000_000,
)
TAILS = (0, 1_000, 2_000, 4_000, 8_000, 12_000, 16_000, 24_000, 32_000, 64_000)

OWN = -1
"""The slider's place for the strategy's own setting."""
FIRST, THEN = 0.2, 0.4
"""Seconds of replaying before the picture is drawn, and between that and the next."""


class Pane(anywidget.AnyWidget):
    """A piece of HTML in which a click, or Enter, on a part with `data-go` is sent back."""

    _esm = TEMPLATES / "explore" / "pane.js"
    html = traitlets.Unicode("").tag(sync=True)


class Controls:
    """The widgets, and what each does. A long replay does not block: it is drawn as far as it
    has come.
    """

    def __init__(self, view: SessionView) -> None:
        self.view = view
        self._quiet = False
        self._turn = 0
        last_request = max(len(view.ready.session.requests) - 1, 0)
        self.boundary = self._control(
            w.SelectionSlider,
            "compaction",
            lambda number: self.moved(view.select, number),
            options=[("none", 0)],
            value=0,
        )
        self.request = self._control(
            w.IntSlider,
            "request",
            lambda request: self.moved(view.look, request),
            min=0,
            max=last_request,
            continuous_update=True,
        )
        self.play = w.Play(
            min=0,
            max=last_request,
            step=max(last_request // 200, 1),
            interval=250,
            description="play",
        )
        self._linked = w.jslink((self.play, "value"), (self.request, "value"))
        strategies = w.VBox(self._strategy_controls())
        triggers = w.VBox(self._trigger_controls())
        places = w.VBox([self._tail_control(), self.boundary])
        in_a_row = w.Layout(flex_flow="row wrap")
        self.overview = self._pane()
        self.tabs = w.Tab()
        self.box = w.VBox(
            [
                w.HBox([strategies, triggers, places], layout=in_a_row),
                w.HBox([self.play, self.request], layout=in_a_row),
                self.overview,
                self.tabs,
            ]
        )
        self.redraw()

    def _strategy_controls(self) -> list[Any]:
        settings = self.view.settings
        names = list(self.view.presets)
        strategy = self._control(
            w.Dropdown,
            "strategy",
            lambda name: self.change(strategy=name),
            options=names,
            value=settings.strategy,
        )
        beside = self._control(
            w.Dropdown,
            "beside it",
            lambda name: self.change(beside=name or None),
            options=[("nothing", ""), *zip(names, names, strict=True)],
            value=settings.beside or "",
        )
        return [strategy, beside]

    def _trigger_controls(self) -> list[Any]:
        settings = self.view.settings
        sizing = self.view.ready.sizing
        window = self._control(
            w.SelectionSlider,
            "window",
            lambda size: self.change(window=sizing.window(size)),
            options=_labelled(WINDOWS, settings.window),
            value=settings.window,
        )
        threshold = self._control(
            w.FloatSlider,
            "threshold",
            lambda share: self.change(threshold=share),
            min=0.2,
            max=1.0,
            step=0.05,
            value=settings.threshold or 0.8,
            readout_format=".0%",
        )
        return [window, threshold]

    def _tail_control(self) -> Any:  # noqa: ANN401 - ipywidgets is untyped
        tail = self.view.settings.tail
        return self._control(
            w.SelectionSlider,
            "kept tail",
            lambda size: self.change(tail=None if size == OWN else size),
            options=[("its own", OWN), *_labelled(TAILS, tail)],
            value=OWN if tail is None else tail,
        )

    def _control(self, kind: Any, name: str, then: Callable[[Any], object], **traits: Any) -> Any:  # noqa: ANN401 - ipywidgets is untyped
        """A widget that acts when a person changes its value."""
        if kind is not w.Dropdown:
            traits = {"continuous_update": False, **traits}
        widget = kind(
            description=name,
            layout=w.Layout(width="340px"),
            style={"description_width": "90px"},
            **traits,
        )

        def changed(change: dict[str, Any]) -> None:
            if not self._quiet and change["new"] is not None:
                then(change["new"])

        widget.observe(changed, "value")
        return widget

    def _pane(self) -> Pane:
        pane = Pane()
        pane.on_msg(self._clicked)
        return pane

    def change(self, **changes: Any) -> None:  # noqa: ANN401 - the fields of the settings
        """Take new settings and draw what is replayed after a moment; the rest follows."""
        self._turn += 1
        self._replay(lambda: self.view.begin(FIRST, **changes), self._turn)

    def _replay(self, replay: Callable[[], bool], turn: int) -> None:
        if turn != self._turn:
            return  # the settings are others by now
        try:
            is_complete = replay()
        except WorkbenchError as error:
            self.overview.html = render("explore/error.html", error=error)
            return
        self.redraw()
        if not is_complete:
            _soon(lambda: self._replay(lambda: self.view.go_on(THEN), turn))

    def moved(self, move: Callable[[int], object], number: int) -> None:
        """Look at another place of the same replay."""
        move(number)
        self.redraw()

    def _clicked(self, _: object, message: dict[str, Any], __: object) -> None:
        panel = self.view.go(str(message["go"]))
        selected_index = 0
        for index, title in enumerate(self.redraw()):
            if title.startswith(panel):
                selected_index = index
                break
        self.tabs.selected_index = selected_index

    def redraw(self) -> list[str]:
        """Draw the view as it is now; the titles of its panels."""
        self.overview.html = overview(self.view)
        html_by_title = panels(self.view)
        panes = list(self.tabs.children[: len(html_by_title)])
        while len(panes) < len(html_by_title):
            panes.append(self._pane())
        self.tabs.children = panes
        for index, (title, html) in enumerate(html_by_title.items()):
            panes[index].html = html
            self.tabs.set_title(index, title)
        self._follow()
        return list(html_by_title)

    def _follow(self) -> None:
        """Set the two sliders of places to the selected place, without acting on their change."""
        view = self.view
        self._quiet = True
        try:
            options = self._boundary_options()
            if list(self.boundary.options) != options:
                self.boundary.options = options
            self.boundary.value = view.selected
            self.request.value = self._selected_request()
        finally:
            self._quiet = False

    def _selected_request(self) -> int:
        """The selected one; at a compaction the first one after it."""
        view = self.view
        if view.request is not None:
            return view.request
        for step in view.replay.steps:
            if step.index >= view.at:
                return step.request
        last_request: int = self.request.max
        return last_request

    def _boundary_options(self) -> list[tuple[str, int]]:
        """The compactions that can be selected, each as a label and its number."""
        events = self.view.replay.events
        options = [(f"{event.number + 1} of {len(events)}", event.number) for event in events]
        if self.view.selected < 0:
            return [("none yet", -1), *options]
        return options or [("none", 0)]


def _soon(callback: Callable[[], None]) -> None:
    """Do it when the kernel has answered; at once where no loop runs."""
    try:
        asyncio.get_running_loop().call_later(0.01, callback)
    except RuntimeError:
        callback()


def _labelled(values: tuple[int, ...], current: int | None) -> list[tuple[str, int]]:
    choices = set(values)
    if current is not None:
        choices.add(current)
    return [(f"{value:,}", value) for value in sorted(choices)]
