"""opencode v2: a checkpoint of at most 4,096 tokens once the longest answer no longer fits, with
the newest 15,000 tokens as text inside it.

Restates the compaction of opencode's second version (anomalyco/opencode,
`packages/core/src/session/compaction.ts` and its documentation of compaction, read in stored copies
of June to August 2026): the bound of 4,096 tokens for a summary and results cut at 2,000 characters
as in the copy of Kilo-Org/kilocode 95a6978, the trigger and its 32,000 tokens for an answer as in
031a4a9, the 15,000 tokens that are kept since pull request 40906 (2026-08-06; 8,000 earlier).
Version 2.0.12 (2026-09) still has these numbers. Besides the general differences (`presets`):

- The copy 031a4a9 asks with the conversation itself, and names no bound. In place of important
  details it asks for requirements, decisions and additional context, as
  `opencode_v2:headings=opencode_v2_headings` does. Copies since pull request 48058 (2026-09) call
  the last one important context, want 15 files at most and keep a tenth of the window free. A
  summary without any of the headings is asked for once more and is then a failure, as is one that
  the model's limit cuts. Here both are kept.
- Newest messages are written into the checkpoint as text, as there. The newest user message stays a
  message of its own and is not written there.
- What is kept begins at a user's message, as there, unless it would then take more than half of the
  room: then it begins later. There it has no bound (issue 43250).
- A checkpoint's text of newest messages is given to the model at the next compaction as the first
  message, in our own words.
- A checkpoint stands behind the newest user message where newer steps are written into it.
- The longest answer and the buffer are taken to be a quarter of a small window at most.
- The compaction by OpenAI's server that some copies prefer is the stage `server_compaction`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from workbench.base.typed_value import check_whole_number
from workbench.engine.compaction.plan import Budget, behind_all, place
from workbench.engine.compaction.presentation import Presentation
from workbench.engine.compaction.prompt_template import PromptTemplate
from workbench.engine.compaction.size_limits import SUMMARY_SHARE, SizeLimits
from workbench.engine.compaction.span_selection import Movable, Span
from workbench.engine.compaction.stages.summarize import Summarize
from workbench.engine.compaction.strategy import AtLimit, Preset, Situation, Strategy
from workbench.engine.compaction.summary_input import Reading, SummaryInput, SummaryTask
from workbench.engine.compaction.transcript_text import harmless
from workbench.engine.transcript.context import Context, last_user
from workbench.engine.transcript.message import Message, Text, UserMessage, is_real_user

NEWER_HEADINGS = "opencode_v2_headings"
"""The sections that copies since 031a4a9 ask for, as a value of `headings`."""
OPEN, CLOSE = "<recent-messages>", "</recent-messages>"


@dataclass(frozen=True, slots=True)
class OutputReserve:
    """Due where a request leaves no room for the longest answer, or for the buffer where that is
    more.

    Attributes:
        auto: whether anything starts by itself.
        buffer: tokens that stay free at least.
        limit_output: tokens of the model's longest answer, of which `most_output` count.
        limit_input: tokens of the longest prompt, where the model has such a limit.
        most_output: tokens that are set aside for an answer at most.
    """

    auto: bool = True
    buffer: int = 20_000
    limit_output: int = 32_000
    limit_input: int | None = None
    most_output: int = 32_000

    def __post_init__(self) -> None:
        for name in ("buffer", "limit_output", "most_output"):
            tokens = getattr(self, name)
            check_whole_number(name, tokens, least=0)
        check_whole_number("limit_input", self.limit_input, optional=True)

    def check(
        self,
        situation: Situation,
        /,
    ) -> Budget | None:
        """Due at exactly the limit, by the provider's count."""
        if not self.auto and not situation.requested:
            return None
        answer_tokens = min(self.limit_output, self.most_output)
        limit = AtLimit(answer=max(answer_tokens, self.buffer))
        if self.limit_input is not None:
            prompt_tokens = self.limit_input - self.buffer
            limit = replace(limit, most=max(prompt_tokens, 1))
        return limit.check(situation)


PROMPT = PromptTemplate(
    headings="opencode_headings",
    result_chars=2_000,
    argument_chars="whole",
    thoughts=True,
)


@dataclass(frozen=True, slots=True)
class NewestMessages:
    """Which newest messages are written into the checkpoint.

    Attributes:
        keep_tokens: tokens of their text; the newest is written whatever it takes.
    """

    keep_tokens: int = 15_000

    def start(
        self,
        context: Context,
        budget: Budget,
    ) -> int:
        """The index of the first of them; the number of messages where there are none."""
        movable = Movable.of(context, budget)
        text_tokens = list(map(_text_tokens, movable.messages))
        max_tokens = movable.kept(self.keep_tokens)
        fitting = _fitting(text_tokens, movable.earlier, max_tokens)
        start = _turn_before(movable.messages, movable.earlier, fitting)
        if start == movable.earlier:
            start = _newest_turn(movable.messages, movable.earlier)
        if start == movable.earlier:
            return len(context.messages)
        half_room = movable.kept(sum(text_tokens))
        if sum(text_tokens[start:]) > half_room:
            start = movable.after(fitting)
        return movable.index(start)


def _text_tokens(message: Message) -> int:
    """Tokens of a message as it is written: a quarter of its characters, as there."""
    return -(-len(PROMPT.transcript([message])) // 4)


def _fitting(
    sizes: Sequence[int],
    earliest: int,
    max_tokens: int,
) -> int:
    """The first place whose rest takes at most so many tokens; the last message always does."""
    start = max(len(sizes) - 1, earliest)
    tokens = sum(sizes[start:])
    while start > earliest and tokens + sizes[start - 1] <= max_tokens:
        start -= 1
        tokens += sizes[start]
    return start


def _turn_before(
    messages: Sequence[Message],
    earliest: int,
    start: int,
) -> int:
    """Where the turn of the message at this place begins."""
    while start > earliest and not is_real_user(messages[start]):
        start -= 1
    return start


def _newest_turn(
    messages: Sequence[Message],
    earliest: int,
) -> int:
    """Where the newest turn begins."""
    newest = max(len(messages) - 1, earliest)
    return _turn_before(messages, earliest, newest)


def all_but_question(
    context: Context,
    budget: Budget,
) -> Span | None:
    """Selects all that may go; a part of it is written into the checkpoint."""
    movable = Movable.of(context, budget)
    return movable.cut(len(movable))


@dataclass(frozen=True, slots=True)
class BeforeNewest(Reading):
    """The model reads the messages before the newest ones, and what an earlier checkpoint says
    of its newest messages.
    """

    newest: NewestMessages

    def model_input(self, task: SummaryTask) -> SummaryInput:
        """What lies before the newest messages."""
        start = self.newest.start(task.context, task.budget)
        history: list[Message] = []
        for summary in task.full_input.earlier:
            if OPEN in summary.tail:
                recent = summary.tail.partition(OPEN)[2].partition(CLOSE)[0]
                history.append(
                    UserMessage(id=summary.id, blocks=(Text(recent.strip()),), synthetic=True)
                )
        for i in task.span.indices:
            message = task.context.messages[i]
            if i < start and message.role != "summary":
                history.append(message)
        return replace(task.full_input, history=tuple(history), prefix=())


@dataclass(frozen=True, slots=True)
class NewestAsText:
    """The newest messages as text, below the summary."""

    newest: NewestMessages

    def __call__(
        self,
        task: SummaryTask,
        /,
    ) -> Iterator[str]:
        """The whole text, then with shorter results, then none."""
        start = self.newest.start(task.context, task.budget)
        messages = [task.context.messages[i] for i in task.span.indices if i >= start]
        result_chars = int(PROMPT.result_chars)
        while messages and result_chars > 100:
            text = replace(PROMPT, result_chars=result_chars).transcript(messages)
            yield f"\n\n{OPEN}\n{_harmless(text)}\n{CLOSE}"
            result_chars //= 4
        yield ""


def _harmless(text: str) -> str:
    """Text that cannot close the tag around it."""
    return (
        harmless(text).replace(CLOSE, "&lt;/recent-messages>").replace(OPEN, "&lt;recent-messages>")
    )


def behind_steps(
    context: Context,
    removed_indices: Sequence[int],
) -> int:
    """The place of the first message that goes; the end, where steps go that are newer than the
    newest user message.
    """
    newest = last_user(context.messages)
    if newest is not None and removed_indices[-1] > newest:
        return behind_all(context, removed_indices)
    return place(context, removed_indices)


NEWEST = NewestMessages()
CHECKPOINT = Summarize(
    cut=all_but_question,
    prompt=PROMPT,
    limits=SizeLimits(most=4_096, share=SUMMARY_SHARE),
    name="opencode_checkpoint",
    reads=BeforeNewest(NEWEST),
    presentation=Presentation(file_lists="", below=NewestAsText(NEWEST), place=behind_steps),
)

OPENCODE_V2 = Preset(
    "opencode_v2",
    Strategy("opencode_v2", (CHECKPOINT,)),
    OutputReserve(),
    source="anomalyco/opencode 031a4a9 packages/core/src/session/compaction.ts",
)
