"""`explore(session)`: a session under a strategy, with controls to play with."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from workbench.base.markup import render
from workbench.engine.compaction.presets import BUILTIN, preset
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models import find_model
from workbench.engine.models.model import Model
from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.prepared import Prepared, prepared
from workbench.report.explorer.panels import overview, panels
from workbench.report.explorer.settings import ExplorerSettings, telling_window
from workbench.report.explorer.view import SessionView


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
    """A session under a strategy, with controls to play with; where no widgets can be shown, a
    static picture.

    Args:
        session: any recorded session.
        strategy: a name, or a preset of your own.
        window: tokens; None takes the session's own, or half its size if the session never fills
            it.
        threshold: share of the window at which to compact, in (0, 1]; None is the strategy's own.
        tail: tokens of newest messages to keep; None is the strategy's own.
        beside: a second strategy to compare with.
        model: who writes summaries.
        strategies: names to choose from; all built-in ones if none are given.

    Raises:
        UnknownName: no strategy or model of that name.
    """
    prepared_session = prepared(session, window)
    presets = {name: preset(name) for name in tuple(strategies) or tuple(BUILTIN)}
    main_preset = preset(strategy)
    presets[main_preset.name] = main_preset
    second_name = None
    if beside is not None:
        second_preset = preset(beside)
        second_name = second_preset.name
        presets[second_name] = second_preset
    settings = ExplorerSettings(
        strategy=main_preset.name,
        window=_window(prepared_session, window),
        threshold=threshold,
        tail=tail,
        beside=second_name,
    )
    return Explorer(prepared_session, presets, find_model(model), settings)


def _window(prepared_session: Prepared, window: int | None) -> int:
    if window is None:
        return telling_window(prepared_session)
    return prepared_session.sizing.window(window)


class Explorer(SessionView):
    """A session and how it is looked at; in a notebook it shows itself with its controls."""

    def html(self) -> str:
        """All of it as one static piece of HTML."""
        return render("explore/explorer.html", overview=overview(self), panels=panels(self))

    @cached_property
    def widget(self) -> Any:  # noqa: ANN401 - ipywidgets is untyped
        """The controls and panels as one widget."""
        from workbench.report.explorer.controls import Controls

        return Controls(self).box

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:  # noqa: ANN401 - as IPython gives them
        bundle = {"text/plain": repr(self), "text/html": self.html()}
        widget_bundle = self.widget._repr_mimebundle_(**kwargs) or {}
        for kind, data in widget_bundle.items():
            if kind != "text/plain":
                bundle[kind] = data
        return bundle

    def __repr__(self) -> str:
        return (
            f"<{self.ready.session.id} under {self.settings.strategy}: {len(self.replay.events)}"
            " compactions>"
        )
