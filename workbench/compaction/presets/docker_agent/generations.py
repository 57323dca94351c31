"""What differs between docker-agent's versions: how they count, how much they keep, and how long a summary may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from workbench.compaction.clip import shortened
from workbench.compaction.presets.token_counters import docker_tokens, unsaid_chars
from workbench.compaction.prompt_template import prompt
from workbench.compaction.span_selection import Movable, Span, SummaryInput, SummaryTask
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context
from workbench.transcript.message import Message, Text, UserMessage
from workbench.transcript.tokens import TokenCounter

MAX_KEEP_TOKENS = 20_000
MAX_SUMMARY_TOKENS = 16_000
PER_ATTACHMENT = 1_500
LEAST_MASS = 512
SCALES = (0.75, 2.0)


def docker_tokens_g2(message: Message) -> int:
    """One message in later versions: what a provider reported for it, else characters by 3.5, before any scale.

    An attachment counts 1,500. A later text that says the same as the first is counted once, the first time it comes.
    """
    exact = exact_tokens(message)
    if exact is not None:
        return exact
    texts = [block.text for block in message.blocks if block.type == "text"]
    if texts and texts[0] in texts[1:]:
        texts.pop(texts.index(texts[0], 1))
    attachments = sum(block.type == "image" for block in message.blocks)
    return int((sum(map(len, texts)) + unsaid_chars(message)) / 3.5) + PER_ATTACHMENT * attachments + 5


def exact_tokens(message: Message) -> int | None:
    """The answer's reported output and five, without hidden reasoning, which is not sent again; None if unknown."""
    usage = message.usage if message.role == "assistant" else None
    if usage is None or not usage.output:
        return None
    thought = any(block.type == "thinking" and block.text for block in message.blocks)
    shown = usage.output - (0 if thought else usage.reasoning)
    return shown + 5 if shown > 0 else None


def calibration(messages: Sequence[Message]) -> float:
    """How the estimate must be scaled for these messages to explain the prompts that their provider reported.

    Between two answers of one model the reported prompt grew by the first answer and by what came in between; what of
    the latter no report covers is held against its estimate.
    """
    reports = [
        (i, message, message.usage)
        for i, message in enumerate(messages)
        if message.role == "assistant" and message.usage is not None and message.usage.prompt > 0
    ]
    actual = mass = 0
    for (i, one, usage), (j, other, later) in pairwise(reports):
        if one.model and other.model and one.model != other.model:
            continue
        between = [(docker_tokens_g2(message), exact_tokens(message)) for message in messages[i + 1 : j]]
        known = sum(size for size, exact in between if exact is not None)
        estimated = sum(size for size, exact in between if exact is None)
        grown = later.prompt - usage.prompt - max(usage.output - usage.reasoning, 0) - known
        if grown > 0 and estimated > 0:
            actual, mass = actual + grown, mass + estimated
    return min(max(actual / mass, SCALES[0]), SCALES[1]) if mass >= LEAST_MASS else 1.0


def smaller(window: int, other: int | None) -> int:
    """The smaller window of two, of which the other may not be there."""
    return window if other is None or other <= 0 else min(window, other)


def first_index_in_budget(messages: Sequence[Message], sizes: Sequence[int], budget: int) -> int:
    """Where the longest end of at most `budget` tokens begins, at a user's or the model's message; n if none fits."""
    first, left = len(messages), budget
    for i in range(len(messages) - 1, -1, -1):
        left -= sizes[i]
        if left < 0:
            break
        if messages[i].role in ("user", "assistant", "summary"):
            first = i
    return first


def split_index_for_keep(messages: Sequence[Message], sizes: Sequence[int], budget: int) -> int:
    """Where the kept tail begins; n where everything fits: everything is compacted, nothing is kept."""
    return len(messages) if sum(sizes) <= budget else first_index_in_budget(messages, sizes, budget)


@dataclass(frozen=True, slots=True)
class DockerGeneration:
    """One version of docker-agent, as the rule of where it cuts and of what the model reads.

    Attributes:
        count: tokens of one message.
        follows: whether limits follow the window, estimates are scaled to the provider's reports, and large results
            are cut before they are summarised.
        window: tokens that a dedicated model for summaries takes, if there is one; the smaller window counts.
    """

    count: TokenCounter = docker_tokens
    follows: bool = False
    window: int | None = None

    def sizes(self, messages: Sequence[Message], context: Context | None = None) -> tuple[int, ...]:
        """Tokens of each of these messages, which may explain each other. Those of the context are counted already."""
        scale = calibration(messages) if self.follows else 1.0
        known = context is not None and context.count == self.count
        sizes = context.sizes_of(messages) if context is not None and known else [*map(self.count, messages)]
        if scale == 1.0:
            return tuple(sizes)
        return tuple(
            int(size * scale) if exact_tokens(message) is None else size
            for message, size in zip(messages, sizes, strict=True)
        )

    def keep(self, limit: int) -> int:
        """Tokens of newest messages that stay: 20,000, later at most a fifth of a window that is known."""
        return min(MAX_KEEP_TOKENS, limit // 5) if self.follows and limit > 0 else MAX_KEEP_TOKENS

    def cap(self, limit: int) -> int:
        """Tokens that a summary may have: 16,000, later at most a quarter of the window."""
        return min(MAX_SUMMARY_TOKENS, limit // 4) if self.follows else MAX_SUMMARY_TOKENS

    def find(self, context: Context, budget: Budget, /) -> Span | None:
        """All before the kept tail, moved to where it parts no call from its result."""
        movable = Movable.of(context, budget)
        own = self.keep(smaller(budget.window, self.window)) if budget.keep_recent is None else budget.keep_recent
        sizes = self.sizes(movable.messages, context)
        at = movable.within(split_index_for_keep(movable.messages, sizes, movable.granted(own)))
        inner = movable.inner(at) if at < len(movable) else None
        return movable.span(len(movable) if inner is None else inner)

    def reads(self, task: SummaryTask) -> SummaryInput:
        """The newest messages that fit the summariser's window beside the prompts, the answer and earlier summaries.

        Later no result has more than a quarter of that room; the original does not say to how much it cuts them.
        """
        limit, given = smaller(task.budget.window, self.window), task.given
        prompts = (prompt("docker_system"), question(task.budget.instructions))
        beside: list[Message] = [*(UserMessage(id="", blocks=(Text(text),)) for text in prompts), *given.earlier]
        room = max(limit - self.cap(limit) - sum(map(self.count, beside)), 0)
        new = tuple(self._cut(message, max(room // 4, 1)) for message in given.new) if self.follows else given.new
        start = first_index_in_budget(new, self.sizes(new, task.context), room)
        return replace(given, history=new[start:], prefix=())

    def _cut(self, message: Message, most: int) -> Message:
        if message.role != "tool":
            return message
        return shortened(message, most, self.count(message), self.count) or message


def question(additional: str = "") -> str:
    """What is asked for, with the host's own instruction below it."""
    return prompt("docker_summary") + (f"\n\n{additional}" if additional else "")


FIRST = DockerGeneration()
LATER = DockerGeneration(docker_tokens_g2, follows=True)
