"""The names of `import workbench as wb`, each where it is defined; `__init__.py` reads this list."""

from workbench.compaction.engine import compact as compact
from workbench.compaction.plan import Budget as Budget
from workbench.compaction.plan import Plan as Plan
from workbench.compaction.plan import Replace as Replace
from workbench.compaction.presets import preset as preset
from workbench.compaction.presets import with_recall as with_recall
from workbench.compaction.strategy import AtShare as AtShare
from workbench.compaction.strategy import Preset as Preset
from workbench.compaction.strategy import Strategy as Strategy
from workbench.datasets.bundled import bundled as bundled
from workbench.errors import ModelError as ModelError
from workbench.errors import WorkbenchError as WorkbenchError
from workbench.experiment.compare import compare as compare
from workbench.experiment.prepared import exam as exam
from workbench.experiment.prepared import metric_input as metric_input
from workbench.experiment.prepared import prepared as prepared
from workbench.experiment.prepared import replay as replay
from workbench.experiment.sweep import sweep as sweep
from workbench.explore.explorer import explore as explore
from workbench.importers.importer import load as load
from workbench.importers.native import save as save
from workbench.live.compactor import Compactor as Compactor
from workbench.live.hooks import Hooks as Hooks
from workbench.live.hooks import Supply as Supply
from workbench.metrics.metric import Score as Score
from workbench.models import find_model as find_model
from workbench.models.model import Completion as Completion
from workbench.models.scripted import Loopback as Loopback
from workbench.models.settings import ModelSettings as ModelSettings
from workbench.report.page import render as render
from workbench.report.report import Report as Report
from workbench.report.sweep import sweep_table as sweep_table
from workbench.simulation.simulate import simulate as simulate
from workbench.transcript.context import Context as Context
from workbench.transcript.message import AssistantMessage as AssistantMessage
from workbench.transcript.message import Summary as Summary
from workbench.transcript.message import Text as Text
from workbench.transcript.message import ToolCall as ToolCall
from workbench.transcript.message import UserMessage as UserMessage
from workbench.transcript.session import Session as Session
from workbench.trials.run import trial as trial

__version__: str
__all__: list[str]
