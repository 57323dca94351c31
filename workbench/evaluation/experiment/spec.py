"""What a run is asked to do: one specification for Python, the command line, TOML files, forecasts
and manifests.

Each setting, its default and its description is written here once. Lists may also be text between
commas, so that the command line and a file are read as Python is. A wrong value is one sentence,
wherever it came from.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, core_schema

from workbench.base.errors import SettingError, refusal
from workbench.base.formats import joined
from workbench.base.palette import REFERENCES
from workbench.base.remote import address_of, name_of
from workbench.engine.compaction.presets import preset
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models import recorded_name, shown_name
from workbench.engine.models.model import Model
from workbench.engine.models.prices import given_tariff
from workbench.engine.models.settings import ModelSettings, model_names
from workbench.engine.transcript.personal_kinds import KINDS
from workbench.evaluation.metrics.costs.pricing import known_tariff
from workbench.evaluation.metrics.metric import Better, Metric, Unit
from workbench.evaluation.replays.boundaries import Boundaries, checked

Function = TypeVar("Function", bound=Callable[..., object])
DEFAULT_STRATEGIES = ("none", "truncate", "summarize", "pipeline")
METRIC_PARTS = ("name", "unit", "better", "score")
"""What a metric of the caller's own must have."""
REFERENCE_STRATEGIES = ("none", "null")
DEFAULT_MODEL = "extractive"
"""Writes summaries where no model is named; in a comparison of bundled sessions alone it is
`bundled`.
"""


@dataclass(frozen=True, slots=True)
class Read:
    """Reads a field with a function, whatever its declared type: pydantic cannot build a schema
    of our protocols.
    """

    by: Callable[[Any], object]

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """The function alone."""
        return core_schema.no_info_plain_validator_function(self.by)


def listed(value: Any) -> Any:  # noqa: ANN401 - a field checks it
    """A list; text is split at its commas."""
    if isinstance(value, str):
        return tuple(word.strip() for word in value.split(",") if word.strip())
    return tuple(value) if isinstance(value, list) else value


def number(value: object) -> float:
    """A number; text such as `0.1` or `10%` is read."""
    text = str(value)
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise ValueError("it must be a number, such as 0.1 or 10%") from None


def one_model(value: Any) -> Any:  # noqa: ANN401 - a name or a model
    """The name of a model, or a model."""
    if not value or (not isinstance(value, str) and not hasattr(value, "complete")):
        raise ValueError("it must be the name of a model, or a model; see `workbench list models`")
    return value


def model_or_none(value: Any) -> Any:  # noqa: ANN401 - a name or a model
    """As `one_model`; empty text where none is named."""
    if value in ("", None):
        return ""
    return one_model(value)


def several_models(value: Any) -> tuple[str | Model, ...]:  # noqa: ANN401 - whatever was given
    """Models, or their names between commas; each once."""
    several: list[Any] = [value]
    if isinstance(value, str):
        several = list(model_names(value))
    elif isinstance(value, list | tuple):
        several = list(value)
    models: dict[str, str | Model] = {}
    for part in several or [None]:
        model = one_model(part)
        models[_name_of(model)] = model
    folders = [shown_name(name) for name in models if name.startswith("folder:")]
    if len(set(folders)) < len(folders):
        raise ValueError(
            "two of its folders have the same name, which is all that reports show; rename one"
        )
    return tuple(models.values())


def _name_of(part: Any) -> str:  # noqa: ANN401 - a model or a preset, or its name
    return part if isinstance(part, str) else part.name


def models_or_none(value: Any) -> tuple[str | Model, ...]:  # noqa: ANN401 - whatever was given
    """As `several_models`; nothing where none is named."""
    if value in ("", (), []):
        return ()
    return several_models(value)


def read_boundaries(value: object) -> Boundaries:
    """Shares or numbers of messages, or one of the words for boundaries."""
    if isinstance(value, str) and value.strip().isalpha():
        return checked(value.strip())
    words = listed(value)
    if not isinstance(words, tuple) or not words:
        raise ValueError("it must be a list of shares or message numbers, `fill` or `recorded`")
    return checked(tuple(int(word) if str(word).isdigit() else number(word) for word in words))


def _strategies(value: object) -> tuple[str | Preset, ...]:
    strategies = listed(value)
    if not isinstance(strategies, tuple) or not all(
        isinstance(strategy, Preset | str) and strategy for strategy in strategies
    ):
        raise ValueError("it must be a list of names or presets")
    if not strategies:
        raise ValueError(
            "it names no strategy; `workbench list strategies` shows those that are known"
        )
    return strategies


def _own_metrics(value: Any) -> tuple[Metric, ...]:  # noqa: ANN401 - whatever was given
    """Metrics of the caller's own; a class among them is made without arguments."""
    from workbench.evaluation.metrics.builtin import BUILTIN, installed

    if not isinstance(value, list | tuple):
        raise ValueError("it must be a list of metrics; docs/own-metric.md shows one")
    names = set(BUILTIN)
    for metric in installed():
        names.add(metric.name)
    metrics: list[Metric] = []
    for metric in value:
        if isinstance(metric, type):
            metric = metric()
        for part in METRIC_PARTS:
            if not hasattr(metric, part):
                raise ValueError(f"a metric has {joined(METRIC_PARTS)}; one of these lacks {part}")
        if metric.unit not in get_args(Unit) or metric.better not in get_args(Better):
            raise ValueError(
                f"the unit of {metric.name} is one of {', '.join(get_args(Unit))}, and better is"
                " higher or lower"
            )
        if metric.name in names:
            raise ValueError(f"there is another metric of the name {metric.name}")
        names.add(metric.name)
        metrics.append(metric)
    return tuple(metrics)


def _empty_or(check: Callable[[str], object]) -> AfterValidator:
    """Text that passes this check, unless it is empty."""
    return AfterValidator(lambda text: text and check(text) and text)


def _left_unmasked(kinds: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    if unknown := sorted(set(kinds) - KINDS):
        raise ValueError(f"there is no kind {unknown[0]!r}; there are {', '.join(sorted(KINDS))}")
    if kinds and not info.data.get("redact"):
        raise ValueError("it says what redaction leaves; set `redact` as well")
    return kinds


def _shares(value: object) -> object:
    """Shares as a list; the word `none` is an empty one."""
    if isinstance(value, str) and value.strip() == "none":
        return ()
    return listed(value)


Share: TypeAlias = Annotated[float, BeforeValidator(number), Field(gt=0, lt=1)]
Shares: TypeAlias = Annotated[tuple[Share, ...], BeforeValidator(_shares)]
Strategies: TypeAlias = Annotated[tuple[str | Preset, ...], Read(_strategies)]
OneModel: TypeAlias = Annotated[str | Model, Read(one_model)]
ModelOrNone: TypeAlias = Annotated[str | Model, Read(model_or_none)]
Whole: TypeAlias = Annotated[int, Field(strict=True)]
Window: TypeAlias = Annotated[int, Field(strict=True, ge=1000)] | None
Flag: TypeAlias = Annotated[bool, Field(strict=True)]


class Spec(BaseModel):
    """Settings that were checked; a wrong one is a `SettingError` of one sentence."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", arbitrary_types_allowed=True, protected_namespaces=()
    )
    may_lie_in_store: ClassVar[bool] = False
    """Whether the folder `out` may be an address."""

    @field_validator("out", check_fields=False)
    @classmethod
    def _checked_out(cls, out: Path | None) -> Path | None:
        """A folder, `file:///tmp/a` as its path."""
        if out is None:
            return None
        if address_of(out) and not cls.may_lie_in_store:
            raise ValueError(
                f"{address_of(out)} lies in a store, where only `compare` and `sweep` write; a"
                " folder of this machine would be accepted"
            )
        return Path(name_of(out))

    def __init__(self, /, **settings: Any) -> None:  # noqa: ANN401 - each field checks its own
        try:
            super().__init__(**settings)
        except ValidationError as error:
            raise SettingError(self._sentence(error)) from None

    @classmethod
    def of(cls, spec: Self | None, settings: Mapping[str, object]) -> Self:
        """The settings, as changes of a specification where there is one."""
        return cls(**settings) if spec is None else spec.changed(**settings)

    @classmethod
    def fields(cls) -> dict[str, FieldInfo]:
        """The settings in the order in which they are shown: those of the class, then those of
        its bases.
        """
        order = [name for base in cls.__mro__ for name in getattr(base, "__annotations__", ())]
        return {name: cls.model_fields[name] for name in order if name in cls.model_fields}

    def changed(self, **settings: object) -> Self:
        """The same with other values for these settings."""
        return type(self)(**{**dict(self), **settings}) if settings else self

    @classmethod
    def _sentence(cls, error: ValidationError) -> str:
        """What is wrong with the first wrong setting, and what would be accepted."""
        first_error = error.errors(include_url=False)[0]
        name, *inside = first_error["loc"]
        if first_error["type"] == "extra_forbidden":
            return f"there is no setting `{name}`; there are {', '.join(cls.model_fields)}"
        if first_error["type"] == "missing":
            return f"`{name}` is missing; {cls.model_fields[str(name)].description}"
        return f"`{name}` {'holds' if inside else 'is'} {first_error['input']!r}; {refusal(first_error)}"


class Masking(Spec):
    """What is masked before anything is asked or written."""

    redact: Flag = Field(
        False, description="Mask secrets and personal data before anything is asked or written."
    )
    unmasked: Annotated[
        tuple[str, ...], BeforeValidator(listed), AfterValidator(_left_unmasked)
    ] = Field(
        (),
        description=(
            f"Kinds of personal data that --redact leaves as they are: {', '.join(sorted(KINDS))}."
        ),
    )

    @property
    def redaction(self) -> frozenset[str] | None:
        """The kinds of personal data that are masked beside secrets; None where nothing is."""
        return KINDS.difference(self.unmasked) if self.redact else None


class Priced(Spec):
    """What sessions are priced as."""

    price_model: Annotated[str, _empty_or(known_tariff)] = Field(
        "", description="Price every session as this model; empty prices each as its own."
    )
    prices: Annotated[str, _empty_or(given_tariff)] = Field(
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
        return tuple(_name_of(strategy) for strategy in self.strategies)


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
            "Number of worker processes; None starts one per core, fewer where memory is short."
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

    metrics: Annotated[tuple[Metric, ...], Read(_own_metrics)] = Field(
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
    """The presets of these strategies between the references `none` and `null`; of equal names the
    last counts.

    Raises:
        UnknownName: a name is neither built in nor installed.
    """
    named = {_name_of(strategy): strategy for strategy in strategies}
    inner = [strategy for name, strategy in named.items() if name not in REFERENCE_STRATEGIES]
    return tuple(map(preset, ("none", *inner, "null")))


def documented(kind: type[Spec]) -> Callable[[Function], Function]:
    """A decorator: the fields of `kind` replace `**settings` in the signature and documentation
    of a function.
    """

    def decorate(function: Function) -> Function:
        function_signature = signature(function)
        plain_parameters = [
            parameter
            for parameter in function_signature.parameters.values()
            if parameter.kind is not Parameter.VAR_KEYWORD
        ]
        fields = [
            Parameter(
                name,
                Parameter.KEYWORD_ONLY,
                default=Parameter.empty if field.is_required() else field.default,
            )
            for name, field in kind.fields().items()
        ]
        words = "".join(
            f"    {name}: {field.description}\n" for name, field in kind.fields().items()
        )
        function.__signature__ = function_signature.replace(parameters=[*plain_parameters, *fields])  # type: ignore[attr-defined]  # inspect reads it
        function.__doc__ = f"{function.__doc__ or ''}\n\nSettings:\n{words}"
        return function

    return decorate
