"""The settings of presets by name, and a preset with other settings.

A setting is named by its path: `trigger.threshold`, `summarize.prompt.result_chars`; or by the name
that its system's document gives to it: `compact_at`, `StuckThreshold`. The end of a path is enough
where it names one thing. As text they stand behind the preset's name:
`claude_code:result_chars=2000:argument_chars=400`, and lists with a `+` between their values:
`ex_athena:compaction_pipeline=budget_reduction+summary`.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, fields, is_dataclass, replace
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import (
    Any,
    Literal,
    NamedTuple,
    TypeAlias,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from workbench.base.errors import SettingError, WorkbenchError
from workbench.base.typed_value import typed_value
from workbench.engine.compaction.plan import Stage
from workbench.engine.compaction.strategy import ALSO, DOCUMENTED, Preset, Strategy

Plain: TypeAlias = str | int | float | bool | list[str]
"""What a file can say of a setting."""
Value: TypeAlias = Plain | Sequence[str | Stage] | None
"""What Python can say of one: also stages of your own in `compaction_pipeline`."""
PIPELINE = "compaction_pipeline"
"""The setting that names the stages of a preset in their order."""
_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


WORDS: Mapping[object, str] = {
    int: "whole number",
    float: "number",
    bool: "true or false",
    str: "text",
    tuple: "list",
    frozenset: "list",
    NoneType: "none",
}
"""What a setting of each type may be."""
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
        return self.path.endswith(f".{name}")


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
        elif _is_one(_called(all_settings.values(), last_name), last_name):
            names[path] = last_name
        else:
            names[path] = path
    return names


def _called(all_settings: Iterable[Setting], name: str) -> list[Setting]:
    """The settings that have this name, or a path that ends so."""
    return [setting for setting in all_settings if setting.is_called(name)]


def variant(preset: Preset, changes: Mapping[str, Value], name: str) -> Preset:
    """The preset under another name with these settings.

    Args:
        preset: any.
        changes: new values by path or by documented name. The end of a path is enough where all
            settings that end in it are the same field of the same type; the value then goes to all
            of them.
        name: shown in reports.

    Raises:
        SettingError: no such setting, several that differ, or a value of another type.
    """
    changed = preset
    for setting_name, value in changes.items():
        for setting in _settings_named(preset, setting_name):
            try:
                changed = _changed(changed, setting, value)
            except (ValueError, WorkbenchError) as error:
                short_name = short_names(preset)[setting.path]
                raise SettingError(
                    f"{preset.name} cannot have {short_name} = {value!r:.80}: {error}"
                ) from None
    strategy = replace(changed.strategy, name=name)
    return replace(changed, name=name, strategy=strategy)


def as_text(changes: Mapping[str, Value]) -> str:
    """Settings as they stand behind a preset's name."""
    return "".join(f":{name}={_text_of(value)}" for name, value in changes.items())


def _text_of(value: object) -> str:
    """A value as the command line would say it."""
    if value is None:
        return "none"
    if isinstance(value, str):
        return value
    if isinstance(value, tuple | list):
        return "+".join([_stage_name(item) for item in value])
    if isinstance(value, frozenset):
        return "+".join(sorted(map(str, value)))
    return json.dumps(value)


def _stage_name(item: str | Stage) -> str:
    return item if isinstance(item, str) else item.name


def shown_value(setting: Setting) -> str:
    """A setting's value as a file or the command line would say it."""
    return _text_of(setting.value)


def accepted(setting: Setting) -> str:
    """What a setting may be, in words; empty where a file cannot say it."""
    all_words = dict.fromkeys(_words(_hint(setting)))
    words = [word for word in all_words if word]
    if not words or words == [WORDS[NoneType]]:
        return ""
    return " or ".join(words)


def _words(hint: object) -> Iterator[str]:
    """In words what a type is; empty where a file cannot say it."""
    if get_origin(hint) in (Union, UnionType):
        for part in get_args(hint):
            yield from _words(part)
    elif get_origin(hint) is Literal:
        for word in get_args(hint):
            if word:
                yield f"`{word}`"
    else:
        yield WORDS.get(get_origin(hint) or hint, "")


def read_changes(text: str) -> dict[str, Plain]:
    """The settings in `name=value:name=value`; numbers and `true` or `false` are read, other values
    stay text.

    Raises:
        SettingError: a part has another form.
    """
    changes: dict[str, Plain] = {}
    for part in text.split(":"):
        name, equals, value = part.partition("=")
        if not (name and equals and value):
            raise SettingError(
                f"the setting {part!r:.80} must have the form NAME=VALUE, such as result_chars=2000"
            )
        changes[name] = _plain(value)
    return changes


def _plain(text: str) -> Plain:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, int | float | bool) else text


def _settings(
    part: object,
    path: str,
    owner: type = object,
    field: Field[Any] | None = None,
) -> Iterator[Setting]:
    """The settings of a part, and of the parts in it."""
    inner = _read(part)
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


def _read(value: object) -> object:
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


def _is_one(settings: Sequence[Setting], name: str) -> bool:
    """Whether these are the same setting: the same field, or documented by that name."""
    fields_of = {(setting.owner, setting.field) for setting in settings}
    if len(fields_of) == 1:
        return True
    return any(setting.documented == name for setting in settings)


def _settings_named(preset: Preset, setting_name: str) -> list[Setting]:
    """The settings that a user means by a name: one, or several that are the same.

    Raises:
        SettingError: there is none, or there are several that differ.
    """
    all_settings = settings(preset)
    if setting_name in all_settings:
        return [all_settings[setting_name]]
    # as languages write it whose names have capitals inside
    name = _INNER_CAPITAL.sub("_", setting_name).lower()
    matches: list[Setting] = []
    for setting in all_settings.values():
        if setting.is_called(setting_name) or setting.is_called(name):
            matches.append(setting)
    if not matches:
        raise SettingError(_unknown(preset, setting_name, name))
    if not _is_one(matches, name):
        paths = ", ".join([setting.path for setting in matches])
        raise SettingError(f"{preset.name} has several settings {setting_name!r}: {paths}")
    return matches


def _unknown(preset: Preset, setting_name: str, name: str) -> str:
    """What to say where a preset has no such setting."""
    names = short_names(preset)
    candidates = dict.fromkeys([*names.values(), *names])
    nearest = get_close_matches(name, candidates, n=1, cutoff=0.5)
    hint = f"`workbench list strategies {preset.name.partition(':')[0]}` shows all"
    if nearest:
        hint = f"the nearest is {nearest[0]!r}, and {hint}"
    return f"{preset.name} has no setting {setting_name!r}; {hint}"


def _changed(preset: Preset, setting: Setting, value: Value) -> Preset:
    if setting.path == PIPELINE:
        return _with_pipeline(preset, value)
    return _with(preset, setting.path, _typed(setting, value))


def _with_pipeline(preset: Preset, value: Value) -> Preset:
    """The preset with these stages in this order; those of its view stay in the view.

    Raises:
        SettingError: a name that is none of its stages, or no stage at all.
    """
    parts = preset.parts or preset.strategy
    by_name = {stage.name: stage for stage in (*parts.stages, *parts.view)}
    items = value.split("+") if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or not items:
        raise SettingError(f"it must be a list of at least one stage, of {', '.join(by_name)}")
    view_names = {stage.name for stage in parts.view}
    stages: list[Stage] = []
    view: list[Stage] = []
    for item in items:
        stage = _stage(item, by_name)
        if stage.name in view_names:
            view.append(stage)
        else:
            stages.append(stage)
    overflow = preset.overflow
    if overflow is not None:
        usual_names = set(by_name)
        for stage in preset.strategy.stages:
            usual_names.add(stage.name)
        extra = [stage for stage in overflow.stages if stage.name not in usual_names]
        overflow = replace(
            overflow,
            stages=(*extra, *stages),
            view=tuple(view),
        )
    strategy = replace(
        preset.strategy,
        stages=tuple(stages),
        view=tuple(view),
    )
    return replace(
        preset,
        strategy=strategy,
        overflow=overflow,
        parts=parts,
    )


def _stage(item: object, by_name: Mapping[str, Stage]) -> Stage:
    """A stage by its name, or a stage of the user's own."""
    if isinstance(item, str):
        if item in by_name:
            return by_name[item]
    elif callable(getattr(item, "plan", None)) and hasattr(item, "name"):
        return item  # type: ignore[return-value]  # has what a stage has
    nearest = get_close_matches(str(item), by_name, n=1) or by_name
    raise SettingError(f"it has no stage {item!r:.80}; {', '.join(nearest)} would be accepted")


def _with(preset: Preset, path: str, value: object) -> Preset:
    """The preset with another value, after an overflow too."""
    part, *inner_path = path.split(".")
    if part == "trigger":
        return replace(preset, trigger=_replaced(preset.trigger, inner_path, value))
    if part == "host":
        return replace(preset, host=_replaced(preset.host, inner_path, value))
    changed = replace(
        preset,
        strategy=_with_stage(preset.strategy, part, inner_path, value),
    )
    if preset.overflow is not None:
        overflow = _with_stage(preset.overflow, part, inner_path, value)
        changed = replace(changed, overflow=overflow)
    if preset.parts is not None:
        changed = replace(
            changed,
            parts=_with_stage(preset.parts, part, inner_path, value),
        )
    return changed


def _with_stage(
    strategy: Strategy,
    name: str,
    path: list[str],
    value: object,
) -> Strategy:
    """The strategy with another value in its stages of that name."""

    def changed(stage: Stage) -> Stage:
        if stage.name != name:
            return stage
        return cast("Stage", _replaced(stage, path, value))

    return replace(
        strategy,
        stages=tuple(map(changed, strategy.stages)),
        view=tuple(map(changed, strategy.view)),
    )


def _replaced(part: Any, path: list[str], value: object) -> Any:  # noqa: ANN401 - any dataclass, and the same back
    """The part with another value at this path inside it."""
    if not path:
        return value
    name, *inner_path = path
    inner = getattr(part, name)
    settings_of_inner = _read(inner)
    new_inner = _replaced(settings_of_inner, inner_path, value)
    if settings_of_inner is not inner:
        new_inner = Fixed(new_inner)
    return replace(part, **{name: new_inner})


def _typed(setting: Setting, value: Value) -> object:
    """The value as the setting's type; a file has lists for tuples, `a+b` for lists, and `none`
    for nothing.
    """
    hint = _hint(setting)
    if value == "none" and NoneType in get_args(hint):
        return None
    if isinstance(value, str) and get_origin(hint) in (tuple, frozenset):
        value = value.split("+")
    return typed_value(value, hint)


def _hint(setting: Setting) -> Any:  # noqa: ANN401 - a type in any form
    """The declared type of a setting."""
    try:
        return get_type_hints(setting.owner)[setting.field]
    except (NameError, KeyError):
        return type(setting.value)
