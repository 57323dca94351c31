"""Compactions that must be: where a provider refused a request, or somebody wants one."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from workbench.engine.compaction.host_policy import HostPolicy
from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.strategy import AtShare, Situation
from workbench.engine.transcript.context import in_turn
from workbench.engine.transcript.message import Message


def kept_by(
    host: HostPolicy,
    reason: str,
    window: int,
) -> int | None:
    """Tokens of newest messages that the preset's system keeps; None for the strategy's."""
    if reason != "overflow":
        return host.manual_keep
    if host.overflow_keep is None:
        return None
    return int(host.overflow_keep * window)


def refuses_by_hand(host: HostPolicy, messages: Sequence[Message]) -> bool:
    """Whether the preset's system refuses to compact by hand now: it does so only between turns,
    and one goes on.
    """
    return not host.manual_in_turn and in_turn(messages)


def forced(
    situation: Situation,
    check: Callable[[Situation], Budget | None],
    reason: str,
    keep: int | None,
) -> Budget:
    """What the trigger grants a full window, at most half of the present size.

    Where the preset's system says what newest messages `keep`, only less than the present size.
    """
    full_window = replace(
        situation,
        tokens=max(situation.tokens, situation.window + 1),
        reported=None,
        since=0,
    )
    budget = check(full_window) or AtShare().check(full_window)
    assert budget is not None  # above the window AtShare is always due
    message_tokens = situation.tokens - situation.overhead
    allowed_tokens = message_tokens // 2 if keep is None else max(message_tokens - 1, 0)
    target = min(budget.target, situation.overhead + allowed_tokens)
    return replace(
        budget,
        target=target,
        reason=reason,
        force=True,
        keep_recent=keep,
    )
