"""Asks a model about one context, from that context alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from workbench.compaction.prompt_template import PromptTemplate, harmless
from workbench.errors import ModelError, SettingError
from workbench.models.model import Model, SummaryRequest
from workbench.models.response_cache import with_replicate
from workbench.models.tokenizer import TiktokenCounter
from workbench.transcript.message import Message

Outcome: TypeAlias = Literal["answered", "too_large", "cut", "empty", "failed"]
"""`too_large`: the context does not fit into the reader's window, and nothing was asked. `cut`: the answer reached its
bound. None but `answered` says anything about the context."""

ANSWER_TOKENS = 200
_WHOLE = PromptTemplate(result_chars=10**12, argument_chars=10**12)
MARGIN = 1.1
"""By how much the reader's own tokens may outnumber ours."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A reader's answer: whether it counts, what it cost, why there is none, and whether it may still come."""

    text: str
    outcome: Outcome
    usd: float | None = 0.0
    why: str = ""
    logprobs: Sequence[tuple[str, Mapping[str, float]]] = ()
    outage: bool = False


@dataclass(frozen=True, slots=True)
class QuestionAnswerer:
    """A model that reads contexts: any but `extractive`, which is no language model.

    Attributes:
        instructions: the system prompt.
        tokens: of an answer at most.
        logprobs: alternatives of each token whose log-probabilities are wanted.
    """

    model: Model
    instructions: str = ""
    tokens: int = ANSWER_TOKENS
    logprobs: int = 0

    def __post_init__(self) -> None:
        if self.model.name == "extractive":
            raise SettingError("extractive is no language model; name another one, such as litellm:gpt-4o-mini")

    def repeated(self, replicate: int) -> QuestionAnswerer:
        """The same reader, asked again: another replicate has its own answers in the cache."""
        return replace(self, model=with_replicate(self.model, replicate)) if replicate else self

    def ask(self, context: str, question: str) -> Reply:
        """Ask about a context (see `context_text`); it is never cut to make it fit."""
        prompt = f"<conversation>\n{context}\n</conversation>\n\n{harmless(question)}"
        request = SummaryRequest(
            purpose="question", system=self.instructions, write=lambda _: prompt, max_tokens=self.tokens,
            count=TiktokenCounter(), logprobs=self.logprobs,
        )  # fmt: skip
        size = TiktokenCounter().count_text(prompt)
        window = getattr(self.model, "window", None)
        window = window(request) if callable(window) else window
        if window is not None and size * MARGIN + self.tokens > window:
            why = f"the prompt has about {size} tokens, and {self.model.name} takes {window} with its answer"
            return Reply("", "too_large", why=why)
        try:
            answer = self.model.complete(request)
        except ModelError as error:
            return Reply("", "too_large" if error.overflow else "failed", why=str(error), outage=error.outage)
        outcome: Outcome = "cut" if answer.cut else "answered" if answer.text.strip() else "empty"
        return Reply(answer.text.strip(), outcome, answer.usd, logprobs=answer.logprobs)


def context_text(messages: Sequence[Message]) -> str:
    """A context as the text that a model is shown: whole, with thoughts kept apart."""
    return _WHOLE.transcript(messages)
