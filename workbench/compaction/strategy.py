"""Stages in order, and how one whole system compacts."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.compaction.stage import Stage
from workbench.compaction.trigger import AtShare, Moment, Trigger
from workbench.transcript.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class Strategy:
    """Stages, cheapest first.

    Attributes:
        name: what stands in reports.
        stages: change the history; each runs only while the context is above its target.
        view: shape what is sent and are never kept. They are planned anew at each compaction, and in between the
            same replacements are sent, so that a provider's prompt cache holds.
        rounds: how often the list of stages is gone through at most.
    """

    name: str
    stages: tuple[Stage, ...]
    view: tuple[Stage, ...] = ()
    rounds: int = 1


@dataclass(frozen=True, slots=True)
class Preset:
    """How one system compacts: what it does, when, how it counts, and where that is written.

    Attributes:
        count: the system's own token counter; None takes the session's.
        overflow: what it does when a provider says that the prompt is too long; None is the strategy itself.
        moments: when the trigger is asked.
        source: repository, commit and files that it restates; empty for our own.
    """

    name: str
    strategy: Strategy
    trigger: Trigger = AtShare()
    count: TokenCounter | None = None
    overflow: Strategy | None = None
    moments: tuple[Moment, ...] = ("before_request",)
    source: str = ""
