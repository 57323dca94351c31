"""A model that follows a script, for tests and examples."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.errors import ModelError
from workbench.models.model import Completion, SummaryRequest


class Scripted:
    """Returns the texts in order, raises the errors among them, and records the requests.

    Attributes:
        requests: every request so far, in order.
    """

    def __init__(self, says: Sequence[str | Exception], name: str = "scripted") -> None:
        self.says = tuple(says)
        self.name = name
        self.requests: list[SummaryRequest] = []

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The next text of the script.

        Raises:
            ModelError: the script is at its end; or any error in the script.
        """
        at = len(self.requests)
        self.requests.append(request)
        if at >= len(self.says):
            raise ModelError(f"the script of {self.name!r} has only {len(self.says)} answers")
        line = self.says[at]
        if isinstance(line, Exception):
            raise line
        return Completion(text=line, model=self.name)
