"""What the model of a compactor was asked and cost, whatever became of its answers."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from workbench.base.errors import ModelError, PlanError, error_text
from workbench.engine.models.conversation import sent_text
from workbench.engine.models.model import (
    Completion,
    Model,
    ServerRequest,
    SummaryRequest,
    TooLate,
    within,
)
from workbench.engine.models.provider_errors import classify
from workbench.engine.models.refused_request import RefusedRequest
from workbench.engine.transcript.message import Json
from workbench.live.callbacks import FAILURES

NO_MODEL = "preset {!r} asks a model for a summary: pass one as `model`"
MARGIN = 0.01
"""The share of the seconds that is left for what a request still takes once a model gave no answer."""

CHARACTERS_PER_TOKEN = 4
"""Of usual text, for an estimate."""


@dataclass(frozen=True, slots=True)
class NoModel:
    """Used when no model is configured."""

    preset: str
    name: str = "none"

    def complete(self, request: SummaryRequest, /) -> Completion:
        """No answer."""
        raise ModelError(NO_MODEL.format(self.preset))


class Meter:
    """A model whose answers are paid, also where what becomes of them fails.

    Whatever the model raises is a `ModelError`, so that a preset's fallback is used.

    Attributes:
        completions: what it answered, in order of arrival.
        seconds: which all its answers together may take, with `MARGIN`; None waits for ever.
        late: whether one was given up, so that what it costs is unknown.
    """

    def __init__(self, model: Model, seconds: float | None = None) -> None:
        self.model, self.seconds, self.late = model, seconds, False
        self.completions: list[Completion] = []
        self._started = time.monotonic()

    def __getattr__(self, name: str) -> object:
        return getattr(self.model, name)

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.model.name

    @property
    def usd(self) -> float | None:
        """What all its answers cost together; None if that of one is unknown."""
        return None if self.late else total([completion.usd for completion in self.completions])

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The model's answer.

        Raises:
            ModelError: it gave none; `overflow` where its own error says that the prompt was too
                large.
        """
        return self._paid(lambda: self.model.complete(request), lambda: sent_text(request))

    def compact_on_server(self, request: ServerRequest, /) -> Completion:
        """The compaction of the model's provider.

        Raises:
            ModelError: the model's provider has none, or gave none.
        """
        compact = getattr(self.model, "compact_on_server", None)
        if not callable(compact):
            raise ModelError(f"{self.name} cannot ask its provider to compact")
        return self._paid(lambda: compact(request))

    def _paid(
        self, ask: Callable[[], Completion], sent: Callable[[], str] = lambda: ""
    ) -> Completion:
        """What a call gives, which is written down.

        Args:
            ask: the call.
            sent: the text that it sends; empty if unknown.

        Raises:
            ModelError: it gave none.
        """
        try:
            self._load_model()
            completion = self._waited_for(ask)
        except ModelError as error:
            if error.overflow or error.outage:
                raise
            raise _as_model_error(error, sent()) from error
        except PlanError:  # the strategy's fault, and none of the model
            raise
        except FAILURES as error:
            raise _as_model_error(error, sent()) from error
        if not isinstance(completion, Completion) or not isinstance(completion.text, str):
            raise ModelError(f"the model answered with {completion!r:.80} and no text")
        if completion.usd is not None:
            completion = replace(completion, usd=_dollars(completion.usd))
        self.completions.append(completion)
        return completion

    def _load_model(self) -> None:
        """Import what a model needs, if it says so; that does not count as waiting for it."""
        load = getattr(self.model, "load", None)
        if callable(load):
            started = time.monotonic()
            load()
            self._started += time.monotonic() - started

    def _waited_for(self, ask: Callable[[], Completion]) -> Completion:
        """The answer, if it comes in time; else the model is left to itself, in a thread that
        ends with the process.
        """
        if self.seconds is None:
            return ask()
        gives_up_at = self._started + self.seconds * (1 - MARGIN)
        seconds_left = gives_up_at - time.monotonic()
        too_late = f"the model gave no answer within {self.seconds:g} seconds"
        if seconds_left <= 0:
            raise ModelError(too_late, outage=True)
        try:
            return within(seconds_left, ask)
        except TooLate:
            self.late = True
            raise ModelError(too_late, outage=True) from None


def _as_model_error(error: BaseException, sent: str) -> ModelError:
    """What a model of the host raised for a text, with what it says of the prompt's size."""
    text = error_text(error)
    status = getattr(error, "status_code", None)
    request = RefusedRequest(tokens=len(sent) // CHARACTERS_PER_TOKEN)
    diagnosis = classify(text, status, request=request)
    if diagnosis.is_too_large:
        return ModelError(text, overflow=True, limit=diagnosis.limit)
    return ModelError(text)


def _dollars(price: Json) -> float | None:
    """A price as a model gave it, such as a Decimal; None for what is no number."""
    try:
        return float(price)
    except (TypeError, ValueError):
        return None


def total(costs: list[float | None]) -> float | None:
    """The sum of costs; None if one is unknown."""
    known_costs = [usd for usd in costs if usd is not None]
    return sum(known_costs) if len(known_costs) == len(costs) else None
