"""The built-in stages, as classes and by name."""

from workbench.engine.compaction.plan import Stage
from workbench.engine.compaction.stages.register import Register
from workbench.engine.compaction.stages.scored import Scored
from workbench.engine.compaction.stages.server_compaction import ServerCompaction
from workbench.engine.compaction.stages.summarize import Summarize
from workbench.engine.compaction.stages.supersede import Supersede
from workbench.engine.compaction.stages.tool_results import (
    BudgetReduction,
    ContextCollapse,
    Microcompact,
    Snip,
)
from workbench.engine.compaction.stages.truncate import KeepFloor, RepairPairs, Truncate
from workbench.engine.compaction.stages.unseen import ShortenUnseen

__all__ = [
    "BUILTIN",
    "BudgetReduction",
    "ContextCollapse",
    "KeepFloor",
    "Microcompact",
    "Register",
    "RepairPairs",
    "Scored",
    "ServerCompaction",
    "ShortenUnseen",
    "Snip",
    "Summarize",
    "Supersede",
    "Truncate",
]

BUILTIN: dict[str, type[Stage]] = {
    BudgetReduction.name: BudgetReduction,
    Snip.name: Snip,
    Microcompact.name: Microcompact,
    ContextCollapse.name: ContextCollapse,
    Supersede.name: Supersede,
    Register.name: Register,
    ShortenUnseen.name: ShortenUnseen,
    Truncate.name: Truncate,
    "summarize": Summarize,
    "server_compaction": ServerCompaction,
    Scored.name: Scored,
    KeepFloor.name: KeepFloor,
    RepairPairs.name: RepairPairs,
}
