"""The port through which the engine asks a model: a question, an answer, and who answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from workbench.transcript.files import FileOps
from workbench.transcript.message import Message
from workbench.transcript.tokens import TokenCounter, chars_per_token

Purpose: TypeAlias = Literal["summary", "update", "turn_prefix", "question"]


@dataclass(frozen=True, slots=True)
class LazyText:
    """A text that is made when somebody asks for it. Two are equal where the same is made of equal things.

    Attributes:
        make: gives the text, or None if there is none.
        of: what it is made of.
    """

    make: Callable[..., str | None]
    of: tuple[object, ...]

    def __call__(self) -> str | None:
        """The text, made now."""
        return self.make(*self.of)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRequest:
    """One question to a model: the wording for a language model, and the matter itself for one that is not.

    Attributes:
        purpose: a first summary, the update of an earlier one, the start of a turn that goes on, or a question that
            only a language model can answer.
        system: the system prompt.
        write: gives the user prompt; called only by models that read it, since it may be megabytes.
        messages: what is to be summarised.
        previous: the text of the earlier summary that is to be carried on; empty if there is none.
        instructions: what the user wants the summary to dwell on.
        sections: the headings that the summary should have.
        files: the file operations of everything summarised so far.
        max_tokens: the most that the answer may have, in `count`'s tokens; None for no bound.
        otherwise: the text to use when the model gives no usable answer, or what makes it; None lets the error pass.
        if_empty: the text to use when it answers with nothing; None makes that no usable answer.
        count: the context's own counter.
        model: the name of another model that should answer; empty for the one at hand.
    """

    purpose: Purpose
    system: str
    write: Callable[[], str]
    messages: tuple[Message, ...] = ()
    previous: str = ""
    instructions: str = ""
    sections: tuple[str, ...] = ()
    files: FileOps = FileOps()
    max_tokens: int | None = None
    otherwise: str | Callable[[], str | None] | None = None
    if_empty: str | None = None
    count: TokenCounter = chars_per_token
    model: str = ""

    @property
    def prompt(self) -> str:
        """The user prompt, written out."""
        return self.write()

    @property
    def stand_in(self) -> str | None:
        """`otherwise`, made now if need be: most models answer."""
        return self.otherwise() if callable(self.otherwise) else self.otherwise

    @property
    def left_out(self) -> int:
        """How many of the messages the prompt does not show in whole, since it would be too long."""
        count = getattr(self.write, "left_out", None)
        return int(count()) if callable(count) else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What came back.

    Attributes:
        text: the answer.
        model: who really wrote it.
        input_tokens: tokens of the prompt; 0 where nothing was sent.
        output_tokens: tokens of the answer.
        cached_tokens: the part of the prompt that the provider had cached.
        usd: what it cost; None if nobody knows.
        seconds: how long it took; 0.0 for an answer from this process.
        fallback: whether this is `SummaryRequest.otherwise`, since the model failed; `why` then says how.
        cut: whether the answer stops because it reached `SummaryRequest.max_tokens`.
        counted: whether the tokens were counted here, since the provider reported none, or impossible ones.
        method: how it came about where it is not one plain answer: in parts, repaired.
        findings: what is wrong with it, a sentence each.
        left_out: how many of the messages its writer was not shown in whole; None where nobody looked.
    """

    text: str
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    usd: float | None = 0.0
    seconds: float = 0.0
    fallback: bool = False
    why: str = ""
    cut: bool = False
    counted: bool = False
    method: str = ""
    findings: tuple[str, ...] = ()
    left_out: int | None = None


class Model(Protocol):
    """Answers questions. Equal questions to a deterministic model give equal answers.

    A model that may be asked from several threads says so with an attribute `at_once` that is true; one that reads the
    messages themselves, and not the prompt, with `reads_messages`.
    """

    @property
    def name(self) -> str:
        """What stands in reports."""
        ...

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The answer; its text is empty where the model answered with nothing, which may have cost something.

        Raises:
            ModelError: the model gave no usable answer.
        """
        ...


def bears_several(model: Model) -> bool:
    """Whether a model may be asked several questions at the same time; one that does not say so is asked one by one."""
    return bool(getattr(model, "at_once", False))


def reads_messages(model: Model) -> bool:
    """Whether a model reads all messages, whatever the prompt leaves out."""
    return bool(getattr(model, "reads_messages", False))
