"""Models around models: what they have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from workbench.errors import ModelError, Unanswered
from workbench.models.model import Completion, Model, SummaryRequest, is_concurrent, reads_messages


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

    @property
    def reads_messages(self) -> bool:
        """Whether it reads the messages themselves, whatever the prompt leaves out."""
        return reads_messages(self.model)

    def window(self, request: SummaryRequest, /) -> int | None:
        """The context window in tokens, completion included; None if unknown."""
        own = getattr(self.model, "window", None)
        return own(request) if callable(own) else None


@dataclass(frozen=True, slots=True)
class AnsweringModel(ModelWrapper):
    """A model in a replay: where no answer comes, the replay ends, and no other text takes the answer's place.

    Attributes:
        answers: for each answer, whether it was of use.
    """

    answers: list[bool] = field(default_factory=list, compare=False, repr=False)

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The model's completion.

        Raises:
            Unanswered: its provider gave no answer, or the request was not sent.
            ModelError: the model answered, or would have to, and its answer is of no use.
        """
        try:
            completion = self.model.complete(request)
        except ModelError as error:
            if error.outage:
                raise Unanswered(str(error)) from error
            self.answers.append(False)
            raise
        self.answers.append(bool(completion.text.strip()) and not completion.fallback)
        return completion


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
