"""What a run is asked to do: one specification for Python, the command line, TOML files, forecasts
and manifests.

Each setting, its default and its description is written here once. Lists may also be text between
commas, so that the command line and a file are read as Python is. A wrong value is one sentence,
wherever it came from.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
)

from workbench.base.palette import REFERENCES
from workbench.engine.compaction.presets import preset
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models import recorded_name
from workbench.engine.models.model import Model
from workbench.engine.models.prices import given_tariff
from workbench.engine.models.settings import ModelSettings
from workbench.engine.transcript.personal_kinds import KINDS
from workbench.evaluation.experiment.checked_spec import Spec
from workbench.evaluation.experiment.spec_fields import (
    Flag,
    Read,
    Shares,
    Strategies,
    Whole,
    Window,
    empty_or,
    left_unmasked,
    listed,
    models_or_none,
    name_of_part,
    own_metrics,
    read_boundaries,
)
from workbench.evaluation.metrics.costs.pricing import known_tariff
from workbench.evaluation.metrics.metric import Metric
from workbench.evaluation.replays.boundaries import Boundaries

DEFAULT_STRATEGIES = ("none", "truncate", "summarize", "pipeline")
REFERENCE_STRATEGIES = ("none", "null")
DEFAULT_MODEL = "extractive"
"""Writes summaries where no model is named; in a comparison of bundled sessions alone it is
`bundled`.
"""


class Masking(Spec):
    """What is masked before anything is asked or written."""

    redact: Flag = Field(
        False, description="Mask secrets and personal data before anything is asked or written."
    )
    unmasked: Annotated[tuple[str, ...], BeforeValidator(listed), AfterValidator(left_unmasked)] = (
        Field(
            (),
            description=(
                f"Kinds of personal data that --redact leaves as they are: {', '.join(sorted(KINDS))}."
            ),
        )
    )

    @property
    def redaction(self) -> frozenset[str] | None:
        """The kinds of personal data that are masked beside secrets; None where nothing is."""
        return KINDS.difference(self.unmasked) if self.redact else None


class Priced(Spec):
    """What sessions are priced as."""

    price_model: Annotated[str, empty_or(known_tariff)] = Field(
        "", description="Price every session as this model; empty prices each as its own."
    )
    prices: Annotated[str, empty_or(given_tariff)] = Field(
        "",
        description=(
            "Your own prices, USD per million tokens:"
            " input=3,output=15,cache_read=0.3,cache_write=3.75."
        ),
    )


class Scope(Priced, Masking):
    """What a single run and a grid of runs have in common."""

    strategies: Strategies = Field(
        DEFAULT_STRATEGIES,
        description=(
            "Strategies: names, or presets of your own; settings may follow a name, "
            "as in claude_code:result_chars=2000."
        ),
    )
    shares: Shares = Field(
        (0.05, 0.1, 0.2, 0.3, 0.5),
        description=(
            "Budgets of the matched mode, as shares of the history between 0 and 1; `none` leaves"
            " that mode out."
        ),
    )
    boundaries: Annotated[Boundaries, Read(read_boundaries)] = Field(
        (0.35, 0.5, 0.65, 0.8),
        description=(
            "Where the matched mode compacts: shares or numbers of messages, `fill` (the history"
            " fills the window), or `recorded`."
        ),
    )
    limit: Whole | None = Field(None, ge=1, description="Replay at most this many sessions.")
    seed: Whole = Field(
        0, ge=0, description="Seed of everything random; another seed asks models again."
    )
    replicates: Whole = Field(
        1,
        ge=1,
        description=(
            "Repeat strategies whose model varies this often, with seeds counted up from the seed."
        ),
    )
    group_by: Literal["project", "folder", "session"] = Field(
        "project",
        description=(
            "Unit of intervals and tests: a session's project, its file's folder, or the session."
        ),
    )

    @property
    def names(self) -> tuple[str, ...]:
        """The strategies' names."""
        return tuple(name_of_part(strategy) for strategy in self.strategies)


class Execution(Spec):
    """How a run is done; its figures do not depend on it."""

    may_lie_in_store: ClassVar[bool] = True

    model_settings: ModelSettings | None = Field(
        None,
        description=(
            "Cache and limits under which models are asked; None takes the usual cache and no"
            " limits."
        ),
    )
    out: Path | None = Field(
        None, description="Folder of the run; None names one under reports/ after its settings."
    )
    jobs: Whole | None = Field(
        1,
        ge=1,
        description=(
            "Number of worker processes; None starts one per core, fewer where memory is short, none"
            " where recordings are small."
        ),
    )
    scheduler: str | None = Field(
        None, description="Address of a Dask scheduler; its workers must see the same files."
    )
    quiet: Flag = Field(
        False, description="Show neither a progress bar nor the figures; warnings stay."
    )


class RunSpec(Scope, Execution):
    """A run, without its sessions."""

    baseline: str = Field(
        "",
        description=(
            "Strategy that the others are compared with, cut to the sizes that they used; empty:"
            " truncate, or the first."
        ),
    )

    window: Window = Field(
        None, description="Context window in tokens; None takes each session's own."
    )
    model: Annotated[tuple[str | Model, ...], Read(models_or_none)] = Field(
        (),
        description=(
            "Model that writes summaries: bundled, extractive, litellm:NAME, local, command:LINE or"
            " folder:PATH; several are compared. None: extractive, or bundled where `compare` has"
            " bundled sessions only."
        ),
    )

    metrics: Annotated[tuple[Metric, ...], Read(own_metrics)] = Field(
        (),
        description="Metrics of your own, measured beside the others; see docs/own-metric.md.",
    )

    def with_default_model(self, name: str = DEFAULT_MODEL) -> Self:
        """The same with this model where none is named."""
        if self.model:
            return self
        return self.changed(model=name)

    def settings(self) -> dict[str, object]:
        """What the run's figures depend on, as plain JSON: part of its manifest and of its
        folder's name.
        """
        field_names = {
            "window",
            "shares",
            "boundaries",
            "seed",
            "redact",
            "price_model",
            "prices",
            "group_by",
            "baseline",
        }
        if self.unmasked:
            field_names.add("unmasked")
        plain = self.model_dump(mode="json", include=field_names)
        settings: dict[str, object] = {
            "strategies": list(self.names),
            **plain,
            "model": ",".join(map(model_name, self.model)),
        }
        if self.metrics:
            settings["metrics"] = [metric.name for metric in self.metrics]
        return settings


def chosen_baseline(named: str, strategies: Sequence[str]) -> str | None:
    """What the others are compared with: as named; else `truncate`, the plainest way; else the
    first of several.

    Where a strategy is in the run several times, once for each model or setting, the first of these
    counts.
    """
    contenders = [name for name in strategies if name not in REFERENCES]
    if not named and len(contenders) < 2:
        return None
    for candidate in (named, "truncate", *contenders):
        for name in strategies:
            is_candidate = name == candidate or name.startswith((f"{candidate} ", f"{candidate}:"))
            if candidate and is_candidate:
                return name
    return None


def model_name(model: str | Model) -> str:
    """The model's name, without secrets."""
    return recorded_name(model) if isinstance(model, str) else model.name


def with_references(strategies: Sequence[str | Preset]) -> tuple[Preset, ...]:
    """The presets of these strategies between the references `none` and `null`, each name once.

    Raises:
        UnknownName: a name is neither built in nor installed.
    """
    named = {name_of_part(strategy): strategy for strategy in strategies}
    inner = [strategy for name, strategy in named.items() if name not in REFERENCE_STRATEGIES]
    return tuple(map(preset, ("none", *inner, "null")))
