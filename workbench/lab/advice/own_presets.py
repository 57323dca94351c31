"""What an agent's own compaction can be set to."""

from __future__ import annotations

from workbench.engine.compaction.presets import preset
from workbench.engine.compaction.strategy import Preset
from workbench.evaluation.replays.agents import Agent
from workbench.lab.advice.paste import AGENT_SYSTEMS
from workbench.lab.advice.present_setting import PresentSetting, moved

SHARES = (0.3, 0.5, 0.7, 0.85)
"""Shares of the window to which an agent's own compaction is moved."""
APART = 0.06
"""The least distance of a share that is tried from today's."""


def own_presets(agent: Agent, present: PresentSetting) -> list[Preset]:
    """The agent's own compaction at other shares of the window than today's, up to the largest at
    which it can be made to compact; the smallest share first.
    """
    system = AGENT_SYSTEMS[agent.settings]
    largest_share = system.largest_share
    if largest_share is None:
        largest_share = agent.limit(present.window.tokens) / present.window.tokens
    presets: list[Preset] = []
    for share in SHARES:
        if abs(share - present.share) >= APART and share <= largest_share:
            presets.append(moved(preset(agent.preset), share))
    return presets
