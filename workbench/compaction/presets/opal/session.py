"""What surrounds a compaction in Opal: the trigger, the provider's reports, overflows, and the session's tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import ClassVar

from workbench.compaction.presets.host import mentions
from workbench.compaction.presets.opal.compact import KEEP_BY_HAND
from workbench.compaction.stage import Budget
from workbench.compaction.trigger import Situation
from workbench.errors import WorkbenchError
from workbench.transcript.context import Context
from workbench.transcript.log import CompactionEntry, Log, LogError, fold
from workbench.transcript.message import Json, Summary, SystemMessage

THRESHOLD = 0.80
FALLBACK_WINDOW = 128_000
PATTERNS = (
    "context_length_exceeded", "maximum context length", "max_tokens", "max_prompt_tokens", "too many tokens",
    "prompt is too long", "prompt_tokens_exceeded", "request too large", "context window", "token limit",
    "exceeds the limit", "input too long", "exceeds the model's maximum", "reduce the length",
    "maximum number of tokens", "content_too_large", "string_above_max_length",
)  # fmt: skip
"""The 17 texts by which an overflow is known. As documented, nothing is excluded: a rate limit may hold one too."""
NEVER_RETRIED = (*PATTERNS, "unauthorized", "invalid_api_key", "authentication")
RETRIED = (
    "429", "500", "502", "503", "504", "529", "rate limit", "rate_limit", "too many requests", "overloaded",
    "unavailable", "timeout", "timed out", "econnreset", "econnrefused", "connection reset", "connection closed",
)  # fmt: skip
FIRST_WAIT = 2.0
LONGEST_WAIT = 60.0


@dataclass(frozen=True, slots=True)
class OpalTrigger:
    """Due at exactly 80 % of the window and above; keeps a quarter of the window, down to what would not be due."""

    threshold: float = THRESHOLD
    name: ClassVar[str] = "opal_trigger"

    def check(self, situation: Situation, /) -> Budget | None:
        """Due at `measured / window >= threshold`."""
        tokens, window = situation.measured, situation.window
        if not situation.requested and (window <= 0 or tokens / window < self.threshold):
            return None
        due = self.threshold * window * situation.tokens / max(tokens, 1)
        return replace(situation.budget(ceil(due) - 1), keep_recent=window // 4)


@dataclass(frozen=True, slots=True)
class UsageTotals:
    """Sums over an agent's requests, which are paid for, and the last reported prompt, which is the context's size.

    Attributes:
        last_prompt_tokens: the base of the estimate; 0 where the estimate has to stand alone.
        last_usage_messages: how many messages the history had when that was reported, the answer not among them.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0
    current_context_tokens: int = 0
    last_prompt_tokens: int = 0
    last_usage_messages: int = 0

    def reported(self, usage: Mapping[str, object], messages: int) -> UsageTotals:
        """With one more report, in either of the providers' spellings, on a history of so many messages."""
        prompt = _first(usage, "prompt_tokens", "input_tokens")
        completion = _first(usage, "completion_tokens", "output_tokens")
        total = self.total_tokens + (_first(usage, "total_tokens") or prompt + completion)
        return UsageTotals(
            self.prompt_tokens + prompt, self.completion_tokens + completion, total, prompt, prompt, messages
        )

    def compacted(self) -> UsageTotals:
        """After a compaction the last report speaks of a context that is gone."""
        return replace(self, last_prompt_tokens=0, last_usage_messages=0)

    def fill(self, window: int) -> float:
        """The share of the window that the context takes: the bar that users see."""
        return self.current_context_tokens / window if window > 0 else 0.0


def _first(usage: Mapping[str, object], *names: str) -> int:
    found = (usage.get(name) for name in names)
    return next((value for value in found if isinstance(value, int) and value > 0), 0)


def context_window(model: str, known: Callable[[str], int | None]) -> int:
    """The model's window in tokens; 128,000 where the catalogue of windows does not know it or fails."""
    try:
        window = known(model)
    except (WorkbenchError, LookupError, OSError, ValueError):
        return FALLBACK_WINDOW
    return window if isinstance(window, int) and window > 0 else FALLBACK_WINDOW


def context_overflow(error: object) -> bool:
    """Whether an error says that the prompt was too long. Anything that is not text is rendered as text."""
    return mentions(error, PATTERNS)


def retryable(error: object) -> bool:
    """Whether the same request may be tried again."""
    return mentions(error, RETRIED) and not mentions(error, NEVER_RETRIED)


def wait(attempt: int) -> float:
    """Seconds before retry 1, 2, 3: doubled each time, without jitter."""
    return float(min(FIRST_WAIT * 2 ** max(attempt - 1, 0), LONGEST_WAIT))


def emergency(window: int) -> Budget:
    """The budget after an overflow: a fifth of the window is kept, by force; what is due no more is enough."""
    target = max(ceil(THRESHOLD * window) - 1, 0)
    return Budget(target=target, window=window, reason="overflow", force=True, keep_recent=window // 5)


def silent_overflow(prompt_tokens: int, window: int) -> Budget | None:
    """The budget before the next turn where a provider took more than the window, and so must have cut the prompt."""
    return emergency(window) if prompt_tokens > window else None


def by_hand(window: int, keep_recent: object = None, instructions: str = "") -> Budget:
    """The budget of a compaction that a user asks for; anything but a positive whole number keeps 20,000 tokens."""
    keep = keep_recent if type(keep_recent) is int and keep_recent > 0 else KEEP_BY_HAND
    return Budget(target=keep, window=window, reason="manual", keep_recent=keep, instructions=instructions)


def replace_path_segment(log: Log, ids: Sequence[str], summary: Summary) -> Log:
    """A log whose path shows the summary in the place of these messages. The given log is not touched.

    Nothing is deleted: an entry is appended that names what stays and becomes the leaf. The replaced messages remain in
    the tree, with every branch that leaves from one of them.

    Raises:
        LogError: the messages are not neighbours at the beginning of the path, behind nothing but system messages.
    """
    shown = fold(log.path())
    names = [message.id for message in shown]
    start = names.index(ids[0]) if ids and ids[0] in names else None
    if start is None or names[start : start + len(ids)] != list(ids):
        raise LogError(f"the {len(ids)} messages to replace are not neighbours on the path to {log.leaf!r}")
    if not all(isinstance(message, SystemMessage) for message in shown[:start]):
        raise LogError(f"message {ids[0]!r} is not the first of its path: only a path's beginning can be summarised")
    grown = Log(log)
    grown.leaf = log.leaf
    kept = (*names[:start], *names[start + len(ids) :])
    grown.append(CompactionEntry(id=summary.id, parent=log.leaf, summary=summary, kept=kept, reason="opal"))
    return grown


def events(before: Context, after: Context, reason: str = "") -> tuple[Mapping[str, Json], Mapping[str, Json]]:
    """The two events of one compaction, also where nothing was compacted; the threshold's start names no reason."""
    start = {"type": "compaction_start", "messages": len(before.messages)}
    end = {"type": "compaction_end", "before": len(before.messages), "after": len(after.messages)}
    return {**start, "reason": "" if reason == "threshold" else reason}, end
