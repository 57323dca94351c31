"""How much a model takes."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from workbench import SummaryRequest, find_model


@runtime_checkable
class Bounded(Protocol):
    """A model that says how much it takes."""

    def window(self, request: SummaryRequest, /) -> int | None: ...


QUESTION = SummaryRequest(purpose="question", system="", write=lambda _: "why?")


def window_of(name: str) -> int | None:
    """The tokens that the model of this name takes; None if nobody knows."""
    model = find_model(name)
    assert isinstance(model, Bounded)
    return model.window(QUESTION)
