"""A session made ready for any number of replays: counted, calibrated and extracted once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from workbench.extraction.entities import Entity
from workbench.metrics.index import Index
from workbench.models.extractive import Extractive
from workbench.models.model import Model
from workbench.models.prices import window as catalog_window
from workbench.models.tokenizer import TiktokenCounter
from workbench.replay.sizing import DEFAULT_WINDOW, Sizing
from workbench.transcript.session import Session


@dataclass(frozen=True, slots=True)
class Prepared:
    """A session with its sizes, its index and the window of its replays (tokens)."""

    session: Session
    sizing: Sizing
    index: Index
    window: int
    _models: dict[Model, Model] = field(default_factory=dict, init=False, repr=False, compare=False)

    def reader(self, model: Model) -> Model:
        """The model; `extractive` takes what it reads from the index, so that no message is read a second time."""
        if not isinstance(model, Extractive):
            return model
        if model not in self._models:
            self._models[model] = model.reading_with(self.index.extractor)
        return self._models[model]

    def against(self, background: frozenset[Entity]) -> Prepared:
        """The same, with these entities taken for background."""
        return replace(self, index=self.index.with_background(background)) if background else self


def prepared(session: Session, window: int | None = None) -> Prepared:
    """Count and calibrate a session, and extract its entities.

    Args:
        session: any.
        window: tokens; None takes the session's own, then its model's, then 200,000.
    """
    counter = TiktokenCounter()
    sizing = Sizing.of(session, counter.sizes(session.messages), counter)
    index = Index(session.messages, session.cwd)
    wanted = window or session.window or catalog_window(session.model) or DEFAULT_WINDOW
    return Prepared(session, sizing, index, sizing.window(wanted))
