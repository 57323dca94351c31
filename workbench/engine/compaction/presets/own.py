"""The workbench's own presets: two references, and the usual ways to compact.

What the model asked for and has not seen yet stays, cut where it does not fit beside a summary.
Truncation follows each summary for what a summary cannot do: a newest message that alone is too
large, a model that wrote more than it was allowed. In `pipeline` the first message, the last six,
and messages named `memory` or `skill:...` stay, the six as far as half of the room under the target
allows.
"""

from workbench.engine.compaction.cut import KeepRecent, Pins
from workbench.engine.compaction.stages.summarize import Summarize
from workbench.engine.compaction.stages.tool_results import (
    BudgetReduction,
    ContextCollapse,
    Microcompact,
    Snip,
)
from workbench.engine.compaction.stages.truncate import KeepFloor, Truncate
from workbench.engine.compaction.stages.unseen import ShortenUnseen
from workbench.engine.compaction.strategy import Always, AtShare, Never, Preset, Strategy

PINS = Pins(prefix=1, suffix=6, names=("memory", "skill:*"))
CHEAP = (BudgetReduction(), Snip(pins=PINS), Microcompact(pins=PINS))

NONE = Preset("none", Strategy("none", ()), Never())
NULL = Preset("null", Strategy("null", (KeepFloor(),)), Always())
TRUNCATE = Preset("truncate", Strategy("truncate", (Truncate(),)), AtShare())
SUMMARIZE = Preset(
    "summarize", Strategy("summarize", (ShortenUnseen(), Summarize(), Truncate())), AtShare()
)
PIPELINE = Preset(
    "pipeline",
    Strategy(
        "pipeline",
        (
            *CHEAP,
            ShortenUnseen(pins=PINS),
            Summarize(cut=KeepRecent(pins=PINS)),
            Truncate(pins=PINS),
        ),
        (ContextCollapse(),),
    ),
    AtShare(),
)
