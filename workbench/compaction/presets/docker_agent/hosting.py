"""What surrounds a compaction in docker-agent: what hooks decide, the tally, and the way out of an overflow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from workbench.compaction.presets.docker_agent.session import Result

PATTERNS = (
    "prompt is too long", "maximum context length", "context length exceeded", "context_length_exceeded",
    "max_tokens must be greater than", "maximum number of tokens", "content length exceeds", "request too large",
    "payload too large", "input is too long", "exceeds the model's max token", "token limit", "reduce your prompt",
    "reduce the length",
)  # fmt: skip
"""The texts by which an overflow is known. As in the original, nothing is excluded."""

Source: TypeAlias = Literal["auto", "overflow", "manual", "tool_overflow"]
Outcome: TypeAlias = Literal["applied", "skipped", "failed"]


class ContextOverflow(Exception):
    """An overflow that was recognised before, around the provider's error."""


def context_overflow(error: object) -> bool:
    """Whether an error, or one that it was made from, says that the prompt was too long; never for no error."""
    at = error
    while at is not None:
        if isinstance(at, ContextOverflow) or any(pattern in str(at).lower() for pattern in PATTERNS):
            return True
        at = at.__cause__ if isinstance(at, BaseException) else None
    return False


@dataclass(frozen=True, slots=True)
class Recovery:
    """What is left to try after an overflow. Values; whoever runs the agent keeps the newest.

    Attributes:
        used: compactions in a row since the last good answer.
        most: of them, how many are allowed.
        enabled: whether anything is compacted by itself; if not, people are told to do it by hand.
    """

    used: int = 0
    most: int = 1
    enabled: bool = True

    def overflowed(self) -> tuple[Recovery, bool]:
        """After a rejected prompt: whether to warn, compact and run the turn again; if not, the error is passed on."""
        if not self.enabled or self.used >= self.most:
            return self, False
        return replace(self, used=self.used + 1), True

    def answered(self) -> Recovery:
        """After a good answer the allowance is whole again."""
        return replace(self, used=0)


@dataclass(frozen=True, slots=True)
class PreCompact:
    """What a first hook wants: no compaction, or more text for the summariser."""

    skip: bool = False
    additional: str = ""


def prompted(replies: Iterable[PreCompact], additional: str = "") -> str | None:
    """The instruction with what hooks add, blank lines in between; None where one of them wants no compaction."""
    said = list(replies)
    if any(reply.skip for reply in said):
        return None
    return "\n\n".join(text for text in (additional, *(reply.additional for reply in said)) if text)


@dataclass(frozen=True, slots=True)
class BeforeCompaction:
    """What a second hook wants: to block it without a word, or its own summary in the model's place."""

    block: bool = False
    summary: str = ""


def decided(replies: Iterable[BeforeCompaction]) -> BeforeCompaction:
    """What all of them want: one that blocks wins, else the last summary that says anything."""
    wanted = BeforeCompaction()
    for reply in replies:
        if reply.block:
            return BeforeCompaction(block=True)
        wanted = reply if reply.summary.strip() else wanted
    return wanted


@dataclass(frozen=True, slots=True)
class Tally:
    """The session's running count, as the trigger sees it."""

    input_tokens: int = 0
    output_tokens: int = 0

    def compacted(self, finished: Result) -> Tally:
        """After a compaction: the summary's tokens, and no output."""
        return Tally(finished.input_tokens, 0)


@dataclass(frozen=True, slots=True)
class Completed:
    """The event at the end, with what came of it; hooks and spans get the same numbers."""

    outcome: Outcome
    source: Source = "auto"
    cost: float | None = 0.0
    first_kept_entry: int | None = None
    why: str = ""


def completed(source: Source, finished: Result | None, error: str = "") -> Completed:
    """How a compaction ended: with an error, with nothing to do, or applied."""
    if error:
        return Completed("failed", source, why=error)
    if finished is None:
        return Completed("skipped", source)
    return Completed("applied", source, finished.cost, finished.first_kept_entry)
