"""The settings of a preset, by their paths and by their names.

A setting is named by its path: `trigger.threshold`, `summarize.prompt.result_chars`; or by the name
that its system's document gives to it: `compact_at`, `StuckThreshold`. The end of a path is enough
where it names one thing.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import Field, dataclass, fields, is_dataclass
from types import NoneType
from typing import Any, NamedTuple, get_type_hints

from workbench.base.markup import attribute_sentence
from workbench.engine.compaction.plan import Stage
from workbench.engine.compaction.setting_names import ALSO, DOCUMENTED
from workbench.engine.compaction.strategy import Preset, Strategy

PIPELINE = "compaction_pipeline"
"""The setting that names the stages of a preset in their order."""
_PLAIN_TYPES = (str, int, float, bool, tuple, frozenset, NoneType)


class Setting(NamedTuple):
    """One setting of a preset.

    Attributes:
        path: where it stands.
        owner: the type that declares it.
        field: its name there.
        value: as it is set.
        documented: the name that its system's document gives to it; empty where it is the same.
        also: the name that other presets give to it, likewise.
    """

    path: str
    owner: type
    field: str
    value: object
    documented: str = ""
    also: str = ""

    def is_called(self, name: str) -> bool:
        """Whether it has that name, or a path that ends so."""
        if name in (self.documented, self.also):
            return True
        return self.path.endswith(f".{name}") or self._is_named_by_its_stage(name)

    def _is_named_by_its_stage(self, name: str) -> bool:
        """Whether it has that path with parts between the stage and the last name left out.

        So a path goes on naming its setting when a stage's fields move into a part of it.
        """
        named_parts = name.split(".")
        path_parts = self.path.split(".")
        if len(named_parts) < 2 or named_parts[0] != path_parts[0]:
            return False
        if named_parts[-1] != path_parts[-1]:
            return False
        return set(named_parts) <= set(path_parts)

    @property
    def meaning(self) -> str:
        """What its type says of it, or one that this inherits from; empty where none does."""
        sentences = [attribute_sentence(kind.__doc__, self.field) for kind in self.owner.__mro__]
        return next(filter(None, sentences), "")

    @property
    def hint(self) -> Any:  # noqa: ANN401 - a type in any form
        """Its declared type."""
        try:
            return get_type_hints(self.owner)[self.field]
        except (NameError, KeyError):
            return type(self.value)


@dataclass(frozen=True, slots=True)
class Fixed:
    """Settings that a preset reads when it runs, held at one value."""

    value: object

    def __call__(self) -> object:
        """The value."""
        return self.value


def settings(preset: Preset) -> dict[str, Setting]:
    """All settings of a preset by their paths: of its trigger, its stages by their names, its
    host, and its stages.
    """
    all_settings = list(_settings(preset.trigger, "trigger"))
    for name, stage in _all_stages(preset).items():
        all_settings += _settings(stage, name)
    for setting in _settings(preset.host, "host"):
        if setting.documented and _has_effect(preset, setting):
            all_settings.append(setting)
    stages = (*preset.strategy.stages, *preset.strategy.view)
    stage_names = tuple([stage.name for stage in stages])
    all_settings.append(Setting(PIPELINE, Strategy, "stages", stage_names))
    return {setting.path: setting for setting in all_settings}


def short_names(preset: Preset) -> dict[str, str]:
    """By each setting's path the shortest name that is enough, documented ones first."""
    all_settings = settings(preset)
    names: dict[str, str] = {}
    for path, setting in all_settings.items():
        last_name = path.rpartition(".")[2]
        if setting.documented:
            names[path] = setting.documented
        elif same_setting(_called(all_settings.values(), last_name), last_name):
            names[path] = last_name
        else:
            names[path] = path
    return names


def _called(all_settings: Iterable[Setting], name: str) -> list[Setting]:
    """The settings that have this name, or a path that ends so."""
    return [setting for setting in all_settings if setting.is_called(name)]


def same_setting(settings: Sequence[Setting], name: str) -> bool:
    """Whether these are the same setting: the same field, or documented by that name."""
    fields_of = {(setting.owner, setting.field) for setting in settings}
    if len(fields_of) == 1:
        return True
    return any(setting.documented == name for setting in settings)


def _settings(
    part: object,
    path: str,
    owner: type = object,
    field: Field[Any] | None = None,
) -> Iterator[Setting]:
    """The settings of a part, and of the parts in it."""
    inner = settings_of(part)
    if is_dataclass(inner) and not isinstance(inner, type):
        for inner_field in fields(inner):
            if inner_field.init:
                value = getattr(inner, inner_field.name)
                yield from _settings(value, f"{path}.{inner_field.name}", type(inner), inner_field)
    elif field is not None and isinstance(inner, _PLAIN_TYPES):
        yield Setting(
            path=path,
            owner=owner,
            field=field.name,
            value=part,
            documented=field.metadata.get(DOCUMENTED, ""),
            also=field.metadata.get(ALSO, ""),
        )


def settings_of(value: object) -> object:
    """The settings that a source of settings returns; any other value unchanged."""
    if isinstance(value, Fixed) or (isinstance(value, type) and is_dataclass(value)):
        return value()
    return value


def _all_stages(preset: Preset) -> dict[str, Stage]:
    """By name the stages that run, those that may, and those that run after an overflow alone."""
    stages: dict[str, Stage] = {}
    for strategy in (preset.strategy, preset.parts, preset.overflow):
        if strategy is not None:
            for stage in (*strategy.stages, *strategy.view):
                stages.setdefault(stage.name, stage)
    return stages


def _has_effect(preset: Preset, setting: Setting) -> bool:
    """Whether a setting of the host changes anything."""
    return setting.field != "stuck_after" or "stuck" in preset.host.endings
