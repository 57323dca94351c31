"""What an advice is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field

from workbench.evaluation.analysis.trade import MARGIN, WORTH
from workbench.evaluation.experiment.grid import read
from workbench.evaluation.experiment.settings import (
    ExecutionSettings,
    MaskingSettings,
    NameList,
    PricedSettings,
)
from workbench.evaluation.experiment.spec import Execution, Masking, Priced
from workbench.evaluation.experiment.spec_fields import Whole, Window, listed


class AdviceSpec(Priced, Masking, Execution):
    """What an advice is asked for, without its sessions."""

    may_lie_in_store: ClassVar[bool] = False

    space: Path | None = Field(
        None,
        description=(
            "Grid of candidates, a file of `workbench lab sweep`; None: all presets with usual"
            " settings."
        ),
    )
    default: str = Field(
        "",
        description=(
            "Preset that the advice is compared with: what you would use. Empty: for `workbench"
            " advise` what each agent does today, else summarize."
        ),
    )
    worth: float = Field(
        WORTH, ge=0, description="Points that saving a tenth of the bill is worth to you; 0: none."
    )
    margin: float = Field(
        MARGIN, ge=0, description="Points below which you would not notice a difference."
    )
    candidates: Whole | None = Field(
        None, ge=2, description="Try at most this many candidates; None tries all."
    )
    folds: Whole = Field(
        5, ge=2, description="Parts of the projects that the choice is tried on unseen."
    )
    window: Window = Field(
        None, description="Context window in tokens; None takes each session's own."
    )
    model: Annotated[tuple[str, ...], BeforeValidator(listed)] = Field(
        (),
        description=(
            "Models that write summaries; none: those of the space, else as `compare` has it."
        ),
    )
    seed: Whole = Field(0, ge=0, description="Seed of the order of sessions.")
    simulate: bool = Field(
        True, description="Simulate too where no model is asked: the bill then pays look-ups."
    )
    group_by: str = Field(
        "project",
        description=(
            "Unit of intervals and folds: project, folder or session; sessions where all are of one"
            " project."
        ),
    )

    def sessions_of_space(self) -> tuple[str, ...]:
        """The sessions that the file of candidates names; none without one."""
        return () if self.space is None else read(self.space).sessions


class AdviceSettings(PricedSettings, MaskingSettings, ExecutionSettings, total=False):
    """The fields of `AdviceSpec` as a caller may give them."""

    space: str | Path | None
    default: str
    worth: float
    margin: float
    candidates: int | None
    folds: int
    window: int | None
    model: NameList
    seed: int
    simulate: bool
    group_by: str
