"""Keeps the newest messages that fit: what most agents did first."""

from __future__ import annotations

from workbench.compaction.stages.truncate import Truncate
from workbench.compaction.strategy import Preset, Strategy
from workbench.compaction.trigger import AtShare

TRUNCATE = Preset("truncate", Strategy("truncate", (Truncate(),)), AtShare())
