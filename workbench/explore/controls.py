"""The widgets of the explorer: they set its settings and show what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.explore.explorer import Explorer

WINDOWS = (4_000, 8_000, 12_000, 16_000, 24_000, 32_000, 48_000, 64_000, 96_000, 128_000, 200_000, 400_000, 1_000_000)
TAILS = (0, 1_000, 2_000, 4_000, 8_000, 12_000, 16_000, 24_000, 32_000, 64_000)

OWN = -1
"""The slider's place for what the strategy itself would do."""


def controls(explorer: Explorer) -> Any:  # noqa: ANN401 - ipywidgets says nothing of types
    """A box with the controls above the timeline, and the panels below it."""
    import ipywidgets as w

    settings, wide = explorer.settings, {"description_width": "90px"}
    look = {"style": wide, "layout": w.Layout(width="340px"), "continuous_update": False}
    strategy = w.Dropdown(
        options=list(explorer.presets),
        value=settings.strategy,
        description="strategy",
        style=wide,
        layout=look["layout"],
    )
    window = w.SelectionSlider(
        options=_labelled(WINDOWS, settings.window), value=settings.window, description="window", **look
    )
    threshold = w.FloatSlider(
        value=settings.threshold or 0.8,
        min=0.2,
        max=1.0,
        step=0.05,
        description="threshold",
        readout_format=".0%",
        **look,
    )
    tail = w.SelectionSlider(
        options=[("its own", OWN), *_labelled(TAILS, settings.tail)],
        value=OWN if settings.tail is None else settings.tail,
        description="kept tail",
        **look,
    )
    boundary = w.SelectionSlider(options=[("none", 0)], value=0, description="compaction", **look)
    overview, tabs = w.HTML(), w.Tab()

    def redraw() -> None:
        overview.value = explorer.overview()
        panels = explorer.panels()
        while len(tabs.children) > len(panels):
            tabs.children = tabs.children[:-1]
        tabs.children = (*tabs.children, *(w.HTML() for _ in range(len(panels) - len(tabs.children))))
        for i, (title, html) in enumerate(panels.items()):
            tabs.children[i].value = html
            tabs.set_title(i, title)

    def changed(**changes: Any) -> None:  # noqa: ANN401 - the fields of Settings
        explorer.set(**changes)
        number = explorer.selected
        with boundary.hold_trait_notifications():
            boundary.options = _boundaries(explorer)
            boundary.value = number
        redraw()

    def chosen(change: dict[str, Any]) -> None:
        if change["new"] is not None and change["new"] != explorer.selected:
            explorer.select(change["new"])
            redraw()

    strategy.observe(lambda change: changed(strategy=change["new"]), "value")
    window.observe(lambda change: changed(window=explorer.ready.sizing.window(change["new"])), "value")
    threshold.observe(lambda change: changed(threshold=change["new"]), "value")
    tail.observe(lambda change: changed(tail=None if change["new"] == OWN else change["new"]), "value")
    boundary.options = _boundaries(explorer)
    boundary.observe(chosen, "value")
    redraw()
    rows = w.HBox(
        [w.VBox([strategy, window]), w.VBox([threshold, tail]), w.VBox([boundary])],
        layout=w.Layout(flex_flow="row wrap"),
    )
    return w.VBox([rows, overview, tabs])


def _labelled(values: tuple[int, ...], own: int | None) -> list[tuple[str, int]]:
    return [(f"{value:,}", value) for value in sorted({*values, *([own] if own is not None else [])})]


def _boundaries(explorer: Explorer) -> list[tuple[str, int]]:
    firings = explorer.replay.firings
    return [(f"{one.number + 1} of {len(firings)}", one.number) for one in firings] or [("none", 0)]
