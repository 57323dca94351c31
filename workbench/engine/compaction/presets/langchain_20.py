"""LangChain: the newest 20 messages and a summary of which the model saw only the last 4,000 tokens
that are deleted.

Restates `SummarizationMiddleware` (langchain 1.4.7, `langchain.agents.middleware.summarization`,
and `trim_messages` and `count_tokens_approximately` of langchain-core 1.7.2) with its defaults.
`LastTokens(None)` is its `trim_tokens_to_summarize=None`, which gives the model everything.

The defect is restated on purpose (langchain-ai/langchain#39261): what the model is given must begin
with a user's message within those 4,000 tokens. Where a long stretch of tool use holds none, no
model is asked and the history gives way to a sentence that says it was too long. Besides the
general differences (`presets`):

- It has no trigger; 0.85 of the window is that of deepagents, which builds on it.
- The model is shown whole results and arguments of those messages, as there, by our own labels.
- An earlier summary counts as a user's message, as there, and is given to the model where it lies
  in what the model sees; elsewhere it is lost, as there.
- The model is asked only where a user's message that goes fits whole within the 4,000 tokens. The
  original also reads the end of a message that does not fit whole, and the newest user's message,
  which here stays.
- The kept part moves back to the message that made the calls, as there, also past results that came
  late.
- When the model fails, the original retries three times and then fails.
- Summaries are held to what they replace; where a comparison sets the size, fewer than 20 messages
  may be kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.presentation import Presentation
from workbench.engine.compaction.prompt_template import PromptTemplate
from workbench.engine.compaction.size_limits import LEAST, SUMMARY_SHARE, SizeLimits
from workbench.engine.compaction.span_selection import Movable, Span
from workbench.engine.compaction.stages.summarize import Summarize
from workbench.engine.compaction.stand_in import StandIns
from workbench.engine.compaction.strategy import AtLimit, Preset, Strategy
from workbench.engine.compaction.summary_input import Reading, SummaryInput, SummaryTask
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.message import (
    Message,
    Summary,
    TokenCounter,
    counted_text,
    image_tokens,
)

PER_MESSAGE = 3
KEEP = 20
TOO_LONG = "The conversation before this was too long to be summarised."


def langchain_tokens(message: Message) -> int:
    """A quarter of the characters of role, words, calls and ids, rounded up, and three."""
    chars = len(counted_text(message)) + len(message.role)
    for block in message.blocks:
        if block.type == "tool_call":
            chars += len(block.id)
    if message.role == "tool":
        chars += len(message.call_id)
    return -(-chars // 4) + PER_MESSAGE + image_tokens(message)


def keep_messages(context: Context, budget: Budget) -> Span | None:
    """Keeps the newest messages, and more where the first of them answers a call."""
    movable = Movable.of(context, budget)
    own_place = movable.before(max(len(movable) - KEEP, 0))
    return movable.cut(movable.requested(own_place))


@dataclass(frozen=True, slots=True)
class LastTokens(Reading):
    """The model reads the newest messages of at most `trim` tokens, from a user's on; all of
    them for None.
    """

    trim: int | None = 4_000

    def model_input(self, task: SummaryTask) -> SummaryInput:
        """What the model reads."""
        if self.trim is None:
            return task.full_input
        earlier: list[Summary] = []
        history: list[Message] = []
        newest = _newest(task.context, task.span.indices, self.trim)
        for message in _from_user(newest):
            if isinstance(message, Summary):
                earlier.append(message)
            else:
                history.append(message)
        return replace(
            task.full_input,
            earlier=tuple(earlier),
            history=tuple(history),
            prefix=(),
        )


def _newest(
    context: Context,
    indices: Sequence[int],
    tokens: int,
) -> list[Message]:
    """The newest of these messages that take at most so many tokens together."""
    start = len(indices)
    while start > 0 and context.sizes[indices[start - 1]] <= tokens:
        start -= 1
        tokens -= context.sizes[indices[start]]
    return [context.messages[i] for i in indices[start:]]


def _from_user(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages from the first of a user on; an earlier summary counts as one."""
    for i, message in enumerate(messages):
        if message.role in ("user", "summary"):
            return messages[i:]
    return ()


def too_long(
    messages: Sequence[Message],
    previous: str,
    max_tokens: int,
    count: TokenCounter,
) -> str:
    """The whole summary where the model would read nothing."""
    return TOO_LONG


SUMMARY = Summarize(
    cut=keep_messages,
    reads=LastTokens(),
    prompt=PromptTemplate(
        headings="langchain_headings",
        result_chars="whole",
        argument_chars="whole",
    ),
    limits=SizeLimits(least=LEAST, share=SUMMARY_SHARE, to_target=False),
    presentation=Presentation(file_lists=""),
    stand_ins=StandIns(unread=too_long),
    name="langchain_compact",
)

LANGCHAIN_20 = Preset(
    "langchain_20",
    Strategy("langchain_20", (SUMMARY,)),
    AtLimit(share=0.85),
    count=langchain_tokens,
    source=(
        "langchain 1.4.7 langchain.agents.middleware.summarization; langchain-core 1.7.2"
        " messages.utils"
    ),
)
