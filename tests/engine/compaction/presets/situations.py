"""What the tests of the restated peers share: situations, budgets, and one compaction."""

from __future__ import annotations

from collections.abc import Sequence

from workbench import Budget, Compaction, Context, Preset, Scripted, Situation, Summary, compact
from workbench.engine.transcript.message import Message, TokenCounter, Usage, chars_per_token


def at(
    tokens: int, window: int = 200_000, *, overhead: int = 0, messages: int = 10, reported: int = 0
) -> Situation:
    """A request of that size; `reported` is the provider's own count of it."""
    usage = Usage(input=reported) if reported else None
    return Situation(
        tokens=tokens, window=window, overhead=overhead, messages=messages, reported=usage
    )


def due(preset: Preset, tokens: int, window: int = 200_000, **more: int) -> bool:
    """Whether the preset would compact then."""
    return preset.trigger.check(at(tokens, window, **more)) is not None


def fired(
    preset: Preset,
    messages: Sequence[Message],
    answers: Sequence[str] = ("## Goal\ngo on",) * 4,
    *,
    count: TokenCounter | None = None,
    target: int | None = None,
    window: int = 200_000,
    reason: str = "threshold",
    keep_recent: int | None = None,
) -> tuple[Compaction, Scripted]:
    """One compaction of these messages, to one token less than they take unless a target is
    given.
    """
    context = Context.of(messages, count or preset.count or chars_per_token)
    target = context.tokens - 1 if target is None else target
    model = Scripted(answers)
    budget = Budget(target=target, window=window, reason=reason, keep_recent=keep_recent)
    compaction = compact(context, preset.strategy, budget, model)
    assert not compaction.violations
    return compaction, model


def summary(done: Compaction) -> Summary:
    """The one summary that it wrote."""
    (found,) = [message for message in done.after.messages if isinstance(message, Summary)]
    return found


def stayed(done: Compaction) -> list[str]:
    """The ids of the messages that are as they were."""
    return [message.id for message in done.after.messages if message in done.before.messages]
