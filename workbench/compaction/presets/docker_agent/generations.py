"""What differs between docker-agent's versions: how they count, how much they keep, and how long a summary may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from workbench.compaction.clip import shortened
from workbench.compaction.presets.token_counters import docker_tokens, unsaid_chars
from workbench.transcript.context import Context
from workbench.transcript.message import AssistantMessage, Image, Message, Text, Thinking, ToolResult
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
    texts = [block.text for block in message.blocks if isinstance(block, Text)]
    if texts and texts[0] in texts[1:]:
        texts.pop(texts.index(texts[0], 1))
    attachments = sum(isinstance(block, Image) for block in message.blocks)
    return int((sum(map(len, texts)) + unsaid_chars(message)) / 3.5) + PER_ATTACHMENT * attachments + 5


def exact_tokens(message: Message) -> int | None:
    """The answer's reported output and five, without hidden reasoning, which is not sent again; None if unknown."""
    usage = message.usage if isinstance(message, AssistantMessage) else None
    if usage is None or not usage.output:
        return None
    thought = any(isinstance(block, Thinking) and block.text for block in message.blocks)
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
        if isinstance(message, AssistantMessage) and message.usage is not None and message.usage.prompt > 0
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


@dataclass(frozen=True, slots=True)
class DockerGeneration:
    """One version of docker-agent.

    Attributes:
        count: tokens of one message.
        follows: whether limits follow the window, estimates are scaled to the provider's reports, and large results
            are cut before they are summarised.
    """

    count: TokenCounter
    follows: bool

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

    def bounded(self, messages: Sequence[Message], room: int) -> tuple[Message, ...]:
        """The messages as the summariser reads them; later no result has more than a quarter of the room.

        The original does not say to how much it cuts them.
        """
        most = max(room // 4, 1)
        return tuple(
            (shortened(message, most, self.count(message), self.count) or message)
            if self.follows and isinstance(message, ToolResult)
            else message
            for message in messages
        )


FIRST = DockerGeneration(docker_tokens, follows=False)
LATER = DockerGeneration(docker_tokens_g2, follows=True)
