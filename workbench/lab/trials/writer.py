"""The model that writes summaries in a trial; a trial that lacks an answer of it is no result."""

from workbench.base.errors import ModelError, Unanswered
from workbench.engine.models.model import Completion, Model, SummaryRequest


class SummaryWriter:
    """A model that remembers that it could not answer: a compactor goes on without a summary."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._outage: ModelError | Unanswered | None = None

    def __getattr__(self, name: str) -> object:
        return getattr(self._model, name)

    @property
    def name(self) -> str:
        """Name shown in reports."""
        return self._model.name

    def complete(self, request: SummaryRequest, /) -> Completion:
        """See `Model.complete`."""
        try:
            return self._model.complete(request)
        except Unanswered as error:
            self._outage = error
            raise
        except ModelError as error:
            if error.outage:
                self._outage = error
            raise

    def require_answers(self) -> None:
        """Nothing, if it answered whenever it was asked.

        Raises:
            Unanswered: it did not.
        """
        if self._outage is not None:
            raise Unanswered(f"a summary is missing: {self._outage}") from self._outage
