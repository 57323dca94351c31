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
    "load": "importers.importer", "scan": "importers.importer", "bundled": "datasets.bundled",
    "save": "importers.native", "to_openai": "importers.export", "to_anthropic": "importers.export",
    "system_prompt": "importers.export",
    # jobs
    "compare": "experiment.compare", "replay": "experiment.single", "prepared": "experiment.prepared",
    "metric_input": "experiment.single", "Results": "experiment.store",
    "surprisal": "judge.surprisal.measurement", "probe": "judge.probes.answers", "label": "explore.labelling",
    "behave": "judge.behaviour.trials",
    "sweep": "experiment.sweep", "sweep_table": "analysis.sweep",
    "selfcheck": "validation.selfcheck", "leave_one_out": "analysis.ablation",
    "share": "experiment.share", "redacted": "transcript.redaction",
    "render": "report.page", "Report": "report.report", "explore": "explore.explorer",
    # what was said
    "Session": "transcript.session", "Context": "transcript.context", "Message": "transcript.message",
    "SystemMessage": "transcript.message", "UserMessage": "transcript.message",
    "AssistantMessage": "transcript.message", "ToolResult": "transcript.message", "Summary": "transcript.message",
    "Text": "transcript.message", "Thinking": "transcript.message", "ToolCall": "transcript.message",
    "Image": "transcript.message", "Usage": "transcript.message", "Log": "transcript.log",
    # the engine
    "Stage": "compaction.stage", "Budget": "compaction.stage", "Plan": "compaction.plan",
    "Replace": "compaction.plan", "Draft": "compaction.plan", "Trigger": "compaction.trigger",
    "Situation": "compaction.trigger", "AtShare": "compaction.trigger",
    "Strategy": "compaction.strategy", "Preset": "compaction.strategy", "compact": "compaction.engine",
    "preset": "compaction.presets",
    "Compactor": "live.compactor", "Settings": "live.settings",
    "Hooks": "live.hooks", "Cancel": "live.hooks", "Supply": "live.hooks",
    "Loopback": "models.loopback",
    # models and metrics
    "ModelSettings": "models.settings",
    "SummaryRequest": "models.model", "Completion": "models.model", "Model": "models.model", "find_model": "models",
    "Metric": "metrics.metric", "Score": "metrics.metric", "MetricInput": "metrics.metric",
    # what goes wrong
    "WorkbenchError": "errors",
}  # fmt: skip

__all__ = ["__version__", *_PLACES]

if TYPE_CHECKING:
    from workbench.analysis.ablation import leave_one_out as leave_one_out
    from workbench.analysis.sweep import sweep_table as sweep_table
    from workbench.compaction.engine import compact as compact
    from workbench.compaction.plan import Draft as Draft
    from workbench.compaction.plan import Plan as Plan
    from workbench.compaction.plan import Replace as Replace
    from workbench.compaction.presets import preset as preset
    from workbench.compaction.stage import Budget as Budget
    from workbench.compaction.stage import Stage as Stage
    from workbench.compaction.strategy import Preset as Preset
    from workbench.compaction.strategy import Strategy as Strategy
    from workbench.compaction.trigger import AtShare as AtShare
    from workbench.compaction.trigger import Situation as Situation
    from workbench.compaction.trigger import Trigger as Trigger
    from workbench.datasets.bundled import bundled as bundled
    from workbench.errors import WorkbenchError as WorkbenchError
    from workbench.experiment.compare import compare as compare
    from workbench.experiment.prepared import prepared as prepared
    from workbench.experiment.share import share as share
    from workbench.experiment.single import metric_input as metric_input
    from workbench.experiment.single import replay as replay
    from workbench.experiment.store import Results as Results
    from workbench.experiment.sweep import sweep as sweep
    from workbench.explore.explorer import explore as explore
    from workbench.explore.labelling import label as label
    from workbench.importers.export import system_prompt as system_prompt
    from workbench.importers.export import to_anthropic as to_anthropic
    from workbench.importers.export import to_openai as to_openai
    from workbench.importers.importer import load as load
    from workbench.importers.importer import scan as scan
    from workbench.importers.native import save as save
    from workbench.judge.behaviour.trials import behave as behave
    from workbench.judge.probes.answers import probe as probe
    from workbench.judge.surprisal.measurement import surprisal as surprisal
    from workbench.live.compactor import Compactor as Compactor
    from workbench.live.hooks import Cancel as Cancel
    from workbench.live.hooks import Hooks as Hooks
    from workbench.live.hooks import Supply as Supply
    from workbench.live.settings import Settings as Settings
    from workbench.metrics.metric import Metric as Metric
    from workbench.metrics.metric import MetricInput as MetricInput
    from workbench.metrics.metric import Score as Score
    from workbench.models import find_model as find_model
    from workbench.models.loopback import Loopback as Loopback
    from workbench.models.model import Completion as Completion
    from workbench.models.model import Model as Model
    from workbench.models.model import SummaryRequest as SummaryRequest
    from workbench.models.settings import ModelSettings as ModelSettings
    from workbench.report.page import render as render
    from workbench.report.report import Report as Report
    from workbench.transcript.context import Context as Context
    from workbench.transcript.log import Log as Log
    from workbench.transcript.message import AssistantMessage as AssistantMessage
    from workbench.transcript.message import Image as Image
    from workbench.transcript.message import Message as Message
    from workbench.transcript.message import Summary as Summary
    from workbench.transcript.message import SystemMessage as SystemMessage
    from workbench.transcript.message import Text as Text
    from workbench.transcript.message import Thinking as Thinking
    from workbench.transcript.message import ToolCall as ToolCall
    from workbench.transcript.message import ToolResult as ToolResult
    from workbench.transcript.message import Usage as Usage
    from workbench.transcript.message import UserMessage as UserMessage
    from workbench.transcript.redaction import redacted as redacted
    from workbench.transcript.session import Session as Session
    from workbench.validation.selfcheck import selfcheck as selfcheck


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
