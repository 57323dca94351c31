"""How a setting is read: a list, a number, models, boundaries, metrics; and the types of fields."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    ValidationInfo,
)
from pydantic_core import CoreSchema, core_schema

from workbench.base.formats import joined
from workbench.base.typed_value import LEAST_WINDOW
from workbench.engine.compaction.presets import preset
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models import shown_name
from workbench.engine.models.model import Model
from workbench.engine.models.settings import model_names
from workbench.engine.transcript.personal_kinds import KINDS
from workbench.evaluation.metrics.metric import Better, Metric, Unit
from workbench.evaluation.replays.boundaries import Boundaries, checked

METRIC_PARTS = ("name", "unit", "better", "score")
"""What a metric of the caller's own must have."""


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
    if isinstance(value, list):
        return tuple(value)
    if not isinstance(value, str):
        return value
    words: list[str] = []
    for word in value.split(","):
        stripped_word = word.strip()
        if stripped_word:
            words.append(stripped_word)
    return tuple(words)


def number(value: object) -> float:
    """A number; text such as `0.1` or `10%` is read."""
    text = str(value)
    try:
        if text.endswith("%"):
            return float(text[:-1]) / 100
        return float(text)
    except ValueError:
        raise ValueError("it must be a number, such as 0.1 or 10%") from None


def one_model(value: Any) -> Any:  # noqa: ANN401 - a name or a model
    """The name of a model, or a model."""
    is_model = isinstance(value, str) or hasattr(value, "complete")
    if not value or not is_model:
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
        name = name_of_part(model)
        models[name] = model
    folders = [shown_name(name) for name in models if name.startswith("folder:")]
    if len(set(folders)) < len(folders):
        raise ValueError(
            "two of its folders have the same name, which is all that reports show; rename one"
        )
    return tuple(models.values())


def name_of_part(part: Any) -> str:  # noqa: ANN401 - a model or a preset, or its name
    """The name of a model or a preset, which may be given by its name alone."""
    return part if isinstance(part, str) else part.name


def models_or_none(value: Any) -> tuple[str | Model, ...]:  # noqa: ANN401 - whatever was given
    """As `several_models`; nothing where none is named."""
    if value in ("", (), []):
        return ()
    return several_models(value)


def read_boundaries(value: object) -> Boundaries:
    """Shares or numbers of messages, or one of the words for boundaries."""
    if isinstance(value, str):
        word = value.strip()
        if word.isalpha():
            return checked(word)
    words = listed(value)
    if not isinstance(words, tuple) or not words:
        raise ValueError("it must be a list of shares or message numbers, `fill` or `recorded`")
    boundaries: list[int | float] = []
    for word in words:
        is_message_number = str(word).isdigit()
        boundaries.append(int(word) if is_message_number else number(word))
    return checked(tuple(boundaries))


def _strategies(value: object) -> tuple[str | Preset, ...]:
    problem = "it must be a list of names or presets"
    strategies = listed(value)
    if not isinstance(strategies, tuple):
        raise ValueError(problem)
    for strategy in strategies:
        if not isinstance(strategy, Preset | str) or not strategy:
            raise ValueError(problem)
    if not strategies:
        raise ValueError(
            "it names no strategy; `workbench list strategies` shows those that are known"
        )
    _check_names(strategies)
    return strategies


def _check_names(strategies: Sequence[str | Preset]) -> None:
    """A table has one row a name, so two strategies of one name would be one.

    Raises:
        ValueError: a name has two strategies, or is a reference's.
    """
    advice = "another name would be accepted: `dataclasses.replace(mine, name='mine_2')`"
    strategies_by_name: dict[str, str | Preset] = {}
    for strategy in strategies:
        name = name_of_part(strategy)
        if isinstance(strategy, Preset) and name in ("oracle", "random"):
            raise ValueError(f"{name} is the name of a reference; {advice}")
        shipped = name if name in ("none", "null") else strategy
        namesake = strategies_by_name.setdefault(name, shipped)
        if strategy != namesake and preset(strategy) != preset(namesake):
            raise ValueError(f"two strategies are named {name}; {advice}")


def own_metrics(value: Any) -> tuple[Metric, ...]:  # noqa: ANN401 - whatever was given
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


def empty_or(check: Callable[[str], object]) -> AfterValidator:
    """Text that passes this check, unless it is empty."""
    return AfterValidator(lambda text: text and check(text) and text)


def left_unmasked(kinds: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    """Kinds of personal data that masking leaves as they are."""
    for kind in sorted(kinds):
        if kind not in KINDS:
            raise ValueError(f"there is no kind {kind!r}; there are {', '.join(sorted(KINDS))}")
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
Window: TypeAlias = Annotated[int, Field(strict=True, ge=LEAST_WINDOW)] | None
Flag: TypeAlias = Annotated[bool, Field(strict=True)]
