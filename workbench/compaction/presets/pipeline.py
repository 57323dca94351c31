"""Cheap stages first and a summary only if they were not enough, with a view that hides what is overtaken.

The first message, the last six, and messages named `memory` or `skill:...` stay, the six as far as half of the room
under the target allows. Truncation stands behind the summary, as in `summarize`.
"""

from __future__ import annotations

from workbench.compaction.cut import KeepRecent
from workbench.compaction.pins import Pins
from workbench.compaction.stages.summarize import Summarize
from workbench.compaction.stages.tool_results import BudgetReduction, ContextCollapse, Microcompact, Snip
from workbench.compaction.stages.truncate import Truncate
from workbench.compaction.strategy import Preset, Strategy
from workbench.compaction.trigger import AtShare

PINS = Pins(prefix=1, suffix=6, names=("memory", "skill:*"))

PIPELINE = Preset(
    "pipeline",
    Strategy(
        "pipeline",
        stages=(
            BudgetReduction(),
            Snip(pins=PINS),
            Microcompact(pins=PINS),
            Summarize(cut=KeepRecent(pins=PINS)),
            Truncate(pins=PINS),
        ),
        view=(ContextCollapse(),),
    ),
    AtShare(),
)
