"""How an agent compacts today."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from workbench.base.formats import percent, some
from workbench.engine.compaction.presets import preset
from workbench.engine.compaction.strategy import AtLimit, Preset
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.transcript.session import Session
from workbench.evaluation.replays.agents import Agent, Sized, recorded_limits
from workbench.evaluation.replays.reports import checked_reports
from workbench.evaluation.replays.sizing import window_of

CLOSE = 0.02
"""Shares of the window that are the same place."""


@dataclass(frozen=True, slots=True)
class PresentSetting:
    """How an agent compacts today.

    Attributes:
        window: that most of its sessions have.
        limit: the size of the requests at which it compacts in that window, as `inspect` says it.
        preset: restates it.
    """

    window: Sized
    limit: Sized
    preset: Preset

    @classmethod
    def of(
        cls,
        agent: Agent,
        sessions: Sequence[Session],
        asked_window: int | None = None,
    ) -> PresentSetting:
        """As the recordings show it, else as it is documented.

        Args:
            agent: that recorded them.
            sessions: at least one.
            asked_window: a window that the user asks for, in tokens.
        """
        counter = TiktokenCounter()
        windows: Counter[Sized] = Counter()
        shares: list[float] = []
        for session in sessions:
            sizes = counter.sizes(session.messages)
            trusted = checked_reports(session, sizes, counter).session
            windows[window_of(trusted, asked_window)] += 1
            window_tokens = window_of(trusted).tokens
            for limit_tokens in recorded_limits(trusted):
                shares.append(limit_tokens / window_tokens)
        [(window, _)] = windows.most_common(1)
        restated = preset(agent.preset)
        by_rule = agent.limit(window.tokens)
        if not shares:
            return cls(window, Sized(by_rule, f"{agent.name}'s rule"), restated)
        share = min(median(shares), 1.0)
        limit_tokens = round(share * window.tokens)
        limit = Sized(limit_tokens, f"the median of {some(len(shares), 'recorded compaction')}")
        if abs(by_rule / window.tokens - share) <= CLOSE:
            return cls(window, limit, restated)
        return cls(window, limit, moved(restated, share))

    @property
    def share(self) -> float:
        """Where it compacts, as a share of the window."""
        return self.limit.tokens / self.window.tokens


def moved(restated: Preset, share: float) -> Preset:
    """A preset that compacts at another share of the window, and is otherwise as it was."""
    return replace(
        restated,
        name=f"{restated.name} at {percent(share)}",
        trigger=AtLimit(share=share),
    )
