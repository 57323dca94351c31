"""Models around models: what they have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.models.model import Completion, Model, SummaryRequest, is_concurrent


@dataclass(frozen=True, slots=True)
class ModelWrapper:
    """A model around another one, with its name, its window and its threads."""

    model: Model

    @property
    def name(self) -> str:
        """Name shown in reports."""
        return self.model.name

    @property
    def at_once(self) -> bool:
        """Whether several requests may be sent at the same time."""
        return is_concurrent(self.model)

    def window(self, request: SummaryRequest, /) -> int | None:
        """The context window in tokens, completion included; None if unknown."""
        own = getattr(self.model, "window", None)
        return own(request) if callable(own) else None


def innermost(model: Model) -> Model:
    """The model inside all wrappers."""
    while isinstance(model, ModelWrapper):
        model = model.model
    return model


def with_total_cost(completion: Completion, of: Sequence[Completion]) -> Completion:
    """A completion that took several, with the tokens, dollars and seconds of all of them."""
    usd = [one.usd for one in of if one.usd is not None]
    return replace(
        completion,
        input_tokens=sum(one.input_tokens for one in of),
        output_tokens=sum(one.output_tokens for one in of),
        cached_tokens=sum(one.cached_tokens for one in of),
        usd=sum(usd) if len(usd) == len(of) else None,
        seconds=sum(one.seconds for one in of),
        counted=any(one.counted for one in of),
    )
