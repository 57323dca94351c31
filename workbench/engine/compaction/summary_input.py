"""What a summary stands for, and what of it its writer is shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.span_selection import Span
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.context_lookup import tokens_of_text
from workbench.engine.transcript.files import FileOps
from workbench.engine.transcript.message import Message, Summary, said_texts
from workbench.engine.transcript.shared_range import SharedRange


@dataclass(frozen=True, slots=True)
class SummaryInput:
    """What is summarised.

    Attributes:
        earlier: summaries whose text is carried on.
        history: messages of whole turns.
        prefix: the start of a turn that goes on.
        files: what the whole conversation did to files so far.
    """

    earlier: tuple[Summary, ...]
    history: tuple[Message, ...]
    prefix: tuple[Message, ...] = ()
    files: FileOps = FileOps()

    @classmethod
    def of(cls, context: Context, span: Span) -> SummaryInput:
        """The messages of a span."""
        earlier: list[Summary] = []
        history: list[Message] = []
        prefix: list[Message] = []
        for i in span.indices:
            message = context.messages[i]
            if isinstance(message, Summary):
                earlier.append(message)
            elif i < span.history:
                history.append(message)
            else:
                prefix.append(message)
        return cls(tuple(earlier), tuple(history), tuple(prefix))

    @property
    def new(self) -> tuple[Message, ...]:
        """All but the earlier summaries."""
        return self.history + self.prefix

    @property
    def split(self) -> bool:
        """Whether there are whole turns as well as the start of another one."""
        return bool(self.history and self.prefix)

    @property
    def previous(self) -> str:
        """The text of the earlier summaries."""
        return "\n\n".join(summary.text for summary in self.earlier)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all that the summary replaces, earlier summaries' ids included."""
        ids = SharedRange.of(())
        for summary in self.earlier:
            ids = ids.joined(summary.replaces)
        new_ids: list[str] = []
        for message in self.new:
            if message.role == "summary" and message.replaces:
                new_ids += message.replaces
            else:
                new_ids.append(message.id)
        # it takes the place of the tuple that it is equal to
        return ids.joined(new_ids)  # type: ignore[return-value]

    @property
    def has_text(self) -> bool:
        """Whether any new message says anything."""
        return any(text.strip() for message in self.new for text in said_texts(message))


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages that a model is shown as they were sent, in the place of a transcript.

    Attributes:
        tokens: of all of it, with the system prompt and the tools that come before it.
        is_agents_own: whether it begins as the agent's own requests do, so that its provider has
            that beginning in its cache.
        room: tokens that the window leaves to the answer; None where the window is unknown.
    """

    messages: tuple[Message, ...]
    tokens: int
    is_agents_own: bool = True
    room: int | None = None


@dataclass(frozen=True, slots=True)
class SummaryTask:
    """One summary to write.

    Attributes:
        full_input: what gives way.
        model_input: what the model reads of it.
        conversation: what a language model is shown in the place of a transcript; None where it
            gets one.
        footer: what code adds to the summary's text.
        tails: what may be sent below the text, longest first; the first that leaves room is taken.
        messages_behind: messages to send behind the summary.
    """

    context: Context
    budget: Budget
    span: Span
    full_input: SummaryInput
    model_input: SummaryInput
    conversation: Conversation | None = None
    footer: str = ""
    tails: Iterable[str] = ("",)
    messages_behind: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """What a summary stands for, and what its model is shown of that: here all that gives way.

    A system that does otherwise subclasses this and overrides what differs.
    """

    def task(
        self,
        context: Context,
        budget: Budget,
        span: Span,
    ) -> SummaryTask:
        """The summary to write of the messages that give way."""
        full_input = self.full_input(context, SummaryInput.of(context, span))
        task = SummaryTask(
            context=context,
            budget=budget,
            span=span,
            full_input=full_input,
            model_input=full_input,
        )
        return replace(task, model_input=self.model_input(task))

    def full_input(self, context: Context, summary_input: SummaryInput) -> SummaryInput:
        """What the summary stands for, from the messages that give way.

        A system may find more in them, such as a summary that was sent as a user message.
        """
        return summary_input

    def model_input(self, task: SummaryTask) -> SummaryInput:
        """What the model is shown."""
        return task.full_input

    def conversation(self, task: SummaryTask) -> Conversation:
        """What a language model is shown where it is asked in the conversation itself: all that the
        agent would send now.

        That includes what stays. A provider finds in its cache what a request has in common with
        the one before, and often only if that is all of it.
        """
        return Conversation(task.context.messages, task.context.tokens)


@dataclass(frozen=True, slots=True)
class SessionOfItsOwn(Reading):
    """The same, where a conversation is asked about behind a system prompt of its own.

    Attributes:
        system: that prompt, to be counted.
    """

    system: str

    def conversation(self, task: SummaryTask) -> Conversation:
        """What gives way, with the earlier summaries before it; no cache has its beginning."""
        shown_input = task.model_input
        messages = (*shown_input.earlier, *shown_input.new)
        message_tokens = sum(task.context.sizes_of(messages))
        system_tokens = tokens_of_text(self.system, task.context.count)
        return Conversation(messages, message_tokens + system_tokens, is_agents_own=False)
