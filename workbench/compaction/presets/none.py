"""Never compacts: the ceiling of every comparison, at full price."""

from __future__ import annotations

from workbench.compaction.strategy import Preset, Strategy
from workbench.compaction.trigger import Never

NONE = Preset("none", Strategy("none", ()), Never())
