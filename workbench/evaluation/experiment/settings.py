"""The keywords that entries such as `compare` take, for editors and type checkers.

Each class lists the fields of the specification of the same name in `spec.py`, with the types that
a caller may give: a list may be any sequence, or text between commas; a path may be text. A test
holds both to each other.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias, TypedDict

from workbench.engine.compaction.strategy import Preset
from workbench.engine.models.model import Model
from workbench.engine.models.settings import ModelSettings
from workbench.evaluation.metrics.metric import Metric

NameList: TypeAlias = Sequence[str] | str
"""Names, or text between commas."""
ShareList: TypeAlias = Sequence[float | str] | str
"""Shares between 0 and 1, each a number or text such as `10%`; or text between commas."""
StrategyList: TypeAlias = Sequence[str | Preset] | str
"""Names and presets, or names between commas."""
ModelList: TypeAlias = Sequence[str | Model] | str | Model
"""A model or several, or their names between commas."""


class MaskingSettings(TypedDict, total=False):
    """What is masked before anything is asked or written."""

    redact: bool
    unmasked: NameList


class PricedSettings(TypedDict, total=False):
    """What sessions are priced as."""

    price_model: str
    prices: str


class SessionSettings(PricedSettings, MaskingSettings, total=False):
    """Which sessions are replayed, where they are compacted, and how they are counted."""

    boundaries: ShareList
    limit: int | None
    seed: int
    replicates: int
    group_by: Literal["project", "folder", "session"]


class ScopeSettings(SessionSettings, total=False):
    """What a single run and a grid of runs have in common."""

    strategies: StrategyList
    shares: ShareList


class WorkerSettings(TypedDict, total=False):
    """Who does a run, and how models are asked."""

    model_settings: ModelSettings | None
    jobs: int | None
    scheduler: str | None


class ExecutionSettings(WorkerSettings, total=False):
    """How a run is done; its figures do not depend on it."""

    out: str | Path | None
    quiet: bool


class GateSettings(SessionSettings, WorkerSettings, total=False):
    """The settings of a run that the fixture `compaction_gate` leaves to its caller."""

    window: int | None
    model: ModelList
    metrics: Sequence[Metric]


class RunSettings(GateSettings, ScopeSettings, ExecutionSettings, total=False):
    """A run, without its sessions."""

    baseline: str
