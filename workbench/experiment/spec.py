"""What a run is asked to do: one specification for Python, the command line, TOML files, forecasts and manifests.

Each setting, its default and its description stand here once. Lists may also be written as text between commas, so
that the command line and a file are read as Python is. A wrong value is one sentence, wherever it came from.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self, TypeAlias, TypedDict

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetCoreSchemaHandler, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from workbench.compaction.presets import preset
from workbench.compaction.strategy import Preset
from workbench.errors import SettingError
from workbench.experiment.refusal import refusal
from workbench.metrics.costs.pricing import known_tariff
from workbench.models.model import Model
from workbench.models.prices import given_tariff
from workbench.models.settings import ModelSettings, model_names
from workbench.replay.boundaries import Boundaries, checked

Models: TypeAlias = str | Model | Sequence[str | Model]
DEFAULT_STRATEGIES = ("none", "truncate", "summarize", "pipeline")
REFERENCE_STRATEGIES = ("none", "null")


@dataclass(frozen=True, slots=True)
class Read:
    """Reads a field with a function of ours, whatever its declared type: pydantic cannot know our protocols."""

    by: Callable[[Any], object]

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The function alone."""
        return core_schema.no_info_plain_validator_function(self.by)


def listed(value: object) -> object:
    """A list; text is split at its commas."""
    if isinstance(value, str):
        return tuple(word.strip() for word in value.split(",") if word.strip())
    return tuple(value) if isinstance(value, list) else value


def number(value: object) -> object:
    """A number; text such as `0.1` or `10%` is read."""
    try:
        if isinstance(value, str):
            return float(value[:-1]) / 100 if value.endswith("%") else float(value)
    except ValueError:
        pass  # said below
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PydanticCustomError("number", "it must be a number, such as 0.1 or 10%")
    return value


def share(value: object) -> object:
    """A number between 0 and 1."""
    found = number(value)
    if not isinstance(found, int | float) or not 0 < found < 1:
        raise PydanticCustomError("share", "it must be a share between 0 and 1")
    return found


def _boundaries(value: object) -> Boundaries:
    if isinstance(value, str) and value.strip().isalpha():
        return checked(value.strip())
    words = listed(value)
    if not isinstance(words, tuple) or not words:
        raise PydanticCustomError("boundaries", "it must be a list of shares or message numbers, `fill` or `recorded`")
    return checked(tuple(int(one) if isinstance(one, str) and one.isdigit() else number(one) for one in words))  # type: ignore[arg-type]  # numbers all


def _strategies(value: object) -> tuple[str | Preset, ...]:
    found = listed(value)
    if not isinstance(found, tuple) or not all(
        isinstance(one, Preset) or (one and isinstance(one, str)) for one in found
    ):
        raise PydanticCustomError("strategies", "it must be a list of names or presets")
    if not found:
        raise PydanticCustomError(
            "none", "it names no strategy; `workbench list strategies` shows those that are known"
        )
    return found


def _model(value: Any) -> Models:  # noqa: ANN401 - whatever was given
    models = value if isinstance(value, list | tuple) else (value,)
    if not models or not all(isinstance(one, str) or hasattr(one, "complete") for one in models):
        raise PydanticCustomError("model", "it must be the name of a model, or a model; see `workbench list models`")
    return value  # type: ignore[no-any-return]  # one of the three


def _priced(name: str) -> str:
    if name:
        known_tariff(name)
    return name


def _tariff(text: str) -> str:
    if text:
        given_tariff(text)
    return text


def _is_model_settings(value: object) -> object:
    if value is not None and not isinstance(value, ModelSettings):
        raise PydanticCustomError("model_settings", "it must be a wb.ModelSettings")
    return value


Share: TypeAlias = Annotated[float, BeforeValidator(share)]
Shares: TypeAlias = Annotated[tuple[Share, ...], BeforeValidator(listed)]
Strategies: TypeAlias = Annotated[tuple[str | Preset, ...], Read(_strategies)]
Whole: TypeAlias = Annotated[int, Field(strict=True)]
Flag: TypeAlias = Annotated[bool, Field(strict=True)]


class Spec(BaseModel):
    """Settings that were checked; a wrong one is a `SettingError` of one sentence."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, protected_namespaces=())

    def __init__(self, /, **settings: Any) -> None:  # noqa: ANN401 - each field checks its own
        try:
            super().__init__(**settings)
        except ValidationError as error:
            raise SettingError(refusal(error, type(self))) from None

    @classmethod
    def of(cls, spec: Self | None, settings: Mapping[str, Any]) -> Self:
        """The settings, as changes of a specification where there is one."""
        return cls(**settings) if spec is None else spec.changed(**settings)

    @classmethod
    def fields(cls) -> dict[str, FieldInfo]:
        """The settings in the order in which they are shown: first the kind's own."""
        every = cls.model_fields
        return {name: every[name] for name in (*cls.__annotations__, *every) if name in every}

    def changed(self, **settings: object) -> Self:
        """The same with other values for these settings."""
        return type(self)(**{**dict(self), **settings}) if settings else self


class Scope(Spec):
    """What a single run and a grid of runs have in common."""

    shares: Shares = Field(
        (0.1, 0.2, 0.3, 0.5),
        description="Budgets of the matched mode, as shares of the history between 0 and 1; none leave that mode out.",
    )
    boundaries: Annotated[Boundaries, Read(_boundaries)] = Field(
        (0.35, 0.5, 0.65, 0.8),
        description="Where the matched mode compacts: shares or numbers of messages, `fill` (the history fills the "
        "window), or `recorded`.",
    )
    limit: Whole | None = Field(None, ge=1, description="Replay at most this many sessions.")
    seed: Whole = Field(0, ge=0, description="Seed of everything random; another seed asks models again.")
    replicates: Whole = Field(
        1, ge=1, description="Repeat strategies whose model varies this often, with seeds counted up from the seed."
    )
    redact: Flag = Field(
        False, description="Mask secrets, e-mail addresses and home directories before anything is asked or written."
    )
    price_model: Annotated[str, BeforeValidator(_priced)] = Field(
        "", description="Price every session as this model; empty prices each as its own."
    )
    prices: Annotated[str, BeforeValidator(_tariff)] = Field(
        "", description="Your own prices, USD per million tokens: input=3,output=15,cache_read=0.3,cache_write=3.75."
    )


class Execution(Spec):
    """How a run is done; its figures do not depend on it."""

    model_settings: Annotated[ModelSettings | None, Read(_is_model_settings)] = Field(
        None, description="Cache and limits under which models are asked; None takes the usual cache and no limits."
    )
    out: Path | None = Field(None, description="Folder of the run; None names one under reports/ after its settings.")
    jobs: Whole | None = Field(1, ge=1, description="Number of worker processes; None starts one per core.")
    scheduler: str | None = Field(None, description="Address of a Dask scheduler; its workers must see the same files.")
    quiet: Flag = Field(False, description="Show no progress bar.")


class RunSpec(Scope, Execution):
    """A run, without its sessions."""

    strategies: Strategies = Field(
        DEFAULT_STRATEGIES, description="Strategies to compare: names, or presets of your own."
    )
    window: Whole | None = Field(None, ge=1000, description="Context window in tokens; None takes each session's own.")
    model: Annotated[Models, Read(_model)] = Field(
        "extractive",
        description="Model that writes summaries: extractive, litellm:NAME or local; several are compared.",
    )

    @property
    def names(self) -> tuple[str, ...]:
        """The strategies' names."""
        return tuple(one if isinstance(one, str) else one.name for one in self.strategies)

    @property
    def models(self) -> tuple[str | Model, ...]:
        """The models, each once."""
        if isinstance(self.model, str):
            return model_names(self.model)
        every = self.model if isinstance(self.model, Sequence) else (self.model,)
        return tuple({model_name(one): one for one in every}.values())

    def presets(self) -> tuple[Preset, ...]:
        """The strategies with the references: `none` first, `null` last.

        Raises:
            UnknownName: a name is neither built in nor installed.
        """
        return with_references(self.strategies)

    def settings(self) -> dict[str, object]:
        """What the run's figures depend on, as plain JSON: part of its manifest and of its folder's name."""
        kept = ("window", "shares", "boundaries", "seed", "redact", "price_model", "prices")
        found = {name: getattr(self, name) for name in kept}
        plain: dict[str, object] = json.loads(json.dumps(found))
        return {"strategies": list(self.names), **plain, "model": ",".join(map(model_name, self.models))}


class ExecutionSettings(TypedDict, total=False):
    """The fields of `Execution` as keyword arguments, for type checkers and editors."""

    model_settings: ModelSettings | None
    out: str | Path | None
    jobs: int | None
    scheduler: str | None
    quiet: bool


class RunSettings(ExecutionSettings, total=False):
    """The fields of `RunSpec` as keyword arguments, for type checkers and editors."""

    strategies: str | Sequence[str | Preset]
    window: int | None
    model: Models
    shares: str | Sequence[float]
    boundaries: str | Sequence[float]
    limit: int | None
    seed: int
    replicates: int
    redact: bool
    price_model: str
    prices: str


def model_name(model: str | Model) -> str:
    """The model's name."""
    return model if isinstance(model, str) else model.name


def with_references(strategies: Sequence[str | Preset]) -> tuple[Preset, ...]:
    """The presets of these strategies between the references `none` and `null`; of equal names the last counts.

    Raises:
        UnknownName: a name is neither built in nor installed.
    """
    named = {one if isinstance(one, str) else one.name: one for one in strategies}
    inner = [one for name, one in named.items() if name not in REFERENCE_STRATEGIES]
    return tuple(preset(one) if isinstance(one, str) else one for one in ("none", *inner, "null"))
