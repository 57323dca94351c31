"""The names of `import workbench as wb`, each where it is defined; `__init__.py` loads from this list."""

from .compaction.engine import compact as compact
from .compaction.plan import Budget as Budget
from .compaction.plan import Plan as Plan
from .compaction.plan import Replace as Replace
from .compaction.presets import preset as preset
from .compaction.presets import with_recall as with_recall
from .compaction.strategy import AtShare as AtShare
from .compaction.strategy import Preset as Preset
from .compaction.strategy import Strategy as Strategy
from .datasets.bundled import bundled as bundled
from .errors import ModelError as ModelError
from .errors import WorkbenchError as WorkbenchError
from .experiment.compare import compare as compare
from .experiment.prepared import exam as exam
from .experiment.prepared import metric_input as metric_input
from .experiment.prepared import prepared as prepared
from .experiment.prepared import replay as replay
from .experiment.sweep import sweep as sweep
from .explorer.explorer import explore as explore
from .importers.importer import load as load
from .importers.native import save as save
from .live.compactor import Compactor as Compactor
from .live.hooks import Hooks as Hooks
from .live.hooks import Supply as Supply
from .metrics.metric import Score as Score
from .models import find_model as find_model
from .models.model import Completion as Completion
from .models.scripted import Loopback as Loopback
from .models.settings import ModelSettings as ModelSettings
from .report.page import render as render
from .report.report import Report as Report
from .report.sweep import sweep_table as sweep_table
from .simulation.simulate import simulate as simulate
from .transcript.context import Context as Context
from .transcript.message import AssistantMessage as AssistantMessage
from .transcript.message import Summary as Summary
from .transcript.message import Text as Text
from .transcript.message import ToolCall as ToolCall
from .transcript.message import UserMessage as UserMessage
from .transcript.session import Session as Session
from .trials.run import trial as trial

__version__: str
__all__: list[str]
