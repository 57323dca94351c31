"""What a simulation is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from workbench.engine.models.model import Model
from workbench.evaluation.experiment.settings import (
    ExecutionSettings,
    MaskingSettings,
    PricedSettings,
    StrategyList,
)
from workbench.evaluation.experiment.spec import (
    DEFAULT_STRATEGIES,
    Execution,
    Masking,
    Priced,
)
from workbench.evaluation.experiment.spec_fields import ModelOrNone, Strategies, Whole, Window

if TYPE_CHECKING:
    pass


class SimulationSpec(Priced, Masking, Execution):
    """A simulation, without its sessions."""

    may_lie_in_store: ClassVar[bool] = False

    strategies: Strategies = Field(
        DEFAULT_STRATEGIES, description="Strategies: names, or presets of your own."
    )
    window: Window = Field(
        None, description="Context window in tokens; None takes each session's own."
    )
    reader: str = Field(
        "lexical",
        description=(
            "Says whether a context tells a thing: lexical, local (its weights) or the name of a"
            " model."
        ),
    )
    model: ModelOrNone = Field(
        "",
        description=(
            "Model that writes summaries; empty: as `compare` has it, extractive or bundled."
        ),
    )
    limit: Whole | None = Field(None, ge=1, description="Simulate at most this many sessions.")
    blind_step_cost: float = Field(
        2.0,
        ge=0,
        description=(
            "What an action costs whose context lacked what nobody can fetch again, in steps of the"
            " session without compaction: 2 where it is done in vain and then done again."
        ),
    )


class SimulationSettings(PricedSettings, MaskingSettings, ExecutionSettings, total=False):
    """The fields of `SimulationSpec` as a caller may give them."""

    strategies: StrategyList
    window: int | None
    reader: str
    model: str | Model
    limit: int | None
    blind_step_cost: float
