"""The names of `import workbench as wb`, each where it is defined; `__init__.py` loads from this list."""

from .base.errors import ModelError as ModelError
from .base.errors import WorkbenchError as WorkbenchError
from .engine.compaction.engine import compact as compact
from .engine.compaction.plan import Budget as Budget
from .engine.compaction.plan import Plan as Plan
from .engine.compaction.plan import Replace as Replace
from .engine.compaction.presets import preset as preset
from .engine.compaction.presets import with_recall as with_recall
from .engine.compaction.strategy import AtShare as AtShare
from .engine.compaction.strategy import Preset as Preset
from .engine.compaction.strategy import Strategy as Strategy
from .engine.models import find_model as find_model
from .engine.models.model import Completion as Completion
from .engine.models.scripted import Loopback as Loopback
from .engine.models.settings import ModelSettings as ModelSettings
from .engine.transcript.context import Context as Context
from .engine.transcript.message import AssistantMessage as AssistantMessage
from .engine.transcript.message import Summary as Summary
from .engine.transcript.message import Text as Text
from .engine.transcript.message import ToolCall as ToolCall
from .engine.transcript.message import UserMessage as UserMessage
from .engine.transcript.session import Session as Session
from .evaluation.analysis.composition import composition as composition
from .evaluation.experiment.compare import compare as compare
from .evaluation.experiment.prepared import exam as exam
from .evaluation.experiment.prepared import metric_input as metric_input
from .evaluation.experiment.prepared import prepared as prepared
from .evaluation.experiment.prepared import replay as replay
from .evaluation.experiment.sweep import sweep as sweep
from .evaluation.metrics.metric import Score as Score
from .lab.simulation.simulate import simulate as simulate
from .lab.trials.run import trial as trial
from .live import events as events
from .live.async_compactor import AsyncCompactor as AsyncCompactor
from .live.compactor import Compactor as Compactor
from .live.hooks import Cancel as Cancel
from .live.hooks import Hooks as Hooks
from .live.hooks import Supply as Supply
from .live.settings import Settings as Settings
from .recordings.datasets.bundled import bundled as bundled
from .recordings.importers.importer import load as load
from .recordings.importers.native import save as save
from .report.explorer.explorer import explore as explore
from .report.page.rendering import render as render
from .report.page.report import Report as Report
from .report.page.sweep import sweep_table as sweep_table

__version__: str
__all__: list[str]
