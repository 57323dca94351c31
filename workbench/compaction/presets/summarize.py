"""A summary of the older messages and the newest ones as they are; each compaction updates the summary before it.

Truncation stands behind it for what a summary cannot mend: a newest message that alone is too large, a model that wrote
more than it was granted.
"""

from __future__ import annotations

from workbench.compaction.stages.summarize import Summarize
from workbench.compaction.stages.truncate import Truncate
from workbench.compaction.strategy import Preset, Strategy
from workbench.compaction.trigger import AtShare

SUMMARIZE = Preset("summarize", Strategy("summarize", (Summarize(), Truncate())), AtShare())
