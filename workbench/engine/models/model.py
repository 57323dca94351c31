"""The port through which the engine asks a model for a summary: the request, the completion, and
the model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from threading import Thread
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from workbench.base.errors import PlanError, error_text
from workbench.engine.transcript.files import FileOps
from workbench.engine.transcript.message import Message, TokenCounter, chars_per_token

Result = TypeVar("Result")
Purpose: TypeAlias = Literal["summary", "update", "turn_prefix", "question"]
ServerService: TypeAlias = Literal["compact_on_demand", "compact_20260112", "responses_compact"]
"""A provider's own compaction: Anthropic's on request, Anthropic's at a threshold, OpenAI's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRequest:
    """One request to a model: a prompt for language models, and the messages themselves for other
    writers.

    Attributes:
        purpose: a first summary, the update of an earlier one, a summary of the start of the
            present turn, or a question that only a language model can answer.
        system: the system prompt.
        write: writes the user prompt of a request; called only by models that read it, since it may
            be megabytes.
        messages: the messages to summarise.
        previous: the text of the earlier summary to update; empty if there is none.
        instructions: what the user wants the summary to focus on.
        sections: the headings that the summary should have.
        files: the file operations of everything summarised so far.
        max_tokens: the most tokens of the completion, by `count`; None for no bound.
        useful_tokens: above which a completion is no shorter than what it replaces; None where
            nothing is replaced.
        otherwise: the text to use when the model fails, or a function that writes it; None raises
            the error.
        if_empty: the text to use when the completion is empty; None makes that a failure.
        count: the context's own counter.
        model: the name of another model to use; empty for the present one.
        logprobs: alternatives of each token whose log-probabilities are wanted; 0 for none.
        chat: messages of chat completions that are sent in the place of `system` and the prompt;
            the prompt must then say all of them, since answers are stored under it.
        tools: that the model may call, as chat completions have them.
        server: the provider's own compaction that a live compactor asks for in the place of a
            summary; empty for none.
        conversation: messages that are sent as they are before the prompt, which then asks about
            them; empty where the prompt holds a transcript.
        is_agents_own: whether the conversation begins as the agent's own requests do, with the same
            system prompt and tools: its provider has that beginning in its cache.
    """

    purpose: Purpose
    system: str
    write: Callable[[SummaryRequest], str]
    messages: tuple[Message, ...] = ()
    previous: str = ""
    instructions: str = ""
    sections: tuple[str, ...] = ()
    files: FileOps = FileOps()
    max_tokens: int | None = None
    useful_tokens: int | None = field(default=None, compare=False)
    otherwise: str | Callable[[], str | None] | None = field(default=None, compare=False)
    if_empty: str | None = None
    count: TokenCounter = chars_per_token
    model: str = ""
    logprobs: int = 0
    chat: Sequence[Mapping[str, Any]] = ()
    tools: Sequence[Mapping[str, Any]] = ()
    server: ServerService | Literal[""] = field(default="", compare=False)
    conversation: tuple[Message, ...] = ()
    is_agents_own: bool = False

    def as_transcript(self) -> SummaryRequest:
        """The same request with a transcript in the place of the conversation."""
        return replace(self, conversation=(), is_agents_own=False)

    @property
    def prompt(self) -> str:
        """The user prompt, written out.

        Raises:
            PlanError: it cannot be.
        """
        try:
            return self.write(self)
        except MemoryError:
            raise
        except Exception as error:
            reason = error_text(error)
            raise PlanError(f"a prompt cannot be written: {reason}") from error

    @property
    def stand_in(self) -> str | None:
        """The text of `otherwise`."""
        if callable(self.otherwise):
            return self.otherwise()
        return self.otherwise

    @property
    def left_out(self) -> int:
        """How many of the messages a prompt that would be too long shortens or leaves out."""
        count = getattr(self.write, "left_out", None)
        if not callable(count):
            return 0
        return int(count(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerRequest:
    """A conversation for its provider to compact.

    Attributes:
        service: the provider's compaction.
        messages: in the provider's own form: Anthropic's messages, or items of OpenAI's Responses.
        system: what is sent beside them as the system prompt; None if nothing is.
        tools: their schemas; None if there are none.
        instructions: the user's wishes for the summary.
    """

    service: ServerService
    messages: Sequence[Mapping[str, Any]]
    system: Any = None
    tools: Any = None
    instructions: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A model's answer to a request.

    Attributes:
        text: the text, without thoughts.
        model: the model that wrote it.
        input_tokens: tokens of the prompt; 0 where nothing was sent.
        output_tokens: tokens of the completion.
        cached_tokens: the part of the prompt that the provider had cached.
        usd: what it cost; None if unknown.
        seconds: how long it took; 0.0 for one written in this process.
        fallback: whether this is `SummaryRequest.otherwise`, since the model failed; `why` then
            says how.
        cut: whether the text stops because it reached `SummaryRequest.max_tokens`.
        counted: whether the tokens were counted here, since the provider reported none, or
            impossible ones.
        misreport: what its provider reported of tokens or dollars that cannot be true; empty if
            nothing.
        method: how it was written if not in one request: in parts, repaired.
        findings: what is wrong with it, a sentence each.
        left_out: how many of the messages the prompt shortened or left out; None if not counted.
        logprobs: each token of the answer with the log-probabilities of its alternatives, if they
            were wanted and the provider gives them.
        calls: of the tools that were offered: each one's name, and its arguments as the model wrote
            them.
        awaited: whether it is filler in the place of an answer that somebody gives later.
        sealed: what a provider's own compaction gave, as JSON, to be sent back as it is; empty for
            a text. `sealed_tokens` are those of its unreadable part.
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
    misreport: str = ""
    method: str = ""
    findings: tuple[str, ...] = ()
    left_out: int | None = None
    logprobs: Sequence[tuple[str, Mapping[str, float]]] = ()
    calls: Sequence[tuple[str, str]] = ()
    awaited: bool = False
    sealed: str = ""
    sealed_tokens: int = 0


class Model(Protocol):
    """Completes requests. Equal requests to a deterministic model give equal completions.

    A model that may be called from several threads has a true attribute `at_once`; one that reads
    the messages themselves, and not the prompt, a true `reads_messages`.
    """

    @property
    def name(self) -> str:
        """Name shown in reports."""
        ...

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The completion; its text is empty if the model wrote nothing, which may still have cost
        something.

        Raises:
            ModelError: the model gave no usable answer.
        """
        ...


class ServerCompactor(Protocol):
    """What a model has besides whose provider can compact by itself."""

    def compact_on_server(self, request: ServerRequest, /) -> Completion:
        """The provider's compaction: `sealed`, and its text where it can be read.

        Raises:
            ModelError: the provider gave none, or has no such service.
        """
        ...


def is_concurrent(model: Model) -> bool:
    """Whether several requests may be sent to a model at the same time."""
    return bool(getattr(model, "at_once", False))


def reads_messages(model: Model) -> bool:
    """Whether a model reads the messages themselves, whatever the prompt leaves out."""
    return bool(getattr(model, "reads_messages", False))


class TooLate(TimeoutError):
    """A call did not return in time."""


def within(seconds: float, call: Callable[[], Result]) -> Result:
    """What a call returns or raises, if that comes in time; else it is left to itself, in a thread
    of its own.

    Raises:
        TooLate: it did not.
    """
    came: Future[Result] = Future()

    def run() -> None:
        try:
            came.set_result(call())
        except BaseException as error:  # noqa: BLE001 - handed on to the thread that waits
            came.set_exception(error)

    Thread(target=copy_context().run, args=(run,), daemon=True).start()
    try:
        return came.result(seconds)
    except TimeoutError as error:
        raise error if came.done() else TooLate() from None
