"""Scored: keeps what a score finds needed, shortens other results to 300 characters, and drops the
least needed; asks no model.

The score is a function of your own: `wb.Strategy("mine", (Scored(score=mine), Truncate()))`, with the
stage `scored`. Without one, a span's score is the share of its names that the newest messages say again.
What saves less than a quarter is left to truncation.
"""

from workbench.engine.compaction.stages.scored import Scored
from workbench.engine.compaction.stages.truncate import Truncate
from workbench.engine.compaction.strategy import AtShare, Preset, Strategy

SCORED = Preset("scored", Strategy("scored", (Scored(), Truncate())), AtShare())
