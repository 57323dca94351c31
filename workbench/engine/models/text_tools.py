"""Lets a model that only reads and writes text call tools."""

import json
from dataclasses import dataclass, replace

from workbench.base.errors import ModelError
from workbench.engine.models.model import Completion, SummaryRequest
from workbench.engine.models.wrappers import ModelWrapper, with_total_cost
from workbench.engine.models.written_calls import UnreadableCall, read_answer

TRIES = 3
"""Answers in a row whose calls cannot be read, after which the model is not told any more."""


@dataclass(frozen=True, slots=True)
class TextToolModel(ModelWrapper):
    """Takes the calls out of a model's text.

    A call that cannot be read is shown to the model with the reason, and it answers again.
    """

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The words and the calls.

        Raises:
            ModelError: the model gave no answer, or none of several with calls that can be read.
        """
        if not request.tools:
            return self.model.complete(request)
        completions: list[Completion] = []
        while True:
            completions.append(self.model.complete(request))
            text = completions[-1].text
            try:
                answer = read_answer(text, request.tools)
                total = with_total_cost(completions[-1], completions)
                return replace(total, text=answer.words, calls=answer.calls)
            except UnreadableCall as error:
                if len(completions) == TRIES:
                    problem = (
                        f"{self.name} wrote calls that cannot be read, {TRIES} times in a row:"
                        f" {error}"
                    )
                    raise ModelError(problem) from error
                request = _with_reason(request, text, str(error))


def _with_reason(request: SummaryRequest, answer: str, reason: str) -> SummaryRequest:
    """The request with an answer that cannot be read, and the reason."""
    reason_text = f"Your last answer was not carried out: {reason} Answer again."
    chat = [
        *request.chat,
        {"role": "assistant", "content": answer},
        {"role": "user", "content": reason_text},
    ]
    prompt = json.dumps([chat, list(request.tools)], sort_keys=True, ensure_ascii=False)
    return replace(request, chat=tuple(chat), write=lambda _: prompt)
