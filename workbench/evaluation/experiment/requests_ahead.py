"""Makes all requests of a replay that no awaited answer can change, to be answered together."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from workbench.base.errors import AnswerAwaited, Unanswered
from workbench.engine.models.model import Completion, Model, SummaryRequest
from workbench.evaluation.experiment.filler import FillerModel

AWAITED, AWAITED_TOKENS = "answer-still-awaited", 4
"""What an awaited answer says, and its size; a request that says it depends on that answer."""


@dataclass(slots=True)
class RequestsAhead:
    """Asks a model, and goes on with filler where its answer is awaited.

    Attributes:
        model: an `AnsweringModel`.
        chained: whether each request may depend on all answers before it: then none is made behind
            an awaited one.
        awaited: why each awaited answer is not there.
        requests: how many were made or would have been.
    """

    model: Model
    chained: bool = False
    awaited: list[Unanswered] = field(default_factory=list)
    requests: int = 0
    filler: FillerModel = field(init=False)

    def __post_init__(self) -> None:
        self.filler = FillerModel(self.model.name, AWAITED, AWAITED_TOKENS)

    @property
    def name(self) -> str:
        """Name shown in reports."""
        return self.model.name

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The model's answer; filler where it, or one that the request depends on, is awaited.

        Raises:
            Unanswered: the request may not be made.
            ModelError: as of the model.
        """
        self.requests += 1
        if (self.chained and self.awaited) or AWAITED in request.prompt:
            return self._filled(request)
        try:
            return self.model.complete(request)
        except Unanswered as error:
            if not is_awaited(error):
                raise
            self.awaited.append(error)
            return self._filled(request)

    def _filled(self, request: SummaryRequest) -> Completion:
        return replace(self.filler.complete(request), awaited=True)


def is_awaited(error: BaseException) -> bool:
    """Whether an error says that somebody answers later."""
    return isinstance(error, AnswerAwaited) or isinstance(error.__cause__, AnswerAwaited)
