"""Measure what a way of compacting an LLM agent's context keeps, saves and loses, on recorded sessions.

`import workbench as wb` gives the names below; each is loaded when it is first used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from workbench.errors import missing_extra

__version__ = "0.1.0"

_PLACES = {
    # sessions
    "load": "importers.importer", "save": "importers.native", "bundled": "datasets.bundled",
    # runs
    "compare": "experiment.compare", "sweep": "experiment.sweep", "sweep_table": "analysis.sweep",
    "Report": "report.report", "render": "report.page", "explore": "explore.explorer",
    "label": "explore.labelling",
    # one replay
    "prepared": "experiment.prepared", "replay": "experiment.prepared", "metric_input": "experiment.prepared",
    "exam": "experiment.prepared",
    "MetricInput": "metrics.metric", "Score": "metrics.metric",
    # what was said
    "Session": "transcript.session", "Context": "transcript.context", "UserMessage": "transcript.message",
    "AssistantMessage": "transcript.message", "ToolResult": "transcript.message", "Summary": "transcript.message",
    "Text": "transcript.message", "ToolCall": "transcript.message",
    # the engine
    "compact": "compaction.engine", "preset": "compaction.presets", "Preset": "compaction.strategy",
    "Strategy": "compaction.strategy", "Plan": "compaction.plan", "Replace": "compaction.plan",
    "Budget": "compaction.stage", "AtShare": "compaction.trigger", "Compactor": "live.compactor",
    "Hooks": "live.hooks", "Supply": "live.hooks",
    # models
    "ModelSettings": "models.settings", "Completion": "models.model", "find_model": "models",
    "Loopback": "models.loopback",
    # what goes wrong
    "WorkbenchError": "errors",
}  # fmt: skip

__all__ = ["__version__", *_PLACES]

if TYPE_CHECKING:
    from workbench.analysis.sweep import sweep_table as sweep_table
    from workbench.compaction.engine import compact as compact
    from workbench.compaction.plan import Plan as Plan
    from workbench.compaction.plan import Replace as Replace
    from workbench.compaction.presets import preset as preset
    from workbench.compaction.stage import Budget as Budget
    from workbench.compaction.strategy import Preset as Preset
    from workbench.compaction.strategy import Strategy as Strategy
    from workbench.compaction.trigger import AtShare as AtShare
    from workbench.datasets.bundled import bundled as bundled
    from workbench.errors import WorkbenchError as WorkbenchError
    from workbench.experiment.compare import compare as compare
    from workbench.experiment.prepared import exam as exam
    from workbench.experiment.prepared import metric_input as metric_input
    from workbench.experiment.prepared import prepared as prepared
    from workbench.experiment.prepared import replay as replay
    from workbench.experiment.sweep import sweep as sweep
    from workbench.explore.explorer import explore as explore
    from workbench.explore.labelling import label as label
    from workbench.importers.importer import load as load
    from workbench.importers.native import save as save
    from workbench.live.compactor import Compactor as Compactor
    from workbench.live.hooks import Hooks as Hooks
    from workbench.live.hooks import Supply as Supply
    from workbench.metrics.metric import MetricInput as MetricInput
    from workbench.metrics.metric import Score as Score
    from workbench.models import find_model as find_model
    from workbench.models.loopback import Loopback as Loopback
    from workbench.models.model import Completion as Completion
    from workbench.models.settings import ModelSettings as ModelSettings
    from workbench.report.page import render as render
    from workbench.report.report import Report as Report
    from workbench.transcript.context import Context as Context
    from workbench.transcript.message import AssistantMessage as AssistantMessage
    from workbench.transcript.message import Summary as Summary
    from workbench.transcript.message import Text as Text
    from workbench.transcript.message import ToolCall as ToolCall
    from workbench.transcript.message import ToolResult as ToolResult
    from workbench.transcript.message import UserMessage as UserMessage
    from workbench.transcript.session import Session as Session


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'workbench' has no attribute {name!r}")
    try:
        value = getattr(import_module(f"workbench.{_PLACES[name]}"), name)
    except ModuleNotFoundError as error:
        raise missing_extra(f"wb.{name}", error) from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


class _Face(ModuleType):
    """This module, where a folder never hides the function of the same name (`replay`, `explore`) once it is loaded."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _PLACES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Face
