"""What surrounds a compaction in the restated systems alike: overflows, hooks, and summaries of a fixed selection."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from workbench.compaction.size_limits import UNBOUNDED, SizeLimits
from workbench.compaction.span_selection import Span
from workbench.compaction.stage import Budget
from workbench.transcript.context import Context


@dataclass(frozen=True, slots=True)
class RecoveryAllowance:
    """How often a rejected prompt is answered with a compaction and a retry. A value: the host keeps the newest.

    Attributes:
        most: compactions in a row that are allowed.
        used: compactions since the last good answer.
        enabled: whether the host compacts by itself and has something to compact.
    """

    most: int = 1
    used: int = 0
    enabled: bool = True

    def overflowed(self) -> tuple[RecoveryAllowance, bool]:
        """After a rejected prompt: whether to compact and retry; if not, the provider's error is passed on."""
        allowed = self.enabled and self.used < self.most
        return replace(self, used=self.used + allowed), allowed

    def answered(self) -> RecoveryAllowance:
        """After a good answer the whole allowance is there again."""
        return replace(self, used=0)


def mentions(error: object, texts: Iterable[str]) -> bool:
    """Whether an error's text contains one of these texts, in any case."""
    words = str(error).lower()
    return any(text in words for text in texts)


Supplied = TypeVar("Supplied")


@dataclass(frozen=True, slots=True)
class HookReply(Generic[Supplied]):
    """What a hook wants before a compaction: nothing, no compaction, or its own result in the place of the model's."""

    cancel: bool = False
    supplied: Supplied | None = None


def decided(replies: Iterable[HookReply[Supplied] | None]) -> HookReply[Supplied]:
    """What all hooks want together: one that cancels wins, else the last result that is not blank."""
    wanted: HookReply[Supplied] = HookReply()
    for reply in replies:
        if reply is not None and reply.cancel:
            return HookReply(cancel=True)
        if reply is not None and reply.supplied is not None and str(reply.supplied).strip():
            wanted = reply
    return wanted


@dataclass(frozen=True, slots=True)
class FixedCut:
    """Selects what a session has selected already."""

    span: Span

    def find(self, context: Context, budget: Budget, /) -> Span | None:
        """The span."""
        return self.span


class FixedSize(SizeLimits):
    """A summary of at most `most` tokens, whatever it replaces."""

    def allowed(self, context: Context, budget: Budget, gone: Sequence[int], frame: int) -> int:
        """The bound itself."""
        return self.most


UNLIMITED = FixedSize(most=UNBOUNDED, stated=False)
