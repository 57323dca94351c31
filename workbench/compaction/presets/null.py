"""Keeps the system and the last user message only: the floor of every comparison."""

from __future__ import annotations

from workbench.compaction.stages.truncate import KeepFloor
from workbench.compaction.strategy import Preset, Strategy
from workbench.compaction.trigger import Always

NULL = Preset("null", Strategy("null", (KeepFloor(),)), Always())
