"""What a trial is asked for: which agent works on which tasks, under which strategies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from workbench.base.errors import UnknownName
from workbench.base.typed_value import LEAST_WINDOW
from workbench.engine.compaction.presets import preset
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models.model import Model
from workbench.engine.models.settings import ModelSettings
from workbench.evaluation.experiment.job import folder_of, local_servers
from workbench.evaluation.experiment.keys import described
from workbench.evaluation.experiment.settings import (
    ExecutionSettings,
    MaskingSettings,
    NameList,
    StrategyList,
)
from workbench.evaluation.experiment.spec import (
    DEFAULT_STRATEGIES,
    Execution,
    Masking,
    model_name,
    with_references,
)
from workbench.evaluation.experiment.spec_fields import (
    Flag,
    OneModel,
    Share,
    Strategies,
    Whole,
    listed,
)
from workbench.evaluation.metrics.costs.pricing import ASSUMED, known_tariff
from workbench.lab.trials.bundled import BUNDLED, HARD, bundled_names, hard_names, scripted_names
from workbench.lab.trials.families import FAMILIES

READER = "reader"
"""The agent without a model."""


def _families(names: tuple[str, ...]) -> tuple[str, ...]:
    """The families of these names, each once; all that are made from seeds where there is none."""
    groups = {BUNDLED: bundled_names(), HARD: hard_names()}
    families: list[str] = []
    for name in names:
        families += groups.get(name, (name,))
    for family in families:
        if family not in (*FAMILIES, *scripted_names()):
            raise UnknownName("family of tasks", family, (*FAMILIES, *groups, *scripted_names()))
    if not families:
        return tuple(FAMILIES)
    return tuple(dict.fromkeys(families))


class TrialSpec(Masking, Execution):
    """Which agent works on which tasks, under which strategies."""

    agent: OneModel = Field(
        READER, description="Agent: reader, which needs no model, or the name of a model."
    )
    families: Annotated[tuple[str, ...], BeforeValidator(listed), AfterValidator(_families)] = (
        Field(
            (),
            description=(
                "Families of tasks, between commas; none: all that are made from seeds. bundled:"
                " the ten bundled tasks, which have one seed. hard: three that fail without what"
                " was said at their start. Or their names."
            ),
            validate_default=True,
        )
    )
    seeds: Whole = Field(5, ge=1, description="Tasks of each family, which differ in their values.")
    strategies: Strategies = Field(
        DEFAULT_STRATEGIES,
        description="Strategies: names, or presets of your own; none and null are added.",
    )
    writer: OneModel = Field("extractive", description="Model that writes summaries.")
    window: Whole | None = Field(
        None,
        ge=LEAST_WINDOW,
        description="Context window in tokens; None takes a share of the task's largest request.",
    )
    share: Share = Field(0.4, description="That share, where no window is given.")
    price_model: Annotated[str, AfterValidator(lambda name: known_tariff(name) and name)] = Field(
        ASSUMED, description="Whose prices the agent without a model pays."
    )
    turns: Whole | None = Field(
        None,
        ge=1,
        description=(
            "Turns of the user, the last ones, that the agent works; the plan works those before,"
            " in the same way under each strategy. None: all."
        ),
    )
    no_references: Flag = Field(False, description="Do not add none and null to the strategies.")
    output: Whole | None = Field(
        None,
        ge=500,
        description=(
            "Characters of a tool's result that the agent is shown; None leaves it to the tools."
        ),
    )
    conversations: Flag = Field(
        False,
        description=(
            "Keep each trial's conversation in the folder `conversations`, as a session that the"
            " workbench reads; it has all that the agent was told."
        ),
    )
    steps: Whole = Field(
        400, ge=1, description="Answers of the agent after which a trial is stopped."
    )
    seconds: float = Field(
        600.0,
        gt=0,
        description="Seconds after which a trial is stopped, whatever its agent's commands do.",
    )
    no_sandbox: Flag = Field(
        False,
        description=(
            "Let a model's commands run as you, without bubblewrap: they may read and change every"
            " file that you may, and reach the network."
        ),
    )

    @property
    def is_reader(self) -> bool:
        """Whether the agent is the one without a model."""
        return self.agent == READER

    @property
    def presets(self) -> tuple[Preset, ...]:
        """What is tried: the strategies, between the references unless these are left out."""
        if self.no_references:
            return tuple(preset(strategy) for strategy in self.strategies)
        return with_references(self.strategies)

    @property
    def folder(self) -> Path:
        """Where trials are kept."""
        facts: dict[str, object] = {}
        for name, value in dict(self).items():
            is_usual = name in Masking.model_fields and not value
            if name not in Execution.model_fields and not is_usual:
                facts[name] = value
        strategies: list[object] = []
        for strategy in self.strategies:
            is_name = isinstance(strategy, str)
            strategies.append(strategy if is_name else described(strategy))
        facts["strategies"] = strategies
        facts["agent"] = model_name(self.agent)
        facts["writer"] = model_name(self.writer)
        return folder_of(self, "trial", facts)

    @property
    def how(self) -> ModelSettings:
        """How models are asked; limits count for the folder unless another run is named."""
        settings = ModelSettings.of_run(self.model_settings, self.folder)
        if settings.served:
            return settings
        models = [model for model in (self.agent, self.writer) if model != READER]
        return replace(settings, served=local_servers(models))


class TrialSettings(MaskingSettings, ExecutionSettings, total=False):
    """The fields of `TrialSpec` as a caller may give them."""

    agent: str | Model
    families: NameList
    seeds: int
    strategies: StrategyList
    writer: str | Model
    window: int | None
    share: float | str
    price_model: str
    turns: int | None
    no_references: bool
    output: int | None
    conversations: bool
    steps: int
    seconds: float
    no_sandbox: bool
