"""Asks a model one question about one context, from that context alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from workbench.compaction.prompt_template import PromptTemplate, harmless
from workbench.errors import ModelError, SettingError
from workbench.judge.scoring import ABSTENTION
from workbench.models.model import Model, SummaryRequest
from workbench.models.tokenizer import TiktokenCounter
from workbench.transcript.message import Message

Outcome: TypeAlias = Literal["answered", "too_large", "cut", "empty", "failed"]
"""`too_large`: the context does not fit into the reader's window, and nothing was asked. `cut`: the answer reached its
bound. None but `answered` says anything about the context."""

ANSWER_TOKENS = 200
_WHOLE = PromptTemplate(result_chars=10**12, argument_chars=10**12)
MARGIN = 1.1
"""By how much the reader's own tokens may outnumber ours."""

INSTRUCTIONS = (
    "You are asked one question about the conversation that you are shown. Answer from it alone, with as few words as "
    f"possible and no explanation. Where it does not say, answer exactly: {ABSTENTION}"
)


@dataclass(frozen=True, slots=True)
class Reply:
    """A reader's answer: whether it counts, which model really answered, tokens of the prompt, and what it cost."""

    text: str
    outcome: Outcome
    model: str
    tokens: int = 0
    usd: float | None = 0.0
    why: str = ""


@dataclass(frozen=True, slots=True)
class QuestionAnswerer:
    """A model that reads contexts: any but `extractive`, which is no language model.

    Attributes:
        window: tokens that it takes; None asks the model, and where that does not know either, nothing is too large.
        tokens: of an answer at most.
        instructions: the system prompt.
    """

    model: Model
    window: int | None = None
    tokens: int = ANSWER_TOKENS
    instructions: str = INSTRUCTIONS

    def __post_init__(self) -> None:
        if self.model.name == "extractive":
            raise SettingError(
                "extractive is no language model and cannot answer questions; name another one, such as local"
            )

    def ask(self, messages: Sequence[Message], question: str) -> Reply:
        """Ask one question about these messages; nothing is ever cut to make them fit."""
        prompt = f"<conversation>\n{context_text(messages)}\n</conversation>\n\n{harmless(question)}"
        request = SummaryRequest(
            purpose="question", system=self.instructions, write=lambda _: prompt, max_tokens=self.tokens,
            count=TiktokenCounter(),
        )  # fmt: skip
        size = TiktokenCounter().count_text(prompt)
        own = getattr(self.model, "window", None)
        window = self.window or (own(request) if callable(own) else own)
        if window is not None and size * MARGIN + self.tokens > window:
            why = f"the prompt has about {size} tokens, and {self.model.name} takes {window} with its answer"
            return Reply("", "too_large", self.model.name, size, why=why)
        try:
            answer = self.model.complete(request)
        except ModelError as error:
            return Reply("", "too_large" if error.overflow else "failed", self.model.name, size, why=str(error))
        outcome: Outcome = "cut" if answer.cut else "answered" if answer.text.strip() else "empty"
        return Reply(answer.text.strip(), outcome, answer.model, answer.input_tokens or size, answer.usd)


def context_text(messages: Sequence[Message]) -> str:
    """A context as the text that a model is shown: whole, with thoughts kept apart."""
    return _WHOLE.transcript(messages)
