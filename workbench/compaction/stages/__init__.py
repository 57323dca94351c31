"""The built-in stages by name."""

from __future__ import annotations

from workbench.compaction.stage import Stage
from workbench.compaction.stages.budget_reduction import BudgetReduction
from workbench.compaction.stages.context_collapse import ContextCollapse
from workbench.compaction.stages.keep_floor import KeepFloor
from workbench.compaction.stages.microcompact import Microcompact
from workbench.compaction.stages.repair_pairs import RepairPairs
from workbench.compaction.stages.snip import Snip
from workbench.compaction.stages.summarize import Summarize
from workbench.compaction.stages.truncate import Truncate

BUILTIN: dict[str, type[Stage]] = {
    BudgetReduction.name: BudgetReduction,
    Snip.name: Snip,
    Microcompact.name: Microcompact,
    ContextCollapse.name: ContextCollapse,
    Truncate.name: Truncate,
    "summarize": Summarize,
    KeepFloor.name: KeepFloor,
    RepairPairs.name: RepairPairs,
}
