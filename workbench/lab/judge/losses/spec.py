"""Which losses of a run a model looks at: one specification for Python and the command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from workbench.base.errors import SettingError
from workbench.engine.models import require_language_model
from workbench.engine.models.model import Model
from workbench.engine.models.settings import ModelSettings
from workbench.evaluation.experiment.settings import MaskingSettings, NameList
from workbench.evaluation.experiment.spec import Masking, model_name
from workbench.evaluation.experiment.spec_fields import Flag, Read, Whole, listed, one_model


class LossSpec(Masking):
    """Which losses of a run a model looks at."""

    model: Annotated[str | Model | None, Read(lambda model: model and one_model(model))] = Field(
        None,
        description=(
            "Model that looks at the losses: litellm:NAME, command:..., folder:PATH or your own."
        ),
    )
    strategies: Annotated[tuple[str, ...], Read(listed)] = Field(
        (), description="Look at losses of these strategies of the run; none: of all."
    )
    limit: Whole | None = Field(
        60,
        ge=1,
        description="Look at this many losses at most, those first that the report lists first.",
    )
    again: Flag = Field(False, description="Look again at losses that a model has marked already.")
    model_settings: ModelSettings | None = Field(
        None,
        description=(
            "Cache and limits under which models are asked; None takes the usual cache and no"
            " limits."
        ),
    )
    quiet: Flag = Field(False, description="Show neither progress nor the figures; warnings stay.")

    def judge(self, run: Path) -> Model:
        """The model that looks at the losses of a run; limits count for the run's folder.

        Raises:
            SettingError: there is none, or it is no language model.
        """
        if self.model is None:
            raise SettingError(
                "losses are looked at by a language model; name one, such as --model"
                " litellm:gpt-4o-mini"
            )
        require_language_model(model_name(self.model))
        return ModelSettings.of_run(self.model_settings, run).model(self.model)


class LossSettings(MaskingSettings, total=False):
    """The fields of `LossSpec` as a caller may give them."""

    model: str | Model | None
    strategies: NameList
    limit: int | None
    again: bool
    model_settings: ModelSettings | None
    quiet: bool
