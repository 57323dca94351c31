"""Where the DDx agent cuts, and which of the possible cuts leaves room for a summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.compaction.presets.ddx_agent.config import Config
from workbench.compaction.presets.ddx_agent.counting import ddx_tokens, size_in_bytes, text_tokens
from workbench.compaction.presets.ddx_agent.wording import PREFIX, SUFFIX, is_compaction_summary, recovered
from workbench.compaction.presets.file_lists import listed
from workbench.compaction.presets.swap import free, granted
from workbench.compaction.stage import Budget
from workbench.compaction.tracking import file_ops
from workbench.errors import WorkbenchError
from workbench.transcript.context import Context
from workbench.transcript.files import FileOps
from workbench.transcript.message import AssistantMessage, Message, Summary, ToolResult, UserMessage
from workbench.transcript.pairing import cut_points, last_user


class CompactionNoFit(WorkbenchError):
    """No cut leaves room for a summary beside what must stay."""


def boundary(messages: Sequence[Message], at: int) -> int:
    """The first place at or after `at` where a kept part may begin; n if there is none, so that nothing is kept.

    It begins with no tool result and no call.
    """
    flags = cut_points(messages)
    return next((i for i in range(max(at, 0), len(messages)) if flags[i] and _begins(messages[i])), len(messages))


def _begins(message: Message) -> bool:
    if isinstance(message, AssistantMessage):
        return not message.calls
    return not isinstance(message, ToolResult)


def find_cut_point(messages: Sequence[Message], keep_recent_tokens: int) -> int:
    """The first message to keep so that at least that many tokens stay; 0 where all is less, n for none."""
    if not messages:
        return 0
    if keep_recent_tokens <= 0:
        return len(messages)
    total = 0
    for i in range(len(messages) - 1, -1, -1):
        total += ddx_tokens(messages[i])
        if total >= keep_recent_tokens:
            return boundary(messages, i)
    return 0


def first_cut(messages: Sequence[Message], keep_recent_tokens: int) -> tuple[int, int]:
    """The cut to try first and the last one that may be tried.

    At least one message goes. The newest prompt is not passed, unless tools answered after it: a long turn can then
    still be compacted, and the prompt itself stays beside the summary.
    """
    at = find_cut_point(messages, keep_recent_tokens) or boundary(messages, 1)
    prompts = [i for i, message in enumerate(messages) if isinstance(message, UserMessage | Summary)]
    last = prompts[-1] if prompts else -1
    if last < 0 or any(isinstance(message, ToolResult) for message in messages[last:]):
        return at, len(messages)
    return min(at, last), last


@dataclass(frozen=True, slots=True)
class Fit:
    """One possible compaction of a context.

    Attributes:
        cut: among the messages that may go.
        keep: the same among all: where the kept part begins.
        gone: indices of what gives way: all before the cut but the newest user message, and earlier summaries
            wherever they stand.
        earlier: those summaries.
        said: what is summarised.
        tail: indices of user messages among what gives way, which may be sent again.
        files: of the whole run so far.
        effective: tokens that the whole request may have.
        beside: tokens of all that stays.
        body: tokens that the model's text may have.
    """

    cut: int
    keep: int
    gone: tuple[int, ...]
    earlier: tuple[Summary, ...]
    said: tuple[Message, ...]
    tail: tuple[int, ...]
    files: FileOps
    effective: int
    beside: int
    body: int


def fitted(context: Context, budget: Budget, config: Config) -> Fit | None:
    """The first cut that leaves room for a summary; None where there is nothing to summarise.

    Raises:
        CompactionNoFit: no cut leaves room.
    """
    indices = free(context.messages)
    said = [context.messages[i] for i in indices]
    if not said or is_compaction_summary(said[-1]):
        return None
    own = config.keep_recent_tokens if budget.keep_recent is None else budget.keep_recent
    at, last = first_cut(said, granted(context, budget, own))
    found: Fit | None = None
    while 0 < at <= len(said):
        fit = _fit(context, budget, indices, at)
        if fit.said and fit.body >= 0:
            return fit
        found = fit if fit.said else found
        following = boundary(said, at + 1)
        if following <= at or following > last:
            break
        at = following
    if found is not None:
        raise CompactionNoFit(
            f"{found.beside} tokens must stay and {found.effective} are allowed: that leaves no room for a summary"
        )
    return None


def _fit(context: Context, budget: Budget, indices: Sequence[int], at: int) -> Fit:
    messages = context.messages
    newest = last_user(messages)
    summaries = {i: summary for i in indices if (summary := recovered(messages[i])) is not None}
    gone = tuple(sorted({*indices[:at], *summaries} - {newest}))
    files = file_ops(summaries.get(i, message) for i, message in enumerate(messages))
    effective = min(budget.target, context.tokens - 1) if budget.target > 0 else context.tokens - 1
    beside = context.tokens - sum(context.sizes[i] for i in gone)
    frame = text_tokens("user") + -(-(len(PREFIX) + len(SUFFIX) + size_in_bytes(listed(files))) // 4)
    return Fit(
        cut=at,
        keep=indices[at] if at < len(indices) else len(messages),
        gone=gone,
        earlier=tuple(summaries.values()),
        said=tuple(messages[i] for i in gone if i not in summaries),
        tail=tuple(i for i in gone if i not in summaries and _genuine(messages[i])),
        files=files,
        effective=effective,
        beside=beside,
        body=effective - beside - frame if effective > beside else -1,
    )


def _genuine(message: Message) -> bool:
    return isinstance(message, UserMessage) and not message.synthetic
